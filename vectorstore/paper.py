"""The values that travel through the store: all frozen, none does I/O."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Mode = Literal["hybrid", "dense", "lexical"]


@dataclass(frozen=True, slots=True)
class Paper:
    """A record with its abstract. Offsets everywhere count characters of `abstract`."""

    paper_id: str
    abstract: str
    title: str | None = None
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str | None = None
    url: str | None = None
    doi: str | None = None
    arxiv_id: str | None = None
    retracted: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """`abstract[start:end]`; the passages of a paper tile its abstract."""

    paper_id: str
    start: int
    end: int
    text: str

    @property
    def passage_id(self) -> str:
        """`paper_id:start-end`, unique in a collection."""
        return f"{self.paper_id}:{self.start}-{self.end}"


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with its score. Ranks count from 1 and are None where that leg missed it."""

    passage: Passage
    paper: Paper
    score: float
    cosine: float | None = None
    bm25: float | None = None
    dense_rank: int | None = None
    lexical_rank: int | None = None


@dataclass(frozen=True, slots=True)
class Filters:
    """Which papers may be found. An unset field does not filter; bounds are inclusive."""

    year_gte: int | None = None
    year_lte: int | None = None
    venue: str | None = None
    author: str | None = None
    paper_ids: tuple[str, ...] | None = None

    def __bool__(self) -> bool:
        return self != Filters()


@dataclass(frozen=True, slots=True)
class Query:
    """One look-up: `top_k` is the number of papers' best passages wanted, at most."""

    text: str
    top_k: int = 8
    mode: Mode = "hybrid"
    filters: Filters = field(default_factory=Filters)
    collection: str = "default"


@dataclass(frozen=True, slots=True)
class Skip:
    """A record that was not stored. `record` says which ("record 7", "line 3", an id)."""

    record: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """What became of the records of one input: records in = the sum of the four counts."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    skipped: tuple[Skip, ...] = ()

    @property
    def records(self) -> int:
        """How many records came in."""
        return self.added + self.updated + self.unchanged + len(self.skipped)

    def __add__(self, other: "Report") -> "Report":
        return Report(
            self.added + other.added,
            self.updated + other.updated,
            self.unchanged + other.unchanged,
            self.skipped + other.skipped,
        )


class Embedder(Protocol):
    """What the store asks of an embedding model.

    `name` is the fingerprint a collection remembers: equal names give equal vectors.
    `max_tokens` is what one text may hold, special tokens included.
    """

    name: str
    max_tokens: int

    def count(self, text: str) -> int:
        """Tokens of `text` as the model reads it, special tokens included, uncut."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit-length row a text, in order; shape (len(texts), dimension)."""
        ...
