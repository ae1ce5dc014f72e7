"""Law 6: passages tile their abstract, and none is longer than the embedding model reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.minilm import MiniLM
from tests.embedders import HashingEmbedder
from vectorstore.paper import Embedder, Paper
from vectorstore.split import embedded_text, split

WORDS = st.sampled_from(
    ["word", "e\u0301", "😀", "שלום", "مرحبا", "$\\frac{3}{2}$", "{x}", "end.", "Next", "  ", "\n", "3.5", "日本語。"]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=300).map(" ".join)


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def assert_law_6(paper: Paper, embedder: Embedder) -> None:
    passages = split(paper, embedder)
    assert "".join(passage.text for passage in passages) == paper.abstract
    place = 0
    for passage in passages:
        assert (passage.start, paper.abstract[passage.start : passage.end]) == (place, passage.text)
        assert passage.text
        assert embedder.count(embedded_text(paper, passage, embedder)) <= embedder.max_tokens
        place = passage.end


@given(text=TEXTS, title=st.none() | TEXTS)
def test_passages_tile_with_a_small_embedder(text: str, title: str | None) -> None:
    assert_law_6(Paper("p", text, title), HashingEmbedder())


@given(text=TEXTS, title=st.none() | TEXTS)
def test_passages_tile_with_the_built_in_embedder(minilm: MiniLM, text: str, title: str | None) -> None:
    assert_law_6(Paper("p", text * 3, title), minilm)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 50_000,
        "日本" * 5_000,
        "😀" * 3_000,
        " " * 900 + "a",
        "a" + "\n" * 5_000,
        "no stop " * 2_000,
        "A. " * 3_000,
    ],
)
def test_texts_without_sentences_tile_too(minilm: MiniLM, text: str) -> None:
    assert_law_6(Paper("p", text, "A title"), minilm)


def test_a_short_abstract_is_one_passage(minilm: MiniLM) -> None:
    (passage,) = split(Paper("p", "We show it. It works."), minilm)
    assert passage.passage_id == "p:0-21"


def test_a_long_abstract_is_cut_between_sentences_into_halves(minilm: MiniLM) -> None:
    sentence = "We show that pruning removes most of the weights of a network. "
    abstract = (sentence * 24).strip()
    first, second = split(Paper("p", abstract), minilm)
    assert second.text.startswith("We show")
    assert abs(minilm.count(first.text) - minilm.count(second.text)) < 40


def test_a_title_that_eats_the_room_is_shortened(minilm: MiniLM) -> None:
    paper = Paper("p", "We show it.", "Very long title " * 100)
    (passage,) = split(paper, minilm)
    assert minilm.count(embedded_text(paper, passage, minilm)) < 100


def test_no_abstract_has_no_passages(minilm: MiniLM) -> None:
    assert split(Paper("p", ""), minilm) == []
