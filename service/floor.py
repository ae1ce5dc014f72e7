"""Whether the collection can answer at all: said before any model is asked (pure).

Two signals tell a question of this collection from one that is not: how near the nearest passage lies, and how much
of the question's information (rare words count more) one single paper covers. Their weights were fitted on labelled
questions (BENCHMARKS.md); the confidence is a probability for a collection like that one.
"""

import math
from collections.abc import Sequence

from service import words
from vectorstore.paper import Hit

_NEAREST, _COVERED, _BIAS = 6.08, 9.13, -7.13
_PAPERS = 5
# As if the collection held so many passages more: in a handful of papers a word that is missing proves little.
_MORE = 50.0
DEFAULT_FLOOR = 0.4


def confidence(question: str, hits: Sequence[Hit], frequencies: dict[str, int], size: int) -> float:
    """From 0 to 1. `frequencies`: in how many of the collection's `size` passages each word of the question occurs."""
    if not hits:
        return 0.0
    nearest = max((hit.cosine for hit in hits if hit.cosine is not None), default=0.0)
    weights = information(question, frequencies, size)
    covered = max(coverage(weights, hit) for hit in hits[:_PAPERS])
    return 1.0 / (1.0 + math.exp(-(_NEAREST * nearest + _COVERED * covered + _BIAS)))


def information(question: str, frequencies: dict[str, int], size: int) -> dict[str, float]:
    """Stem -> inverse passage frequency, for the content words of the question."""
    weights: dict[str, float] = {}
    for word in content_words(question):
        seen = frequencies.get(word, 0)
        weights[words.stem(word)] = math.log(1.0 + (max(size - seen, 0) + _MORE) / (seen + 1.0))
    return weights


def content_words(question: str) -> list[str]:
    """The words of the question that carry information, lower case, once each."""
    return list(
        dict.fromkeys(word.casefold() for word in words.tokens(question) if word.casefold() not in words.STOP_WORDS)
    )


def coverage(weights: dict[str, float], hit: Hit) -> float:
    """The share of the question's information that the hit's paper holds, title and abstract."""
    total = sum(weights.values())
    held = set(words.stems(f"{hit.paper.title or ''}\n{hit.paper.abstract}"))
    return sum(weight for stem, weight in weights.items() if stem in held) / total if total else 0.0
