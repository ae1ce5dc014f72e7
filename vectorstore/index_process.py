"""The process that owns Chroma: `python -m vectorstore.index_process FD FOLDER-OR-URL`.

Apart from the store because Chroma holds the interpreter's lock while it writes, may crash on a damaged folder, and
takes seconds to import. It reads calls `(serial, method, arguments)` from the inherited socket and answers
`(serial, True, value)` or `(serial, False, sentence)`. When the store's process ends, however it ends, the socket does,
and this process with it.

Only vectors go in and out: texts handed to Chroma's `query_texts` could be sent to wherever the collection's stored
configuration says.
"""

import fcntl
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlsplit

import chromadb
import numpy as np
from chromadb.api import ClientAPI
from chromadb.api.collection_configuration import CreateCollectionConfiguration
from chromadb.api.models.Collection import Collection
from chromadb.config import Settings
from chromadb.errors import ChromaError, NotFoundError
from numpy.typing import NDArray

Rows = NDArray[np.float32]
Metadata = dict[str, str | int]

# The smallest search list of HNSW with which recall at 200 stays above .99 on our vectors.
EF_SEARCH = 400
_SPACE: CreateCollectionConfiguration = {
    "hnsw": {"space": "cosine", "ef_search": EF_SEARCH, "ef_construction": 200, "max_neighbors": 16}
}
_LOCK_PATIENCE_S = 20.0


class Chroma:
    """The calls the store may make; each is safe to repeat."""

    def __init__(self, client: ClientAPI) -> None:
        self._client = client
        self._open: dict[str, Collection] = {}

    def names(self) -> list[str]:
        """The collections there are."""
        return [collection.name for collection in self._client.list_collections()]

    def add(self, name: str, ids: list[int], vectors: Rows, texts: list[str], metadata: list[Metadata]) -> None:
        """Store passages under their numbers; a number that is there already is left as it is."""
        # Chroma's types allow more than we send; `mappings` of plain values is what it documents.
        mappings: list[chromadb.Metadata] = [dict(each) for each in metadata]
        self._collection(name).add(ids=list(map(str, ids)), embeddings=vectors, documents=texts, metadatas=mappings)

    def delete(self, name: str, ids: list[int]) -> None:
        """Take passages out; one that is not there is no error."""
        self._collection(name).delete(ids=list(map(str, ids)))

    def query(self, name: str, vector: Rows, limit: int) -> list[tuple[int, float]]:
        """The nearest passages as (number, cosine), nearest first."""
        (found,) = self._nearest(name, vector[None, :], limit)
        return found

    def count(self, name: str) -> int:
        """How many passages it holds."""
        return self._collection(name).count()

    def findable(self, name: str, ids: list[int], vectors: Rows, limit: int) -> int:
        """How many of these passages are among the `limit` nearest to their own vector, or tie with those."""
        nearest = self._nearest(name, vectors, limit)
        return sum(
            any(number == own for number, _ in found) or sum(cosine > 0.9999 for _, cosine in found) >= limit
            for own, found in zip(ids, nearest, strict=True)
        )

    def drop(self, name: str) -> None:
        """Forget a collection."""
        self._open.pop(name, None)
        try:
            self._client.delete_collection(name)
        except NotFoundError:
            return

    def _collection(self, name: str) -> Collection:
        if name not in self._open:
            self._open[name] = self._client.get_or_create_collection(
                name, configuration=_SPACE, embedding_function=None
            )
        return self._open[name]

    def _nearest(self, name: str, vectors: Rows, limit: int) -> list[list[tuple[int, float]]]:
        answer = self._collection(name).query(query_embeddings=vectors, n_results=limit, include=["distances"])
        distances = answer["distances"] or []
        return [
            [(int(number), 1.0 - float(distance)) for number, distance in zip(numbers, row, strict=True)]
            for numbers, row in zip(answer["ids"], distances, strict=True)
        ]


def main(arguments: Sequence[str]) -> None:
    """Say "imported", open, say how that went, then serve until the socket ends."""
    os.umask(0o077)
    # The terminal's Ctrl-C is for the store, which ends this process in good order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    descriptor, place = arguments
    with Connection(int(descriptor)) as connection:
        connection.send("imported")
        try:
            client = _client(place)
        except BlockingIOError:
            connection.send(("busy", "an earlier index process still holds the folder"))
            return
        except Exception as error:  # noqa: BLE001 - Chroma raises its own, SQLite's and Rust's; each means: can't open
            connection.send(("failed", _sentence(error)))
            return
        connection.send(("opened", ""))
        _serve(connection, Chroma(client))


def _client(place: str) -> ClientAPI:
    # Neither the environment nor a `.env` may turn on telemetry or reset, or swap the client.
    settings = Settings(_env_file=None, anonymized_telemetry=False, allow_reset=False)
    if "://" in place:
        host, port, tls = server(place)
        return chromadb.HttpClient(host, port, ssl=tls, settings=settings)
    folder = Path(place)
    _hold(folder.with_suffix(".lock"))
    folder.mkdir(mode=0o700, exist_ok=True)
    return chromadb.PersistentClient(folder, settings=settings)


def server(address: str) -> tuple[str, int, bool]:
    """`(host, port, whether encrypted)` of a Chroma server's URL."""
    url = urlsplit(address)
    tls = url.scheme == "https"
    return url.hostname or "", url.port or (443 if tls else 8000), tls


def _hold(path: Path) -> None:
    """Lock until this process ends. Two writers corrupt Chroma for good, and a predecessor may still be dying."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    give_up = time.monotonic() + _LOCK_PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.05)
        else:
            return


def _serve(connection: Connection, chroma: Chroma) -> None:
    methods: dict[str, Callable[..., object]] = {
        method.__name__: method
        for method in (
            chroma.names,
            chroma.add,
            chroma.delete,
            chroma.query,
            chroma.count,
            chroma.findable,
            chroma.drop,
        )
    }
    while True:
        try:
            serial, method, values = connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer = (serial, True, methods[method](*values))
        except (ChromaError, ValueError, TypeError, RuntimeError, KeyError, OSError, AssertionError) as error:
            answer = (serial, False, _sentence(error))
        try:
            connection.send(answer)
        except OSError:
            return


def _sentence(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:300]


if __name__ == "__main__":
    main(sys.argv[1:])
