"""`loccit serve`: bind, open, announce, serve, and stop so that nobody is left hanging."""

import asyncio
import errno
import io
import logging
import signal
import socket
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from service.app import create_app
from service.config import Settings, is_loopback
from service.errors import ServiceError
from service.runtime import Runtime
from service.streams import Stopping
from vectorstore.paper import Filters
from vectorstore.readers import read

log = logging.getLogger("loccit.serving")
SAMPLE = "icml2024-sample.txt"
_GRACE_S = 10
_BACKLOG = 2_048


class CannotListen(ServiceError):
    """The address can't be served on: in use, not ours, not allowed."""


def serve(settings: Settings, *, with_sample: bool, ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT; `ready` is called with the address once requests are taken.

    Raises CannotListen, and whatever opening the store and the models raises.
    """
    with bound(settings.server.host, settings.server.port) as listener:
        asyncio.run(_serve(settings, listener, with_sample, ready))


async def _serve(settings: Settings, listener: socket.socket, with_sample: bool, ready: Callable[[str], None]) -> None:
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        runtime: Runtime = app.state.runtime
        if with_sample:
            await runtime.write(load_sample, runtime)
        url = address(listener)
        await runtime.write(runtime.store.announce, url, runtime.token)
        ready(url)
        log.info("serving", extra={"fields": {"url": url}})
        await _Server(app, runtime.stopping).serve(sockets=[listener])
    log.info("stopped")


class _Server(uvicorn.Server):
    """uvicorn, told to stop in our way: streams hear it first, and a clean stop exits 0 and not 143."""

    def __init__(self, app: ASGIApp, stopping: Stopping) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                lifespan="off",  # ours is open already: a failure to open is a sentence then, not a logged traceback
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=_GRACE_S,
                backlog=_BACKLOG,
            )
        )
        self.stopping = stopping
        self.loop = asyncio.get_running_loop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Note the signal without keeping it: uvicorn raises the signals it keeps again after it has stopped."""
        del frame
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self.should_exit = True
        self.loop.call_soon_threadsafe(self.stopping.tell)


def bound(host: str, port: int) -> socket.socket:
    """A socket bound to the address. Raises CannotListen."""
    try:
        family, kind, protocol, _, target = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError:
        raise CannotListen(f"{host} is not an address of this machine; set server.host to one.") from None
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(target)
        # A bind alone does not see a neighbour that listens with the same option.
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise CannotListen(_reason(error, host, port)) from None
    return listener


def _reason(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is in use; stop what uses it, or choose another with --port."
    if error.errno == errno.EACCES:
        return f"Port {port} is not allowed to this user; choose one above 1023 with --port."
    return f"{host} is not an address of this machine; set server.host to one."


def address(listener: socket.socket) -> str:
    """Where this machine reaches the listener."""
    host, port = listener.getsockname()[:2]
    if listener.family == socket.AF_INET6:
        return f"http://[{host if is_loopback(host) else '::1'}]:{port}"
    return f"http://{host if is_loopback(host) else '127.0.0.1'}:{port}"


def load_sample(runtime: Runtime) -> None:
    """Store the sample abstracts where the default collection is empty."""
    if runtime.store.papers("default", Filters(), 1, None).total:
        return
    packaged = resources.files("service") / "data" / SAMPLE
    checkout = Path(__file__).parent.parent / "data" / SAMPLE
    file = io.BytesIO((packaged if packaged.is_file() else checkout).read_bytes())
    report = runtime.store.add(read(file, SAMPLE), "default")
    log.info("sample loaded", extra={"fields": {"added": report.added, "skipped": len(report.skipped)}})
