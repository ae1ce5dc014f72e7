"""Whether a paper passes a question's filters, told apart from how the store tells it (pure)."""

from service.domain import QuestionFilters, YearRange
from service.evaluation.judging import plain_words
from vectorstore.filters import fold
from vectorstore.paper import Paper


def kept(paper: Paper, filters: QuestionFilters) -> bool:
    """Whether `paper` may be shown: each filter that is set must let it through."""
    return (
        _in_years(paper.year, filters.year)
        and (filters.venue is None or fold(filters.venue) in fold(paper.venue or ""))
        and (filters.author is None or any(_is_named(name, filters.author) for name in paper.authors))
        and (filters.paper_ids is None or paper.paper_id in filters.paper_ids)
    )


def _in_years(year: int | None, asked: YearRange | int | None) -> bool:
    if asked is None:
        return True
    if year is None:
        return False
    if isinstance(asked, int):
        return year == asked
    return (asked.gte is None or year >= asked.gte) and (asked.lte is None or year <= asked.lte)


def _is_named(name: str, author: str) -> bool:
    return set(plain_words(author)) <= set(plain_words(name))
