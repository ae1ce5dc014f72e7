"""The service while its model is slow, breaks, or nobody waits for it any more. Traps sections 3 and 4."""

import json
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.fake_llm import FakeLLM
from tests.fake_replies import SERVER_ERROR, UNAUTHORIZED, Reply
from tests.live import SPARSE, Live, is_problem, served, serving, settings_in

QUESTION = "How can sparse networks be initialised so that orthogonality is exact?"
GOOD = "Exact orthogonal initialisation comes from composing random Givens rotations [1]."


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeLLM]:
    with FakeLLM(GOOD) as server:
        yield server


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory, fake: FakeLLM) -> Iterator[Live]:
    flags: dict[str, object] = {"llm__model": "openai:fake", "llm__base_url": fake.url, "llm__retries": 0}
    folder = tmp_path_factory.mktemp("store")
    with serving(settings_in(folder, server__max_concurrent_answers=3, **flags)) as server:
        with server.client() as http:
            http.post("/v1/papers", json={"papers": [SPARSE]}).raise_for_status()
        yield server


def says(fake: FakeLLM, *replies: str | Reply) -> None:
    fake.script[:] = replies
    fake.left_at.clear()


def test_the_configured_model_answers(live: Live, fake: FakeLLM) -> None:
    says(fake, GOOD)
    with live.client() as http:
        answer = http.post("/v1/ask", json={"question": QUESTION}).raise_for_status().json()
    assert answer["provenance"]["model"] == "openai:fake"
    assert "Givens" in answer["answer"]


@pytest.mark.parametrize("stream", [True, False])
def test_the_client_leaves_and_the_model_is_let_go(live: Live, fake: FakeLLM, stream: bool) -> None:
    """The client leaves -> the call to the model is closed within 2 s, so that the single local slot is free."""
    says(fake, Reply(GOOD, wait=20))
    before = len(fake.chats)
    with live.client() as http, pytest.raises(httpx.ReadTimeout):
        http.post("/v1/ask", json={"question": QUESTION, "stream": stream}, timeout=1)
    assert len(fake.chats) > before
    assert fake.wait_for_leave(2)


def test_health_and_search_answer_while_models_are_slow(live: Live, fake: FakeLLM) -> None:
    says(fake, Reply(GOOD, wait=3))
    with ThreadPoolExecutor(3) as pool, live.client() as http:
        asked = [pool.submit(http.post, "/v1/ask", json={"question": QUESTION}) for _ in range(3)]
        time.sleep(0.5)
        for _ in range(20):
            began = time.perf_counter()
            assert http.get("/healthz").status_code == 200
            assert time.perf_counter() - began < 0.5
        assert http.post("/v1/search", json={"query": "rotations"}).json()["hits"]
        assert {call.result().status_code for call in asked} == {200}


def test_one_question_too_many_is_told_to_come_back(live: Live, fake: FakeLLM) -> None:
    says(fake, Reply(GOOD, wait=2))
    with ThreadPoolExecutor(4) as pool, live.client() as http:
        calls = [
            pool.submit(http.post, "/v1/ask", json={"question": QUESTION, "stream": number % 2 == 0})
            for number in range(4)
        ]
        answers = [call.result() for call in calls]
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [200, 200, 200, 503]
    refused = next(answer for answer in answers if answer.status_code == 503)
    is_problem(refused, 503)
    assert int(refused.headers["retry-after"]) >= 1


@pytest.mark.parametrize("reply", [UNAUTHORIZED, SERVER_ERROR, Reply(raw=b"{")])
def test_a_model_that_fails_is_a_problem_without_its_secrets(live: Live, fake: FakeLLM, reply: Reply) -> None:
    says(fake, reply)
    with live.client() as http:
        response = http.post("/v1/ask", json={"question": QUESTION})
        is_problem(response, 502)
        streamed = http.post("/v1/ask", json={"question": QUESTION, "stream": True})
    last = streamed.text.strip().split("\n\n")[-1]
    assert last.startswith("event: error\n")
    assert json.loads(last.split("\ndata: ")[1])["status"] == 502
    for text in (response.text, streamed.text):
        assert "sk-very-secret" not in text
        assert "/home/" not in text


@pytest.mark.slow
def test_sigterm_tells_the_streams_and_exits_0(tmp_path: Path) -> None:
    """With a graceful timeout streams are cut without an event: tell them first, before the server waits."""
    with FakeLLM(Reply(GOOD, wait=60)) as fake:
        environ = {"LOCCIT_LLM__MODEL": "openai:fake", "LOCCIT_LLM__BASE_URL": fake.url}
        with served("--with-sample", cwd=tmp_path, **environ) as (url, process):
            texts: list[str] = []

            def ask() -> None:
                body = {"question": QUESTION, "stream": True}
                texts.append(httpx.post(f"{url}/v1/ask", json=body, trust_env=False, timeout=40).text)

            asker = threading.Thread(target=ask)
            asker.start()
            deadline = time.monotonic() + 20
            while not fake.chats and time.monotonic() < deadline:
                time.sleep(0.05)
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            asker.join(20)
            assert process.wait(20) == 0
            assert time.monotonic() - began < 8
    assert "event: hits" in texts[0]
    last = texts[0].strip().split("\n\n")[-1]
    assert last.startswith("event: error\n")
    assert json.loads(last.split("\ndata: ")[1])["title"] == "The service is stopping"
