"""Reading passages and their vectors out of the catalogue, for the two legs and for the index."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vectorstore.catalogue import papers_by_row
from vectorstore.filters import condition
from vectorstore.paper import Filters, Paper, Passage, Vectors

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Stored:
    """A passage as the catalogue holds it."""

    number: int
    passage: Passage
    paper: Paper
    vector: Vectors


def numbers(connection: sqlite3.Connection, collection: int) -> Numbers:
    """The numbers of all passages of a collection, ascending."""
    query = "SELECT number FROM passages WHERE collection = ? ORDER BY number"
    return np.fromiter((number for (number,) in connection.execute(query, (collection,))), np.int64)


def allowed(connection: sqlite3.Connection, collection: int, filters: Filters) -> Numbers:
    """The numbers of the passages whose papers pass the filters, ascending."""
    where, values = condition(filters)
    rows = connection.execute(
        "SELECT passages.number FROM papers JOIN passages ON passages.paper = papers.number"  # noqa: S608 - placeholders
        f" WHERE papers.collection = ? AND {where} ORDER BY passages.number",
        (collection, *values),
    )
    return np.fromiter((number for (number,) in rows), np.int64)


def vectors(connection: sqlite3.Connection, wanted: Sequence[int] | Numbers) -> tuple[Numbers, Vectors]:
    """`(numbers, rows)` of those of the wanted passages that exist, by ascending number."""
    rows = connection.execute(
        "SELECT number, vector FROM passages WHERE number IN (SELECT value FROM json_each(?)) ORDER BY number",
        (json.dumps([int(number) for number in wanted]),),
    ).fetchall()
    found = np.fromiter((number for number, _ in rows), np.int64, len(rows))
    return found, matrix([blob for _, blob in rows])


def every_vector(connection: sqlite3.Connection, collection: int) -> tuple[Numbers, Vectors]:
    """`(numbers, rows)` of all passages of a collection, by ascending number."""
    query = "SELECT number, vector FROM passages WHERE collection = ? ORDER BY number"
    rows = connection.execute(query, (collection,)).fetchall()
    return np.fromiter((number for number, _ in rows), np.int64, len(rows)), matrix([blob for _, blob in rows])


def matrix(blobs: Sequence[bytes]) -> Vectors:
    """Stored vectors as the rows of one array; shape (len(blobs), dimension)."""
    if not blobs:
        return np.zeros((0, 0), np.float32)
    return np.frombuffer(b"".join(blobs), "<f4").astype(np.float32, copy=False).reshape(len(blobs), -1)


def spans(connection: sqlite3.Connection, wanted: Sequence[int]) -> dict[int, tuple[str, int, int]]:
    """`(paper_id, start, end)` of the wanted passages that exist."""
    rows = connection.execute(
        'SELECT passages.number, papers.paper_id, start, "end" FROM passages'
        " JOIN papers ON papers.number = passages.paper WHERE passages.number IN (SELECT value FROM json_each(?))",
        (json.dumps(list(wanted)),),
    )
    return {number: (paper_id, start, end) for number, paper_id, start, end in rows}


def load(connection: sqlite3.Connection, wanted: Sequence[int]) -> list[Stored]:
    """The wanted passages that exist, with their papers, by ascending number."""
    rows = connection.execute(
        'SELECT number, paper, start, "end", vector FROM passages WHERE number IN (SELECT value FROM json_each(?))'
        " ORDER BY number",
        (json.dumps(list(wanted)),),
    ).fetchall()
    return _stored(connection, rows)


def behind(connection: sqlite3.Connection, collection: int, number: int, limit: int) -> list[Stored]:
    """The next `limit` passages after passage `number`: what the index has not seen yet."""
    rows = connection.execute(
        'SELECT number, paper, start, "end", vector FROM passages WHERE collection = ? AND number > ?'
        " ORDER BY number LIMIT ?",
        (collection, number, limit),
    ).fetchall()
    return _stored(connection, rows)


def of_paper(connection: sqlite3.Connection, row: int) -> tuple[list[tuple[int, int]], Vectors]:
    """`(spans, vectors)` of the paper in `row`, in order of its abstract."""
    query = 'SELECT start, "end", vector FROM passages WHERE paper = ? ORDER BY start'
    rows = connection.execute(query, (row,)).fetchall()
    return [(start, end) for start, end, _ in rows], matrix([blob for _, _, blob in rows])


def _stored(connection: sqlite3.Connection, rows: Sequence[tuple[int, int, int, int, bytes]]) -> list[Stored]:
    papers = papers_by_row(connection, {row for _, row, *_ in rows})
    stored = []
    for number, row, start, end, blob in rows:
        paper = papers[row]
        passage = Passage(paper.paper_id, start, end, paper.abstract[start:end])
        stored.append(Stored(number, passage, paper, matrix([blob])[0]))
    return stored
