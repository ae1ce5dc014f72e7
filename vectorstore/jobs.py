"""Inputs too large to wait for: kept on disk, added in the background, gone on with after any end of the process.

A job's counts are written in the transaction of the batch they count, so that after a kill it goes on exactly behind
the last stored record.
"""

import shutil
import sqlite3
import threading
import uuid
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from vectorstore import catalogue, readers
from vectorstore.database import Database, unusable
from vectorstore.errors import FolderUnusable, VectorstoreError
from vectorstore.ingest import Ingest
from vectorstore.paper import Embedder, Report, Skip

FOLDER_NAME = "jobs"
# Skips kept by name; the others are counted.
MOST_SKIPS = 1_000
# Ended jobs that can still be asked for.
_REMEMBERED = 1_000
_PAUSE_S = 5.0

JobState = Literal["queued", "running", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Job:
    """How far an input has come. All counts are exact; `skips` names the first thousand of the `skipped`."""

    job_id: str
    collection: str
    filename: str | None
    format: str | None
    state: JobState
    added: int
    updated: int
    unchanged: int
    skipped: int
    error: str | None
    skips: tuple[Skip, ...] = ()

    @property
    def records(self) -> int:
        """How many records have been dealt with."""
        return self.added + self.updated + self.unchanged + self.skipped


class _Stopped(Exception):
    """The store is closing: the job stays as it is and goes on at the next start."""


class Jobs:
    """The queue of one store and the thread that works it off, in order."""

    def __init__(self, database: Database, embedder: Embedder, folder: Path) -> None:
        self._database = database
        self._embedder = embedder
        self._folder = folder / FOLDER_NAME
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise unusable(folder, f"{FOLDER_NAME} in it: {error.strerror}") from error
        self._stopping = threading.Event()
        self._work = threading.Event()
        self._thread = threading.Thread(target=self._run, name="loccit-jobs", daemon=True)

    def start(self) -> None:
        """Go on with what an earlier process left."""
        with self._database.read() as connection:
            known = {
                job_id for (job_id,) in connection.execute("SELECT id FROM jobs WHERE state IN ('queued', 'running')")
            }
        for leftover in self._folder.iterdir():
            if leftover.is_file() and leftover.name not in known:
                leftover.unlink()
        self._thread.start()

    def stop(self) -> None:
        """Stop behind the batch at hand."""
        self._stopping.set()
        self._work.set()
        self._thread.join(timeout=30)

    def submit(self, spool: Path, filename: str | None, format_name: str | None, collection: str) -> str:
        """Take over the file at `spool` (it is moved) and give the job's id; durable from here on."""
        job_id = uuid.uuid4().hex
        with self._database.read() as connection:
            catalogue.collection(connection, collection)
        shutil.move(spool, self._folder / job_id)
        (self._folder / job_id).chmod(0o600)
        with self._database.write() as connection:
            connection.execute(
                "INSERT INTO jobs(id, serial, collection, filename, format, state)"
                " SELECT ?, coalesce(max(serial), 0) + 1, ?, ?, ?, 'queued' FROM jobs",
                (job_id, collection, filename, format_name),
            )
            connection.execute(
                "DELETE FROM jobs WHERE state IN ('done', 'failed') AND serial <= (SELECT max(serial) FROM jobs) - ?",
                (_REMEMBERED,),
            )
        self._work.set()
        return job_id

    def find(self, job_id: str) -> Job | None:
        """The job of that id, or None."""
        job_id = job_id.encode("utf-8", "backslashreplace").decode("utf-8")
        with self._database.read() as connection:
            return _find(connection, job_id)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._work.clear()
            try:
                job = self._next()
                if job is None:
                    self._work.wait()
                else:
                    self._do(job)
            except _Stopped:
                return
            except FolderUnusable:
                # A full disk may be cleared; the job goes on behind its last batch.
                self._stopping.wait(_PAUSE_S)

    def _next(self) -> Job | None:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT id FROM jobs WHERE state IN ('running', 'queued') ORDER BY state = 'queued', serial LIMIT 1"
            ).fetchone()
            return None if row is None else _find(connection, row[0])

    def _do(self, job: Job) -> None:
        spool = self._folder / job.job_id
        self._mark(job, "running", None)

        def count(connection: sqlite3.Connection, report: Report) -> None:
            _count(connection, job.job_id, report)

        try:
            with spool.open("rb") as data:
                records = islice(readers.read(data, job.filename, job.format), job.records, None)
                Ingest(self._database, self._embedder, job.collection, count, job.records).add(records, self._go_on)
        except FolderUnusable:
            raise
        except VectorstoreError as error:
            self._mark(job, "failed", str(error))
        except OSError as error:  # its own words name a path
            self._mark(job, "failed", f"the input could not be read ({error.strerror or type(error).__name__})")
        except _Stopped:
            raise
        except Exception as error:  # noqa: BLE001 - one file that trips a reader must not end the queue
            self._mark(job, "failed", f"the input could not be read to its end ({type(error).__name__})")
        else:
            self._mark(job, "done", None)
        spool.unlink(missing_ok=True)

    def _go_on(self, _: Report) -> None:
        if self._stopping.is_set():
            raise _Stopped

    def _mark(self, job: Job, state: JobState, error: str | None) -> None:
        if self._stopping.is_set():
            raise _Stopped
        with self._database.write() as connection:
            connection.execute("UPDATE jobs SET state = ?, error = ? WHERE id = ?", (state, error, job.job_id))


def _find(connection: sqlite3.Connection, job_id: str) -> Job | None:
    columns = "id, collection, filename, format, state, added, updated, unchanged, skipped, error"
    row = connection.execute(f"SELECT {columns} FROM jobs WHERE id = ?", (job_id,)).fetchone()  # noqa: S608 - constants
    if row is None:
        return None
    skips = connection.execute("SELECT record, reason FROM job_skips WHERE job = ? ORDER BY serial", (job_id,))
    return replace(Job(*row), skips=tuple(Skip(record, reason) for record, reason in skips))


def _count(connection: sqlite3.Connection, job_id: str, report: Report) -> None:
    (known,) = connection.execute("SELECT skipped FROM jobs WHERE id = ?", (job_id,)).fetchone()
    connection.executemany(
        "INSERT INTO job_skips VALUES(?, ?, ?, ?)",
        (
            (job_id, serial, skip.record, skip.reason)
            for serial, skip in enumerate(report.skipped, known)
            if serial < MOST_SKIPS
        ),
    )
    connection.execute(
        "UPDATE jobs SET added = added + ?, updated = updated + ?, unchanged = unchanged + ?, skipped = skipped + ?"
        " WHERE id = ?",
        (report.added, report.updated, report.unchanged, len(report.skipped), job_id),
    )
