"""Papers to store, and waiting for the index, for the tests of the store."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.embedders import HashingEmbedder
from vectorstore.paper import Paper, Query
from vectorstore.store import Store

_SUBJECTS = "graph protein galaxy tumour robot language market neuron climate quantum polymer vaccine".split()
_METHODS = "sampling pruning regression diffusion alignment clustering annealing tracking".split()


def paper(number: int, *, version: int = 1, paper_id: str | None = None, **fields: object) -> Paper:
    """A paper that no other number resembles: `nonce7` is in the abstract of paper 7 only."""
    subject, method = _SUBJECTS[number % len(_SUBJECTS)], _METHODS[number % len(_METHODS)]
    abstract = (
        f"We study {method} for {subject} data, known as nonce{number}. "
        f"Version{version} of the method reaches {number}.{version} points on bench{number % 97} and mark{number % 89}."
    )
    values: dict[str, object] = {"title": f"{method.title()} of {subject} {number}", "year": 1990 + number % 35}
    values |= fields
    return Paper(f"p{number}" if paper_id is None else paper_id, abstract, **values)  # type: ignore[arg-type]  # fields of Paper


def opened(folder: Path, embedder: HashingEmbedder | None = None, papers: Sequence[Paper] = ()) -> Store:
    store = Store(folder, embedder or HashingEmbedder())
    if papers:
        store.add(papers)
    return store


def eventually(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    give_up = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < give_up, "it did not come about in time"
        time.sleep(0.02)


def indexed(store: Store, seconds: float = 30.0) -> Store:
    """The store, once its index is current and trusted."""
    eventually(lambda: all(each.state == "current" for each in store.state().indexes), seconds)
    return store


def found(store: Store, text: str, **fields: object) -> list[str]:
    """The ids that a search gives."""
    return [hit.paper.paper_id for hit in store.search(Query(text, **fields))]  # type: ignore[arg-type]  # fields of Query


def everything(store: Store, collection: str = "default") -> Iterator[Paper]:
    """All papers, page by page."""
    cursor: str | None = None
    while True:
        page = store.papers(collection, limit=50, cursor=cursor)
        yield from page.papers
        cursor = page.next_cursor
        if cursor is None:
            return
