"""Scores against values reckoned by hand and by trec_eval, and the laws that any such score keeps."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.evaluation.estimates import between, difference, mean, share
from service.evaluation.measures import auroc, ndcg, recall, reciprocal_rank, risk_by_coverage

JUDGED = {"a": 3, "b": 2, "c": 1, "d": 0, "e": 1}
RANKING = ["x", "b", "d", "a", "y", "c"]


def test_ndcg_is_that_of_trec_eval() -> None:
    """trec_eval's ndcg_cut.10 and ndcg_cut.5 of the same ranking."""
    by_hand = (2 / math.log2(3) + 3 / math.log2(5) + 1 / math.log2(7)) / (
        3 + 2 / math.log2(3) + 1 / math.log2(4) + 1 / math.log2(5)
    )
    assert ndcg(RANKING, JUDGED, 10) == pytest.approx(by_hand)
    assert ndcg(RANKING, JUDGED, 10) == pytest.approx(0.560438354576915)
    assert ndcg(RANKING, JUDGED, 5) == pytest.approx(0.49183850613403596)


def test_recall_and_reciprocal_rank_are_those_of_trec_eval() -> None:
    assert recall(RANKING, JUDGED, 5) == 0.5
    assert recall(RANKING, JUDGED, 6) == 0.75
    assert reciprocal_rank(RANKING, JUDGED, 10) == 0.5
    assert reciprocal_rank(RANKING, JUDGED, 1) == 0.0


def test_a_negative_grade_is_not_relevant() -> None:
    """Cranfield has grades below zero."""
    assert ndcg(["a", "b"], {"a": -1, "b": 1}, 10) == pytest.approx(1 / math.log2(3))
    assert recall(["a"], {"a": -1, "b": 1}, 10) == 0.0
    assert reciprocal_rank(["a", "b"], {"a": -1, "b": 1}, 10) == 0.5


papers = st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1)


@given(ranking=papers, judged=st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1, 3), min_size=1))
def test_scores_lie_between_none_and_all(ranking: list[str], judged: dict[str, int]) -> None:
    ideal = sorted(judged, key=lambda paper: -judged[paper])
    for score in (ndcg, recall, reciprocal_rank):
        assert 0 <= score(ranking, judged, 10) <= score(ideal, judged, 10) + 1e-12 <= 1 + 2e-12


def test_auroc_counts_pairs() -> None:
    assert auroc([0.9, 0.4], [0.5, 0.1]) == 0.75
    assert auroc([0.5], [0.5]) == 0.5
    assert auroc([1.0, 0.9], [0.1]) == 1.0


@given(
    higher=st.lists(st.integers(0, 5), min_size=1, max_size=8),
    lower=st.lists(st.integers(0, 5), min_size=1, max_size=8),
)
def test_auroc_is_what_counting_every_pair_gives(higher: list[float], lower: list[float]) -> None:
    wins = sum((one > other) + (one == other) / 2 for one in higher for other in lower)
    assert auroc(higher, lower) == pytest.approx(wins / (len(higher) * len(lower)))
    assert auroc(higher, lower) + auroc(lower, higher) == pytest.approx(1.0)


def test_risk_by_coverage() -> None:
    """The surest is right, two equally sure ones are half right, a fourth question is never answered."""
    assert risk_by_coverage([(0.9, True), (0.5, False), (0.5, True)], 4) == [(0.25, 0.0), (0.75, pytest.approx(1 / 3))]
    assert risk_by_coverage([], 4) == []


def test_a_share_has_wilsons_interval() -> None:
    """Resampling five right of five says "from 1 to 1", which five can't tell."""
    five = share([True] * 5)
    assert five is not None
    assert list(five) == pytest.approx([1.0, 0.5655, 1.0, 5], abs=1e-4)
    half = share([True, False] * 50)
    assert half is not None
    assert list(half) == pytest.approx([0.5, 0.4038, 0.5962, 100], abs=1e-4)
    assert share([]) is None


def test_a_mean_has_a_resampled_interval_that_stays_the_same() -> None:
    values = [0.0, 0.25, 1.0, 0.5] * 25
    found = mean(values)
    assert found is not None
    assert found == mean(values)
    assert found.value == pytest.approx(0.4375)
    error = 1.96 * (sum((value - 0.4375) ** 2 for value in values) / 100 / 100) ** 0.5
    assert found.low == pytest.approx(0.4375 - error, abs=0.012)
    assert found.high == pytest.approx(0.4375 + error, abs=0.012)
    assert mean([]) is None


def test_a_difference_is_paired() -> None:
    """Two retrievers that differ by .1 on every query differ for sure, however much the queries do."""
    values = [0.1, 0.9, 0.3, 0.6] * 10
    found = difference([value + 0.1 for value in values], values)
    assert found is not None
    assert [found.low, found.high] == pytest.approx([0.1, 0.1])


def test_a_figure_of_two_groups() -> None:
    found = between(auroc, [0.9, 0.8, 0.7, 0.4], [0.6, 0.3, 0.2, 0.1])
    assert found is not None
    assert found.value == pytest.approx(15 / 16)
    assert found.low < found.value < found.high == 1.0
    assert between(auroc, [], [0.5]) is None
