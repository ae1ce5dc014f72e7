"""Whether the collection can answer at all: said before any model is asked (pure, given word-piece vectors).

Four signals, none of which knows the embedding model of the collection: how alike the best sentence is to the question
as a whole, and how little of it where it fits worst; how much of the question's information (rare words count more) one
paper covers; and, where a number is asked for, whether a sentence with a number speaks of what is counted. Weights and
floor were fitted on labelled questions (BENCHMARKS.md).
"""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from service import quantities, words
from service.maxsim import Pieces
from vectorstore.paper import Hit, Vectors
from vectorstore.sentences import sentences

_PAPERS = 3
# As if the collection held so many passages more: in a handful of papers a word that is missing proves little.
_MORE = 50.0
DEFAULT_FLOOR = 0.25
_COUNTS = re.compile(
    r"\bhow (?:many|much|long|often|big|large|fast|far|expensive)\b|\bwhat (?:[\w-]+ ){0,3}(?:rate|size|perplexity"
    r"|accuracy|error|p-value|age|number|strength|factor|resolution|degree|percentage|complexity)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\b(?:how (?:many|much|long|often|big|large|fast)|which|what)\b", re.IGNORECASE)
# What `counted` is where no number is asked for, and where no sentence has one.
_NO_NUMBER_ASKED, _NO_NUMBER_THERE = 0.75, 0.2


class Reader(Protocol):
    """What reads the question and the sentences: the built-in model."""

    def token_vectors(self, texts: Sequence[str]) -> Sequence[Vectors]:
        """For each text, one unit-length row a word piece."""
        ...

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where each of those word pieces stands in `text`."""
        ...


class Signals(NamedTuple):
    """What the confidence is made of, each about 0 to 1."""

    alike: float  # mean over the question's word pieces of the best cosine to one of the best sentence's
    held: float  # the same over its content words, by information, to all of the best paper
    worst: float  # as `alike`, over the quarter of the pieces that fits worst
    counted: float  # how well what is counted is matched in a sentence with a number


_BIAS = -18.3
_WEIGHTS = Signals(alike=4.87, held=8.98, worst=16.32, counted=7.34)


class _Read(NamedTuple):
    """A text of a paper: its place among the papers, and how well each piece of the question is matched in it."""

    paper: int
    text: str
    title: bool
    matches: Vectors


def confidence(question: str, hits: Sequence[Hit], weights: dict[str, float], reader: Reader) -> float:
    """From 0 to 1. `weights`: what `information` says of the question."""
    found = signals(question, hits, weights, reader)
    if found is None:
        return 0.0
    return 1.0 / (1.0 + math.exp(-_BIAS - sum(weight * value for weight, value in zip(_WEIGHTS, found, strict=True))))


def signals(question: str, hits: Sequence[Hit], weights: dict[str, float], reader: Reader) -> Signals | None:
    """None where there is nothing to compare. `weights`: what `information` says of the question."""
    plain = words.plain(question)
    content = _content(plain, reader.spans(plain))
    read = _read(plain, hits[:_PAPERS], reader) if content else []
    said = [each for each in read if not each.title]
    if not said:
        return None
    return Signals(
        alike=max(float(each.matches.mean()) for each in said),
        held=_held(content, read, weights),
        worst=max(float(np.sort(each.matches)[: max(1, len(each.matches) // 4)].mean()) for each in said),
        counted=_counted(plain, content, said),
    )


def _content(plain: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, str, list[int]]]:
    """The content words of the question: where each begins, the word, and the numbers of its pieces."""
    found = []
    for match in words.WORD.finditer(plain):
        pieces = [place for place, (start, end) in enumerate(spans) if match.start() <= start < end <= match.end()]
        if pieces and match.group().casefold() not in words.STOP_WORDS:
            found.append((match.start(), match.group(), pieces))
    return found


def _read(plain: str, hits: Sequence[Hit], reader: Reader) -> list[_Read]:
    texts = [
        (place, " ".join(text.split()), title)
        for place, hit in enumerate(hits)
        for text, title in (
            (hit.paper.title or "", True),
            *((hit.paper.abstract[start:end], False) for start, end in sentences(hit.paper.abstract)),
        )
        if words.tokens(text)
    ]
    asked, *given = reader.token_vectors([plain, *(words.plain(text) for _, text, _ in texts)])
    return [
        _Read(place, text, title, matches)
        for (place, text, title), vectors, matches in zip(texts, given, Pieces(given).matches(asked).T, strict=True)
        if len(vectors) and len(asked)
    ]


def _held(content: Sequence[tuple[int, str, list[int]]], read: Sequence[_Read], weights: dict[str, float]) -> float:
    known = np.array([weights.get(words.stem(word), 1.0) for _, word, _ in content])
    best = 0.0
    for paper in {each.paper for each in read}:
        matches = np.max([each.matches for each in read if each.paper == paper], axis=0)
        by_word = np.array([matches[pieces].mean() for _, _, pieces in content])
        best = max(best, float(by_word @ known / max(float(known.sum()), 1e-9)))
    return best


def _counted(plain: str, content: Sequence[tuple[int, str, list[int]]], said: Sequence[_Read]) -> float:
    asks = _ASKS.search(plain)
    wanted = [pieces for start, _, pieces in content if asks and start >= asks.end()][:2]
    if not wanted or not _COUNTS.search(plain):
        return _NO_NUMBER_ASKED
    matched = [
        float(np.mean([each.matches[pieces].mean() for pieces in wanted]))
        for each in said
        if quantities.numbers(each.text)
    ]
    return max(matched, default=_NO_NUMBER_THERE)


def information(question: str, frequencies: dict[str, int], size: int) -> dict[str, float]:
    """Stem -> inverse passage frequency, for the content words of the question.

    `frequencies`: in how many of the collection's `size` passages each of them occurs.
    """
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
