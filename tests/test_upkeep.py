"""The index follows the catalogue, and is mended by itself whatever becomes of it."""

import os
import shutil
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.embedders import HashingEmbedder
from tests.stores import eventually, found, indexed, opened, paper
from vectorstore import catalogue, passages
from vectorstore.database import FILE_NAME
from vectorstore.index import FOLDER_NAME
from vectorstore.paper import Paper, Query
from vectorstore.store import Store

PAPERS = [paper(number) for number in range(250)]


def _by_index(store: Store, number: int) -> bool:
    """Whether Chroma itself has the paper among the ten nearest to its own text."""
    with store._database.read() as connection:
        collection = catalogue.collection(connection, "default")
    vector = store._embedder.embed([f"{paper(number).title}. {paper(number).abstract}"])[0]
    near = store._propose(collection, vector, 10)
    assert near is not None, "the index is not trusted"
    with store._database.read() as connection:
        return f"p{number}" in {each.paper.paper_id for each in passages.load(connection, [n for n, _ in near])}


def _generation(folder: Path) -> int:
    connection = sqlite3.connect(folder / FILE_NAME)
    (generation,) = connection.execute("SELECT index_generation FROM collections WHERE name = 'default'").fetchone()
    connection.close()
    return int(generation)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("upkeep")
    with opened(folder, papers=PAPERS) as store:
        indexed(store)
    return folder


@pytest.fixture
def folder(tmp_path: Path, original: Path) -> Path:
    """A store that was indexed and closed."""
    return shutil.copytree(original, tmp_path / "store")


def test_the_index_catches_up_and_answers_as_exact_search_does(tmp_path: Path) -> None:
    with opened(tmp_path, papers=PAPERS) as store:
        exact = store.search(Query("graph pruning data", 50))
        indexed(store)
        assert store.search(Query("graph pruning data", 50)) == exact
        assert all(_by_index(store, number) for number in range(0, 250, 25))
        # What changes is right at once, and in the index soon.
        store.delete("default", "p0")
        store.add([paper(25, version=2), paper(900)])
        assert found(store, paper(900).abstract)[0] == "p900"
        assert "p0" not in found(store, paper(0).abstract, top_k=100)
        indexed(store)
        assert _by_index(store, 900)
        assert not _by_index(store, 0)
        assert store.state().degraded == ()
    assert _generation(tmp_path) == 0, "nothing was built twice"


def test_a_store_that_was_closed_in_good_order_builds_nothing_again(folder: Path) -> None:
    with opened(folder) as store:
        indexed(store)
        assert _by_index(store, 7)
    assert _generation(folder) == 0


def _delete(folder: Path) -> None:
    shutil.rmtree(folder / FOLDER_NAME)


def _scribble_database(folder: Path) -> None:
    (folder / FOLDER_NAME / "chroma.sqlite3").write_bytes(b"scribble" * 5000)


def _scribble_vectors(folder: Path) -> None:
    files = list((folder / FOLDER_NAME).rglob("*.bin"))
    connection = sqlite3.connect(folder / FOLDER_NAME / "chroma.sqlite3")
    # What a kill in mid-save leaves: the log is pruned, and the files it was saved to are not whole.
    connection.execute("DELETE FROM embeddings_queue")
    connection.commit()
    connection.close()
    for path in files:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _set_dirty(folder: Path) -> None:
    connection = sqlite3.connect(folder / FILE_NAME)
    connection.execute("UPDATE collections SET index_dirty = 1")
    connection.commit()
    connection.close()


Damage = Callable[[Path], None]


@pytest.mark.parametrize(
    "damage",
    [
        _delete,
        _scribble_database,
        pytest.param(_scribble_vectors, marks=pytest.mark.slow),
        pytest.param(_set_dirty, marks=pytest.mark.slow),
    ],
)
def test_a_damaged_index_is_built_again_without_embedding_anything(folder: Path, damage: Damage) -> None:
    """traps.md 1: unopenable for good, or a right count with nothing findable; and questions are answered meanwhile."""
    damage(folder)
    embedder = HashingEmbedder()
    with opened(folder, embedder) as store:
        assert found(store, PAPERS[7].abstract)[0] == "p7"
        said: set[str] = set()

        def current() -> bool:
            state = store.state()
            said.update(state.degraded)
            return all(each.state == "current" for each in state.indexes)

        eventually(current)
        assert any("exact search" in sentence for sentence in said)
        assert store.state().degraded == ()
        asked = list(embedder.texts)
        assert all(_by_index(store, number) for number in range(0, 250, 10))
    assert asked == [PAPERS[7].abstract], "only the question was embedded"
    assert _generation(folder) > 0
    assert list(folder.glob(f"{FOLDER_NAME}.damaged*")) == []


