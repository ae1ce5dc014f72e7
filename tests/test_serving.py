"""`loccit serve` as a process: signals, ports, the sample, two on one folder, broken pipes."""

import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from service.serving import CannotListen, bound, serve
from tests.live import ROOT, command, environment, served, settings_in
from vectorstore.store import read_announcement

slow = pytest.mark.slow


@pytest.fixture
def _logging_as_it_was() -> Iterator[None]:
    """`serve` sends the log of its process to stderr, which here is the tests' process."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.usefixtures("_logging_as_it_was")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_serve_in_this_process_until_a_signal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], host: str
) -> None:
    monkeypatch.chdir(tmp_path)
    seen: list[httpx.Response] = []

    def ask(url: str) -> None:
        try:
            seen.append(httpx.get(f"{url}/v1/papers", trust_env=False, timeout=20))
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    def ready(url: str) -> None:
        assert read_announcement(tmp_path / ".loccit") is not None
        threading.Thread(target=ask, args=(url,)).start()

    serve(settings_in(tmp_path, server__port=0, server__host=host), with_sample=True, ready=ready)
    assert seen[0].json()["total"] == 19
    assert read_announcement(tmp_path / ".loccit") is None


def test_a_port_in_use_is_a_sentence() -> None:
    with bound("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotListen, match=f"Port {port} on 127.0.0.1 is in use; .*--port"):
            bound("127.0.0.1", port)


def test_an_address_of_another_machine_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", unknown)  # a test may not ask the network for a name
    with pytest.raises(CannotListen, match="not an address of this machine"):
        bound("no.such.host.invalid", 0)


@slow
def test_serve_with_sample_prints_a_line_that_gets_a_cited_answer(tmp_path: Path) -> None:
    with served("--with-sample", cwd=tmp_path) as (url, process):
        assert process.stdout is not None
        printed = process.stdout.readline().decode() + process.stdout.readline().decode()
        line = next(part for part in printed.splitlines() if "curl" in part)
        body = re.search(r"-d '(.*)'", line)
        assert body
        headers = {"Content-Type": "application/json"}
        answer = httpx.post(f"{url}/v1/ask", content=body[1], headers=headers, trust_env=False, timeout=30).json()
        assert answer["citations"]
        assert httpx.get(f"{url}/v1/papers", trust_env=False).json()["total"] == 19
        other = command("serve", "--port", "0", cwd=tmp_path)
        assert other.returncode == 1
        assert other.stderr.decode().count("loccit: ") == 1
        assert "Traceback" not in other.stderr.decode()
        assert url in other.stderr.decode()
        through = command("ask", "What are random Givens rotations composed for?", cwd=tmp_path)
        assert through.returncode == 0
        assert b"[1]" in through.stdout
    with served("--with-sample", cwd=tmp_path) as (url, _):
        assert httpx.get(f"{url}/v1/papers", trust_env=False).json()["total"] == 19


@slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_clean_stop_exits_0(tmp_path: Path, number: signal.Signals) -> None:
    """Traps section 3: a clean stop of uvicorn exits 143."""
    with served(cwd=tmp_path) as (url, process):
        assert httpx.get(f"{url}/healthz", trust_env=False).status_code == 200
        process.send_signal(number)
        assert process.wait(20) == 0
    assert not (tmp_path / ".loccit" / "server.json").exists()


@slow
def test_after_a_kill_the_command_line_works_alone(tmp_path: Path) -> None:
    with served("--with-sample", cwd=tmp_path) as (_, process):
        process.kill()
        process.wait(20)
        ran = command("search", "Givens rotations", "--json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["hits"]


@slow
def test_serve_refuses_an_open_address_without_a_key(tmp_path: Path) -> None:
    ran = command("serve", "--host", ".".join("0000"), cwd=tmp_path)
    assert ran.returncode == 2
    assert b"server.api_keys" in ran.stderr


@slow
def test_the_log_is_json_with_the_request_id(tmp_path: Path) -> None:
    with served(cwd=tmp_path) as (url, process):
        httpx.get(f"{url}/healthz", headers={"X-Request-ID": "abc"}, trust_env=False)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=20)
    lines = [json.loads(line) for line in err.decode().splitlines()]
    line = next(line for line in lines if line["logger"] == "loccit.access")
    assert (line["request_id"], line["route"], line["status"]) == ("abc", "/healthz", 200)


@slow
def test_a_reader_that_leaves_is_no_failure(tmp_path: Path) -> None:
    assert command("add", str(ROOT / "data" / "icml2024-sample.txt"), cwd=tmp_path).returncode == 0
    words = [sys.executable, "-m", "service", "papers", "list", "--json"]
    with subprocess.Popen(
        words, cwd=tmp_path, env=environment({}), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) in (0, 1)


# A shell starts what it puts in the background deaf to Ctrl-C, and children inherit that.
_HEARING = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("service", run_name="__main__", alter_sys=True)
"""


@slow
def test_ctrl_c_exits_130_without_a_traceback(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    words = [sys.executable, "-c", _HEARING, "add", "-"]
    with subprocess.Popen(
        words,
        cwd=tmp_path,
        env=environment({}),
        stdin=reader,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        deadline = time.monotonic() + 40
        while not (tmp_path / ".loccit").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=40)
        os.close(writer)
        os.close(reader)
        assert b"Traceback" not in err
        assert process.returncode == 130


@slow
def test_standard_input(tmp_path: Path) -> None:
    text = (ROOT / "data" / "icml2024-sample.txt").read_bytes()
    ran = command("add", "-", cwd=tmp_path, stdin=text)
    assert ran.stdout.startswith(b"19 added"), ran.stderr
    with (ROOT / "data" / "icml2024-sample.txt").open("rb") as file:
        words = [sys.executable, "-m", "service", "add", "-"]
        again = subprocess.run(words, cwd=tmp_path, env=environment({}), stdin=file, capture_output=True, check=True)
    assert b"19 unchanged" in again.stdout
