"""Checked claims -> the answer's text, its sentences and its citations (pure).

Citations are numbered here, in order of first use, and nowhere else: a mark that the reader sees is one of these by
construction.
"""

from collections.abc import Sequence
from typing import NamedTuple

from service.citations import Claim, Claims, with_marks
from service.domain import Citation, Dropped, Sentence, Verify
from service.evidence import Evidence
from service.verify import Check, Quote


class Composed(NamedTuple):
    """What the reader gets to see of a draft."""

    answer: str
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    dropped: tuple[Dropped, ...]
    repaired: int = 0


def compose(claims: Claims, checks: Sequence[Check], evidence: Sequence[Evidence], mode: Verify) -> Composed:
    """`checks[i]` belongs to `claims.claims[i]`. In `strict`, only supported sentences stay."""
    pairs = list(zip(claims.claims, checks, strict=True))
    kept = [pair for pair in pairs if mode != "strict" or pair[1].verdict == "supported"]
    numbers: dict[tuple[str, int, int], int] = {}
    papers = {item.number: item for item in evidence}
    answer = ""
    sentences: list[Sentence] = []
    for claim, check in kept:
        marks = [_number(quote, papers, numbers) for quote in _shown(check)]
        answer += (claim.lead if answer else claim.lead.lstrip()) or (" " if answer else "")
        text = with_marks(claim.text, marks)
        sentences.append(_sentence(text, len(answer), marks, check, mode))
        answer += text
    citations = tuple(_citation(number, key, papers) for key, number in numbers.items())
    repaired = sum(check.repaired for _, check in kept)
    return Composed(answer, tuple(sentences), citations, _dropped(claims, pairs, mode), repaired)


def _shown(check: Check) -> tuple[Quote, ...]:
    """An unsupported sentence gets no mark: a mark says that the words behind it carry the sentence."""
    return check.quotes if check.verdict != "unsupported" else ()


def _number(quote: Quote, papers: dict[int, Evidence], numbers: dict[tuple[str, int, int], int]) -> int:
    key = (papers[quote.number].paper.paper_id, quote.start, quote.end)
    return numbers.setdefault(key, len(numbers) + 1)


def _sentence(text: str, start: int, marks: Sequence[int], check: Check, mode: Verify) -> Sentence:
    checked = mode != "off"
    return Sentence(
        text=text,
        start=start,
        end=start + len(text),
        citations=tuple(marks),
        verdict=check.verdict if checked else None,
        score=check.score if checked else None,
        why=check.why if checked else None,
    )


def _citation(number: int, key: tuple[str, int, int], papers: dict[int, Evidence]) -> Citation:
    paper_id, start, end = key
    item = next(
        item
        for item in papers.values()
        if item.paper.paper_id == paper_id and item.passage.start <= start and end <= item.passage.end
    )
    paper = item.paper
    return Citation(
        number=number,
        paper_id=paper_id,
        title=paper.title,
        authors=paper.authors,
        year=paper.year,
        venue=paper.venue,
        url=paper.url,
        quote=paper.abstract[start:end],
        start=start,
        end=end,
        passage_id=item.passage_id,
        retracted=paper.retracted,
    )


def _dropped(claims: Claims, pairs: Sequence[tuple[Claim, Check]], mode: Verify) -> tuple[Dropped, ...]:
    marks = [Dropped(text=mark, why="no passage of that number was sent") for mark in claims.illegal]
    unsupported = [
        Dropped(text=claim.text, why=check.why or "no passage carries it")
        for claim, check in pairs
        if check.verdict == "unsupported" or (mode == "strict" and check.verdict != "supported")
    ]
    return (*marks, *(unsupported if mode == "strict" else ()))
