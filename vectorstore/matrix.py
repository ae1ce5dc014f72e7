"""Stored vectors in memory for exact search: what the index can't answer, this does in milliseconds."""

import sqlite3
import threading
from dataclasses import dataclass

import numpy as np

from vectorstore import passages
from vectorstore.paper import Vectors
from vectorstore.passages import Numbers

# Collections held at once; the one not asked for longest goes first.
_MOST = 8
# Passages whose mean stands for that of the collection.
_SAMPLE = 1_024


@dataclass(frozen=True, slots=True)
class Matrix:
    """All passages of one collection at one revision: ascending numbers, one row each."""

    revision: int
    numbers: Numbers
    rows: Vectors

    def nearest(self, vector: Vectors, limit: int, allowed: Numbers | None = None) -> list[tuple[int, float]]:
        """The nearest passages as (number, cosine), nearest first, ties by number."""
        numbers, cosines = self.numbers, self._cosines(vector, allowed)
        if allowed is not None:
            numbers = allowed
        if not len(numbers):
            return []
        best = np.argpartition(-cosines, min(limit, len(cosines) - 1))[:limit]
        best = best[np.lexsort((numbers[best], -cosines[best]))]
        return [(int(numbers[at]), float(cosines[at])) for at in best]

    def _cosines(self, vector: Vectors, allowed: Numbers | None) -> Vectors:
        if allowed is None:
            return self.rows @ vector
        kept = np.searchsorted(self.numbers, allowed)
        # Rows are copied to be chosen from; beyond a few it is faster to reckon them all.
        return self.rows[kept] @ vector if len(kept) * 4 < len(self.numbers) else (self.rows @ vector)[kept]


class Matrices:
    """A matrix a collection, kept until its revision moves on and then mended rather than read again."""

    def __init__(self) -> None:
        self._kept: dict[int, Matrix] = {}
        self._centres: dict[int, tuple[int, Vectors]] = {}
        self._lock = threading.Lock()

    def get(self, connection: sqlite3.Connection, collection: int, revision: int) -> Matrix:
        """The matrix of the connection's snapshot, which is at `revision`."""
        with self._lock:
            kept = self._kept.pop(collection, None)
            if kept is None or kept.revision != revision:
                kept = _mended(connection, collection, revision, kept)
            self._kept[collection] = kept
            if len(self._kept) > _MOST:
                self._kept.pop(next(iter(self._kept)))
            return kept

    def centre(self, connection: sqlite3.Connection, collection: int, revision: int) -> Vectors:
        """The mean vector of a collection that is not empty, from a sample that depends on its revision only."""
        with self._lock:
            known, centre = self._centres.get(collection, (-1, None))
            if centre is None or known != revision:
                numbers = passages.numbers(connection, collection)
                chosen = np.unique(np.linspace(0, len(numbers) - 1, _SAMPLE).astype(int))
                centre = passages.vectors(connection, numbers[chosen])[1].mean(axis=0)
                self._centres[collection] = (revision, centre)
            return centre

    def forget(self, collection: int) -> None:
        """Let go of a deleted collection's vectors."""
        with self._lock:
            self._kept.pop(collection, None)
            self._centres.pop(collection, None)


def _mended(connection: sqlite3.Connection, collection: int, revision: int, kept: Matrix | None) -> Matrix:
    if kept is None or not len(kept.numbers):
        return Matrix(revision, *passages.every_vector(connection, collection))
    numbers = passages.numbers(connection, collection)
    stays = np.isin(kept.numbers, numbers, assume_unique=True)
    missing = np.setdiff1d(numbers, kept.numbers, assume_unique=True)
    # At a hundred thousand passages each of these steps copies 150 MB, so none is done in vain.
    old, rows = (kept.numbers, kept.rows) if stays.all() else (kept.numbers[stays], kept.rows[stays])
    if len(missing):
        found, new = passages.vectors(connection, missing)
        old, rows = np.concatenate([old, found]), np.concatenate([rows, new])
        if (old[1:] < old[:-1]).any():
            by_number = np.argsort(old)
            old, rows = old[by_number], rows[by_number]
    return Matrix(revision, old, rows)
