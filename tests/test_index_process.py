"""The index's process from within: `main` runs in this thread, its store in another."""

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest

from vectorstore import index_process
from vectorstore.index_process import Rows, main

VECTORS = np.eye(8, dtype=np.float32)
Talk = Callable[[Connection], None]


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """`main` owns its process: what it sets must not stay with this one."""
    mask, handler = os.umask(0o022), signal.getsignal(signal.SIGINT)
    os.umask(mask)
    yield
    os.umask(mask)
    signal.signal(signal.SIGINT, handler)


def _run(place: str, talk: Talk) -> None:
    failures: list[BaseException] = []

    def store(connection: Connection) -> None:
        with connection:
            try:
                talk(connection)
            except BaseException as error:  # noqa: BLE001 - handed to the test
                failures.append(error)

    ours, theirs = socket.socketpair()
    with ours, theirs:
        thread = threading.Thread(target=store, args=(Connection(ours.detach()),))
        thread.start()
        main([str(theirs.detach()), place])
        thread.join(10)
    if failures:
        raise failures[0]


def _ask(connection: Connection, method: str, *values: object) -> object:
    connection.send((1, method, values))
    serial, good, value = connection.recv()
    assert serial == 1
    assert good, value
    return value


def _rows(*numbers: int) -> Rows:
    return VECTORS[list(numbers)]


def _calls(connection: Connection) -> None:
    assert connection.recv() == "imported"
    assert connection.recv() == ("opened", "")
    _ask(connection, "add", "loccit-a", [1, 2, 3], _rows(1, 2, 3), ["one", "two", "three"], [{"start": 0}] * 3)
    assert _ask(connection, "names") == ["loccit-a"]
    assert _ask(connection, "count", "loccit-a") == 3
    found = _ask(connection, "query", "loccit-a", VECTORS[2], 2)
    assert isinstance(found, list)
    assert found[0] == (2, pytest.approx(1.0))
    assert _ask(connection, "findable", "loccit-a", [1, 2, 7], _rows(1, 2, 3), 2) == 2
    _ask(connection, "delete", "loccit-a", [2])
    assert _ask(connection, "count", "loccit-a") == 2
    connection.send((7, "query", ("loccit-a", np.ones(3, np.float32), 1)))
    serial, good, sentence = connection.recv()
    assert (serial, good) == (7, False)
    assert "\n" not in sentence
    for _ in range(2):
        _ask(connection, "drop", "loccit-a")
    assert _ask(connection, "names") == []


def test_it_serves_until_the_store_ends(tmp_path: Path) -> None:
    _run(str(tmp_path / "chroma"), _calls)


def test_what_ties_with_itself_is_found(tmp_path: Path) -> None:
    """Papers with one vector crowd one another out of a short list, and none is lost."""

    def talk(connection: Connection) -> None:
        assert [connection.recv(), connection.recv()[0]] == ["imported", "opened"]
        numbers = list(range(1, 31))
        _ask(connection, "add", "loccit-a", numbers, np.tile(VECTORS[0], (30, 1)), ["x"] * 30, [{"start": 0}] * 30)
        assert _ask(connection, "findable", "loccit-a", numbers, np.tile(VECTORS[0], (30, 1)), 10) == 30

    _run(str(tmp_path / "tied"), talk)


def test_an_owner_that_does_not_end_is_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_process, "_LOCK_PATIENCE_S", 0.1)
    index_process._hold(tmp_path / "chroma.lock")

    def talk(connection: Connection) -> None:
        assert connection.recv() == "imported"
        assert connection.recv()[0] == "busy"

    _run(str(tmp_path / "chroma"), talk)


def test_a_folder_that_is_no_folder_failed(tmp_path: Path) -> None:
    (tmp_path / "chroma").write_text("a file")

    def talk(connection: Connection) -> None:
        assert connection.recv() == "imported"
        state, sentence = connection.recv()
        assert state == "failed"
        assert "\n" not in sentence

    _run(str(tmp_path / "chroma"), talk)


def test_a_store_that_is_gone_before_the_answer_ends_it(tmp_path: Path) -> None:
    def talk(connection: Connection) -> None:
        assert [connection.recv(), connection.recv()[0]] == ["imported", "opened"]
        connection.send((1, "names", ()))

    _run(str(tmp_path / "gone"), talk)


@pytest.mark.parametrize(
    ("url", "host", "port", "tls"),
    [
        ("http://chroma", "chroma", 8000, False),
        ("http://chroma:9000/", "chroma", 9000, False),
        ("https://api.example", "api.example", 443, True),
    ],
)
def test_a_url_names_host_port_and_encryption(url: str, host: str, port: int, tls: bool) -> None:
    assert index_process.server(url) == (host, port, tls)
