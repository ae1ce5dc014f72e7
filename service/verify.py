"""A sentence and the words it cites -> verdict, score, and the spans that carry it (pure, given token vectors).

The model's mark is a hint, not a proof. For each sentence we look for the sentences of the evidence that say it,
first among what it cites, then among all that was sent. What fits best still falls when a number, a unit, a name, a
negation or a direction disagrees: these vetoes are what a similarity can't see.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from service import vetoes, words
from service.domain import Verdict
from service.evidence import Evidence
from service.maxsim import Pieces
from vectorstore.paper import Vectors
from vectorstore.sentences import sentences

# A score is the estimated chance that the quotes carry the sentence. No command fits weights and thresholds yet: how
# well they rank labelled claims was measured only roughly. `supported` asks for no veto besides.
SUPPORTED = 0.7
PARTLY = 0.5
MAX_QUOTES = 3
LONGEST = 1_500
_CANDIDATES = 4
# What a check objects to stays under `supported`, whatever the similarity: a score must not contradict its verdict.
_NEVER_SURE = 0.69
_TALKS_OF_IT = 0.5
_REPEATS = 0.75
_JOINED = 12

TokenVectors = Callable[[Sequence[str]], Sequence[Vectors]]


class Quote(NamedTuple):
    """A sentence of the evidence: `abstract[start:end] == text`, in the paper of evidence `number`."""

    number: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Check:
    """What became of one sentence. `quotes` carry it; empty where nothing does. `why` names what disagrees."""

    verdict: Verdict
    score: float
    quotes: tuple[Quote, ...]
    why: str | None = None
    denied: bool = False
    repaired: bool = False
    signals: "Signals | None" = None


class Signals(NamedTuple):
    """What a score is made of, each from 0 to 1."""

    alike: float  # mean over the sentence's word pieces of the best cosine to one of the quotes'
    worst: float  # the same over the fifth of them that fits worst
    denied: float  # 1 where a quote contradicts it
    unsaid: float  # 1 where something of it is in no quote


_BIAS = -1.12
_WEIGHTS = Signals(alike=1.2, worst=3.03, denied=-1.45, unsaid=-0.47)


def quotes_of(evidence: Sequence[Evidence]) -> list[Quote]:
    """Every sentence of the evidence with its place in its abstract."""
    return [
        Quote(item.number, item.passage.start + start, item.passage.start + end, item.passage.text[start:end])
        for item in evidence
        for start, end in sentences(item.passage.text)
    ]


class Verifier:
    """Checks sentences against one question's evidence; embeds each sentence of it once, and only if it must."""

    def __init__(self, evidence: Sequence[Evidence], token_vectors: TokenVectors) -> None:
        self._paper_of = {item.number: item.paper.paper_id for item in evidence}
        self._quotes = quotes_of(evidence)
        self._token_vectors = token_vectors
        self._pieces: Pieces | None = None

    def check(self, sentence: str, cited: Sequence[int]) -> Check:
        """The verdict on `sentence`, which cites evidence `cited` (maybe none)."""
        if not words.stems(sentence):
            return Check("unsupported", 0.0, (), "it says nothing that can be checked")
        if len(sentence) > LONGEST:
            return Check("unsupported", 0.0, (), f"a sentence of more than {LONGEST:,} characters can't be checked")
        fits = self._fits(sentence)
        among_cited = self._best(sentence, [fit for fit in fits if fit.quote.number in cited], across=True)
        if among_cited and among_cited.verdict == "supported":
            return self._corroborated(sentence, among_cited, fits, cited)
        among_all = self._best(sentence, fits)
        if among_all and (among_cited is None or _rank(among_all) > _rank(among_cited)):
            return replace(among_all, repaired=among_all.verdict == "supported")
        return among_cited or Check("unsupported", 0.0, (), "no passage was sent")

    def locate(self, sentence: str, cited: Sequence[int]) -> Check:
        """The words of each cited passage that come nearest to `sentence`, unchecked: for `verify = "off"`."""
        fits = self._fits(sentence) if cited and words.stems(sentence) else []
        nearest = [
            min((fit for fit in fits if fit.quote.number == number), key=_by_fit, default=None) for number in cited
        ]
        return Check("partly", 0.0, tuple(fit.quote for fit in nearest if fit))

    def _corroborated(self, sentence: str, check: Check, fits: Sequence["_Fit"], cited: Sequence[int]) -> Check:
        """`check` with the quotes of every other cited passage that carries the sentence by itself."""
        used = {quote.number for quote in check.quotes}
        others = [
            self._best(sentence, [fit for fit in fits if fit.quote.number == number])
            for number in cited
            if number not in used
        ]
        added = [quote for other in others if other and other.verdict == "supported" for quote in other.quotes]
        return replace(check, quotes=tuple(sorted({*check.quotes, *added}, key=_by_place)))

    def _fits(self, sentence: str) -> list["_Fit"]:
        contained = [vetoes.containment(sentence, quote.text) for quote in self._quotes]
        verbatim = any(share >= 1.0 for share in contained)
        matches = np.array([contained], np.float32) if verbatim else self._matches(sentence)
        return [
            _Fit(quote, share, 0.5 * share + 0.5 * float(column.mean()), column)
            for quote, share, column in zip(self._quotes, contained, matches.T, strict=True)
        ]

    def _matches(self, sentence: str) -> Vectors:
        """How well each word piece of the sentence (row) is matched in each quote (column)."""
        if self._pieces is None:
            self._pieces = Pieces(self._token_vectors([words.plain(quote.text) for quote in self._quotes]))
        (said,) = self._token_vectors([words.plain(sentence)])
        return self._pieces.matches(said)

    def _best(self, sentence: str, fits: Sequence["_Fit"], across: bool = False) -> Check | None:
        """The best check among the best-fitting quotes, each alone or with others: of its paper, or `across` papers."""
        best: Check | None = None
        nearest: _Fit | None = None
        for fit in sorted(fits, key=_by_fit)[:_CANDIDATES]:
            # What all but repeats a sentence is measured by it: the words of others, put together, prove nothing.
            if nearest is not None and nearest.contained >= _REPEATS and fit.contained < nearest.contained:
                continue
            check = self._grow(sentence, fit, fits, across)
            # What the nearest sentence contradicts, the next ones do not say.
            if check.verdict == "supported" or (best is None and check.denied and fit.contained >= _TALKS_OF_IT):
                return check
            nearest = nearest or fit
            best = check if best is None else max(best, check, key=_rank)
        return best

    def _grow(self, sentence: str, fit: "_Fit", fits: Sequence["_Fit"], across: bool) -> Check:
        """Add quotes while they carry more of the sentence: it may sum up two."""
        paper = self._paper_of[fit.quote.number]
        near = sorted(fits, key=_by_fit)[:_JOINED]
        wanted = set(words.stems(sentence))
        others = [
            other for other in near if other is not fit and (across or self._paper_of[other.quote.number] == paper)
        ]
        chosen, check = [fit], _judge(sentence, [fit])
        while check.verdict != "supported" and len(chosen) < MAX_QUOTES:
            # Only a sentence that has a word which is still missing can carry more.
            missing = wanted.difference(*(words.stems(one.quote.text) for one in chosen))
            useful = [other for other in others if not missing.isdisjoint(words.stems(other.quote.text))]
            grown = [(_judge(sentence, [*chosen, other]), other) for other in useful]
            better, added = max(grown, key=lambda pair: _rank(pair[0]), default=(check, fit))
            if _rank(better) <= _rank(check):
                break
            chosen, check = [*chosen, added], better
        return check


