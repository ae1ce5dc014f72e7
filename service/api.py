"""The routes of /v1: each reads a request, calls one thing, and gives its value back."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, TypeVar

import anyio
from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ValidationError

from service import apidoc, wire
from service.domain import Answer, Question
from service.problems import (
    BODY_TOO_LARGE,
    INVALID,
    NOT_JSON,
    UNKNOWN_COLLECTION,
    UNKNOWN_JOB,
    UNKNOWN_PAPER,
    Refusal,
    faults_of,
)
from service.reply import answer_hit
from service.retrieval import filters_of
from service.runtime import Runtime
from service.shapes import (
    CollectionEntry,
    CollectionList,
    IntakeJob,
    IntakeReport,
    PaperList,
    PaperQuery,
    SearchReply,
    SearchRequest,
    StoredPaper,
    collection_of,
    job_of,
    paper_of,
    report_of,
)
from service.streams import EventStream, Named, unless_gone
from service.uploads import Intake, take_in
from vectorstore.paper import Filters, Report
from vectorstore.paper import Query as StoreQuery

router = APIRouter(prefix="/v1", responses=apidoc.PROBLEMS)
M = TypeVar("M", bound=BaseModel)
# The longest history and question, each letter of them escaped.
_LARGEST_JSON = 8 * 2**20
# What is parsed in a millisecond; more is parsed off the event loop.
_SLOW_JSON = 2**16
Collection = Annotated[str, Query(description="The collection.")]


async def runtime_of(request: Request) -> Runtime:
    """What the app holds open. Async, or FastAPI would take a thread for it."""
    runtime: Runtime = request.app.state.runtime
    return runtime


Running = Annotated[Runtime, Depends(runtime_of)]


async def body_as(model: type[M], request: Request) -> M:
    """The JSON body as `model`. Raises Refusal with the faulty fields."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not (kind == "application/json" or kind.endswith("+json")):
        raise Refusal(NOT_JSON, "Send the body as JSON, with the header Content-Type: application/json.")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _LARGEST_JSON:
            raise Refusal(BODY_TOO_LARGE, f"A question may hold {_LARGEST_JSON} bytes at most.")
    if len(body) > _SLOW_JSON:
        return await anyio.to_thread.run_sync(_parsed, model, bytes(body))
    return _parsed(model, bytes(body))


def _parsed(model: type[M], body: bytes) -> M:
    value = wire.loads(body)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise Refusal(INVALID, "The body has faults; errors lists them.", faults_of(error.errors())) from None


@router.post("/ask", tags=["questions"], **apidoc.ASK)
async def ask(request: Request, running: Running) -> Answer:
    """Answer a question, every sentence pinned to the words that carry it. With `"stream": true`, as events."""
    question = await body_as(Question, request)
    if question.stream or "text/event-stream" in request.headers.get("accept", ""):
        return EventStream(lambda: _events(running, question), running.stopping, running.turnstile.enter())  # type: ignore[return-value]  # FastAPI sends a Response as it is
    with running.turnstile.enter():
        answer = await unless_gone(request, lambda: running.answerer.answer(question))
    running.metrics.observe(answer)
    return answer


async def _events(running: Runtime, question: Question) -> AsyncGenerator[Named, None]:
    async with aclosing(running.answerer.events(question)) as events:
        async for event in events:
            if isinstance(event.data, Answer):
                running.metrics.observe(event.data)
            yield event.name, event.data


@router.post("/search", tags=["questions"], **apidoc.SEARCH)
async def search(request: Request, running: Running) -> SearchReply:
    """The passages that fit a query best."""
    asked = await body_as(SearchRequest, request)
    top_k = asked.top_k or running.settings.retrieval.top_k
    query = StoreQuery(asked.query, top_k, asked.mode, filters_of(asked.filters), asked.collection)
    hits = await running.read(running.store.search, query)
    return SearchReply(hits=tuple(answer_hit(hit) for hit in hits))


@router.post("/papers", tags=["papers"], **apidoc.ADD)
async def add_papers(
    request: Request,
    response: Response,
    running: Running,
    collection: Collection = "default",
    format: Annotated[str | None, Query(description="The form of the file, where it should not be guessed.")] = None,  # noqa: A002 - the word of the command line
    filename: Annotated[str | None, Query(description="The name of the file, for messages.")] = None,
) -> IntakeReport | IntakeJob:
    """Store papers: `{"papers": […]}`, a file as the body, or a form with files. Large input becomes a job (202)."""
    done = await take_in(request, running, Intake(collection, format, filename))
    if isinstance(done, Report):
        running.metrics.count(done)
        return report_of(done)
    response.status_code = 202
    response.headers["Location"] = f"/v1/jobs/{done}"
    return await job(done, running)


@router.get("/papers", tags=["papers"])
async def list_papers(
    running: Running,
    asked: Annotated[PaperQuery, Query()],
) -> PaperList:
    """The papers of a collection, a page at a time, in a stable order."""
    filters = Filters(asked.year_gte, asked.year_lte, asked.venue, asked.author)
    page = await running.read(running.store.papers, asked.collection, filters, asked.limit, asked.cursor)
    papers = tuple(paper_of(paper) for paper in page.papers)
    return PaperList(papers=papers, next_cursor=page.next_cursor, total=page.total)


@router.get("/papers/{paper_id:path}", tags=["papers"])
async def get_paper(paper_id: str, running: Running, collection: Collection = "default") -> StoredPaper:
    """One paper. The id is percent-encoded, and may hold anything."""
    paper = await running.read(running.store.paper, collection, paper_id)
    if paper is None:
        raise Refusal(UNKNOWN_PAPER, f"The collection {collection} has no paper with this id.")
    return paper_of(paper)


@router.delete("/papers/{paper_id:path}", tags=["papers"], status_code=204)
async def delete_paper(paper_id: str, running: Running, collection: Collection = "default") -> None:
    """Remove a paper; from then on it can't be found."""
    if not await running.write(running.store.delete, collection, paper_id):
        raise Refusal(UNKNOWN_PAPER, f"The collection {collection} has no paper with this id.")


@router.get("/jobs/{job_id}", tags=["papers"])
async def job(job_id: str, running: Running) -> IntakeJob:
    """How far a large input is."""
    found = await running.read(running.store.job, job_id)
    if found is None:
        raise Refusal(UNKNOWN_JOB, "There is no job with this id.")
    return job_of(found)


@router.get("/collections", tags=["collections"])
async def collections(running: Running) -> CollectionList:
    """Every collection."""
    found = await running.read(running.store.collections)
    return CollectionList(collections=tuple(collection_of(one) for one in found))


@router.put("/collections/{name:path}", tags=["collections"])
async def create_collection(name: str, running: Running) -> CollectionEntry:
    """Create a collection, or find it there already."""
    return collection_of(await running.write(running.store.create_collection, name))


@router.delete("/collections/{name:path}", tags=["collections"], status_code=204)
async def delete_collection(name: str, running: Running) -> None:
    """Delete a collection with all its papers."""
    if not await running.write(running.store.delete_collection, name):
        raise Refusal(UNKNOWN_COLLECTION, "There is no collection of that name.")


@router.post("/reindex", tags=["collections"])
async def reindex(running: Running, collection: Annotated[str | None, Query()] = None) -> IntakeReport:
    """Rebuild the index from the stored papers, of one collection or of all; nothing is lost if it is interrupted."""
    return report_of(await running.write(running.store.reindex, collection))
