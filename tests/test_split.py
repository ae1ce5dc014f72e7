"""Law 6: passages tile their abstract, and none is longer than the embedding model reads."""

import time
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from service.minilm import MiniLM
from tests.conftest import SHARED
from tests.embedders import HashingEmbedder
from vectorstore.paper import Embedder, Paper
from vectorstore.readers import read
from vectorstore.split import embedded_text, split

SENTENCE = "We show that pruning the attention heads of a transformer costs less accuracy than expected. "
NASTY = st.text(
    st.one_of(
        st.sampled_from(" .!?\n\t$\\{}()[]ée\u0301\u0323👩🏽\u200d💻\ufe0fשלום العربية漢字。各"),
        st.characters(codec="utf-8", exclude_characters="\x00"),
    ),
    max_size=600,
)


class EveryLetter(HashingEmbedder):
    """Tokens that reach over every cut: letters count, and so does each pair of equal neighbours."""

    def count(self, text: str) -> int:
        return len(text) + sum(one == other for one, other in pairwise(text)) + 2


class MoreThanItsParts(HashingEmbedder):
    """A long text has more tokens than its parts have alone."""

    def count(self, text: str) -> int:
        return int(len(text.split()) ** 1.2) + 2


@cache
def _minilm() -> MiniLM:
    return MiniLM()


def _tiled(paper: Paper, embedder: Embedder) -> list[str]:
    passages = split(paper, embedder)
    assert "".join(passage.text for passage in passages) == paper.abstract
    position = 0
    for passage in passages:
        assert passage.start == position < passage.end
        assert passage.text == paper.abstract[passage.start : passage.end]
        assert embedder.count(embedded_text(paper, passage, embedder)) <= embedder.max_tokens
        position = passage.end
    assert position == len(paper.abstract)
    return [passage.text for passage in passages]


@given(NASTY, st.one_of(st.none(), NASTY), st.sampled_from([16, 40, 256]))
@example("   ", None, 16)
@example("", "A title", 16)
@example("👩🏽\u200d💻" * 300, "e\u0301" * 200, 16)
def test_passages_tile_any_abstract(abstract: str, title: str | None, size: int) -> None:
    paper = Paper("p", abstract, title=title)
    _tiled(paper, HashingEmbedder(max_tokens=size))
    _tiled(paper, EveryLetter(max_tokens=size))
    _tiled(paper, MoreThanItsParts(max_tokens=size))


def test_parts_that_come_to_more_together_are_cut_again() -> None:
    assert len(_tiled(Paper("p", SENTENCE * 8), MoreThanItsParts(max_tokens=58))) == 8


@settings(max_examples=60)
@given(st.lists(NASTY, max_size=6), st.one_of(st.none(), NASTY))
def test_passages_tile_any_abstract_as_the_built_in_model_reads_it(parts: list[str], title: str | None) -> None:
    _tiled(Paper("p", SENTENCE.join(parts) * 3, title=title), _minilm())


@pytest.mark.parametrize("letter", ["a", "é", "漢", "👩🏽\u200d💻", "a-", "$x_1$", " ", "\n", "no stop ", "A. "])
def test_fifty_thousand_characters_without_a_sentence(letter: str) -> None:
    abstract = letter * (50_000 // len(letter))
    began = time.process_time()
    for embedder in (_minilm(), EveryLetter(max_tokens=256)):
        _tiled(Paper("p", abstract, title="On long words"), embedder)
    assert time.process_time() - began < 10


def test_a_short_abstract_is_one_passage() -> None:
    assert _tiled(Paper("p", SENTENCE), _minilm()) == [SENTENCE]


def test_cuts_are_between_sentences() -> None:
    for text in _tiled(Paper("p", SENTENCE * 40), _minilm()):
        assert text.startswith("We show")
        assert text.endswith("expected. ")


def test_a_stub_is_never_left_over() -> None:
    """Seventeen sentences where sixteen fit: eight and nine, not sixteen and one."""
    embedder = HashingEmbedder(max_tokens=len(SENTENCE.split()) * 16 + 2)
    lengths = [len(text.split()) for text in _tiled(Paper("p", SENTENCE * 17), embedder)]
    assert [length // len(SENTENCE.split()) for length in lengths] == [9, 8]


def test_no_cut_falls_between_a_letter_and_its_accent() -> None:
    abstract = "e\u0301\u0323" * 200 + "👩\u200d💻" * 200
    for text in _tiled(Paper("p", abstract), EveryLetter(max_tokens=32))[1:]:
        assert not unicodedata.combining(text[0])
        assert text[0] != "\u200d"


@pytest.mark.parametrize(
    ("title", "head"),
    [
        ("On Pruning", "On Pruning. "),
        ("On Pruning.", "On Pruning. "),
        ("Why prune?", "Why prune? "),
        (None, ""),
        (" . ", ""),
    ],
)
def test_the_title_stands_in_front_for_the_model_only(title: str | None, head: str) -> None:
    paper = Paper("p", SENTENCE, title=title)
    (passage,) = split(paper, _minilm())
    assert passage.text == SENTENCE
    assert embedded_text(paper, passage, _minilm()) == head + SENTENCE


@pytest.mark.parametrize("title", ["word " * 500, "w" * 5_000, "漢" * 5_000])
def test_a_long_title_leaves_three_quarters_to_the_abstract(title: str) -> None:
    embedder = _minilm()
    paper = Paper("p", SENTENCE * 40, title=title)
    _tiled(paper, embedder)
    head = embedded_text(paper, split(paper, embedder)[0], embedder).removesuffix(split(paper, embedder)[0].text)
    assert embedder.count(head) <= embedder.max_tokens // 4 + 2


@pytest.fixture(scope="module")
def icml() -> Iterator[list[Paper]]:
    file = SHARED / "data" / "corpora" / "icml2024.jsonl.gz"
    if not file.exists():
        pytest.skip("the ICML corpus is not beside the checkout")
    with file.open("rb") as data:
        yield [record for record in read(data) if isinstance(record, Paper)]


def test_a_whole_conference_is_cut_in_seconds_and_evenly(icml: list[Paper]) -> None:
    embedder = _minilm()
    began = time.process_time()
    papers = [split(paper, embedder) for paper in icml]
    assert time.process_time() - began < 6  # 2.3 s alone on a machine of 2026
    shares = sorted(
        min(len(passage.text) for passage in passages) / max(len(passage.text) for passage in passages)
        for passages in papers
        if len(passages) > 1
    )
    assert shares[len(shares) // 10] > 0.6
    for paper, passages in zip(icml[::50], papers[::50], strict=True):
        assert _tiled(paper, embedder) == [passage.text for passage in passages]
