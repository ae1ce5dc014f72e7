"""The floor: near and covered is answerable, far and uncovered is not."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.floor import DEFAULT_FLOOR, confidence, content_words, coverage, information, signals
from service.minilm import MiniLM
from vectorstore.paper import Hit, Paper, Passage

ABSTRACT = "We propose Exact Orthogonal Initialization based on composing random Givens rotations."
PAPER = Paper("p", ABSTRACT, "Sparser, Better, Deeper, Stronger")
HIT = Hit(Passage("p", 0, len(ABSTRACT), ABSTRACT), PAPER, 1.0, cosine=0.7)
QUESTION = "How is exact orthogonal initialisation composed of Givens rotations?"
READER = MiniLM()
RARE = information(QUESTION, dict.fromkeys(content_words(QUESTION), 1), 1000)


def test_near_and_covered_is_enough() -> None:
    assert confidence(QUESTION, [HIT], RARE, READER) > 0.9


def test_far_and_uncovered_is_not() -> None:
    far = replace(HIT, cosine=0.1)
    question = "What is the capital of France?"
    weights = information(question, {"capital": 1, "france": 0}, 1000)
    assert confidence(question, [far], weights, READER) < DEFAULT_FLOOR


def test_no_hits_is_no_confidence() -> None:
    assert confidence(QUESTION, [], RARE, READER) == 0.0


def test_rare_words_count_more() -> None:
    weights = information("capital rotations", {"capital": 0, "rotations": 900}, 1000)
    assert weights["capit"] > 10 * weights["rotat"]
    assert coverage(weights, HIT) < 0.1


def test_british_spelling_is_covered_by_american() -> None:
    assert coverage(information("initialisation", {"initialisation": 0}, 10), HIT) == 1.0


@given(st.text(max_size=50), st.floats(-1, 1))
def test_confidence_is_a_probability(question: str, cosine: float) -> None:
    assert 0.0 <= confidence(question, [replace(HIT, cosine=cosine)], information(question, {}, 10), READER) <= 1.0


@pytest.mark.parametrize(
    "question",
    [
        "How many GPUs does Exact Orthogonal Initialization need?",
        "What learning rate is Exact Orthogonal Initialization trained with?",
    ],
)
def test_a_detail_that_the_abstract_leaves_out_is_not_enough(question: str) -> None:
    weights = information(question, dict.fromkeys(content_words(question), 1), 1000)
    assert confidence(question, [HIT], weights, READER) < DEFAULT_FLOOR


def test_a_number_counts_only_where_it_counts_what_is_asked() -> None:
    abstract = "We collect the dataset UIIS10K. It holds 10,632 annotated images of underwater scenes."
    hit = replace(HIT, paper=Paper("q", abstract), passage=Passage("q", 0, len(abstract), abstract))
    asked, other = (
        signals(question, [hit], {}, READER)
        for question in ("How many images does UIIS10K hold?", "How many divers does UIIS10K need?")
    )
    assert asked is not None
    assert other is not None
    assert asked.counted > other.counted + 0.1


@pytest.mark.parametrize("abstract", ["…", "{}", "−"])
def test_an_abstract_without_words_is_no_evidence(abstract: str) -> None:
    hit = replace(HIT, paper=Paper("q", abstract), passage=Passage("q", 0, len(abstract), abstract))
    assert confidence(QUESTION, [hit], RARE, READER) == 0.0
