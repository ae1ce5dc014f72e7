"""One answer against its labels (pure). What was not judged is unknown, and neither right nor wrong.

A citation is *right* if its paper is relevant and, where gold sentences are known, its quote is one of them: it
shares a run of words with one that is at least half as long as the shorter of the two. It is *half right* if its paper
is partly relevant, *wrong* if it quotes other words of a paper with known gold sentences, and *unknown* if nobody
judged its paper.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from service.domain import Citation
from vectorstore.filters import fold

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Cited:
    """The citations of an answer, counted; `recall`: the share of gold sentences that some citation quotes."""

    right: int
    half: int
    wrong: int
    unknown: int
    papers: frozenset[str]
    recall: float | None

    @property
    def precision(self) -> float | None:
        """Of the citations that somebody judged; None where there is none."""
        judged = self.right + self.half + self.wrong
        return (self.right + self.half / 2) / judged if judged else None

    @property
    def precision_at_worst(self) -> float | None:
        """As if every unknown citation were wrong."""
        cited = self.right + self.half + self.wrong + self.unknown
        return (self.right + self.half / 2) / cited if cited else None


def plain_words(text: str) -> list[str]:
    """The words of a text without case, accents and marks: what is left is what two copies of a sentence share."""
    return _WORD.findall(fold(text))


def quotes(quote: str, gold: str) -> bool:
    """Whether `quote` is the gold sentence, or most of it."""
    mine, other = plain_words(quote), plain_words(gold)
    shorter = min(len(mine), len(other))
    run = SequenceMatcher(None, mine, other, autojunk=False).find_longest_match().size
    return shorter > 0 and 2 * run >= shorter


def cited(
    citations: Sequence[Citation], relevant: Collection[str], partial: Collection[str], gold: Sequence[str]
) -> Cited:
    """Count the citations of an answer by what is known of them."""
    right = half = wrong = unknown = 0
    for citation in citations:
        if citation.paper_id in relevant:
            is_right = not gold or any(quotes(citation.quote, sentence) for sentence in gold)
            right, wrong = right + is_right, wrong + (not is_right)
        elif citation.paper_id in partial:
            half += 1
        else:
            unknown += 1
    shown = [citation.quote for citation in citations if citation.paper_id in relevant]
    found = sum(any(quotes(quote, sentence) for quote in shown) for sentence in gold)
    papers = frozenset(citation.paper_id for citation in citations)
    return Cited(right, half, wrong, unknown, papers, found / len(gold) if gold else None)


def rank(hits: Sequence[str], relevant: Collection[str]) -> int | None:
    """The rank, from 1, of the first relevant paper; None where none was found."""
    return next((place for place, paper in enumerate(hits, 1) if paper in relevant), None)
