"""`loccit add`: files and folders, read here a batch at a time and stored over the API, so that memory stays small."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import BinaryIO

import anyio
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from service import wire
from service.client import Api
from vectorstore.errors import Unreadable
from vectorstore.paper import Paper, Skip
from vectorstore.readers import read

_BATCH = 100
_BATCH_BYTES = 2**19


@dataclass(slots=True)
class Tally:
    """What became of everything that was read. `failed` holds a sentence for each file that could not be."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    skipped: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    files: int = 0


async def add(api: Api, paths: Iterable[Path], format_name: str | None, collection: str) -> Tally:
    """Read and store `paths`; a file that can't be read is noted and the others go on."""
    tally = Tally()
    files = list(_files(paths, tally))
    with _progress() as progress:
        bar = progress.add_task("", total=sum(_size(file) for file in files))
        for file in files:
            progress.update(bar, description=file.name)
            await _add_file(api, file, format_name, collection, tally, _Meter(progress, bar))
    return tally


@dataclass(slots=True)
class _Meter:
    progress: Progress
    bar: TaskID
    before: int = 0

    def at(self, position: int) -> None:
        self.progress.advance(self.bar, max(0, position - self.before))
        self.before = max(self.before, position)


async def _add_file(
    api: Api, file: Path, format_name: str | None, collection: str, tally: Tally, meter: _Meter
) -> None:
    try:
        with await _open(file) as data:
            records = read(data, None if str(file) == "-" else file.name, format_name)
            while batch := await anyio.to_thread.run_sync(_next_batch, records):
                await _send(api, batch, collection, file, tally)
                meter.at(data.tell())
        tally.files += 1
    except Unreadable as error:
        tally.failed.append(f"{file}: {error}")
    except OSError as error:
        tally.failed.append(f"{file}: it can't be read ({error.strerror or 'input error'}).")
    meter.at(_size(file))


def _next_batch(records: Iterator[Paper | Skip]) -> list[Paper | Skip]:
    batch: list[Paper | Skip] = []
    size = 0
    while len(batch) < _BATCH and size < _BATCH_BYTES:
        record = next(records, None)
        if record is None:
            break
        batch.append(record)
        size += len(record.abstract) if isinstance(record, Paper) else 0
    return batch


async def _send(api: Api, batch: list[Paper | Skip], collection: str, file: Path, tally: Tally) -> None:
    papers = [record for record in batch if isinstance(record, Paper)]
    tally.skipped += [f"{file}: {record.record}: {record.reason}" for record in batch if isinstance(record, Skip)]
    if not papers:
        return
    report = await api.add([wire.loads(wire.dumps(asdict(paper))) for paper in papers], collection)
    tally.added += int(str(report["added"]))
    tally.updated += int(str(report["updated"]))
    tally.unchanged += int(str(report["unchanged"]))
    skipped = report["skipped"]
    assert isinstance(skipped, list)
    for skip in skipped:
        assert isinstance(skip, dict)
        tally.skipped.append(f"{file}: {skip['record']}: {skip['reason']}")


def _files(paths: Iterable[Path], tally: Tally) -> Iterator[Path]:
    """The files under `paths`, in order; in folders, hidden ones are left out."""
    for path in paths:
        if path.is_dir():
            inside = sorted(path.rglob("*"))
            found = [one for one in inside if one.is_file() and not _hidden(one.relative_to(path))]
            if not found:
                tally.failed.append(f"{path}: the folder holds no file.")
            yield from found
        elif path.exists() or str(path) == "-":
            yield path
        else:
            tally.failed.append(f"{path}: there is no such file.")


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


async def _open(file: Path) -> BinaryIO:
    return await _standard_input() if str(file) == "-" else file.open("rb")


async def _standard_input() -> BinaryIO:
    """All of standard input, spooled. A thread that waits for a terminal would keep Ctrl-C waiting with it."""
    spool = tempfile.TemporaryFile()  # noqa: SIM115 - who reads it closes it
    number = sys.stdin.fileno()
    while True:
        with contextlib.suppress(PermissionError):  # a file redirected here is always ready, and says so like this
            await anyio.wait_readable(number)
        piece = os.read(number, 2**16)
        if not piece:
            spool.seek(0)
            return spool
        spool.write(piece)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _progress() -> Progress:
    shown = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    return Progress(*columns, console=shown, transient=True, disable=not shown.is_terminal)
