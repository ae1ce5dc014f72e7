"""create_app(settings): the routes, what guards them, and what they hold open."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from service import __version__, api, apidoc, site
from service.bodies import Bodies
from service.config import Server, Settings
from service.guards import Faults, Keys, Trace
from service.metrics import Metrics
from service.problems import INVALID, Refusal, faults_of, respond, respond_status
from service.runtime import new_token, opened

_METHODS = ("GET", "POST", "PUT", "DELETE")
_EXPOSED = ("X-Request-ID", "Location", "Retry-After")


def create_app(settings: Settings) -> FastAPI:
    """The service as an ASGI app. Store and models open with its lifespan, and close with it."""
    metrics, token = Metrics(), new_token()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with opened(settings, metrics, token) as runtime:
            app.state.runtime = runtime
            yield

    app = FastAPI(
        title="loccit",
        version=__version__,
        summary="Answers over research abstracts, every sentence pinned to the words that carry it.",
        lifespan=lifespan,
        middleware=_middleware(settings.server, metrics, token),
        exception_handlers={RequestValidationError: _invalid, HTTPException: _refused},
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # Without this an environment variable makes FastAPI export traces, with exceptions in them, to a collector.
        telemetry={
            "auto_configure": False,
            "tracing": False,
            "metrics": False,
            "logs": False,
            "operation_spans": False,
        },
    )
    app.include_router(api.router)
    app.include_router(site.router)
    _describe(app)
    return app


def _middleware(server: Server, metrics: Metrics, token: str) -> list[Middleware]:
    """From the outside in; service.guards says why in this order."""
    cors = Middleware(
        CORSMiddleware,
        allow_origins=server.cors_origins,
        allow_methods=_METHODS,
        allow_headers=("Authorization", "X-API-Key", "Content-Type", "X-Request-ID", "Prefer"),
        expose_headers=_EXPOSED,
    )
    return [
        Middleware(Trace, metrics=metrics),
        *([cors] if server.cors_origins else []),
        Middleware(Faults),
        Middleware(Keys, server=server, token=token),
        Middleware(Bodies, max_bytes=server.max_body_bytes, timeout_s=server.read_timeout_s),
    ]


def _describe(app: FastAPI) -> None:
    """Add to the OpenAPI what FastAPI can't see."""
    generated = app.openapi

    def openapi() -> dict[str, object]:
        return dict(apidoc.with_bodies(generated()))

    # FastAPI's own way to extend the schema is to replace this method.
    setattr(app, "openapi", openapi)  # noqa: B010


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    refusal = Refusal(INVALID, "The request has faults; errors lists them.", faults_of(error.errors()))
    return respond(refusal, request.scope)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return respond_status(error.status_code, request.scope, error.headers)
