"""How far the index has followed the catalogue: the dirty mark, the last number seen, the removals to come.

The mark is set before Chroma is written to and cleared after, each in its own durable transaction. Found set at a
start, it says that a kill came in between, and Chroma, which saves its files in place, is not to be trusted.
"""

import sqlite3
from collections.abc import Sequence

from vectorstore.catalogue import Collection


def store_name(connection: sqlite3.Connection) -> str:
    """The random name that keeps this store's Chroma collections apart from those of others on one server."""
    return str(connection.execute("SELECT value FROM facts WHERE name = 'store'").fetchone()[0])


def chroma_name(store: str, collection: Collection) -> str:
    """The Chroma collection that follows this one; a rebuild starts a new generation."""
    return f"loccit-{store}-{collection.id}-{collection.index_generation}"


def removals(connection: sqlite3.Connection, collection: int, limit: int) -> list[int]:
    """Numbers of passages that are gone and may still be in the index."""
    query = "SELECT number FROM tombstones WHERE collection = ? ORDER BY number LIMIT ?"
    return [number for (number,) in connection.execute(query, (collection, limit))]


def behind(connection: sqlite3.Connection, collection: Collection) -> int:
    """How many passages the index has not seen yet."""
    query = "SELECT count(*) FROM passages WHERE collection = ? AND number > ?"
    return int(connection.execute(query, (collection.id, collection.index_number)).fetchone()[0])


def begin(connection: sqlite3.Connection, collection: Collection) -> None:
    """Set the dirty mark."""
    connection.execute("UPDATE collections SET index_dirty = 1 WHERE id = ?", (collection.id,))


def finish(connection: sqlite3.Connection, collection: Collection, seen: int, removed: Sequence[int]) -> None:
    """Clear the mark; the index now holds everything up to passage `seen`, without `removed`."""
    connection.execute("UPDATE collections SET index_dirty = 0, index_number = ? WHERE id = ?", (seen, collection.id))
    connection.executemany(
        "DELETE FROM tombstones WHERE collection = ? AND number = ?", ((collection.id, number) for number in removed)
    )


def start_over(connection: sqlite3.Connection, collection: int) -> None:
    """Let a new generation be built from nothing."""
    connection.execute(
        "UPDATE collections SET index_generation = index_generation + 1, index_number = 0, index_dirty = 0"
        " WHERE id = ?",
        (collection,),
    )
    connection.execute("DELETE FROM tombstones WHERE collection = ?", (collection,))
