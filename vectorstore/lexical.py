"""The lexical leg: BM25 over SQLite FTS5, one table a collection so that their statistics don't mix.

It lives in the catalogue's file and is written in the catalogue's transactions, so it is never behind.
"""

import json
import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

# A word of the title counts this much more; measured flat between 1.5 and 3.
TITLE_WEIGHT = 2.0
# A pasted abstract is a question too; beyond this many words the rarest decide.
MOST_WORDS = 64
# About so many passages are scored, those with the rarest words. Measured: as good with a fiftieth of a collection.
MOST_SCORED = 2_000
_MOST_WEIGHED = 512
_LONGEST_WORD = 64

_WORD = re.compile(r"[^\W_]+")
_STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are aren as at be because been before being below between both
    but by can cannot could couldn d did didn do does doesn doing don down during each few for from further had hadn
    has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just
    ll m me more most must my myself no nor not now of off on once only or other our ours ourselves out over own re
    s same she should shouldn so some such t than that the their theirs them themselves then there these they this
    those through to too under until up ve very was wasn we were weren what when where which while who whom why will
    with won would wouldn you your yours yourself yourselves
    """.split()
)


def create(connection: sqlite3.Connection, collection: int) -> None:
    """The table of a new collection."""
    connection.execute(
        f"CREATE VIRTUAL TABLE {_table(collection)} USING fts5(title, text,"
        " tokenize = 'porter unicode61 remove_diacritics 2')"
    )


def drop(connection: sqlite3.Connection, collection: int) -> None:
    """Forget a collection's words."""
    connection.execute(f"DROP TABLE IF EXISTS {_table(collection)}")


def insert(connection: sqlite3.Connection, collection: int, rows: Iterable[tuple[int, str, str]]) -> None:
    """Rows are (passage number, title, passage text)."""
    connection.executemany(f"INSERT INTO {_table(collection)}(rowid, title, text) VALUES(?, ?, ?)", rows)


def delete(connection: sqlite3.Connection, collection: int, numbers: Iterable[int]) -> None:
    """Take passages out by their numbers."""
    connection.executemany(f"DELETE FROM {_table(collection)} WHERE rowid = ?", ((number,) for number in numbers))  # noqa: S608 - the name is ours


@dataclass(frozen=True, slots=True)
class Match:
    """What to look for: `words` decide the score; only passages with one of `telling` can be found.

    A word that tens of thousands of passages share tells little and costs most. Without words, nothing is found.
    """

    words: str
    telling: str


def expression(connection: sqlite3.Connection, collection: int, question: str) -> Match:
    """The match of any text. Never a syntax of the user's making."""
    words = list(dict.fromkeys(_words(question)))
    asked = [word for word in words if word not in _STOP_WORDS] or words
    weighed = asked[:_MOST_WEIGHED]
    counts = dict(zip(weighed, _counts(connection, collection, weighed), strict=True))
    known = sorted((word for word in weighed if counts[word]), key=lambda word: (counts[word], word))[:MOST_WORDS]
    reached = accumulate(counts[word] for word in known)
    telling = [word for word, passages in zip(known, reached, strict=True) if passages <= MOST_SCORED] or known[:1]
    return Match(_any_of(known), _any_of(telling) if telling != known else "")


def find(
    connection: sqlite3.Connection,
    collection: int,
    match: Match,
    limit: int,
    allowed: Sequence[int] | None = None,
    also: Sequence[int] = (),
) -> tuple[list[tuple[int, float]], dict[int, float]]:
    """The best passages as (number, BM25), best first, and BM25 of those of `also` that share a word with the question.

    Only `allowed` passages where that is given.
    """
    if not match.words:
        return [], {}
    rows = _scored(connection, collection, match, allowed, also)
    if allowed is not None:
        kept = set(allowed)
        rows = [row for row in rows if row[0] in kept]
    rows.sort(key=lambda row: (-row[1], row[0]))
    near = set(also)
    return rows[:limit], {number: score for number, score in rows if number in near}


def _scored(
    connection: sqlite3.Connection, collection: int, match: Match, allowed: Sequence[int] | None, also: Sequence[int]
) -> list[tuple[int, float]]:
    table = _table(collection)
    where: str = ""
    values: list[str] = []
    # Scoring is what costs. The + keeps SQLite from asking the full-text table once for each number instead.
    if allowed is not None and len(allowed) <= MOST_SCORED:
        where, values = " AND +rowid IN (SELECT value FROM json_each(?))", [json.dumps(list(allowed))]
    elif match.telling:
        where = (
            f" AND (+rowid IN (SELECT rowid FROM {table} WHERE {table} MATCH ?)"  # noqa: S608 - the name is ours
            " OR +rowid IN (SELECT value FROM json_each(?)))"
        )
        values = [match.telling, json.dumps(list(also))]
    return connection.execute(
        f"SELECT rowid, -bm25({table}, ?, 1.0) FROM {table} WHERE {table} MATCH ?{where}",  # noqa: S608 - the name is ours
        (TITLE_WEIGHT, match.words, *values),
    ).fetchall()


def frequencies(connection: sqlite3.Connection, collection: int, words: Sequence[str]) -> list[int]:
    """In how many passages each word occurs, stemmed as the table stems."""
    return _counts(connection, collection, words)


def _counts(connection: sqlite3.Connection, collection: int, words: Sequence[str]) -> list[int]:
    query = f"SELECT count(*) FROM {_table(collection)} WHERE {_table(collection)} MATCH ?"  # noqa: S608 - the name is ours
    matches = (" ".join(map(_quoted, _words(word))) for word in words)
    return [int(connection.execute(query, (match,)).fetchone()[0]) if match else 0 for match in matches]


def _words(text: str) -> list[str]:
    # FTS5 splits at the same places; a word longer than any word is noise that only costs.
    return [word[:_LONGEST_WORD] for word in _WORD.findall(unicodedata.normalize("NFC", text).lower())]


def _quoted(word: str) -> str:
    return f'"{word}"'


def _any_of(words: Sequence[str]) -> str:
    return " OR ".join(map(_quoted, words))


def _table(collection: int) -> str:
    return f"words_{int(collection)}"
