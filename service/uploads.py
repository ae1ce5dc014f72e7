"""Papers coming in over HTTP: as JSON, as a file or as a form with files. Small at once, large as a job."""

import io
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import anyio
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from service import wire
from service.problems import BAD_JSON, INVALID, UNREADABLE, Refusal
from service.runtime import INCOMING, Runtime
from vectorstore.paper import Paper, Report, Skip
from vectorstore.readers import paper_from_record, read

# About 700 abstracts: what is embedded in the time that a client waits without thinking of time.
INLINE_BYTES = 2**20
_JSON = ("application/json", "text/json")
# A collection named in the body would be passed over in silence, and the papers land in another one.
_WHERE = "Name the collection in the address, as in /v1/papers?collection=NAME, and not in the body."
_ENDS = 400
_MOST_FILES = 100
_COLLECTION_FIRST = re.compile(rb'\s*\{\s*"collection"\s*:\s*"[^"]*"\s*,\s*"papers"\s*:')
_PAPERS_FIRST = re.compile(rb'\s*\{\s*"papers"\s*:')
_COLLECTION_LAST = re.compile(rb'\]\s*,\s*"collection"\s*:\s*"[^"]*"\s*\}\s*\Z')


@dataclass(frozen=True, slots=True)
class Intake:
    """Where the papers go, and what the sender says about their form."""

    collection: str
    format: str | None
    filename: str | None


async def take_in(request: Request, runtime: Runtime, intake: Intake) -> Report | str:
    """Store what the request brings: the report, or the id of the job that goes on with it."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return await _take_form(request, runtime, intake)
    spool = await _spooled(request, runtime)
    if isinstance(spool, Path):
        return await _job(runtime, spool, intake)
    if not spool:
        raise Refusal(UNREADABLE, "The body is empty; send papers as JSON, or a file.")
    records = _papers_in(spool) if kind in _JSON and not intake.format else None
    if records is None:
        return await runtime.write(_store_file, runtime, io.BytesIO(spool), intake)
    return await runtime.write(runtime.store.add, _read_records(records), intake.collection)


async def _job(runtime: Runtime, spool: Path, intake: Intake) -> str:
    """The job that takes over the file, which does not stay behind where there is none."""
    try:
        if intake.format is None:
            await runtime.read(_check_ends, spool)
        return await runtime.write(runtime.store.start_job, spool, intake.filename, intake.format, intake.collection)
    finally:
        _discard(spool)


def _discard(spool: Path) -> None:
    spool.unlink(missing_ok=True)


def _check_ends(spool: Path) -> None:
    with spool.open("rb") as file:
        head = file.read(_ENDS)
        file.seek(max(0, spool.stat().st_size - _ENDS))
        tail = file.read()
    if _COLLECTION_FIRST.match(head) or (_PAPERS_FIRST.match(head) and _COLLECTION_LAST.search(tail)):
        raise Refusal(INVALID, _WHERE)


def _papers_in(body: bytes) -> list[wire.Json] | None:
    """The list under "papers", or None where the JSON is a file of another shape, for the readers to know."""
    try:
        value = wire.loads(body)
    except wire.BadJson as error:
        if body.lstrip()[:1] == b"{" and b'"papers"' in body[:200]:
            raise Refusal(BAD_JSON, str(error)) from None
        return None
    if isinstance(value, dict) and set(value) == {"papers", "collection"}:
        raise Refusal(INVALID, _WHERE)
    if not isinstance(value, dict) or set(value) != {"papers"}:
        return None
    papers = value["papers"]
    if not isinstance(papers, list):
        raise Refusal(INVALID, '"papers" must be a list of papers, each an object with an "abstract".')
    return papers


def _read_records(records: list[wire.Json]) -> Iterator[Paper | Skip]:
    for number, record in enumerate(records, 1):
        label = f"record {number}"
        yield paper_from_record(record, label) if isinstance(record, dict) else Skip(label, "it is not an object")


def _store_file(runtime: Runtime, data: BinaryIO, intake: Intake) -> Report:
    return runtime.store.add(read(data, intake.filename, intake.format), intake.collection)


async def _spooled(request: Request, runtime: Runtime) -> bytes | Path:
    """The body: its bytes, or where it lies if it is large or the client prefers not to wait."""
    head = bytearray()
    pieces = request.stream()
    async for piece in pieces:
        head += piece
        if len(head) > INLINE_BYTES:
            break
    later = "respond-async" in request.headers.get("prefer", "")
    if len(head) <= INLINE_BYTES and not (later and head):
        return bytes(head)
    path = await runtime.write(_new_spool, runtime)
    try:
        async with await anyio.open_file(path, "wb") as spool:
            await spool.write(head)
            async for piece in pieces:
                await spool.write(piece)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def _new_spool(runtime: Runtime) -> Path:
    """A new file beside the store, so that the store can take it over without copying."""
    folder = runtime.settings.store.path / INCOMING
    folder.mkdir(mode=0o700, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        return Path(file.name)


@asynccontextmanager
async def _form(request: Request) -> AsyncIterator[FormData]:
    try:
        form = await request.form(max_files=_MOST_FILES, max_fields=10)
    except HTTPException as error:
        raise Refusal(UNREADABLE, f"The form can't be read: {error.detail}") from None
    try:
        yield form
    finally:
        await form.close()


async def _take_form(request: Request, runtime: Runtime, intake: Intake) -> Report | str:
    async with _form(request) as form:
        files = [value for _, value in form.multi_items() if isinstance(value, UploadFile)]
        words = {name: value for name, value in form.multi_items() if isinstance(value, str)}
        intake = Intake(words.get("collection", intake.collection), words.get("format", intake.format), None)
        if not files:
            raise Refusal(UNREADABLE, "The form holds no file.")
        large = sum(file.size or 0 for file in files) > INLINE_BYTES
        if not large:
            return await runtime.write(_store_files, runtime, files, intake)
        if len(files) > 1:
            raise Refusal(INVALID, f"Files of more than {INLINE_BYTES} bytes together come one in a request.")
        path = await runtime.write(_copied, runtime, files[0].file)
        return await _job(runtime, path, Intake(intake.collection, intake.format, files[0].filename))


def _store_files(runtime: Runtime, files: list[UploadFile], intake: Intake) -> Report:
    total = Report()
    for file in files:
        report = _store_file(runtime, file.file, Intake(intake.collection, intake.format, file.filename))
        if len(files) > 1:
            skipped = tuple(Skip(f"{file.filename}: {skip.record}", skip.reason) for skip in report.skipped)
            report = Report(report.added, report.updated, report.unchanged, skipped)
        total += report
    return total


def _copied(runtime: Runtime, data: BinaryIO) -> Path:
    path = _new_spool(runtime)
    try:
        with path.open("wb") as spool:
            shutil.copyfileobj(data, spool, 2**20)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path
