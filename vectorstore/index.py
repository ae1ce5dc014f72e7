"""The dense index, seen from the store: calls with a time limit to the process that owns Chroma.

Nothing here imports Chroma. A Chroma server by URL goes through the same process, so that one that hangs is a process
to kill and not a thread that is lost.
"""

import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal

import numpy as np

from vectorstore.paper import Vectors
from vectorstore.passages import Stored

FOLDER_NAME = "chroma"
LOG_NAME = "index.log"
_IMPORT_S, _OPEN_S, _WRITE_S, _READ_S = 120.0, 120.0, 120.0, 30.0
# A server that takes longer to greet or to count does not run: a frozen one would hold the caller for ever.
_SERVER_S = 10.0
# A question does not queue behind a batch that is being written: exact search is faster than that.
_QUEUE_S = 0.05


Kind = Literal["late", "working", "dead", "refused", "busy", "closed", "missing"]


class IndexTrouble(Exception):
    """The index did not do what was asked. `kind` says who is to blame:

    "late" no answer in time, "working" it is at another call, "dead" the process ended, "refused" Chroma raised,
    "busy" another process holds the folder, "closed" Chroma can't open it, "missing" the process can't even start.
    """

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Index:
    """One process with Chroma in it, on `<folder>/chroma` or on the server at `url`. Thread-safe."""

    def __init__(self, folder: Path, url: str | None) -> None:
        self._folder = folder.absolute()
        self._place = url or str(self._folder / FOLDER_NAME)
        self._open_s, self._read_s = (_SERVER_S, _SERVER_S) if url else (_OPEN_S, _READ_S)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._serial = 0
        self._over = False

    @property
    def pid(self) -> int | None:
        """The process that owns Chroma, for those who watch it."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the process and wait until Chroma is open."""
        with self._lock:
            ours, theirs = socket.socketpair()
            with ours, theirs:
                self._process = self._spawn(theirs.fileno())
                _limit_sending(ours, _WRITE_S)
                self._connection = Connection(ours.detach())
            if self._over:  # `kill` came before there was a process
                self._process.kill()
            try:
                self._greet(self._connection)
            except IndexTrouble:
                self._end(0.0)
                raise

    def stop(self, patience: float = 5.0) -> None:
        """End the process: at its own pace within `patience` seconds, by force after that."""
        with self._lock:
            self._end(patience)

    def kill(self) -> None:
        """End the process at once and for good, whatever it does; a call that waits for it raises."""
        self._over = True
        process = self._process
        if process is not None:
            process.kill()

    def names(self) -> list[str]:
        """The Chroma collections there are."""
        answer = self._call(self._read_s, "names")
        assert isinstance(answer, list)
        return answer

    def add(self, name: str, rows: Sequence[Stored]) -> None:
        """Store passages; the texts and fields are for people who look into Chroma with its own tools."""
        vectors = np.stack([row.vector for row in rows])
        self._call(
            _WRITE_S, "add", name, [row.number for row in rows], vectors, [row.passage.text for row in rows],
            [_metadata(row) for row in rows],
        )  # fmt: skip

    def delete(self, name: str, numbers: Sequence[int]) -> None:
        """Take passages out by their numbers."""
        self._call(_WRITE_S, "delete", name, list(numbers))

    def query(self, name: str, vector: Vectors, limit: int, patience: float) -> list[tuple[int, float]]:
        """The nearest passages as (number, cosine), nearest first."""
        answer = self._call(patience, "query", name, vector, limit, wait=_QUEUE_S)
        assert isinstance(answer, list)
        return answer

    def count(self, name: str) -> int:
        """How many passages Chroma says it holds; true even when it can't find them."""
        return self._number("count", name)

    def findable(self, name: str, numbers: Sequence[int], vectors: Vectors, limit: int) -> int:
        """How many of these passages their own vectors find among the `limit` nearest."""
        return self._number("findable", name, list(numbers), vectors, limit)

    def drop(self, name: str) -> None:
        """Forget a collection."""
        self._call(_WRITE_S, "drop", name)

    def _number(self, method: str, *values: object) -> int:
        answer = self._call(self._read_s, method, *values)
        assert isinstance(answer, int)
        return answer

    def _spawn(self, descriptor: int) -> subprocess.Popen[bytes]:
        # Chroma takes settings from the environment by unprefixed names, so it gets none but the way to the code; and
        # -P keeps a file in the data folder from being imported as a module.
        root = str(Path(__file__).resolve().parent.parent)
        environment = {"PYTHONPATH": os.pathsep.join([root, *filter(None, sys.path)]), "PYTHONUTF8": "1"}
        log = os.open(self._folder / LOG_NAME, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        try:
            return subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-P", "-m", "vectorstore.index_process", str(descriptor), self._place],
                pass_fds=(descriptor,), cwd=self._folder, env=environment, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        except OSError as error:
            raise IndexTrouble("missing", str(error)) from error
        finally:
            os.close(log)

    def _greet(self, connection: Connection) -> None:
        try:
            _receive(connection, time.monotonic() + _IMPORT_S)
        except IndexTrouble as trouble:
            raise IndexTrouble("missing", f"the index process did not start; see {LOG_NAME}") from trouble
        try:
            state, reason = _pair(_receive(connection, time.monotonic() + self._open_s))
        except IndexTrouble as trouble:
            raise IndexTrouble("closed", str(trouble)) from trouble
        if state != "opened":
            raise IndexTrouble("busy" if state == "busy" else "closed", reason)

    def _call(self, patience: float, method: str, *values: object, wait: float | None = None) -> object:
        if not self._lock.acquire(timeout=patience if wait is None else wait):
            raise IndexTrouble("working", "the index is at work")
        deadline = time.monotonic() + patience
        try:
            if self._connection is None:
                raise IndexTrouble("dead", "the index process does not run")
            self._serial += 1
            try:
                self._connection.send((self._serial, method, values))
            except OSError as error:
                raise IndexTrouble("dead", "the index process ended") from error
            return self._answer(self._connection, deadline)
        finally:
            self._lock.release()

    def _answer(self, connection: Connection, deadline: float) -> object:
        while True:
            serial, good, value = _triple(_receive(connection, deadline))
            if serial != self._serial:
                continue  # the late answer to a call that nobody waits for any more
            if not good:
                raise IndexTrouble("refused", str(value))
            return value

    def _end(self, patience: float) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None:
            try:
                self._process.wait(patience)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None


def _receive(connection: Connection, deadline: float) -> object:
    try:
        if not connection.poll(max(0.0, deadline - time.monotonic())):
            raise IndexTrouble("late", "the index gave no answer in time")
        answer: object = connection.recv()
    except (EOFError, OSError) as error:
        raise IndexTrouble("dead", "the index process ended") from error
    return answer


def _triple(message: object) -> tuple[int, bool, object]:
    assert isinstance(message, tuple)
    serial, good, value = message
    return serial, good, value


def _pair(message: object) -> tuple[str, str]:
    assert isinstance(message, tuple)
    state, reason = message
    return state, reason


def _limit_sending(own: socket.socket, seconds: float) -> None:
    # A process that hangs reads nothing, and a full socket would hold the sender for ever.
    own.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(seconds), 0))


def _metadata(row: Stored) -> dict[str, str | int]:
    # Chroma refuses None and turns what exceeds 63 bits into a float: such values stay out.
    fields: dict[str, str | int | None] = {
        "paper_id": row.paper.paper_id,
        "passage_id": row.passage.passage_id,
        "title": row.paper.title,
        "year": row.paper.year,
        "start": row.passage.start,
        "end": row.passage.end,
    }
    return {name: value for name, value in fields.items() if value is not None}
