"""What the HTTP API takes and gives, apart from the question and the answer themselves (service.domain)."""

from typing import Annotated, Literal

from pydantic import Field

from service.domain import AnswerHit, QuestionFilters, Value, Words
from vectorstore.paper import Mode, Paper, Report
from vectorstore.store import CollectionInfo, Job

Year = Annotated[int, Field(ge=-9_999, le=9_999)]


class SearchRequest(Value):
    """What `POST /v1/search` takes; only `query` is needed."""

    query: Annotated[str, Field(min_length=1, max_length=4_000)]
    top_k: Annotated[int, Field(ge=1, le=100)] | None = None
    mode: Mode = "hybrid"
    filters: QuestionFilters = QuestionFilters()
    collection: str = "default"


class SearchReply(Value):
    """Passages, the best first."""

    hits: tuple[AnswerHit, ...]


class PaperQuery(Value):
    """Which papers to list, and how many of them."""

    collection: str = "default"
    limit: Annotated[int, Field(ge=1, le=1_000)] = 50
    cursor: Annotated[str | None, Field(max_length=2_000)] = None
    year_gte: Year | None = None
    year_lte: Year | None = None
    venue: Words | None = None
    author: Words | None = None


class StoredPaper(Value):
    """A paper as it is stored. Offsets of citations count characters of `abstract`."""

    paper_id: str
    abstract: str
    title: str | None
    authors: tuple[str, ...]
    year: int | None
    venue: str | None
    url: str | None
    doi: str | None
    arxiv_id: str | None
    retracted: bool


class PaperList(Value):
    """A page of papers; `next_cursor` asks for the next one, and is null on the last."""

    papers: tuple[StoredPaper, ...]
    next_cursor: str | None
    total: int


class SkippedRecord(Value):
    """A record that was not stored, and why."""

    record: str
    reason: str


class IntakeReport(Value):
    """What became of the records of an input: records in = added + updated + unchanged + the skipped ones."""

    added: int
    updated: int
    unchanged: int
    skipped: tuple[SkippedRecord, ...]


class IntakeJob(Value):
    """A large input at work in the background. `GET /v1/jobs/{id}` tells how far it is.

    `report.skipped` names the first thousand skipped records; `skipped_total` counts them all.
    """

    id: str
    state: Literal["queued", "running", "done", "failed"]
    collection: str
    filename: str | None
    records: int
    report: IntakeReport
    skipped_total: int
    error: str | None


class CollectionEntry(Value):
    """A collection and what is in it."""

    name: str
    papers: int
    passages: int
    embedder: str | None
    revision: int


class CollectionList(Value):
    """Every collection."""

    collections: tuple[CollectionEntry, ...]


class Alive(Value):
    """The process answers."""

    status: str = "alive"


class Readiness(Value):
    """Whether questions can be answered, and what is not as it should be, a sentence each."""

    ready: bool
    degraded: tuple[str, ...]
    model: str
    embedder: str


def paper_of(paper: Paper) -> StoredPaper:
    """A paper as the API gives it."""
    return StoredPaper(**{name: getattr(paper, name) for name in StoredPaper.model_fields})


def report_of(report: Report) -> IntakeReport:
    """A report as the API gives it."""
    skipped = tuple(SkippedRecord(record=skip.record, reason=skip.reason) for skip in report.skipped)
    return IntakeReport(added=report.added, updated=report.updated, unchanged=report.unchanged, skipped=skipped)


def job_of(job: Job) -> IntakeJob:
    """A job as the API gives it."""
    return IntakeJob(
        id=job.job_id,
        state=job.state,
        collection=job.collection,
        filename=job.filename,
        records=job.records,
        report=report_of(Report(job.added, job.updated, job.unchanged, job.skips)),
        skipped_total=job.skipped,
        error=job.error,
    )


def collection_of(info: CollectionInfo) -> CollectionEntry:
    """A collection as the API gives it."""
    return CollectionEntry(
        name=info.name, papers=info.papers, passages=info.passages, embedder=info.embedder, revision=info.revision
    )
