"""Scores of one ranking or one set, as trec_eval defines them where it does (pure).

A ranking is paper ids, best first, each once. Judgements map paper ids to grades; above zero is relevant, and a paper
without a grade counts as not relevant here.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import groupby

Judged = Mapping[str, int]


def ndcg(ranking: Sequence[str], judged: Judged, depth: int) -> float:
    """Discounted gain of the first `depth`, the grade being the gain, as a share of the best there can be."""
    best = _discounted(sorted(judged.values(), reverse=True)[:depth])
    return _discounted([judged.get(paper, 0) for paper in ranking[:depth]]) / best if best else 0.0


def _discounted(grades: Sequence[int]) -> float:
    return sum(max(grade, 0) / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


def recall(ranking: Sequence[str], judged: Judged, depth: int) -> float:
    """The share of the relevant papers among the first `depth`."""
    wanted = {paper for paper, grade in judged.items() if grade > 0}
    return len(wanted & set(ranking[:depth])) / len(wanted) if wanted else 0.0


def reciprocal_rank(ranking: Sequence[str], judged: Judged, depth: int) -> float:
    """One over the rank of the first relevant paper; 0 where none is among the first `depth`."""
    ranks = (rank for rank, paper in enumerate(ranking[:depth], 1) if judged.get(paper, 0) > 0)
    return 1.0 / next(ranks, math.inf)


def auroc(higher: Sequence[float], lower: Sequence[float]) -> float:
    """How often one of `higher` is above one of `lower`; a tie counts as half. Neither may be empty."""
    below = sorted(lower)
    wins = sum(bisect_left(below, value) + bisect_right(below, value) for value in higher)
    return wins / (2 * len(higher) * len(below))


def risk_by_coverage(answers: Sequence[tuple[float, bool]], questions: int) -> list[tuple[float, float]]:
    """`(coverage, risk)` as ever less confident answers are given: answers are (confidence, whether it is right).

    Coverage is of all `questions`, also those that get no answer at any floor. Answers of one confidence come together:
    no floor tells them apart.
    """
    points: list[tuple[float, float]] = []
    given = wrong = 0
    ordered = sorted(answers, key=lambda answer: -answer[0])
    for _, equal in groupby(ordered, key=lambda answer: answer[0]):
        for _, right in equal:
            given += 1
            wrong += not right
        points.append((given / questions, wrong / given))
    return points
