"""The floor: near and covered is answerable, far and uncovered is not."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from service.floor import DEFAULT_FLOOR, confidence, content_words, coverage, information
from vectorstore.paper import Hit, Paper, Passage

ABSTRACT = "We propose Exact Orthogonal Initialization based on composing random Givens rotations."
PAPER = Paper("p", ABSTRACT, "Sparser, Better, Deeper, Stronger")
HIT = Hit(Passage("p", 0, len(ABSTRACT), ABSTRACT), PAPER, 1.0, cosine=0.7)
QUESTION = "How is exact orthogonal initialisation composed of Givens rotations?"
RARE = dict.fromkeys(content_words(QUESTION), 1)


def test_near_and_covered_is_enough() -> None:
    assert confidence(QUESTION, [HIT], RARE, 1000) > 0.9


def test_far_and_uncovered_is_not() -> None:
    far = replace(HIT, cosine=0.1)
    assert confidence("What is the capital of France?", [far], {"capital": 1, "france": 0}, 1000) < DEFAULT_FLOOR


def test_no_hits_is_no_confidence() -> None:
    assert confidence(QUESTION, [], RARE, 1000) == 0.0


def test_rare_words_count_more() -> None:
    weights = information("capital rotations", {"capital": 0, "rotations": 900}, 1000)
    assert weights["capit"] > 10 * weights["rotat"]
    assert coverage(weights, HIT) < 0.1


def test_british_spelling_is_covered_by_american() -> None:
    assert coverage(information("initialisation", {"initialisation": 0}, 10), HIT) == 1.0


@given(st.text(max_size=50), st.floats(-1, 1))
def test_confidence_is_a_probability(question: str, cosine: float) -> None:
    assert 0.0 <= confidence(question, [replace(HIT, cosine=cosine)], {}, 10) <= 1.0
