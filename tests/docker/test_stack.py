"""`docker compose up` as README has it: the API, Chroma beside it, one volume each."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Self

import pytest

from service.wire import Json
from tests.docker.conftest import Composed
from tests.docker.engine import HERE, Project, composes, crash, docker, eventually
from tests.docker.questions import QUESTION, Stream, ask, note
from tests.live import PROTEINS

PROTEIN = "Which algorithm partitions point clouds of molecular surfaces along the Morton curve?"
ROUNDS = 10
WITH_MODEL = {
    "COMPOSE_PROFILES": "local-model",
    "LOCCIT_LLM__MODEL": "openai:quick",
    "LOCCIT_LLM__BASE_URL": "http://ollama:11434",
    "LOCCIT_LLM__RETRIES": "0",
}


def _add(project: Project, **paper: Json) -> str:
    with project.client() as client:
        report = client.post("/v1/papers", json={"papers": [PROTEINS | paper]})
    assert report.status_code == 200, report.text
    assert report.json()["added"] == 1, report.text
    return str(paper["paper_id"])


def _there(project: Project, paper_id: str) -> bool:
    with project.client() as client:
        return client.get(f"/v1/papers/{paper_id}").status_code == 200


@pytest.mark.parametrize("compose", [("docker", "compose"), ("docker-compose",)], ids=" ".join)
def test_up_ask_and_everything_is_kept(composed: Composed, compose: tuple[str, ...]) -> None:
    if compose not in composes():
        pytest.skip(f"{' '.join(compose)} is not here")
    project = composed(compose=compose)
    began = time.monotonic()
    project("up", "-d")
    project.until_ready()
    with project.client() as client:
        ask(client)
        assert "[1]" in project("exec", "-T", "api", "loccit", "ask", QUESTION)
        note(f"from `{' '.join(compose)} up` to a cited answer: {time.monotonic() - began:.1f} s")
        _add(project, paper_id="kept-1")
    project("restart", "-t", "20")
    project.until_ready()
    project("stop", "-t", "20")
    assert docker("inspect", "-f", "{{.State.ExitCode}}", docker(
        "ps", "-aq", "--filter", f"label=com.docker.compose.project={project.name}",
        "--filter", "label=com.docker.compose.service=api",
    )) == "0"  # fmt: skip
    project("rm", "-f")
    project("up", "-d")
    project.until_ready()
    with project.client() as client:
        answer = ask(client, PROTEIN)
        assert "kept-1" in str(answer["citations"])
        assert client.get("/v1/papers").json()["total"] == 20


def test_it_starts_before_chroma_does(composed: Composed) -> None:
    """Traps, section 2: Chroma may take its time; `depends_on` is for the first start only."""
    project = composed()
    project("up", "-d", "--no-deps", "api")
    eventually(lambda: project.readiness()[0], 60, "ready")
    with project.client() as client:
        ask(client)
    eventually(lambda: "not available" in str(project.readiness()[1]), 30, "said that there is no Chroma")
    project("up", "-d")
    project.until_ready()


def test_a_frozen_chroma_is_only_said(composed: Composed) -> None:
    """Traps, section 2: a stopped (not dead) server hangs its client for ever."""
    project = composed()
    project("up", "-d")
    project.until_ready()
    docker("pause", project.container("chroma"))
    try:
        with project.client(10) as client:
            for _ in range(20):
                ask(client)
            eventually(lambda: "not available" in str(project.readiness()[1]), 30, "said that it hangs")
            _add(project, paper_id="frozen-1")
            assert "frozen-1" in str(ask(client, PROTEIN)["citations"])
    finally:
        docker("unpause", project.container("chroma"))
    project.until_ready()


def test_a_wiped_chroma_is_filled_again(composed: Composed) -> None:
    project = composed()
    project("up", "-d")
    project.until_ready()
    project("rm", "-sf", "chroma")
    docker("volume", "rm", f"{project.name}_index")
    with project.client() as client:
        ask(client)
        project("up", "-d", "--no-deps", "chroma")
        ask(client)
        project.until_ready()
        ask(client)
    count = (
        "import chromadb; c = chromadb.HttpClient('chroma', 8000);"
        " print([c.get_collection(each.name, embedding_function=None).count() for each in c.list_collections()])"
    )
    passages = sum(each["passages"] for each in _collections(project))
    assert project("exec", "-T", "api", "python", "-c", count).strip() == f"[{passages}]"


def _collections(project: Project) -> list[dict[str, int]]:
    with project.client() as client:
        listed: list[dict[str, int]] = client.get("/v1/collections").json()["collections"]
    return listed


def test_each_is_killed_ten_times_under_a_stream_of_questions(composed: Composed) -> None:
    """Only clean errors while one is down, recovery by itself, nothing acknowledged is lost."""
    services = ("chroma", "api", "ollama")
    project = composed(settings=WITH_MODEL)
    project("up", "-d")
    project.until_ready()
    kept = []
    with Stream(project.url) as stream:
        stream.wait_for_more(1, 30)
        for number in range(ROUNDS * len(services)):
            service, refused = services[number % 3], stream.refusals
            kept.append(_add(project, paper_id=f"kept-{number}", abstract=f"{PROTEINS['abstract']} Part {number}."))
            crash(project.container(service))
            stream.wait_for_more(5, 90)
            project.until_ready()
            # Without Chroma it answers by itself, and not a single question fails.
            assert service != "chroma" or stream.refusals == refused
        assert [each for each in kept if not _there(project, each)] == []
    assert stream.wrong == []
    assert stream.slowest < 20
    restarts = [docker("inspect", "-f", "{{.RestartCount}}", project.container(service)) for service in services]
    assert restarts == [str(ROUNDS)] * 3
    note(f"{stream.answers} answers, {stream.refusals} clean refusals, the slowest after {stream.slowest:.1f} s")


def test_the_embedded_profile_is_one_container(composed: Composed) -> None:
    project = composed()
    project("up", "-d", "embedded")
    project.until_ready()
    assert len(project("--profile", "embedded", "ps", "-q").split()) == 1
    with project.client() as client:
        ask(client)
    assert "chroma" in docker("exec", project.container("embedded"), "ls", "/data").split()
    crash(project.container("embedded"))
    time.sleep(1)
    project.until_ready()
    # The same papers behind the other arrangement.
    _add(project, paper_id="moved-1")
    project("--profile", "embedded", "stop", "embedded")
    project("up", "-d")
    project.until_ready()
    assert _there(project, "moved-1")


def test_published_wider_it_wants_a_key(composed: Composed) -> None:
    files = ("docker-compose.yml", "compose/published.yml")
    without = composed(files=files).attempt("config")
    assert without.returncode != 0
    assert "set it to one or more keys" in without.stderr
    project = composed(
        files=files, settings={"LOCCIT_SERVER__API_KEYS": "open-sesame", "LOCCIT_PUBLISHED_PORT": "127.0.0.1:0"}
    )
    project("up", "-d")
    eventually(lambda: project.readiness()[0], 60, "ready")
    with project.client() as client:
        assert client.post("/v1/ask", json={"question": PROTEIN}).status_code == 401
        client.headers["Authorization"] = "Bearer open-sesame"
        ask(client)


def test_it_speaks_to_nobody_but_chroma(composed: Composed, tmp_path: Path) -> None:
    """Contract, law 12: seen on the wire of the container, names that it looks up included."""
    project = composed()
    project("up", "--no-start")
    project("start", "chroma")
    eventually(lambda: _healthy(project, "chroma"), 60, "chroma is healthy")
    project("start", "api")
    with _Wire(project.container("api"), tmp_path / "wire") as wire:
        project.until_ready()
        with project.client() as client:
            for question in (PROTEIN, "Which papers treat sparse training?"):
                client.post("/v1/ask", json={"question": question})
            ask(client)
            _add(project, paper_id="wire-1")
    assert wire.names == {"chroma"}
    own = docker(
        "inspect", "-f", "{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}", project.container("chroma")
    )
    assert {peer for peer in wire.dialled if not peer.startswith("127.")} == {f"{own.strip()}:8000"}


def _healthy(project: Project, service: str) -> bool:
    return docker("inspect", "-f", "{{.State.Health.Status}}", project.container(service)) == "healthy"


class _Wire:
    """All that a container sends, by a capture in its network: `dialled` as `address:port`, `names` looked up."""

    def __init__(self, container: str, file: Path) -> None:
        pid = docker("inspect", "-f", "{{.State.Pid}}", container)
        self._file = file
        try:
            with file.open("w") as out:
                self._capture = subprocess.Popen(
                    ["nsenter", "-t", pid, "-n", sys.executable, "-u", str(HERE / "capture.py")], stdout=out
                )
        except OSError as error:
            pytest.skip(f"looking at the wire takes nsenter: {error}")

    def __enter__(self) -> Self:
        time.sleep(0.2)
        if self._capture.poll() is not None:
            pytest.skip("looking at the wire takes root")
        return self

    def __exit__(self, *_: object) -> None:
        self._capture.terminate()
        self._capture.wait(10)
        lines = [line.split() for line in self._file.read_text().splitlines()]
        self.dialled = {value for kind, value in lines if kind == "dial"}
        self.names = {value for kind, value in lines if kind == "name"}
