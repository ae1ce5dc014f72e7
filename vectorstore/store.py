"""The facade: one data folder, opened by one process. Every method is synchronous and thread-safe."""

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from vectorstore import catalogue, lexical
from vectorstore.catalogue import HIDDEN, Collection, CollectionInfo, PaperPage
from vectorstore.database import Database
from vectorstore.embedding import check_manifest, embed_question
from vectorstore.errors import BadCollectionName, EmbedderMismatch, FolderUnusable
from vectorstore.index import Index, IndexTrouble
from vectorstore.ingest import Ingest
from vectorstore.jobs import Job, Jobs
from vectorstore.lock import Announcement, FolderLock, read_announcement
from vectorstore.matrix import Matrices
from vectorstore.paper import Embedder, Filters, Hit, Paper, Query, Report, Skip, Vectors
from vectorstore.reindex import reindex
from vectorstore.search import MOST_HITS, search
from vectorstore.upkeep import IndexState, Upkeep

__all__ = ["Announcement", "CollectionInfo", "Job", "PaperPage", "Store", "StoreState", "read_announcement"]

DEFAULT = "default"
# The index answers within this or exact search does.
_INDEX_PATIENCE_S = 1.0
_NAME = re.compile(r"[^\W_][\w.-]{0,63}")


@dataclass(frozen=True, slots=True)
class StoreState:
    """`ready`: questions can be answered. `degraded`: sentences on what works, but not as it should."""

    ready: bool
    degraded: tuple[str, ...]
    papers: int
    passages: int
    indexes: tuple[IndexState, ...]


