"""FAKE itself, from the outside: what it serves is what the models tests rely on."""

import json
import time

import httpx
import pytest

from tests.fake_llm import FakeLLM
from tests.fake_replies import TOO_LONG, UNAUTHORIZED, Reply, Request, rate_limited

ASK = {"model": "m", "messages": [{"role": "user", "content": "Grüße?"}]}


def post(fake: FakeLLM, **more: object) -> httpx.Response:
    return httpx.post(f"{fake.url}/chat/completions", json=ASK | more, trust_env=False, timeout=10)


def streamed(fake: FakeLLM) -> list[str]:
    lines: list[str] = []
    body = ASK | {"stream": True, "stream_options": {"include_usage": True}}
    with httpx.stream("POST", f"{fake.url}/chat/completions", json=body, trust_env=False, timeout=10) as reply:
        lines.extend(line.removeprefix("data: ") for line in reply.iter_lines() if line)
    return lines


def test_records_what_it_gets_and_answers_by_the_script() -> None:
    with FakeLLM("one", Reply("two", finish="length"), lambda request: f"three to {request.method}") as fake:
        replies = [post(fake).json()["choices"][0] for _ in range(4)]
    assert [reply["message"]["content"] for reply in replies] == ["one", "two", "three to POST", "three to POST"]
    assert [reply["finish_reason"] for reply in replies] == ["stop", "length", "stop", "stop"]
    assert [request.path for request in fake.requests] == ["/v1/chat/completions"] * 4
    assert fake.chats[0].body == ASK
    assert fake.prompt == "Grüße?"
    assert fake.chats[0].headers["content-type"] == "application/json"


def test_streams_pieces_usage_and_done() -> None:
    with FakeLLM(Reply("a b c", empty_choices=frozenset({"first", "middle", "last"}))) as fake:
        *chunks, done = streamed(fake)
    parsed = [json.loads(chunk) for chunk in chunks]
    deltas = [chunk["choices"][0]["delta"].get("content", "") for chunk in parsed if chunk["choices"]]
    assert "".join(deltas) == "a b c"
    assert done == "[DONE]"
    assert sum(not chunk["choices"] for chunk in parsed) == 4
    assert [chunk["usage"]["total_tokens"] for chunk in parsed if "usage" in chunk] == [18]


def test_cut_stream_ends_cleanly_without_done() -> None:
    with FakeLLM(Reply("a b c", cut_after=2)) as fake:
        assert len(streamed(fake)) == 2


def test_torn_stream_breaks_the_connection() -> None:
    with FakeLLM(Reply("a b c", drop_after=2)) as fake, pytest.raises(httpx.TransportError):
        streamed(fake)


def test_errors_and_refused_parameters() -> None:
    def by_system(request: Request) -> Reply:
        return UNAUTHORIZED if "authorization" not in request.headers else Reply()

    with FakeLLM(by_system, refuses=["max_tokens"]) as fake:
        refused = post(fake, max_tokens=5)
        assert (refused.status_code, "max_completion_tokens" in refused.text) == (400, True)
        assert post(fake).status_code == 401
        fake.script = [TOO_LONG["llama.cpp"], rate_limited("3")]
        assert post(fake).json()["error"]["type"] == "exceed_context_size_error"
        assert post(fake).headers["retry-after"] == "3"


def test_embeds_lists_models_and_knows_nothing_else() -> None:
    with FakeLLM(models=["small", "large"]) as fake:
        fake.vectors.reverse = True
        rows = httpx.post(f"{fake.url}/embeddings", json={"input": ["a", "b"]}, trust_env=False).json()["data"]
        ids = httpx.post(f"{fake.url}/embeddings", json={"input": [[1, 2]]}, trust_env=False)
        models = httpx.get(f"{fake.url}/models", trust_env=False).json()["data"]
        nothing = httpx.get(f"{fake.url}/nothing", trust_env=False)
        assert httpx.post(f"{fake.url}/nothing", json={}, trust_env=False).status_code == 404
    assert [row["index"] for row in rows] == [1, 0]
    assert rows[1]["embedding"] == fake.vectors.of("a")
    assert ids.status_code == 400
    assert [model["id"] for model in models] == ["small", "large"]
    assert nothing.status_code == 404


def test_notices_when_a_client_leaves() -> None:
    with FakeLLM(Reply("slow", wait=20)) as fake:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{fake.url}/chat/completions", json=ASK, trust_env=False, timeout=0.2)
        assert fake.wait_for_leave(1)


def test_stops_in_the_middle_of_a_slow_reply() -> None:
    begun = time.monotonic()
    with FakeLLM(Reply("slow", wait=20)) as fake, pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{fake.url}/chat/completions", json=ASK, trust_env=False, timeout=0.1)
    assert time.monotonic() - begun < 5
