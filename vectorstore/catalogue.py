"""The truth: collections, papers, their passages and the vectors already paid for.

Functions over one connection of `database`, so that a caller decides what belongs to one transaction. The words of
`lexical` are written here, beside the passages they belong to. A passage never changes: its number is never used
again, and a changed paper gets new passages. So the derived index has only additions and removals to follow.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vectorstore import lexical
from vectorstore.errors import BadCursor, UnknownCollection
from vectorstore.filters import condition, fold, fold_authors
from vectorstore.paper import Filters, Paper, Passage, Vectors

# Names that no user can give: a collection being built to replace another (see reindex).
HIDDEN = "~"

_PAPER = (
    "papers.paper_id, papers.abstract, papers.title, papers.authors, papers.year, papers.venue, papers.url, papers.doi,"
    " papers.arxiv_id, papers.retracted"
)


@dataclass(frozen=True, slots=True)
class Collection:
    """A row of `collections`. `embedder` is None until the first paper is stored."""

    id: int
    name: str
    embedder: str | None
    dimension: int | None
    splitter: str | None
    revision: int
    index_generation: int
    index_number: int
    index_dirty: bool


@dataclass(frozen=True, slots=True)
class CollectionInfo:
    """What people see of a collection. `revision` grows with every change of its papers."""

    name: str
    papers: int
    passages: int
    embedder: str | None
    revision: int


@dataclass(frozen=True, slots=True)
class PaperPage:
    """One page of a list in stable order; `total` counts all that pass the filters."""

    papers: tuple[Paper, ...]
    next_cursor: str | None
    total: int


_COLUMNS = "id, name, embedder, dimension, splitter, revision, index_generation, index_number, index_dirty"


def collections(connection: sqlite3.Connection, *, hidden: bool = False) -> list[Collection]:
    """All collections by name."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM collections ORDER BY name")  # noqa: S608 - constants
    return [found for found in map(_collection, rows) if hidden or not found.name.startswith(HIDDEN)]


def find_collection(connection: sqlite3.Connection, name: str) -> Collection | None:
    """The collection of that name, or None."""
    name = name.encode("utf-8", "backslashreplace").decode("utf-8")
    row = connection.execute(f"SELECT {_COLUMNS} FROM collections WHERE name = ?", (name,)).fetchone()  # noqa: S608 - constants
    return None if row is None else _collection(row)


def collection(connection: sqlite3.Connection, name: str) -> Collection:
    """The collection of that name; UnknownCollection lists the names there are."""
    found = find_collection(connection, name)
    if found is None:
        names = ", ".join(each.name for each in collections(connection))
        raise UnknownCollection(f"there is no collection {name!r}; the names are: {names}")
    return found


def _collection(row: tuple[int, str, str | None, int | None, str | None, int, int, int, bool]) -> Collection:
    return Collection(*row)


def create_collection(connection: sqlite3.Connection, name: str) -> Collection:
    """The collection of that name, made where it is missing."""
    found = find_collection(connection, name)
    if found is None:
        made = connection.execute("INSERT INTO collections(name) VALUES(?)", (name,)).lastrowid
        assert made is not None
        lexical.create(connection, made)
        found = collection(connection, name)
    return found


def delete_collection(connection: sqlite3.Connection, number: int) -> None:
    """Take a collection out with all that is in it."""
    lexical.drop(connection, number)
    connection.execute("DELETE FROM collections WHERE id = ?", (number,))


def rename_collection(connection: sqlite3.Connection, number: int, name: str) -> None:
    """Give a collection another name, which must be free."""
    connection.execute("UPDATE collections SET name = ? WHERE id = ?", (name, number))


def adopt(connection: sqlite3.Connection, number: int, manifest: tuple[str, int, str]) -> None:
    """Write down what made the vectors of this collection: embedder, dimension, splitter."""
    connection.execute(
        "UPDATE collections SET embedder = ?, dimension = ?, splitter = ? WHERE id = ?", (*manifest, number)
    )


