"""How the command line reaches the service: the public HTTP API, of the running server or of an app in this process."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import anyio
import httpx

from service import wire
from service.app import create_app
from service.config import Settings
from service.errors import ServiceError
from service.runtime import Runtime
from service.wire import Json
from vectorstore.store import Announcement, read_announcement

_POLL_S = 0.2
Params = Mapping[str, str | int]


class Told(ServiceError):
    """The service answered with a problem; the message is its detail."""


class Api:
    """The HTTP API as calls that give JSON. Each raises Told where the service answers with a problem."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def call(self, method: str, path: str, body: Json = None, params: Params | None = None) -> httpx.Response:
        """One request; the response is a good one."""
        headers = {} if body is None else {"Content-Type": "application/json"}
        try:
            content = None if body is None else wire.dumps(body, strict=True)
            response = await self.http.request(
                method, path, content=content, params=dict(params or {}), headers=headers
            )
        except UnicodeEncodeError:
            raise Told("The words hold bytes that are not UTF-8 text.") from None
        except httpx.TransportError as error:
            raise Told(f"The server stopped answering ({type(error).__name__}); is it still running?") from None
        if response.is_error:
            raise Told(_said(response))
        return response

    async def add(self, papers: list[Json], collection: str) -> dict[str, Json]:
        """Store papers, and wait for the job where there are so many that it becomes one: the report."""
        response = await self.call("POST", "/v1/papers", {"papers": papers}, {"collection": collection})
        found: dict[str, Json] = response.json()
        while "report" in found and found["state"] not in ("done", "failed"):
            await anyio.sleep(_POLL_S)
            found = (await self.call("GET", f"/v1/jobs/{found['id']}")).json()
        if found.get("error"):
            raise Told(str(found["error"]))
        report = found.get("report", found)
        assert isinstance(report, dict)
        return report


@asynccontextmanager
async def connected(settings: Settings) -> AsyncIterator[Api]:
    """The API over the data folder: two processes never write one store, so a running server is asked to do it."""
    served = read_announcement(settings.store.path)
    if served is not None and await _answers(served):
        async with _client(served.url, served.token) as http:
            yield Api(http)
        return
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        runtime: Runtime = app.state.runtime
        async with _client("http://loccit", runtime.token, httpx.ASGITransport(app)) as http:
            yield Api(http)


def _client(url: str, token: str, transport: httpx.AsyncBaseTransport | None = None) -> httpx.AsyncClient:
    # Without the environment's proxy: it would be asked for an address of this machine.
    timeout = httpx.Timeout(None, connect=5)
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.AsyncClient(base_url=url, headers=headers, transport=transport, timeout=timeout, trust_env=False)


async def _answers(served: Announcement) -> bool:
    """Whether the announced server is there; one that was killed leaves its announcement behind."""
    try:
        async with httpx.AsyncClient(trust_env=False, timeout=5) as http:
            return (await http.get(f"{served.url}/healthz")).status_code == 200
    except httpx.TransportError:
        return False


def _said(response: httpx.Response) -> str:
    try:
        problem = response.json()
        faults = [f"{fault['field']}: {fault['detail']}" for fault in problem.get("errors", [])]
        return " ".join([problem["detail"], *faults])
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"The server answered {response.status_code} without saying why; is it loccit?"
