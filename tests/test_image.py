"""Dockerfile and docker-compose.yml, as far as they can be read and run without an engine."""

import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from service.config import setting_keys
from service.layers import variable

ROOT = Path(__file__).parents[1]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
OVERLAYS = sorted((ROOT / "compose").glob("*.yml"))
SETTINGS = {variable(key) for key in setting_keys()}


def test_chroma_server_and_client_are_of_one_version() -> None:
    locked = re.search(r"^chromadb==(\S+)", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert locked
    assert COMPOSE["services"]["chroma"]["image"] == f"chromadb/chroma:{locked.group(1)}"


def test_only_this_machine_reaches_the_api_and_only_the_api_reaches_chroma() -> None:
    """Traps, section 2: Chroma 1.x has no authentication."""
    api, chroma = COMPOSE["services"]["api"], COMPOSE["services"]["chroma"]
    assert all(port.startswith("127.0.0.1:") for port in api["ports"])
    assert "ports" not in chroma
    assert [COMPOSE["networks"][name]["internal"] for name in chroma["networks"]] == [True]


def test_the_image_itself_allows_nobody_without_a_key() -> None:
    assert "ALLOW_ANONYMOUS" not in re.sub(r"(?m)^\s*#.*$", "", DOCKERFILE)


def test_every_variable_is_a_setting_and_every_setting_gets_in() -> None:
    texts = [DOCKERFILE, *(path.read_text(encoding="utf-8") for path in [ROOT / "docker-compose.yml", *OVERLAYS])]
    named = set(re.findall(r"LOCCIT_[A-Z_]+__[A-Z_]+", "".join(texts)))
    assert named <= SETTINGS
    passed = {name for name in COMPOSE["services"]["api"]["environment"] if name.startswith("LOCCIT_")}
    fixed = set(re.findall(r"(LOCCIT_[A-Z_]+__[A-Z_]+)=", DOCKERFILE))
    # Published by compose, and not by the service itself.
    assert SETTINGS - passed - fixed == {"LOCCIT_SERVER__PORT"}


def test_what_is_reached_from_outside_needs_a_key() -> None:
    api = yaml.safe_load((ROOT / "compose" / "published.yml").read_text(encoding="utf-8"))["services"]["api"]
    assert api["environment"]["LOCCIT_SERVER__ALLOW_ANONYMOUS"] == "false"
    assert api["environment"]["LOCCIT_SERVER__API_KEYS"].startswith("${LOCCIT_SERVER__API_KEYS:?")


def test_older_compose_reads_it_too() -> None:
    """docker-compose 1.29 refuses the whole file for a top-level `name`."""
    assert {key for key in COMPOSE if not key.startswith("x-")} == {"services", "networks", "volumes"}


def test_what_is_copied_is_there_and_is_sent_to_the_engine() -> None:
    copied = {name for line in re.findall(r"(?m)^COPY (?!--from)(.+) \S+$", DOCKERFILE) for name in line.split()}
    allowed = set(re.findall(r"(?m)^!(\S+)$", (ROOT / ".dockerignore").read_text(encoding="utf-8")))
    assert copied == allowed
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_the_image_runs_as_nobody_and_needs_no_writable_root() -> None:
    assert re.search(r"(?m)^USER [1-9]\d*:[1-9]\d*$", DOCKERFILE)
    assert COMPOSE["services"]["api"]["read_only"] is True
    assert COMPOSE["services"]["api"]["cap_drop"] == ["ALL"]


def test_where_no_engine_can_be_had_it_says_so_and_nothing_fails(tmp_path: Path) -> None:
    """`.ci/run` and `make test-docker` go on: no engine, no package registry, and so nothing to start."""
    for name in ("docker", "docker-compose", "dockerd", "apt-get"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
        (tmp_path / name).chmod(0o755)
    script = str(ROOT / "tests" / "docker" / "engine.sh")
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run([script], env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    (sentence,) = done.stdout.splitlines()
    assert sentence.endswith("Its tests are skipped.")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert isinstance(port, int)
    return port


@pytest.fixture(scope="module")
def chroma_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    port = _free_port()
    command = shutil.which("chroma", path=str(Path(sys.executable).parent))
    assert command, "chromadb brings the chroma command"
    server = subprocess.Popen(
        [command, "run", "--path", str(tmp_path_factory.mktemp("chroma")), "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    yield port
    server.terminate()
    server.wait(20)


def _healthcheck(port: int, path: str) -> int:
    """Run compose's own healthcheck command against another port and path."""
    words = [word.replace("$$", "$") for word in COMPOSE["services"]["chroma"]["healthcheck"]["test"][1:]]
    assert words[0] == "bash"
    words[-1] = words[-1].replace("127.0.0.1/8000", f"127.0.0.1/{port}").replace("/api/v2/heartbeat", path)
    return subprocess.run(words, capture_output=True, check=False, timeout=20).returncode


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_the_healthcheck_of_chroma_tells_well_from_unwell(chroma_port: int) -> None:
    deadline = time.monotonic() + 90
    while _healthcheck(chroma_port, "/api/v2/heartbeat") != 0:
        assert time.monotonic() < deadline, "chroma never became healthy"
        time.sleep(0.5)
    assert _healthcheck(chroma_port, "/api/v2/no-such-thing") != 0
    assert _healthcheck(_free_port(), "/api/v2/heartbeat") != 0
