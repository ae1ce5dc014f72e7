"""Figures with their 95 % intervals (pure; equal input gives equal intervals).

A share of yes and no has Wilson's interval, for resampling says "1.00 to 1.00" of five out of five. Everything else
is resampled: questions are drawn with replacement, and differences are of the same draw (paired).
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_SEED = 20240721
_Z = 1.959964
RESAMPLES = 2_000


class Estimate(NamedTuple):
    """A figure, its interval, and from how many questions it comes."""

    value: float
    low: float
    high: float
    n: int


def share(flags: Sequence[bool]) -> Estimate | None:
    """How often something is so; None of nothing."""
    n = len(flags)
    if not n:
        return None
    p = sum(flags) / n
    middle = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
    return Estimate(p, max(0.0, min(p, middle - half)), min(1.0, max(p, middle + half)), n)


def mean(values: Sequence[float], resamples: int = RESAMPLES) -> Estimate | None:
    """The mean over questions; None of nothing."""
    if not values:
        return None
    array = np.array(values, np.float64)
    return _estimate(float(array.mean()), array[_draws(len(array), resamples)].mean(axis=1), len(array))


def difference(values: Sequence[float], others: Sequence[float], resamples: int = RESAMPLES) -> Estimate | None:
    """The mean of `values` less that of `others`, question by question."""
    return mean([one - other for one, other in zip(values, others, strict=True)], resamples)


def between(
    statistic: Callable[[Sequence[float], Sequence[float]], float],
    first: Sequence[float],
    second: Sequence[float],
    resamples: int = RESAMPLES,
) -> Estimate | None:
    """A figure of two groups that are drawn apart; None where one is empty."""
    if not first or not second:
        return None
    one, two = np.array(first, np.float64), np.array(second, np.float64)
    left, right = one[_draws(len(one), resamples)], two[_draws(len(two), resamples, salt=1)]
    drawn = [statistic(a.tolist(), b.tolist()) for a, b in zip(left, right, strict=True)]
    return _estimate(statistic(first, second), np.array(drawn), len(second))


def _estimate(value: float, drawn: NDArray[np.float64], n: int) -> Estimate:
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Estimate(value, float(low), float(high), n)


def _draws(n: int, resamples: int, salt: int = 0) -> NDArray[np.int64]:
    return np.random.default_rng((_SEED, salt)).integers(0, n, (resamples, n))
