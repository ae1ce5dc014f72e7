"""Papers -> a collection made for them alone, kept in a folder of its own: the second run finds it there."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from vectorstore import readers
from vectorstore.errors import EmbedderMismatch, UnknownCollection
from vectorstore.merge import identify, keys
from vectorstore.paper import Embedder, Paper, Query, Report
from vectorstore.store import Store

_PAGE = 1_000


@contextmanager
def collected(
    folder: Path, embedder: Embedder, name: str, papers: Sequence[Paper], progress: Callable[[Report], None]
) -> Iterator[tuple[Store, str]]:
    """A store below `folder` and the name of its collection of exactly `papers`. Raises VectorstoreError.

    A run that was cut short is gone on with.
    """
    collection = _name(name, embedder, papers)
    with Store(folder / collection, embedder) as store:
        if not _fits(store, collection):
            store.delete_collection(collection)
        store.create_collection(collection)
        if store.collection(collection).papers != len(papers):
            store.add(papers, collection, progress)
        yield store, collection


def in_file(path: Path) -> list[Paper]:
    """The papers of a file in any form that can be added, each once. Raises Unreadable."""
    with path.open("rb") as data:
        read = [identify(record) for record in readers.read(data, path.name) if isinstance(record, Paper)]
    return distinct(read)[0]


def distinct(papers: Iterable[Paper]) -> tuple[list[Paper], dict[str, str]]:
    """Papers that the store tells apart, and for each other one the id of the paper that it is."""
    kept: list[Paper] = []
    first: dict[str, str] = {}
    same: dict[str, str] = {}
    for paper in papers:
        marks = (*keys(paper), f"id:{paper.paper_id}")
        known = next((first[mark] for mark in marks if mark in first), None)
        if known is None:
            kept.append(paper)
        elif known != paper.paper_id:
            same[paper.paper_id] = known
        for mark in marks:
            first.setdefault(mark, known or paper.paper_id)
    return kept, same


def every(store: Store, collection: str) -> Iterator[Paper]:
    """All papers of a collection."""
    cursor: str | None = None
    while True:
        page = store.papers(collection, limit=_PAGE, cursor=cursor)
        yield from page.papers
        cursor = page.next_cursor
        if cursor is None:
            return


def _fits(store: Store, collection: str) -> bool:
    """Whether its passages, if any, are cut as this version cuts them."""
    try:
        store.search(Query("?", 1, "lexical", collection=collection))
    except UnknownCollection:
        return True
    except EmbedderMismatch:
        return False
    return True


def _name(name: str, embedder: Embedder, papers: Sequence[Paper]) -> str:
    digest = hashlib.sha256(embedder.name.encode())
    for paper in papers:
        digest.update(repr(paper).encode("utf-8", "replace"))
    return f"{re.sub(r'[^A-Za-z0-9]+', '-', name).strip('-')[:40] or 'set'}-{digest.hexdigest()[:12]}"
