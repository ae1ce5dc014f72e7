"""The image by itself: what it weighs, who it runs as, how it stops, what it says of a folder that is not its own."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.docker.engine import attempt, docker, eventually, free_port
from tests.docker.questions import ask


@pytest.fixture(scope="module")
def running(image: str) -> Iterator[tuple[str, str]]:
    """The service under a read-only root, without any right: `(container, url)`."""
    port = free_port()
    container = docker(
        "run", "-d", "--init", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "-v", "/data",
        "-e", "LOCCIT_SERVER__ALLOW_ANONYMOUS=true", "-p", f"127.0.0.1:{port}:8000", image, "serve", "--with-sample",
    )  # fmt: skip
    eventually(lambda: _ready(f"http://127.0.0.1:{port}"), 60, "ready")
    yield container, f"http://127.0.0.1:{port}"
    docker("rm", "-f", "-v", container)


def _ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def test_it_weighs_less_than_700_mb(image: str) -> None:
    assert int(docker("image", "inspect", "-f", "{{.Size}}", image)) < 700e6


def test_it_says_what_it_is(image: str) -> None:
    labels = json.loads(docker("image", "inspect", "-f", "{{json .Config.Labels}}", image))
    assert labels["org.opencontainers.image.title"] == "loccit"
    version = docker("run", "--rm", "--entrypoint", "python", image, "-c", "import service; print(service.__version__)")
    assert labels["org.opencontainers.image.version"] == version


def test_it_answers_as_nobody_under_a_read_only_root(running: tuple[str, str]) -> None:
    container, url = running
    assert docker("exec", container, "id", "-u") == "10001"
    assert attempt("docker", "exec", container, "touch", "/app/x").returncode != 0
    with httpx.Client(base_url=url, trust_env=False) as client:
        ask(client)
    _, *processes = docker("top", container, "-eo", "pid,uid").splitlines()
    assert {process.split()[1] for process in processes} == {"10001"}


def test_it_is_healthy_by_its_own_check(running: tuple[str, str]) -> None:
    container, _ = running
    eventually(lambda: docker("inspect", "-f", "{{.State.Health.Status}}", container) == "healthy", 40, "healthy")


def test_nobody_else_can_read_the_papers(running: tuple[str, str]) -> None:
    container, _ = running
    assert "catalogue.sqlite3" in docker("exec", container, "find", "/data", "-type", "f")
    assert docker("exec", container, "find", "/data", "-type", "f", "-perm", "/077") == ""


def test_it_stops_in_order_and_at_once(running: tuple[str, str]) -> None:
    """Traps, section 3: a clean stop of uvicorn exits 143."""
    container, url = running
    docker("stop", "-t", "20", container)
    assert docker("inspect", "-f", "{{.State.ExitCode}}", container) == "0"
    docker("start", container)
    eventually(lambda: _ready(url), 60, "ready again")


def test_it_refuses_to_be_open_to_everybody(image: str) -> None:
    done = attempt("docker", "run", "--rm", image, timeout=60)
    assert done.returncode != 0
    assert "server.api_keys" in done.stderr.lower()
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder that belongs to somebody else")
def test_a_folder_of_somebody_else_is_one_sentence(image: str, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir(mode=0o700)
    os.chown(folder, 4321, 4321)
    arguments = ("-e", "LOCCIT_SERVER__ALLOW_ANONYMOUS=true", "-v", f"{folder}:/data", image)
    done = attempt("docker", "run", "--rm", *arguments, timeout=60)
    assert done.returncode == 1
    (sentence,) = done.stderr.strip().splitlines()
    for part in ("/data", "user 10001", "user 4321"):
        assert part in sentence


def test_a_folder_of_its_own_user_is_used(image: str, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    user = f"{os.geteuid() or 12345}:{os.getegid() or 12345}"
    if not os.geteuid():
        os.chown(folder, 12345, 12345)
    done = attempt(
        "docker", "run", "--rm", "--user", user, "--read-only", "--tmpfs", "/tmp", "-v", f"{folder}:/data",
        "-e", "LOCCIT_SERVER__ALLOW_ANONYMOUS=true", image, "papers", "list", timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (folder / "catalogue.sqlite3").exists()