def test_a_killed_index_process_is_not_felt(folder: Path) -> None:
    with opened(folder) as store:
        indexed(store)
        pid = store._index.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        assert found(store, PAPERS[7].abstract)[0] == "p7"
        eventually(lambda: store._index.pid not in {None, pid})
        indexed(store)
        assert _by_index(store, 7)


@pytest.mark.slow
def test_a_hung_index_process_costs_one_second_once_and_is_replaced(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vectorstore.index._READ_S", 1.0)
    with opened(folder) as store:
        indexed(store)
        pid = store._index.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        for most in (1.5, 0.5, 0.5):
            started = time.monotonic()
            assert found(store, PAPERS[7].abstract)[0] == "p7"
            assert time.monotonic() - started < most
        eventually(lambda: store._index.pid not in {None, pid})
        assert not psutil.pid_exists(pid)
        indexed(store)


@pytest.mark.slow
def test_closing_does_not_wait_for_a_hung_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vectorstore.upkeep._CLOSING_S", 0.5)
    store = indexed(opened(folder))
    assert store._index.pid is not None
    os.kill(store._index.pid, signal.SIGSTOP)
    store.add([paper(900)])
    started = time.monotonic()
    store.close()
    assert time.monotonic() - started < 8
    with opened(folder) as store:
        indexed(store)
        assert _by_index(store, 900)


def test_deleted_collections_leave_chroma_too(tmp_path: Path) -> None:
    with opened(tmp_path, papers=PAPERS[:20]) as store:
        store.create_collection("other")
        store.add(PAPERS[:20], "other")
        indexed(store)
        assert len(store._index.names()) == 2
        store.delete_collection("other")
        eventually(lambda: len(store._index.names()) == 1)
        assert all("other" not in name for name in store._index.names())


def test_without_an_index_process_the_store_answers_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    with opened(tmp_path / "store", papers=PAPERS[:20]) as store:
        eventually(lambda: store.state().degraded != ())
        (sentence,) = store.state().degraded
        assert "not available" in sentence
        assert store.state().ready
        assert found(store, PAPERS[7].abstract)[0] == "p7"


def test_a_fault_of_our_own_is_said_and_outlived(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(folder) as store:
        indexed(store)
        with monkeypatch.context() as patch:
            patch.setattr("vectorstore.upkeep.BATCH", "not a number")
            store.add([paper(900)])
            eventually(lambda: any("IntegrityError" in sentence for sentence in store.state().degraded))
            assert found(store, paper(900).abstract)[0] == "p900"
        indexed(store)
        assert "index upkeep" in caplog.text


@pytest.mark.slow
def test_churn(tmp_path: Path) -> None:
    """traps.md 1: after many deletes and upserts some live records are never returned."""
    papers = [paper(number) for number in range(4000)]
    with opened(tmp_path, HashingEmbedder(dimension=128), papers) as store:
        indexed(store, 60)
        for number in range(0, 4000, 2):
            store.delete("default", f"p{number}")
        store.add([paper(number, version=2) for number in range(1, 4000, 6)])
        indexed(store, 60)
        alive = [paper(number, version=2 if number % 6 == 1 else 1) for number in range(1, 4000, 2)]
        assert [own for own in alive if not _is_found(store, own)] == []


def _is_found(store: Store, own: Paper) -> bool:
    hits = store.search(Query(f"{own.title}. {own.abstract}", 10, mode="dense"))
    assert store.state().indexes[0].state == "current"
    return own.paper_id in {hit.paper.paper_id for hit in hits}


@pytest.mark.slow
def test_the_store_is_not_held_up_while_the_index_is_written(tmp_path: Path) -> None:
    """traps.md 1: Chroma's writes hold the interpreter's lock for seconds; here they hold another one's."""
    with opened(tmp_path, HashingEmbedder(dimension=384), [paper(number) for number in range(3000)]) as store:
        longest, last = 0.0, time.monotonic()
        while any(each.state != "current" for each in store.state().indexes):
            found(store, "graph pruning", mode="lexical")
            time.sleep(0.005)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
        assert longest < 0.5
