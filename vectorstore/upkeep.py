"""The thread that keeps the index at the catalogue's revision, mends it, and says which answers it may be trusted with.

What was acknowledged is in the catalogue; here it is brought to Chroma in small batches. A collection is trusted only
after its count and a probe with known vectors were right, because a damaged Chroma opens and counts as if it were well.
Whatever goes wrong, the cure is the same: build again from the stored vectors, without embedding anything.
"""

import logging
import shutil
import sqlite3
import threading
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from vectorstore import journal, passages
from vectorstore.catalogue import Collection, collections, find_collection
from vectorstore.database import Database
from vectorstore.errors import FolderUnusable
from vectorstore.index import FOLDER_NAME, Index, IndexTrouble
from vectorstore.paper import Vectors

log = logging.getLogger(__name__)

BATCH = 100
_PROBES = 64
_PROBE_DEPTH = 10
# An approximate index may miss a few; a damaged one misses many.
_FINDABLE = 0.98
_LONGEST_PAUSE_S = 60.0
_CLOSING_S = 10.0
# A server may be killed, damaged or wiped while nobody asks it anything.
_RECHECK_S = 60.0
# So many troubles without one good round in between are more than bad luck.
_PATIENCE = 3


@dataclass(frozen=True, slots=True)
class IndexState:
    """How one collection stands in the index; `waiting` counts passages it has not seen."""

    collection: str
    state: Literal["current", "catching up", "rebuilding"]
    waiting: int


