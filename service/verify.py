"""A sentence and the words it cites -> verdict, score, and the spans that carry it (pure, given token vectors).

The model's mark is a hint, not a proof. For each sentence we look for the sentences of the evidence that say it,
first among what it cites, then among all that was sent. What fits best still falls when a number, a unit, a name, a
negation or a direction disagrees: these vetoes are what a similarity can't see.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from service import vetoes, words
from service.domain import Verdict
from service.evidence import Evidence
from service.maxsim import Pieces
from vectorstore.paper import Vectors
from vectorstore.sentences import sentences

SUPPORTED = 0.70
PARTLY = 0.52
MAX_QUOTES = 3
LONGEST = 1_500
_CANDIDATES = 4
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
        alike = contained if verbatim else self._similarities(sentence)
        return [
            _Fit(quote, share, _score(share, similarity))
            for quote, share, similarity in zip(self._quotes, contained, alike, strict=True)
        ]

    def _similarities(self, sentence: str) -> list[float]:
        """For each quote, the mean over the sentence's word pieces of the best cosine to one of the quote's."""
        if self._pieces is None:
            self._pieces = Pieces(self._token_vectors([words.plain(quote.text) for quote in self._quotes]))
        (said,) = self._token_vectors([words.plain(sentence)])
        return self._pieces.like(said)

    def _best(self, sentence: str, fits: Sequence["_Fit"], across: bool = False) -> Check | None:
        """The best check among the best-fitting quotes, each alone or with others: of its paper, or `across` papers."""
        near = sorted(fits, key=_by_fit)[:_CANDIDATES]
        checks = [self._grow(sentence, fit, fits, across) for fit in near]
        best = max(checks, key=_rank, default=None)
        if best is None or best.verdict == "supported":
            return best
        # What the nearest passage contradicts is not partly said by the next one.
        contradicted = next(
            (check for check, fit in zip(checks, near, strict=True) if check.denied and fit.score >= PARTLY), None
        )
        return contradicted or best

    def _grow(self, sentence: str, fit: "_Fit", fits: Sequence["_Fit"], across: bool) -> Check:
        """Add quotes while they carry more of the sentence: it may sum up two."""
        paper = self._paper_of[fit.quote.number]
        near = sorted(fits, key=_by_fit)[:_JOINED]
        others = [other for other in near if other != fit and (across or self._paper_of[other.quote.number] == paper)]
        chosen, check = [fit], _judge(sentence, [fit])
        while check.verdict != "supported" and len(chosen) < MAX_QUOTES:
            grown = [(_judge(sentence, [*chosen, other]), other) for other in others if other not in chosen]
            better, added = max(grown, key=lambda pair: _rank(pair[0]), default=(check, fit))
            if _rank(better) <= _rank(check):
                break
            chosen, check = [*chosen, added], better
        return check


class _Fit(NamedTuple):
    quote: Quote
    contained: float
    score: float


def _by_fit(fit: _Fit) -> tuple[float, int, int]:
    return (-fit.score, fit.quote.number, fit.quote.start)


def _by_place(quote: Quote) -> tuple[int, int]:
    return (quote.number, quote.start)


def _rank(check: Check) -> tuple[int, float, int]:
    return ({"unsupported": 0, "partly": 1, "supported": 2}[check.verdict], check.score, -len(check.quotes))


def _score(contained: float, similarity: float) -> float:
    """How much of the sentence the quote carries, from 0 to 1: words and meaning weigh the same."""
    return contained if contained >= 1.0 else 0.5 * contained + 0.5 * similarity


def _judge(sentence: str, fits: Sequence[_Fit]) -> Check:
    quotes = tuple(sorted((fit.quote for fit in fits), key=_by_place))
    text = "\n".join(quote.text for quote in quotes)
    score = fits[0].score
    if len(fits) > 1:
        joint = vetoes.containment(sentence, text)
        score += 0.5 * max(0.0, joint - fits[0].contained)
    why = vetoes.disagreement(sentence, text)
    if why:
        return Check(
            "partly" if score >= SUPPORTED and not why.hard else "unsupported",
            round(min(score, 0.49), 2),
            quotes,
            why.text,
        )
    verdict: Verdict = "supported" if score >= SUPPORTED else "partly" if score >= PARTLY else "unsupported"
    return Check(
        verdict,
        round(min(score, 1.0), 2),
        quotes,
        None if verdict == "supported" else "the passages say only part of it",
    )
