"""A real server on a real socket: in a thread of this process for speed, or as the command itself."""

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx
import uvicorn
from anyio.from_thread import start_blocking_portal

from service.app import create_app
from service.config import Settings
from service.runtime import Runtime
from service.serving import address, bound
from service.wire import Json

ROOT = Path(__file__).parents[1]
SPARSE: dict[str, Json] = {
    "paper_id": "doi:10.1000/eoi",
    "title": "Sparser, Better, Deeper [and] Stronger",
    "authors": ["Aleksandra Nowak", "Łukasz Gniecki"],
    "year": 2024,
    "venue": "ICML",
    "abstract": (
        "Static sparse training aims to train sparse models from scratch. In this work, we propose Exact Orthogonal "
        "Initialization (EOI), a novel sparse orthogonal initialization scheme based on composing random Givens "
        "rotations. Our method provides exact orthogonality and enables layers with arbitrary densities."
    ),
}
PROTEINS: dict[str, Json] = {
    "paper_id": "Bolón/Canedo:2013#q?&%41 ü",
    "title": None,
    "year": 2019,
    "venue": "Bioinformatics",
    "abstract": (
        "Molecular surfaces imply fingerprints of interaction patterns between proteins. We propose a surface-based "
        "unsupervised learning algorithm that partitions point clouds into patches along the Morton curve."
    ),
}


@dataclass(frozen=True)
class Live:
    """A server that runs, and what it holds open."""

    url: str
    runtime: Runtime

    def client(self, **options: object) -> httpx.Client:
        return httpx.Client(base_url=self.url, trust_env=False, timeout=30, **options)  # type: ignore[arg-type]  # passed on


@contextlib.asynccontextmanager
async def _running(settings: Settings) -> AsyncIterator[Live]:
    app = create_app(settings)
    with bound("127.0.0.1", 0) as listener:
        async with app.router.lifespan_context(app):
            server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None, timeout_graceful_shutdown=2))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(server.serve, [listener])
                yield Live(address(listener), app.state.runtime)
                server.should_exit = True


@contextlib.contextmanager
def serving(settings: Settings) -> Iterator[Live]:
    """The app of `settings` on a free port, in a thread of this process."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(_running(settings)) as live:
        yield live


def command(*words: str, cwd: Path, stdin: bytes = b"", **environ: str) -> "subprocess.CompletedProcess[bytes]":
    """Run `python -m service …` in `cwd` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "service", *words],
        cwd=cwd, env=environment(environ), input=stdin, capture_output=True, check=False, timeout=120,
    )  # fmt: skip


@contextlib.contextmanager
def served(*words: str, cwd: Path, **environ: str) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """`loccit serve --port 0 …` as a process: its address, once it takes requests, and the process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "service", "serve", "--port", "0", *words],
        cwd=cwd, env=environment(environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        found = re.search(r"http://\S+", line)
        assert found, process.communicate(timeout=20)[1].decode()
        yield found[0], process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=20)


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The environment of a child: ours without what would change settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LOCCIT_", "OPENAI_"))}
    return kept | {"PYTHONPATH": str(ROOT)} | dict(extra)


def settings_in(folder: Path, **flags: object) -> Settings:
    """Defaults, with the store in `folder`."""
    named = {name.replace("__", "."): value for name, value in flags.items()}
    return Settings.load(flags=named, environ={}, cwd=folder)


def is_problem(response: httpx.Response, status: int) -> dict[str, str]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem: dict[str, str] = response.json()
    assert problem.keys() >= {"type", "title", "status", "detail", "request_id"}
    assert problem["request_id"] == response.headers["x-request-id"]
    assert "Traceback" not in response.text
    assert not re.search(r"/(?:home|tmp|usr|root)/|\.py\b", response.text)
    return problem
