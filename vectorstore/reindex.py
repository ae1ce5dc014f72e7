"""Embed a collection anew: beside the old one, in a collection of a hidden name, then switch in one transaction.

Interrupted at any point, nothing is lost: the old passages stand until the switch, and what the new ones cost so far is
found again at the next try.
"""

import sqlite3
from collections.abc import Callable, Sequence

import numpy as np

from vectorstore import catalogue, journal
from vectorstore.catalogue import HIDDEN, Collection
from vectorstore.database import Database
from vectorstore.embedding import check_manifest, embed, manifest
from vectorstore.errors import EmbedderFailed, EmbedderMismatch
from vectorstore.ingest import BATCH
from vectorstore.paper import Embedder, Filters, Paper, Report
from vectorstore.split import SPLITTER_VERSION, embedded_text, split

Progress = Callable[[Report], None]
# A paper with its row in the old collection and its keys.
_Copy = tuple[int, Paper, set[str]]


def reindex(database: Database, embedder: Embedder, name: str, progress: Progress | None = None) -> Report:
    """Bring one collection to this embedder: `updated` counts papers embedded anew, `unchanged` those that were right.

    The index is built again in either case, from the stored vectors.
    """
    with database.write() as connection:
        old = catalogue.collection(connection, name)
        papers = catalogue.info(connection, old).papers
        if _fits(connection, old, embedder):
            journal.start_over(connection, old.id)
            return Report(unchanged=papers)
        new = _beside(connection, old, embedder)
    done, after = Report(), 0
    while batch := _next(database, old, new, after):
        after = batch[-1][0]
        _copy(database, embedder, new, [each for each in batch if each[2]])
        done += Report(updated=len(batch))
        if progress is not None:
            progress(done)
    with database.write() as connection:
        _switch(connection, old, new, embedder)
    return done


def _fits(connection: sqlite3.Connection, collection: Collection, embedder: Embedder) -> bool:
    try:
        check_manifest(connection, collection, embedder)
    except EmbedderMismatch:
        return False
    return True


def _beside(connection: sqlite3.Connection, old: Collection, embedder: Embedder) -> Collection:
    """The hidden collection to fill; one begun for another embedder is of no use."""
    begun = catalogue.find_collection(connection, f"{HIDDEN}{old.name}")
    if begun is not None and (begun.embedder, begun.splitter) != (embedder.name, SPLITTER_VERSION):
        catalogue.delete_collection(connection, begun.id)
    return catalogue.create_collection(connection, f"{HIDDEN}{old.name}")


def _next(database: Database, old: Collection, new: Collection, after: int) -> list[_Copy]:
    """The next papers of the old collection; without keys where an earlier try has copied them."""
    with database.read() as connection:
        listed = catalogue.papers_where(connection, old.id, Filters(), after, BATCH)
        wanted = Filters(paper_ids=tuple(paper.paper_id for _, paper in listed))
        there = {paper.paper_id for _, paper in catalogue.papers_where(connection, new.id, wanted, 0, BATCH)}
        keys = catalogue.keys_of_rows(connection, [row for row, _ in listed])
    return [(row, paper, set() if paper.paper_id in there else keys[row]) for row, paper in listed]


def _copy(database: Database, embedder: Embedder, new: Collection, batch: Sequence[_Copy]) -> None:
    cut = [(paper, split(paper, embedder), keys) for _, paper, keys in batch]
    texts = [embedded_text(paper, passage, embedder) for paper, passages, _ in cut for passage in passages]
    vectors = embed(embedder, texts, None)
    if not np.isfinite(vectors).all():
        raise EmbedderFailed(
            f"the embedding model {embedder.name} gave no usable vector for a stored paper; the collection stays"
            " as it was"
        )
    with database.write() as connection:
        now = catalogue.find_collection(connection, new.name)
        if now is None or now.id != new.id:
            return  # deleted together with the one it was to replace
        at = 0
        for paper, passages, keys in cut:
            row = catalogue.put_paper(connection, new.id, None, paper, keys)
            catalogue.put_passages(connection, new.id, row, paper, passages, vectors[at : at + len(passages)])
            at += len(passages)
        if at:
            catalogue.adopt(connection, new.id, manifest(embedder, vectors.shape[1]))
            catalogue.touch(connection, new.id)


def _switch(connection: sqlite3.Connection, old: Collection, new: Collection, embedder: Embedder) -> None:
    """Put the new collection in the old one's place, without what was deleted meanwhile.

    Unless that was replaced, or emptied and filled by this very embedder, meanwhile: then it needs no other.
    """
    now = catalogue.find_collection(connection, old.name)
    if now is None or now.id != old.id or _fits(connection, now, embedder):
        catalogue.delete_collection(connection, new.id)
        return
    kept = {paper.paper_id for _, paper in catalogue.papers_where(connection, old.id, Filters(), 0, -1)}
    for row, paper in catalogue.papers_where(connection, new.id, Filters(), 0, -1):
        if paper.paper_id not in kept:
            catalogue.drop_paper(connection, new.id, row)
    catalogue.delete_collection(connection, old.id)
    catalogue.rename_collection(connection, new.id, old.name)
    catalogue.continue_revision(connection, new.id, now.revision)