class _Fit(NamedTuple):
    quote: Quote
    contained: float
    score: float
    pieces: Vectors


def _by_fit(fit: _Fit) -> tuple[float, int, int]:
    return (-fit.score, fit.quote.number, fit.quote.start)


def _by_place(quote: Quote) -> tuple[int, int]:
    return (quote.number, quote.start)


def _rank(check: Check) -> tuple[int, float, int]:
    return ({"unsupported": 0, "partly": 1, "supported": 2}[check.verdict], check.score, -len(check.quotes))


def _judge(sentence: str, fits: Sequence[_Fit]) -> Check:
    quotes = tuple(sorted((fit.quote for fit in fits), key=_by_place))
    veto = vetoes.disagreement(sentence, *(fit.quote.text for fit in fits))
    signals = _signals(fits, veto)
    verbatim = len(fits) == 1 and fits[0].contained >= 1.0
    if veto is None:
        score = 1.0 if verbatim else _chance(signals)
        if score >= SUPPORTED:
            return Check("supported", round(score, 2), quotes, signals=signals)
    score = min(_chance(signals), _NEVER_SURE)
    denied = veto is not None and veto.hard
    verdict: Verdict = "partly" if score >= PARTLY and not denied else "unsupported"
    why = veto.text if veto else "the passages say only part of it"
    return Check(verdict, round(score, 2), quotes, why, denied, signals=signals)


def _signals(fits: Sequence[_Fit], veto: vetoes.Veto | None) -> Signals:
    best = np.sort(np.max([fit.pieces for fit in fits], axis=0))
    worst = best[: max(1, len(best) // 5)]
    return Signals(
        alike=float(best.mean()) if len(best) else 0.0,
        worst=float(worst.mean()) if len(worst) else 0.0,
        denied=float(veto is not None and veto.hard),
        unsaid=float(veto is not None and not veto.hard),
    )


def _chance(signals: Signals) -> float:
    """The logistic model over the signals."""
    return 1 / (1 + math.exp(-_BIAS - sum(weight * value for weight, value in zip(_WEIGHTS, signals, strict=True))))
