"""Records in, papers stored: merge, split, skip what is known, embed, store; one transaction a batch.

Embedding is slow and holds no lock. So a batch is planned on a snapshot, embedded, and written only if the collection
is still as the plan saw it; else it is planned again, and pays for no text twice.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from vectorstore import catalogue, passages
from vectorstore.catalogue import Collection
from vectorstore.database import Database
from vectorstore.embedding import check_manifest, embed, manifest
from vectorstore.identity import Entry, Prints, Resolver
from vectorstore.paper import Embedder, Paper, Passage, Report, Skip, Vectors
from vectorstore.split import embedded_text, split

BATCH = 64
_LARGEST_YEAR = 2**31

Progress = Callable[[Report], None]
# Runs inside the transaction of each batch, with that batch's report.
Also = Callable[[sqlite3.Connection, Report], None]


@dataclass(slots=True)
class _Work:
    """A paper to write: its passages, and their vectors or the texts that will have them."""

    entry: Entry
    passages: list[Passage] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    vectors: Vectors | None = None


@dataclass(slots=True)
class _Plan:
    """What a batch comes to, seen from one state of the collection."""

    collection: Collection
    dimension: int | None
    entries: list[Entry]
    work: list[_Work]


class Ingest:
    """Adds one input to one collection, of which `records` have been dealt with before."""

    def __init__(
        self, database: Database, embedder: Embedder, name: str, also: Also | None = None, records: int = 0
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._name = name
        self._also = also
        self._prints: Prints = {}
        self._records = records

    def add(self, records: Iterable[Paper | Skip], progress: Progress | None = None) -> Report:
        """Store every record; each batch is durable and findable when `progress` hears of it."""
        with self._database.read() as connection:
            check_manifest(connection, catalogue.collection(connection, self._name), self._embedder)
        counts: Counter[str] = Counter()
        skipped: list[Skip] = []
        report = Report()
        for batch in _batches(records):
            stored = self._store(batch)
            counts.update(added=stored.added, updated=stored.updated, unchanged=stored.unchanged)
            skipped += stored.skipped
            report = Report(counts["added"], counts["updated"], counts["unchanged"], tuple(skipped))
            if progress is not None:
                progress(report)
        return report

    def _store(self, batch: Sequence[Paper | Skip]) -> Report:
        papers, skipped = self._sift(batch)
        known: dict[str, Vectors] = {}
        while True:
            plan = self._plan(papers)
            unusable = self._embed(plan, known)
            with self._database.write() as connection:
                now = catalogue.collection(connection, self._name)
                if (now.id, now.revision) != (plan.collection.id, plan.collection.revision):
                    continue
                self._write(connection, plan, unusable)
                report = _report(plan, unusable, skipped)
                if self._also is not None:
                    self._also(connection, report)
                break
        for entry in plan.entries:
            if entry.row is not None:
                self._prints[entry.row] = entry.prints
        return report

    def _sift(self, batch: Sequence[Paper | Skip]) -> tuple[list[tuple[str, Paper]], list[Skip]]:
        papers: list[tuple[str, Paper]] = []
        skipped: list[Skip] = []
        for each in batch:
            self._records += 1
            if isinstance(each, Skip):
                skipped.append(each)
                continue
            record = f"record {self._records}" + (f" ({each.paper_id})" if each.paper_id else "")
            reason = _unstorable(each)
            if reason is None:
                papers.append((record, each))
            else:
                skipped.append(Skip(_printable(record), reason))
        return papers, skipped

    def _plan(self, papers: Sequence[tuple[str, Paper]]) -> _Plan:
        with self._database.read() as connection:
            collection = catalogue.collection(connection, self._name)
            check_manifest(connection, collection, self._embedder)
            entries = Resolver(connection, collection.id, self._prints).resolve(papers)
            work = [self._work(connection, entry) for entry in entries if entry.row is None or entry.changed]
            empty = catalogue.is_empty(connection, collection.id)
        return _Plan(collection, None if empty else collection.dimension, entries, work)

    def _work(self, connection: sqlite3.Connection, entry: Entry) -> _Work:
        paper, before = entry.paper, entry.before
        if entry.row is not None and before and (before.title, before.abstract) == (paper.title, paper.abstract):
            spans, vectors = passages.of_paper(connection, entry.row)
            kept = [Passage(paper.paper_id, start, end, paper.abstract[start:end]) for start, end in spans]
            return _Work(entry, kept, vectors=vectors)
        new = split(paper, self._embedder)
        return _Work(entry, new, [embedded_text(paper, passage, self._embedder) for passage in new])

    def _embed(self, plan: _Plan, known: dict[str, Vectors]) -> set[int]:
        """Give each piece of work its vectors; the ids of the entries whose vectors are of no use."""
        missing = list(dict.fromkeys(text for work in plan.work for text in work.texts if text not in known))
        rows = embed(self._embedder, missing, plan.dimension)
        known.update(zip(missing, rows, strict=True))
        unusable = set()
        for work in plan.work:
            if work.vectors is None:
                work.vectors = np.stack([known[text] for text in work.texts])
            if not np.isfinite(work.vectors).all():
                unusable.add(id(work.entry))
        return unusable

    def _write(self, connection: sqlite3.Connection, plan: _Plan, unusable: set[int]) -> None:
        number = plan.collection.id
        good = [work for work in plan.work if id(work.entry) not in unusable]
        for row in (row for work in good for row in work.entry.absorbed):
            catalogue.drop_paper(connection, number, row)
        # All keys are free before the first is given away: papers of one batch may pass them to one another.
        catalogue.drop_keys(connection, (work.entry.row for work in good if work.entry.row is not None))
        for work in good:
            entry, vectors = work.entry, work.vectors
            assert vectors is not None
            entry.row = catalogue.put_paper(connection, number, entry.row, entry.paper, entry.keys)
            catalogue.put_passages(connection, number, entry.row, entry.paper, work.passages, vectors)
        for entry in plan.entries:
            if entry.row is not None and not entry.changed and entry.keys != entry.stored_keys:
                catalogue.put_keys(connection, number, entry.row, entry.keys)
        if good:
            first = good[0].vectors
            assert first is not None
            catalogue.adopt(connection, number, manifest(self._embedder, first.shape[1]))
            catalogue.touch(connection, number)


def _report(plan: _Plan, unusable: set[int], skipped: Sequence[Skip]) -> Report:
    counts = Counter(outcome for entry in plan.entries if id(entry) not in unusable for _, outcome in entry.verdicts)
    lost = [
        Skip(record, "the embedding model gave no usable vector for it")
        for entry in plan.entries
        if id(entry) in unusable
        for record, _ in entry.outcomes
    ]
    return Report(counts["added"], counts["updated"], counts["unchanged"], (*skipped, *lost))


def _batches(records: Iterable[Paper | Skip]) -> Iterator[list[Paper | Skip]]:
    iterator = iter(records)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def _unstorable(paper: Paper) -> str | None:
    if not paper.abstract.strip():
        return "no abstract"
    texts = (
        paper.paper_id,
        paper.abstract,
        paper.title,
        paper.venue,
        paper.url,
        paper.doi,
        paper.arxiv_id,
        *paper.authors,
    )
    if any(text != _printable(text) for text in texts if text):
        return "its text holds half of a surrogate pair, which is no character"
    if paper.year is not None and abs(paper.year) > _LARGEST_YEAR:
        return "its year is no year"
    return None


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