def continue_revision(connection: sqlite3.Connection, number: int, revision: int) -> None:
    """Let the revisions of a replaced collection go on where they were."""
    connection.execute("UPDATE collections SET revision = revision + 1 + ? WHERE id = ?", (revision, number))


def touch(connection: sqlite3.Connection, number: int) -> None:
    """Say that the papers of this collection have changed."""
    connection.execute("UPDATE collections SET revision = revision + 1 WHERE id = ?", (number,))


def info(connection: sqlite3.Connection, found: Collection) -> CollectionInfo:
    """The collection with its counts."""
    papers = _count(connection, "papers", found.id)
    return CollectionInfo(found.name, papers, passage_count(connection, found.id), found.embedder, found.revision)


def is_empty(connection: sqlite3.Connection, number: int) -> bool:
    """Whether the collection holds no passage; unlike a count, at no cost."""
    query = "SELECT NOT EXISTS (SELECT 1 FROM passages WHERE collection = ?)"
    return bool(connection.execute(query, (number,)).fetchone()[0])


def passage_count(connection: sqlite3.Connection, number: int) -> int:
    """How many passages the collection holds."""
    return _count(connection, "passages", number)


def _count(connection: sqlite3.Connection, table: str, number: int) -> int:
    query = f"SELECT count(*) FROM {table} WHERE collection = ?"  # noqa: S608 - our own table names
    return int(connection.execute(query, (number,)).fetchone()[0])


def paper(connection: sqlite3.Connection, number: int, paper_id: str) -> tuple[int, Paper] | None:
    """`(row number, paper)` of an id, or None."""
    listed = papers_where(connection, number, Filters(paper_ids=(paper_id,)), 0, 1)
    return listed[0] if listed else None


def papers_where(
    connection: sqlite3.Connection, number: int, filters: Filters, after: int, limit: int
) -> list[tuple[int, Paper]]:
    """`(row number, paper)` of what passes the filters, in order of arrival, behind row `after`."""
    where, values = condition(filters)
    rows = connection.execute(
        f"SELECT papers.number, {_PAPER} FROM papers"  # noqa: S608 - constants and placeholders
        f" WHERE papers.collection = ? AND papers.number > ? AND {where} ORDER BY papers.number LIMIT ?",
        (number, after, *values, limit),
    )
    return [(row[0], _paper(row[1:])) for row in rows]


def page(connection: sqlite3.Connection, number: int, filters: Filters, limit: int, cursor: str | None) -> PaperPage:
    """One page of papers; `cursor` is a `next_cursor` of the page before, else BadCursor."""
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) <= 18):
        raise BadCursor(f"{cursor!r} is not a cursor of this list; take `next_cursor` of the page before")
    where, values = condition(filters)
    query = f"SELECT count(*) FROM papers WHERE papers.collection = ? AND {where}"  # noqa: S608 - placeholders
    total = int(connection.execute(query, (number, *values)).fetchone()[0])
    found = papers_where(connection, number, filters, int(cursor or 0), limit + 1)
    more = str(found[limit - 1][0]) if len(found) > limit else None
    return PaperPage(tuple(each for _, each in found[:limit]), more, total)


def papers_by_row(connection: sqlite3.Connection, rows: Iterable[int]) -> dict[int, Paper]:
    """Papers by their row numbers; what is gone is left out."""
    found = connection.execute(
        f"SELECT papers.number, {_PAPER} FROM papers WHERE number IN (SELECT value FROM json_each(?))",  # noqa: S608 - constants
        (json.dumps(list(rows)),),
    )
    return {row[0]: _paper(row[1:]) for row in found}


_Row = tuple[str, str, str | None, str, int | None, str | None, str | None, str | None, str | None, int]


def _paper(row: _Row) -> Paper:
    paper_id, abstract, title, authors, year, venue, url, doi, arxiv_id, retracted = row
    return Paper(
        paper_id, abstract, title, tuple(json.loads(authors)), year, venue, url, doi, arxiv_id, bool(retracted)
    )