class Store:
    """One data folder, owned by this process until `close`.

    Raises FolderInUse (with `.url`) and FolderUnusable. `chroma_url` puts the dense index on a Chroma server; the truth
    stays in the folder.
    """

    def __init__(self, path: Path, embedder: Embedder, *, chroma_url: str | None = None) -> None:
        self._embedder = embedder
        self._closed = False
        self._reindexing = threading.Lock()
        self._lock = FolderLock(path)
        try:
            self._database = Database(path)
        except BaseException:
            self._lock.release()
            raise
        self._matrices = Matrices()
        self._index = Index(path, chroma_url)
        self._upkeep = Upkeep(self._database, self._index, path, embedded=chroma_url is None)
        try:
            self._jobs = Jobs(self._database, embedder, path)
            self.create_collection(DEFAULT)
        except BaseException:
            self._database.close()
            self._lock.release()
            raise
        self._upkeep.start()
        self._jobs.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the threads and the index's process, and let the folder go. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._jobs.stop()
        self._upkeep.stop()
        self._database.close()
        self._lock.release()

    def announce(self, url: str, token: str) -> None:
        """Tell other processes of this user where this one serves; taken back on `close`."""
        self._lock.announce(url, token)

    def collections(self) -> list[CollectionInfo]:
        """All collections by name, with their counts."""
        with self._database.read() as connection:
            return [catalogue.info(connection, each) for each in catalogue.collections(connection)]

    def collection(self, name: str) -> CollectionInfo:
        """One collection with its counts; UnknownCollection."""
        with self._database.read() as connection:
            return catalogue.info(connection, catalogue.collection(connection, name))

    def create_collection(self, name: str) -> CollectionInfo:
        """The collection of that name, made where it is missing; BadCollectionName."""
        if not _NAME.fullmatch(name) or unicodedata.normalize("NFC", name) != name:
            raise BadCollectionName(
                f"{name!r} can't name a collection: a name has 1 to 64 letters, digits, '.', '_' and '-', and begins"
                " with a letter or digit"
            )
        with self._database.write() as connection:
            made = catalogue.info(connection, catalogue.create_collection(connection, name))
        self._upkeep.wake()
        return made

    def delete_collection(self, name: str) -> bool:
        """Take a collection out with all its papers; False where there was none. "default" is emptied instead."""
        with self._database.write() as connection:
            doomed = [
                found
                for each in (name, HIDDEN + name)
                if (found := catalogue.find_collection(connection, each)) is not None
            ]
            if name.startswith(HIDDEN) or not doomed or doomed[0].name != name:
                return False
            for collection in doomed:
                catalogue.delete_collection(connection, collection.id)
            if name == DEFAULT:
                catalogue.create_collection(connection, DEFAULT)
        for collection in doomed:
            self._matrices.forget(collection.id)
        self._upkeep.wake()
        return True

    def add(
        self,
        records: Iterable[Paper | Skip],
        collection: str = DEFAULT,
        progress: Callable[[Report], None] | None = None,
    ) -> Report:
        """Store papers, about 64 at a time: what `progress` has heard of, or the report says, is durable and findable.

        UnknownCollection, EmbedderMismatch, EmbedderFailed, FolderUnusable; what was stored before stays.
        """

        def tell(report: Report) -> None:
            self._upkeep.wake()
            if progress is not None:
                progress(report)

        return Ingest(self._database, self._embedder, collection).add(records, tell)

    def papers(
        self, collection: str = DEFAULT, filters: Filters | None = None, limit: int = 100, cursor: str | None = None
    ) -> PaperPage:
        """One page of papers in order of arrival; go on with its `next_cursor`. BadCursor."""
        with self._database.read() as connection:
            found = catalogue.collection(connection, collection)
            return catalogue.page(connection, found.id, filters or Filters(), max(1, limit), cursor)

    def paper(self, collection: str, paper_id: str) -> Paper | None:
        """The paper of that id, or None."""
        with self._database.read() as connection:
            found = catalogue.paper(connection, catalogue.collection(connection, collection).id, paper_id)
        return None if found is None else found[1]

    def delete(self, collection: str, paper_id: str) -> bool:
        """Take a paper out; it can't be found from now on. False where there was none."""
        with self._database.write() as connection:
            number = catalogue.collection(connection, collection).id
            found = catalogue.paper(connection, number, paper_id)
            if found is None:
                return False
            catalogue.drop_paper(connection, number, found[0])
            catalogue.touch(connection, number)
        self._upkeep.wake()
        return True

    def search(self, query: Query, vector: Vectors | None = None) -> list[Hit]:
        """The best passage of each of the best `query.top_k` (1 to 100) papers, best first.

        `vector`: the question's, where the caller has it; shape (dimension,) or (1, dimension).
        """
        if not 1 <= query.top_k <= MOST_HITS:
            raise ValueError(f"top_k must be between 1 and {MOST_HITS}, not {query.top_k}")
        with self._database.read() as connection:
            collection = catalogue.collection(connection, query.collection)
            check_manifest(connection, collection, self._embedder)
            if catalogue.is_empty(connection, collection.id):
                return []
        if vector is not None:
            vector = vector.reshape(-1)
        elif query.mode != "lexical":
            vector = embed_question(self._embedder, query.text, collection.dimension)
        with self._database.read() as connection:
            collection = catalogue.collection(connection, query.collection)

            def propose(near: Vectors, limit: int) -> list[tuple[int, float]] | None:
                return self._propose(collection, near, limit)

            return search(connection, collection, query, vector, propose, self._matrices)

    def frequencies(self, collection: str, words: Sequence[str]) -> tuple[list[int], int]:
        """In how many passages each word occurs, stemmed as the index stems, and how many passages there are."""
        with self._database.read() as connection:
            number = catalogue.collection(connection, collection).id
            return lexical.frequencies(connection, number, words), catalogue.passage_count(connection, number)

    def state(self) -> StoreState:
        """What can be asked now, and what is not as it should be."""
        try:
            with self._database.read() as connection:
                known = catalogue.collections(connection)
                counted = [catalogue.info(connection, each) for each in known]
                foreign = [sentence for each in known if (sentence := self._mismatch(each.name)) is not None]
            indexes, sentences = self._upkeep.states()
        except FolderUnusable as error:
            return StoreState(ready=False, degraded=(str(error),), papers=0, passages=0, indexes=())
        papers, passages = sum(each.papers for each in counted), sum(each.passages for each in counted)
        return StoreState(
            ready=True, degraded=(*sentences, *foreign), papers=papers, passages=passages, indexes=indexes
        )

    def reindex(self, collection: str | None = None, progress: Callable[[Report], None] | None = None) -> Report:
        """Embed anew where the embedder or the splitter has changed, and build the index again, for one or all.

        May be interrupted at any point: the old passages stand until the new ones are all there.
        """
        names = [collection] if collection is not None else [each.name for each in self.collections()]
        report = Report()
        with self._reindexing:
            for name in names:
                report += reindex(self._database, self._embedder, name, progress)
                self._upkeep.wake()
        return report

    def start_job(
        self,
        spool: Path,
        filename: str | None = None,
        format: str | None = None,  # noqa: A002 - the word of the API
        collection: str = DEFAULT,
    ) -> str:
        """Add the file at `spool` (it is moved into the store) in the background; survives any end of the process."""
        return self._jobs.submit(spool, filename, format, collection)

    def job(self, job_id: str) -> Job | None:
        """How far a job has come, or None."""
        return self._jobs.find(job_id)

    def _propose(self, collection: Collection, vector: Vectors, limit: int) -> list[tuple[int, float]] | None:
        name = self._upkeep.trusted(collection)
        if name is None:
            return None
        try:
            return self._index.query(name, vector, limit, _INDEX_PATIENCE_S)
        except IndexTrouble as trouble:
            if trouble.kind != "working":
                self._upkeep.suspect(collection)
            return None

    def _mismatch(self, name: str) -> str | None:
        with self._database.read() as connection:
            try:
                check_manifest(connection, catalogue.collection(connection, name), self._embedder)
            except EmbedderMismatch as error:
                return str(error)
        return None
