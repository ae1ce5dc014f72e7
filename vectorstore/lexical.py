"""The lexical leg: BM25 over SQLite FTS5, one table a collection so that their statistics don't mix.

It lives in the catalogue's file and is written in the catalogue's transactions, so it is never behind.
"""

import json
import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Sequence

# A word of the title counts this much more; measured flat between 1.5 and 3.
TITLE_WEIGHT = 2.0
# A pasted abstract is a question too; beyond this many words the rarest decide.
MOST_WORDS = 64
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


def expression(connection: sqlite3.Connection, collection: int, question: str) -> str:
    """The MATCH expression of any text, "" where it holds no word. Never a syntax of the user's making."""
    words = list(dict.fromkeys(_words(question)))
    telling = [word for word in words if word not in _STOP_WORDS] or words
    if len(telling) > MOST_WORDS:
        weighed = telling[:_MOST_WEIGHED]
        counts = dict(zip(weighed, _counts(connection, collection, weighed), strict=True))
        known = [word for word in weighed if counts[word]]
        telling = sorted(known, key=lambda word: counts[word])[:MOST_WORDS]
    return " OR ".join(map(_quoted, telling))


def find(
    connection: sqlite3.Connection,
    collection: int,
    match: str,
    limit: int,
    allowed: Sequence[int] | None = None,
    also: Sequence[int] = (),
) -> tuple[list[tuple[int, float]], dict[int, float]]:
    """The best passages as (number, BM25), best first, and BM25 of those of `also` that share a word with the question.

    Only `allowed` passages where that is given.
    """
    if not match:
        return [], {}
    table = _table(collection)
    where, values = "", []
    if allowed is not None:
        # The + keeps SQLite from asking the full-text table once for each number.
        where, values = " AND +rowid IN (SELECT value FROM json_each(?))", [json.dumps(list(allowed))]
    rows = connection.execute(
        f"WITH scored AS MATERIALIZED (SELECT rowid AS number, -bm25({table}, ?, 1.0) AS score FROM {table}"  # noqa: S608 - the name is ours
        f" WHERE {table} MATCH ?{where}), best AS (SELECT * FROM scored ORDER BY score DESC, number LIMIT ?)"
        " SELECT number, score, 1 FROM best"
        " UNION ALL SELECT number, score, 0 FROM scored WHERE number IN (SELECT value FROM json_each(?))",
        (TITLE_WEIGHT, match, *values, limit, json.dumps(list(also))),
    ).fetchall()
    best = [(number, score) for number, score, ranked in rows if ranked]
    return best, {number: score for number, score, ranked in rows if not ranked}


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


def _table(collection: int) -> str:
    return f"words_{int(collection)}"
