"""Filters as exact SQL over the catalogue's columns, and the folding that both sides go through."""

import json
import re
import unicodedata
from collections.abc import Sequence

from vectorstore.paper import Filters

_WORD = re.compile(r"[^\W_]+")
_LARGEST = 2**63 - 1
# Letters that carry no separable accent, spelled as people without them on their keyboard do.
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "’": "'"})


def fold(text: str) -> str:
    """Lower case, without accents, one space between words: "Università  di PISA" -> "universita di pisa"."""
    plain = "".join(mark for mark in unicodedata.normalize("NFKD", text) if not unicodedata.combining(mark))
    return " ".join(plain.casefold().translate(_PLAIN).split())


def fold_authors(authors: Sequence[str]) -> str:
    """A JSON list with one " word word " a name, so that a whole word is found by its spaces."""
    return json.dumps([_spaced(_WORD.findall(fold(name))) for name in authors], ensure_ascii=False)


def condition(filters: Filters) -> tuple[str, list[str | int]]:
    """`(sql, values)`: a condition on the columns of `papers` that keeps exactly what the filters let through."""
    clauses: list[str] = []
    values: list[str | int] = []
    for bound, clause in ((filters.year_gte, "papers.year >= ?"), (filters.year_lte, "papers.year <= ?")):
        if bound is not None:
            clauses.append(clause)
            values.append(max(-_LARGEST, min(_LARGEST, bound)))
    if filters.venue is not None:
        clauses.append("instr(papers.venue_folded, ?) > 0")
        values.append(_storable(fold(filters.venue)))
    words = _WORD.findall(fold(filters.author or ""))
    if words:
        # Most papers are ruled out by their text, before their names are taken apart.
        clauses += ["instr(papers.authors_folded, ?) > 0"] * len(words)
        one = " AND ".join(["instr(name.value, ?) > 0"] * len(words))
        clauses.append(f"EXISTS (SELECT 1 FROM json_each(papers.authors_folded) AS name WHERE {one})")  # noqa: S608 - placeholders
        values += [_spaced([word]) for word in words] * 2
    if filters.paper_ids is not None:
        clauses.append("papers.paper_id IN (SELECT value FROM json_each(?))")
        values.append(json.dumps([_storable(paper_id) for paper_id in filters.paper_ids]))
    return " AND ".join(clauses) or "1", values


def _spaced(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def _storable(text: str) -> str:
    # SQLite takes no half of a surrogate pair; nothing stored holds one, so what stands for it may match nothing.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
