"""How the command line reaches the service: alone, through a server, through one that fails."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from starlette.types import Message

from service.app import create_app
from service.client import Told, connected
from service.wire import Json
from tests.live import SPARSE, settings_in
from vectorstore.errors import FolderInUse
from vectorstore.lock import FolderLock

pytestmark = pytest.mark.anyio


class _Odd(BaseHTTPRequestHandler):
    """Alive, and otherwise nothing that we know: /v1/text is no problem+json, all else is cut off."""

    def do_GET(self) -> None:
        if self.path == "/healthz":
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path == "/v1/text":
            self.send_response(500)
            self.send_header("Content-Length", "4")
            self.end_headers()
            self.wfile.write(b"oops")
        else:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def odd_server(folder: Path) -> Iterator[None]:
    """A server that owns the folder and announces itself, but is not ours."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Odd)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    lock = FolderLock(folder)
    lock.announce(f"http://127.0.0.1:{server.server_address[1]}", "token")
    try:
        yield
    finally:
        lock.release()
        server.shutdown()
        thread.join()
        server.server_close()


async def test_a_server_that_stops_or_is_not_ours_is_a_sentence(tmp_path: Path) -> None:
    with odd_server(tmp_path / ".loccit"):
        async with connected(settings_in(tmp_path)) as api:
            with pytest.raises(Told, match="stopped answering"):
                await api.call("GET", "/v1/papers")
            with pytest.raises(Told, match="answered 500 without saying why"):
                await api.call("GET", "/v1/text")


async def test_a_folder_owned_by_one_who_does_not_serve_is_a_sentence(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path / ".loccit")
    try:
        with pytest.raises(FolderInUse):
            async with connected(settings_in(tmp_path)):
                pass
        lock.announce("http://127.0.0.1:9", "token")
        with pytest.raises(FolderInUse) as caught:
            async with connected(settings_in(tmp_path)):
                pass
        assert caught.value.url == "http://127.0.0.1:9"
    finally:
        lock.release()


async def test_papers_so_many_that_they_become_a_job_are_waited_for(tmp_path: Path) -> None:
    async with connected(settings_in(tmp_path)) as api:
        large: Json = {**SPARSE, "notes": "x" * 2**21}
        report = await api.add([large, {"title": "none"}], "default")
        assert report["added"] == 1
        assert isinstance(report["skipped"], list)
        assert len(report["skipped"]) == 1
        with pytest.raises(Told, match="default"):
            await api.add([SPARSE], "none")
        with pytest.raises(Told, match="not UTF-8"):
            await api.call("POST", "/v1/search", {"query": "\udcff"})
        with pytest.raises(Told, match="top_k"):
            await api.call("POST", "/v1/search", {"query": "x", "top_k": 0})


async def test_any_asgi_server_can_run_it(tmp_path: Path) -> None:
    """Our own command opens the app by hand; uvicorn, hypercorn… do it through the lifespan protocol."""
    sent: list[str] = []
    told = iter(["lifespan.startup", "lifespan.shutdown"])

    async def receive() -> Message:
        return {"type": next(told)}

    async def send(message: Message) -> None:
        sent.append(message["type"])

    await create_app(settings_in(tmp_path))({"type": "lifespan", "asgi": {"version": "3.0"}}, receive, send)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