def rows_of_keys(connection: sqlite3.Connection, number: int, keys: Iterable[str]) -> dict[str, int]:
    """Which paper (row number) each known key stands for."""
    rows = connection.execute(
        "SELECT key, paper FROM keys WHERE collection = ? AND key IN (SELECT value FROM json_each(?))",
        (number, json.dumps(list(keys))),
    )
    return {str(key): int(row) for key, row in rows}


def keys_of_rows(connection: sqlite3.Connection, rows: Iterable[int]) -> dict[int, set[str]]:
    """All keys of each paper (row number)."""
    found: dict[int, set[str]] = {}
    query = "SELECT paper, key FROM keys WHERE paper IN (SELECT value FROM json_each(?))"
    for row, key in connection.execute(query, (json.dumps(list(rows)),)):
        found.setdefault(row, set()).add(key)
    return found


def put_paper(connection: sqlite3.Connection, number: int, row: int | None, new: Paper, keys: Iterable[str]) -> int:
    """Insert a paper, or replace the one in `row`; its keys become exactly `keys`. Gives its row number."""
    fields = (
        new.paper_id, new.abstract, new.title, json.dumps(new.authors, ensure_ascii=False), new.year, new.venue,
        new.url, new.doi, new.arxiv_id, int(new.retracted), fold(new.venue or ""), fold_authors(new.authors),
    )  # fmt: skip
    if row is None:
        row = connection.execute(
            f"INSERT INTO papers VALUES(NULL, ?{', ?' * len(fields)})",
            (number, *fields),
        ).lastrowid
        assert row is not None
    else:
        connection.execute(
            "UPDATE papers SET paper_id = ?, abstract = ?, title = ?, authors = ?, year = ?, venue = ?, url = ?,"
            " doi = ?, arxiv_id = ?, retracted = ?, venue_folded = ?, authors_folded = ? WHERE number = ?",
            (*fields, row),
        )
    put_keys(connection, number, row, keys)
    return row


def put_keys(connection: sqlite3.Connection, number: int, row: int, keys: Iterable[str]) -> None:
    """Make these the keys of the paper in `row`; one that another paper holds stays with that one."""
    connection.execute("DELETE FROM keys WHERE paper = ?", (row,))
    connection.executemany("INSERT OR IGNORE INTO keys VALUES(?, ?, ?)", ((number, key, row) for key in keys))


def drop_keys(connection: sqlite3.Connection, rows: Iterable[int]) -> None:
    """Free the keys of papers that are about to get new ones."""
    connection.executemany("DELETE FROM keys WHERE paper = ?", ((row,) for row in rows))


def put_passages(
    connection: sqlite3.Connection, number: int, row: int, owner: Paper, passages: Sequence[Passage], vectors: Vectors
) -> None:
    """Give the paper in `row` these passages instead of those it had."""
    drop_passages(connection, number, row)
    written = []
    for passage, vector in zip(passages, vectors, strict=True):
        made = connection.execute(
            "INSERT INTO passages VALUES(NULL, ?, ?, ?, ?, ?)",
            (number, row, passage.start, passage.end, vector.astype("<f4").tobytes()),
        ).lastrowid
        assert made is not None
        written.append((made, owner.title or "", passage.text))
    lexical.insert(connection, number, written)


def drop_passages(connection: sqlite3.Connection, number: int, row: int) -> None:
    """Take out the passages of a paper, and tell the index to."""
    numbers = [found for (found,) in connection.execute("SELECT number FROM passages WHERE paper = ?", (row,))]
    lexical.delete(connection, number, numbers)
    connection.executemany("INSERT OR IGNORE INTO tombstones VALUES(?, ?)", ((number, dead) for dead in numbers))
    connection.execute("DELETE FROM passages WHERE paper = ?", (row,))


def drop_paper(connection: sqlite3.Connection, number: int, row: int) -> None:
    """Take out a paper with its passages and keys."""
    drop_passages(connection, number, row)
    connection.execute("DELETE FROM papers WHERE number = ?", (row,))
