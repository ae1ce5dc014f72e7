"""Vectors from an endpoint: strings in, and nothing believed of what comes out."""

import json
import math

import numpy as np
import pytest

from service import tokens
from service.config import Embeddings
from service.errors import EmbeddingUnavailable
from service.models import embeddings
from tests import fake_replies as replies
from tests.fake_llm import FakeLLM
from tests.fake_replies import Reply
from vectorstore.paper import Embedder

KEY = "sk-very-secret-0123456789abcdef"


def embedder(fake: FakeLLM, **settings: object) -> Embedder:
    return embeddings(Embeddings.model_validate({"model": "openai:small", "base_url": fake.url, **settings}))


def unit(vector: list[float]) -> list[float]:
    length = math.hypot(*vector)
    return [value / length for value in vector]


def test_sends_strings_and_gives_unit_rows_in_order(fake_llm: FakeLLM) -> None:
    texts = ["one", "", "ünï <|endoftext|>", "  "]
    rows = embedder(fake_llm).embed(texts)
    assert fake_llm.requests[0].body["input"] == ["one", " ", "ünï <|endoftext|>", " "]
    assert fake_llm.requests[0].body["encoding_format"] == "float"
    expected = [unit(fake_llm.vectors.of((text.strip() and text) or " ")) for text in texts]
    assert np.allclose(rows, expected, atol=1e-6)
    assert rows.dtype == np.float32


def test_rows_are_matched_by_index(fake_llm: FakeLLM) -> None:
    fake_llm.vectors.reverse = True
    rows = embedder(fake_llm).embed(["one", "two", "three"])
    assert np.allclose(rows, [unit(fake_llm.vectors.of(text)) for text in ("one", "two", "three")], atol=1e-6)


def test_asks_in_batches(fake_llm: FakeLLM) -> None:
    rows = embedder(fake_llm).embed([f"text {number}" for number in range(130)])
    assert rows.shape == (130, 8)
    assert [len(request.body["input"]) for request in fake_llm.requests] == [64, 64, 2]


def test_nothing_asks_nothing(fake_llm: FakeLLM) -> None:
    assert len(embedder(fake_llm).embed([])) == 0
    assert not fake_llm.requests


def test_name_limit_and_count(fake_llm: FakeLLM) -> None:
    asked = embedder(fake_llm)
    assert (asked.name, asked.max_tokens, embedder(fake_llm, max_tokens=2048).max_tokens) == ("openai:small", 512, 2048)
    assert asked.count("") == 2
    assert asked.count("hello world " * 50) >= 1.2 * tokens.count("hello world " * 50)


@pytest.mark.parametrize("drop", [1, 2])
def test_a_count_that_differs_is_refused_also_when_it_is_data_empty(fake_llm: FakeLLM, drop: int) -> None:
    fake_llm.vectors.drop = drop
    with pytest.raises(EmbeddingUnavailable, match=r"vectors for 2 texts|can't be used"):
        embedder(fake_llm).embed(["one", "two"])


@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
def test_vectors_that_are_zero_or_not_finite_are_refused(fake_llm: FakeLLM, value: float) -> None:
    fake_llm.vectors.value = value
    with pytest.raises(EmbeddingUnavailable, match="zero or not finite"):
        embedder(fake_llm).embed(["one"])


def test_vectors_that_are_no_numbers_are_refused(fake_llm: FakeLLM) -> None:
    fake_llm.vectors.value = "x"
    with pytest.raises(EmbeddingUnavailable):
        embedder(fake_llm).embed(["one"])


def test_vectors_of_unlike_sizes_are_refused(fake_llm: FakeLLM) -> None:
    rows = [{"object": "embedding", "index": place, "embedding": [1.0] * (place + 1)} for place in range(2)]
    fake_llm.vectors.replies = [Reply(raw=json.dumps({"object": "list", "model": "m", "data": rows}).encode())]
    with pytest.raises(EmbeddingUnavailable, match="unlike sizes"):
        embedder(fake_llm).embed(["one", "two"])


def test_another_dimension_than_before_is_refused(fake_llm: FakeLLM) -> None:
    asked = embedder(fake_llm)
    asked.embed(["one"])
    fake_llm.vectors.dimension = 9
    with pytest.raises(EmbeddingUnavailable, match="9 numbers after 8"):
        asked.embed(["two"])


def test_passing_errors_are_tried_again(fake_llm: FakeLLM) -> None:
    fake_llm.vectors.replies = [replies.rate_limited("0"), replies.LOADING]
    assert embedder(fake_llm).embed(["one"]).shape == (1, 8)
    assert len(fake_llm.requests) == 3


@pytest.mark.parametrize(
    ("reply", "sentence", "calls"),
    [
        (replies.UNAUTHORIZED, "refused the key", 1),
        (replies.rate_limited("60"), "limits the rate", 1),
        (replies.rate_limited("0"), "limits the rate", 3),
        (replies.TOO_LONG["llama.cpp"], "embeddings.max_tokens", 1),
        (replies.NOT_JSON, "can't be used", 1),
    ],
)
def test_errors_are_one_sentence_without_the_key(fake_llm: FakeLLM, reply: Reply, sentence: str, calls: int) -> None:
    fake_llm.vectors.replies = [reply] * 5
    with pytest.raises(EmbeddingUnavailable, match=sentence) as caught:
        embedder(fake_llm, api_key=KEY).embed(["one"])
    assert KEY not in str(caught.value)
    assert len(fake_llm.requests) == calls


def test_nobody_listens() -> None:
    with FakeLLM() as fake:
        asked = embedder(fake)
    with pytest.raises(EmbeddingUnavailable, match=r"127\.0\.0\.1:\d+ can't be reached"):
        asked.embed(["one"])
