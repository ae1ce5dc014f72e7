"""The profile `local-model`: a small model in a container of its own, put to work by three lines of configuration."""

import threading
import time
from collections.abc import Iterator

import httpx
import pytest

from service.wire import Json
from tests.docker.engine import SMALL_MODEL, Project, crash, docker, eventually, free_port
from tests.docker.questions import QUESTION, check_quotes, note

SETTINGS = {
    "COMPOSE_PROFILES": "local-model",
    "LOCCIT_LLM__MODEL": "openai:smollm2:135m",
    "LOCCIT_LLM__BASE_URL": "http://ollama:11434",
    "LOCCIT_LLM__CONTEXT_WINDOW": "2048",
    "LOCCIT_LLM__MAX_OUTPUT_TOKENS": "96",
    "LOCCIT_LLM__TIMEOUT_S": "120",
    "LOCCIT_LLM__RETRIES": "0",
}


@pytest.fixture(scope="module")
def local(standin: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """The stack with a model in it."""
    settings = SETTINGS | {"LOCCIT_PROXY_PORT": str(free_port())}
    files = ("docker-compose.yml", "compose/nginx.yml")
    project = Project(tmp_path_factory.mktemp("local"), settings=settings, files=files, model=SMALL_MODEL)
    project("up", "-d")
    project.until_ready()
    eventually(lambda: _healthy(project), 90, "the model is loaded")
    yield project
    project.down()


def _healthy(project: Project) -> bool:
    return docker("inspect", "-f", "{{.State.Health.Status}}", project.container("ollama")) == "healthy"


def _ask(project: Project, question: str = QUESTION, **more: Json) -> dict[str, Json]:
    with project.client(150) as client:
        response = client.post("/v1/ask", json={"question": question, "top_k": 3, **more})
        assert response.status_code == 200, response.text
        answer: dict[str, Json] = response.json()
        if answer["citations"]:
            check_quotes(client, answer)
    return answer


def test_the_model_answers_with_checked_citations(local: Project) -> None:
    began = time.monotonic()
    answer = _ask(local)
    provenance, usage = answer["provenance"], answer["usage"]
    assert isinstance(provenance, dict)
    assert provenance["model"] == "openai:smollm2:135m"
    assert isinstance(usage, dict)
    assert usage["completion_tokens"] not in {0, None}
    assert answer["status"] in {"answered", "partial"}
    assert answer["citations"]
    note(f"a small local model answered in {time.monotonic() - began:.1f} s: {answer['answer']}")


def test_a_model_that_dies_while_it_writes_is_said(local: Project) -> None:
    """Traps, section 4: a reply that ends in its middle is an error and not a short answer."""
    with local.client(60) as client, client.stream(
        "POST", "/v1/ask", json={"question": QUESTION, "top_k": 1, "stream": True}
    ) as response:  # fmt: skip
        events = []
        for line in response.iter_lines():
            if line == "event: text":
                crash(local.container("ollama"))
            if line.startswith("event: "):
                events.append(line.removeprefix("event: "))
    assert events[-1] == "error"
    eventually(lambda: _healthy(local), 60, "the model is loaded again")
    with local.client() as client:
        assert client.get("/healthz").status_code == 200


def test_a_stop_tells_the_reader_of_a_stream(local: Project) -> None:
    """Traps, section 3: with a graceful timeout streams are cut without an event."""
    lines: list[str] = []
    stopping = threading.Thread(target=docker, args=("stop", "-t", "25", local.container("api")))
    with local.client(60) as client, client.stream(
        "POST", "/v1/ask", json={"question": QUESTION, "stream": True}
    ) as response:  # fmt: skip
        for line in response.iter_lines():
            lines.append(line)
            if line == "event: hits":
                stopping.start()
    stopping.join()
    events = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    assert events[0] == "hits"
    assert events[-1] in {"answer", "error"}
    stopped = docker("ps", "-aq", "--filter", f"name={local.name}.api")
    assert docker("inspect", "-f", "{{.State.ExitCode}}", stopped) == "0"
    local("start", "api")
    local.until_ready()


def test_nginx_in_front_streams(local: Project) -> None:
    """Traps, section 3: behind a proxy the events of an answer arrive in one lump."""
    arrived: dict[str, float] = {}
    began = time.monotonic()
    with httpx.Client(base_url=f"http://127.0.0.1:{local.settings['LOCCIT_PROXY_PORT']}", trust_env=False) as client:
        body: dict[str, Json] = {"question": QUESTION, "top_k": 3, "stream": True}
        with client.stream("POST", "/v1/ask", json=body, timeout=150) as response:
            assert response.headers["server"].startswith("nginx")
            assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
            for line in response.iter_lines():
                if line.startswith("event: "):
                    arrived.setdefault(line.removeprefix("event: "), time.monotonic() - began)
    assert next(iter(arrived)) == "hits"
    assert list(arrived)[-1] == "answer"
    assert arrived["hits"] < arrived["text"] - 1 < arrived["answer"] - 1.5
    note(f"through nginx: {', '.join(f'{name} after {seconds:.1f} s' for name, seconds in arrived.items())}")
