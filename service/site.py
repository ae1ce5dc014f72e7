"""What a person or a machine finds outside /v1: the page, the docs, health, readiness, metrics."""

import logging
from importlib import resources
from importlib.resources.abc import Traversable

from fastapi import APIRouter, HTTPException, Request, Response
from starlette.responses import HTMLResponse

from service import metrics, wire
from service.api import Running
from service.apidoc import SAMPLE_QUESTION
from service.runtime import Runtime
from service.shapes import Alive, Readiness
from vectorstore.store import StoreState

router = APIRouter()
log = logging.getLogger("loccit.site")
_PAGE_POLICY = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"
_TYPES = {"js": "text/javascript", "css": "text/css", "html": "text/html", "svg": "image/svg+xml", "png": "image/png"}
_DOCS_ASSETS = ("swagger-ui-bundle.js", "swagger-ui.css", "favicon.png")
_DOCS = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>loccit API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="docs/favicon.png"><link rel="stylesheet" href="docs/swagger-ui.css"></head>
<body><div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script><script src="docs/start.js"></script></body></html>
"""
_DOCS_START = """SwaggerUIBundle({
  url: "openapi.json", dom_id: "#swagger-ui", deepLinking: true, validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIBundle.SwaggerUIStandalonePreset],
});
"""
_PLAIN = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>loccit</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><h1>loccit</h1><p>Answers over research abstracts, every sentence pinned to the words that carry it.</p>
<pre>{curl}</pre><p><a href="docs">The API</a> · <a href="readyz">Readiness</a></p></body></html>
"""


def curl_line(base_url: str) -> str:
    """A command that gets a cited answer from the service at `base_url`."""
    body = wire.dumps({"question": SAMPLE_QUESTION}).decode()
    return f"curl {base_url.rstrip('/')}/v1/ask -H 'Content-Type: application/json' -d '{body}'"


@router.get("/healthz", tags=["state"])
async def healthz() -> Alive:
    """Alive: the process answers."""
    return Alive()


@router.get("/readyz", tags=["state"], responses={503: {"model": Readiness, "description": "Not ready."}})
async def readyz(running: Running, response: Response) -> Readiness:
    """Able to answer questions; if not, or not fully, `degraded` says what is the matter."""
    state = await running.read(running.store.state)
    ready = state.ready and not running.stopping.told
    if not ready:
        response.status_code = 503
        response.headers["Retry-After"] = "2"
    return Readiness(
        ready=ready,
        degraded=_degraded(running, state),
        model=running.settings.llm.model,
        embedder=running.embedder.name,
    )


def _degraded(running: Runtime, state: StoreState) -> tuple[str, ...]:
    if not state.ready:  # the store's own sentence names the folder, which is for the log
        log.error("store not ready", extra={"fields": {"why": list(state.degraded)}})
        return ("The store can't read or write its data folder; the log of the service says more.",)
    failure = running.answerer.failure
    failed = (f"The language model failed when it was last asked: {failure}",) if failure else ()
    return state.degraded + failed + (("The service is stopping.",) if running.stopping.told else ())


@router.get("/metrics", tags=["state"], response_class=Response)
async def exposition(running: Running) -> Response:
    """Prometheus metrics."""
    for collection in await running.read(running.store.collections):
        running.metrics.papers.labels(collection.name).set(collection.papers)
        running.metrics.passages.labels(collection.name).set(collection.passages)
    return Response(running.metrics.exposition(), headers={"Content-Type": metrics.CONTENT_TYPE})


@router.get("/", include_in_schema=False)
async def page(request: Request) -> Response:
    """The web page, or a plain one where it is not installed."""
    index = _web().joinpath("index.html")
    if index.is_file():
        return _asset(index)
    text = _PLAIN.format(curl=curl_line(str(request.base_url)).replace("<", "&lt;"))
    return HTMLResponse(text, headers={"Content-Security-Policy": _PAGE_POLICY})


@router.get("/web/{name}", include_in_schema=False)
async def page_asset(name: str) -> Response:
    """A file of the web page. Only names that the folder lists are opened, so no path leads out of it."""
    return _named(_web(), name)


@router.get("/docs", include_in_schema=False)
async def docs() -> Response:
    """The API, to read and to try. Its assets come with a package; nothing is fetched from elsewhere."""
    return HTMLResponse(_DOCS, headers={"Content-Security-Policy": _PAGE_POLICY})


@router.get("/docs/{name}", include_in_schema=False)
async def docs_asset(name: str) -> Response:
    """A file of the docs."""
    if name == "start.js":
        return Response(_DOCS_START, media_type=_TYPES["js"])
    return _named(resources.files("fastapi_offline") / "static", name if name in _DOCS_ASSETS else "")


def _web() -> Traversable:
    return resources.files("service") / "web"


def _named(folder: Traversable, name: str) -> Response:
    found = [file for file in folder.iterdir() if file.name == name and file.is_file()] if folder.is_dir() else []
    if not found:
        raise HTTPException(404)
    return _asset(found[0])


def _asset(file: Traversable) -> Response:
    kind = _TYPES.get(file.name.rpartition(".")[2], "application/octet-stream")
    headers = {"Content-Security-Policy": _PAGE_POLICY, "Cache-Control": "no-cache"}
    return Response(file.read_bytes(), media_type=kind, headers=headers)