class Upkeep:
    """Owns the index's life. `trusted` and `states` may be called from any thread."""

    def __init__(self, database: Database, index: Index, folder: Path, *, embedded: bool) -> None:
        self._database = database
        self._index = index
        self._folder = folder
        self._embedded = embedded
        self._trusted: dict[int, tuple[str, int]] = {}
        self._rebuilding: set[int] = set()
        self._wanted: set[str] = set()
        self._failures = 0
        self._problem: str | None = None
        self._running = False
        self._stopping = threading.Event()
        self._work = threading.Event()
        self._thread = threading.Thread(target=self._run, name="loccit-index", daemon=True)

    def start(self) -> None:
        """Begin in the background: the store answers from the catalogue meanwhile."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the batch at hand and end the index's process."""
        self._stopping.set()
        self._work.set()
        if not self._running:
            self._index.kill()  # still importing: nothing is being written that could be torn
        self._thread.join(timeout=_CLOSING_S)
        if self._thread.is_alive():
            self._index.kill()
            self._thread.join()
        self._index.stop()

    def wake(self) -> None:
        """Say that the catalogue has changed."""
        self._work.set()

    def trusted(self, collection: Collection) -> str | None:
        """The Chroma collection that answers for this revision, or None where exact search must."""
        name, revision = self._trusted.get(collection.id, ("", -1))
        return name if revision == collection.revision else None

    def suspect(self, collection: Collection) -> None:
        """Trust it no more until it is probed again: a query failed or was late."""
        self._trusted.pop(collection.id, None)
        self._work.set()

    def states(self) -> tuple[tuple[IndexState, ...], tuple[str, ...]]:
        """`(one state a collection, sentences of what is wrong)`."""
        states = []
        with self._database.read() as connection:
            for collection in collections(connection):
                waiting = journal.behind(connection, collection)
                states.append(IndexState(collection.name, self._state(collection), waiting))
        sentences = [
            f"the vector index of collection {each.collection!r} is being rebuilt ({each.waiting} passages to go);"
            " answers come from exact search"
            for each in states
            if each.state == "rebuilding"
        ]
        if self._problem:
            sentences.insert(0, f"the vector index is not available ({self._problem}); answers come from exact search")
        return tuple(states), tuple(sentences)

    def _state(self, collection: Collection) -> Literal["current", "catching up", "rebuilding"]:
        if self.trusted(collection):
            return "current"
        return "rebuilding" if collection.id in self._rebuilding else "catching up"

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._work.clear()
            try:
                if self._round():
                    self._failures, self._problem = 0, None
                    if not self._work.wait(None if self._embedded else _RECHECK_S):
                        self._trusted.clear()
            except IndexTrouble as trouble:
                self._recover(trouble)
            except Exception as error:
                # Whatever it is, this thread must outlive it, or the index would be behind for ever without a word.
                if not self._stopping.is_set():
                    log.exception("index upkeep")
                self._pause(str(error) if isinstance(error, FolderUnusable) else type(error).__name__)

    def _round(self) -> bool:
        """Take every collection one batch further; True when nothing is left to do."""
        if not self._running:
            self._open()
        with self._database.read() as connection:
            known = collections(connection, hidden=True)
            store = journal.store_name(connection)
        self._drop_strays(store, {journal.chroma_name(store, each) for each in known})
        done = [self._advance(each.name) for each in known if not self._stopping.is_set()]
        return all(done)

    def _open(self) -> None:
        for leftover in self._folder.glob(f"{FOLDER_NAME}.damaged-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        self._trusted.clear()
        self._wanted = set()
        self._index.start()
        self._running = True
        with self._database.read() as connection:
            dirty = [each.id for each in collections(connection, hidden=True) if each.index_dirty]
        for collection in dirty:
            self._start_over(collection)

    def _drop_strays(self, store: str, wanted: set[str]) -> None:
        if wanted == self._wanted:
            return
        for name in self._index.names():
            if name.startswith(f"loccit-{store}-") and name not in wanted:
                self._index.drop(name)
        self._wanted = wanted

    def _advance(self, known: str) -> bool:
        with self._database.read() as connection:
            collection = find_collection(connection, known)
            if collection is None or self.trusted(collection):
                return True
            name = journal.chroma_name(journal.store_name(connection), collection)
            new = passages.behind(connection, collection.id, collection.index_number, BATCH)
            gone = journal.removals(connection, collection.id, BATCH)
            probe = None if new or gone else _probe(connection, collection)
        if probe is not None:
            return self._verify(collection, name, probe)
        with self._database.write() as connection:
            journal.begin(connection, collection)
        if new:
            self._index.add(name, new)
        if gone:
            self._index.delete(name, gone)
        with self._database.write() as connection:
            journal.finish(connection, collection, new[-1].number if new else collection.index_number, gone)
        self._problem = None
        return False

    def _verify(self, collection: Collection, name: str, probe: "_Probe") -> bool:
        try:
            healthy = self._index.count(name) == probe.count and (
                not probe.count
                or self._index.findable(name, probe.numbers, probe.vectors, _PROBE_DEPTH)
                >= _FINDABLE * len(probe.numbers)
            )
        except IndexTrouble as trouble:
            if self._embedded:
                # A damaged collection raises, hangs or takes the process with it, and would again after every start.
                self._start_over(collection.id)
            if not self._embedded or trouble.kind != "refused":
                raise
            healthy = False
        else:
            if not healthy:
                self._start_over(collection.id)
        if healthy:
            self._rebuilding.discard(collection.id)
            self._trusted[collection.id] = (name, collection.revision)
        elif self._failures > _PATIENCE:
            self._pause("it is damaged again after each rebuild")
        return healthy

    def _start_over(self, collection: int) -> None:
        self._failures += 1
        self._rebuilding.add(collection)
        self._trusted.pop(collection, None)
        with self._database.write() as connection:
            journal.start_over(connection, collection)

    def _recover(self, trouble: IndexTrouble) -> None:
        self._running = False
        self._index.stop(0.0)
        if self._stopping.is_set():
            return
        self._failures += 1
        if not self._embedded:
            self._problem = str(trouble)
        hopeless = trouble.kind == "closed" or (trouble.kind in {"dead", "refused"} and self._failures > _PATIENCE)
        if self._embedded and hopeless:
            self._set_aside()
        if self._failures > 1:
            self._pause(str(trouble))

    def _set_aside(self) -> None:
        """Take the folder that Chroma can't open out of the way, and let everything be built anew."""
        damaged = self._folder / FOLDER_NAME
        if damaged.exists():
            damaged.rename(self._folder / f"{FOLDER_NAME}.damaged-{uuid.uuid4().hex}")
        with self._database.read() as connection:
            known = [each.id for each in collections(connection, hidden=True)]
        for collection in known:
            self._start_over(collection)

    def _pause(self, reason: str) -> None:
        self._problem = reason
        self._stopping.wait(min(_LONGEST_PAUSE_S, 0.25 * 2 ** min(self._failures, 10)))


@dataclass(frozen=True, slots=True)
class _Probe:
    """What a healthy index must say: its count, and that these passages are found by their vectors."""

    count: int
    numbers: list[int]
    vectors: Vectors


def _probe(connection: sqlite3.Connection, collection: Collection) -> _Probe:
    every = passages.numbers(connection, collection.id)
    chosen = every[np.unique(np.linspace(0, max(0, len(every) - 1), _PROBES).astype(int))] if len(every) else every
    numbers, vectors = passages.vectors(connection, chosen)
    return _Probe(len(every), numbers.tolist(), vectors)
