"""A real small model that answers badly: the contract's laws hold with it all the same."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import anyio
import httpx
import pytest

from service import cli
from service.config import Settings
from service.doctor import replies
from service.doctor.endpoint import Endpoint
from service.domain import Answer
from service.messages import messages_of
from service.minilm import MiniLM
from service.models import chat_model, stream
from service.wire import Json
from tests.laws import assert_lawful
from tests.live import ROOT, Live, is_problem, serving
from tests.model.small_model import WINDOW, flags

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]
QUESTIONS = (
    "How can sparse networks be initialised so that orthogonality is exact?",
    "Can a network be made robust to adversarial attacks when the training data is not available?",
    "How much faster does training get with bi-level optimisation of masks and weights?",
)
SAMPLE = (ROOT / "data" / "icml2024-sample.txt").read_bytes()


def _served(folder: Path, named: dict[str, object]) -> Iterator[Live]:
    with serving(Settings.load(flags=named, environ={}, cwd=folder)) as live:
        with live.client() as http:
            http.post("/v1/papers", content=SAMPLE, headers={"Content-Type": "text/plain"}).raise_for_status()
        yield live


@pytest.fixture(scope="module")
def live(llama: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    yield from _served(tmp_path_factory.mktemp("small"), flags(llama))


@pytest.fixture
def believes_too_much(llama: str, tmp_path: Path) -> Iterator[Live]:
    """A service that believes the window four times as large as it is."""
    yield from _served(tmp_path, flags(llama, 4 * WINDOW))


def _client(live: Live) -> httpx.Client:
    return httpx.Client(base_url=live.url, trust_env=False, timeout=280)


def _asked(live: Live, question: str, top_k: int = 2) -> Answer:
    with _client(live) as http:
        reply = http.post("/v1/ask", json={"question": question, "top_k": top_k})
    assert reply.status_code == 200, reply.text
    return Answer.model_validate(reply.json())


def _streamed(live: Live, question: str) -> list[tuple[str, Json]]:
    body = {"question": question, "top_k": 2, "stream": True}
    with _client(live) as http, http.stream("POST", "/v1/ask", json=body) as reply:
        assert reply.status_code == 200
        blocks = "".join(reply.iter_text()).split("\n\n")
    pairs = [block.removeprefix("event: ").split("\ndata: ", 1) for block in blocks if block.startswith("event: ")]
    return [(name, json.loads(data)) for name, data in pairs]


@pytest.mark.parametrize("question", QUESTIONS)
def test_its_answers_are_lawful_streamed_or_not(live: Live, question: str) -> None:
    events = _streamed(live, question)
    assert events[-1][0] == "answer", events[-1]
    streamed = Answer.model_validate(events[-1][1])
    assert_lawful(streamed, live.runtime.store)
    whole = _asked(live, question)
    assert_lawful(whole, live.runtime.store)
    assert streamed.usage.completion_tokens, "the model was asked"
    assert {name for name, _ in events} >= {"hits", "text"}


def test_a_window_that_is_smaller_than_configured_costs_evidence_and_no_answer(believes_too_much: Live) -> None:
    """Traps section 4: 400 exceed_context_size_error. Half of the evidence is sent then."""
    with _client(believes_too_much) as http:
        reply = http.post("/v1/ask", json={"question": QUESTIONS[0], "top_k": 19})
    if reply.status_code == 200:
        assert_lawful(Answer.model_validate(reply.json()), believes_too_much.runtime.store)
    else:
        assert "llm.context_window" in is_problem(reply, 502)["detail"]


def test_a_client_that_leaves_frees_the_slot(live: Live, llama: str) -> None:
    """Traps section 4: the single local slot is free within 2 s."""
    question = "How are point clouds of molecular surfaces turned into a sequence a transformer can read?"
    body: dict[str, object] = {"question": question, "top_k": 1, "stream": True}
    with _client(live) as http, http.stream("POST", "/v1/ask", json=body) as reply:
        lines = reply.iter_lines()  # kept: an iterator that is let go closes the connection
        # Not before: while it reads a prompt, llama.cpp does not notice that a client has left.
        assert "event: text" in lines
    assert _seconds_until_free(llama) < 2.0


@pytest.mark.anyio
async def test_a_long_reply_that_nobody_awaits_is_ended(llama: str) -> None:
    """Three hundred numbers take it ten seconds and more."""
    llm = Settings.load(flags=flags(llama) | {"llm.max_output_tokens": 600}, environ={}, cwd=Path("/nonexistent")).llm
    count = messages_of([("user", "Count from 1 to 300.")])
    async with aclosing(stream(chat_model(llm, MiniLM()), count, llm.timeout_s, retries=0)) as pieces:
        for _ in range(8):
            await anext(pieces)
        assert await anyio.to_thread.run_sync(_is_busy, llama)
    # Off the event loop, which has a connection to close.
    assert await anyio.to_thread.run_sync(_seconds_until_free, llama) < 2.0


def _is_busy(llama: str) -> bool:
    busy: bool = httpx.get(f"{llama}/slots", trust_env=False, timeout=30).json()[0]["is_processing"]
    return busy


def _seconds_until_free(llama: str) -> float:
    began = time.monotonic()
    while _is_busy(llama):
        assert time.monotonic() - began < 30, "the slot is never free"
        time.sleep(0.05)
    return time.monotonic() - began


@pytest.mark.anyio
async def test_it_follows_a_json_schema(llama: str) -> None:
    named = flags(llama)
    asked = Endpoint(Settings.load(flags=named, environ={}, cwd=Path("/nonexistent")).llm, MiniLM())
    raw = await asked.in_json("How many flags are there, and of which colour? There are two blue ones.")
    assert replies.of_json(raw).found == "honoured", raw


def test_the_doctor_finds_its_window(
    llama: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for key, value in (flags(llama, 4 * WINDOW) | {"llm.max_output_tokens": 48}).items():
        monkeypatch.setenv(f"LOCCIT_{key.upper().replace('.', '__')}", str(value))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["loccit", "doctor", "--json"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    told = json.loads(capsys.readouterr().out)
    found = {each["check"]: each for each in told["findings"] if each["area"] == "model"}
    assert ended.value.code == 1
    assert {each["check"] for each in found.values() if each["mark"] == "fault"} == {"context window"}
    assert f"set llm.context_window = {WINDOW}" in found["context window"]["change"]
    assert found["streams"]["mark"] == found["JSON schema"]["mark"] == found["usage"]["mark"] == "ok"
    assert "sentences with a valid mark" in found["citations"]["found"]
