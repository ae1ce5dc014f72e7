"""The real Chroma in its real process."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from vectorstore.index import FOLDER_NAME, Index, IndexTrouble
from vectorstore.paper import Paper, Passage
from vectorstore.passages import Stored

ROOT = Path(__file__).parents[1]


def _rows(numbers: range, **fields: object) -> list[Stored]:
    vectors = np.random.default_rng(7).standard_normal((1000, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    made = []
    for number in numbers:
        paper = Paper(f"p{number}", f"abstract {number}", **fields)  # type: ignore[arg-type]  # fields of Paper
        made.append(Stored(number, Passage(paper.paper_id, 0, 10, paper.abstract), paper, vectors[number]))
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("index")


@pytest.fixture(scope="module")
def index(folder: Path) -> Iterator[Index]:
    # A settings file and variables that would let Chroma be wiped or swapped: see traps.md section 1.
    (folder / ".env").write_text("ALLOW_RESET=true\nCHROMA_API_IMPL=chromadb.api.fastapi.FastAPI\n")
    (folder / "json.py").write_text("raise SystemExit('a file of the data folder was imported')\n")
    index = Index(folder, None)
    os.environ |= {"ALLOW_RESET": "true", "CHROMA_API_IMPL": "chromadb.api.fastapi.FastAPI"}
    try:
        index.start()
    finally:
        del os.environ["ALLOW_RESET"], os.environ["CHROMA_API_IMPL"]
    yield index
    index.stop()


def test_what_is_added_is_found_by_cosine(index: Index) -> None:
    rows = _rows(range(1, 301))
    index.add("loccit-a-1", rows)
    assert index.count("loccit-a-1") == 300
    exact = np.stack([row.vector for row in rows]) @ rows[9].vector
    found = index.query("loccit-a-1", rows[9].vector, 20, 5.0)
    assert [number for number, _ in found] == [int(at) + 1 for at in np.argsort(-exact)[:20]]
    assert np.allclose([cosine for _, cosine in found], np.sort(exact)[::-1][:20], atol=1e-4)


def test_every_call_may_be_repeated(index: Index) -> None:
    """traps.md 1: on a full disk, calls that raised had been applied all the same."""
    for _ in range(2):
        index.add("loccit-b-1", _rows(range(1, 51)))
    assert index.count("loccit-b-1") == 50
    for _ in range(2):
        index.delete("loccit-b-1", [1, 2, 999])
    assert index.count("loccit-b-1") == 48
    for _ in range(2):
        index.drop("loccit-b-1")
    assert "loccit-b-1" not in index.names()


def test_a_deleted_nearest_neighbour_gives_way(index: Index) -> None:
    """traps.md 1: querying a deleted nearest neighbour with n = 1 gave nothing."""
    rows = _rows(range(1, 51))
    index.add("loccit-c-1", rows)
    index.delete("loccit-c-1", [7])
    ((number, _),) = index.query("loccit-c-1", rows[6].vector, 1, 5.0)
    assert number != 7


def test_values_that_chroma_refuses_stay_out(index: Index) -> None:
    """traps.md 1: None in metadata raises."""
    index.add("loccit-d-1", _rows(range(1, 3), title=None, year=None) + _rows(range(3, 5), title="", year=2**31))
    assert index.count("loccit-d-1") == 4


def test_a_refusal_is_a_sentence_and_the_process_lives_on(index: Index) -> None:
    with pytest.raises(IndexTrouble) as caught:
        index.query("loccit-a-1", np.ones(3, np.float32), 5, 5.0)
    assert caught.value.kind == "refused"
    assert "\n" not in str(caught.value)
    assert index.count("loccit-a-1") == 300


def test_a_probe_tells_what_can_be_found_from_what_is_counted(index: Index) -> None:
    rows = _rows(range(1, 301))
    vectors = np.stack([row.vector for row in rows[:20]])
    assert index.findable("loccit-a-1", list(range(1, 21)), vectors, 10) == 20
    assert index.findable("loccit-a-1", list(range(301, 321)), vectors, 10) == 0


@pytest.mark.slow
def test_chromas_own_tools_see_texts_and_fields(folder: Path, index: Index) -> None:
    index.add("loccit-e-1", _rows(range(1, 3), title="A title", year=2024))
    look = (
        "import chromadb, sys; c = chromadb.PersistentClient(sys.argv[1]).get_collection('loccit-e-1');"
        "r = c.get(ids=['1'], include=['documents', 'metadatas']);"
        "print(r['documents'], sorted(r['metadatas'][0].items()))"
    )
    seen = subprocess.run(
        [sys.executable, "-c", look, str(folder / FOLDER_NAME)], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    assert "['abstract 1']" in seen
    fields = (
        "('end', 10), ('paper_id', 'p1'), ('passage_id', 'p1:0-10'), ('start', 0), ('title', 'A title'), ('year', 2024)"
    )
    assert fields in seen


def test_nothing_listens_and_nothing_connects(index: Index) -> None:
    """Law 12."""
    assert index.pid is not None
    process = psutil.Process(index.pid)
    assert process.net_connections(kind="inet") == []
    assert not {"ALLOW_RESET", "HTTP_PROXY", "OPENAI_API_KEY"} & process.environ().keys()


def test_files_are_for_their_owner_only(folder: Path, index: Index) -> None:
    loose = [path for path in (folder / FOLDER_NAME).rglob("*") if path.stat().st_mode & 0o077]
    assert loose == []


@pytest.mark.slow
def test_a_second_writer_waits_for_the_first_to_end(folder: Path, index: Index) -> None:
    """traps.md 1: two writer processes on one folder corrupt it for good."""
    index.add("loccit-f-1", _rows(range(1, 51)))
    second = Index(folder, None)
    started = threading.Event()

    def start() -> None:
        second.start()
        started.set()

    thread = threading.Thread(target=start)
    thread.start()
    assert not started.wait(3.0)
    index.stop()
    thread.join(30)
    assert started.is_set()
    assert second.count("loccit-f-1") == 50
    second.stop()
    index.start()


def test_a_hung_process_costs_its_time_limit_only_and_a_late_answer_is_not_mistaken(index: Index) -> None:
    """traps.md 2: one that is stopped, not dead, hangs its clients for ever."""
    assert index.pid is not None
    vector = _rows(range(1, 2))[0].vector
    os.kill(index.pid, signal.SIGSTOP)
    started = time.monotonic()
    with pytest.raises(IndexTrouble) as caught:
        index.query("loccit-a-1", vector, 5, 0.2)
    assert caught.value.kind == "late"
    assert time.monotonic() - started < 1.0
    os.kill(index.pid, signal.SIGCONT)
    assert index.count("loccit-a-1") == 300
    assert index.query("loccit-a-1", vector, 1, 5.0)[0][0] == 1


def test_a_question_does_not_queue_behind_a_long_call(index: Index) -> None:
    assert index.pid is not None
    os.kill(index.pid, signal.SIGSTOP)
    busy = threading.Thread(target=lambda: index.count("loccit-a-1"))
    busy.start()
    time.sleep(0.1)
    with pytest.raises(IndexTrouble) as caught:
        index.query("loccit-a-1", _rows(range(1, 2))[0].vector, 5, 1.0)
    assert caught.value.kind == "working"
    os.kill(index.pid, signal.SIGCONT)
    busy.join(10)


def test_a_killed_process_is_dead_and_can_be_started_again(index: Index) -> None:
    assert index.pid is not None
    os.kill(index.pid, signal.SIGKILL)
    with pytest.raises(IndexTrouble) as caught:
        index.count("loccit-a-1")
    assert caught.value.kind == "dead"
    index.stop()
    with pytest.raises(IndexTrouble, match="does not run"):
        index.count("loccit-a-1")
    index.start()
    assert index.count("loccit-a-1") == 300


_LEAVE_IT = """
import sys, os
from pathlib import Path
from vectorstore.index import Index
index = Index(Path(sys.argv[1]), None)
index.start()
print(index.pid, flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.mark.slow
def test_the_process_ends_with_the_store_however_that_ends(tmp_path: Path) -> None:
    left = subprocess.run(
        [sys.executable, "-c", _LEAVE_IT, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    pid = int(left.stdout)
    give_up = time.monotonic() + 10
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < give_up
        time.sleep(0.05)


def test_a_folder_that_is_no_chroma_is_closed(tmp_path: Path) -> None:
    (tmp_path / FOLDER_NAME).mkdir()
    (tmp_path / FOLDER_NAME / "chroma.sqlite3").write_bytes(b"not a database" * 1000)
    index = Index(tmp_path, None)
    with pytest.raises(IndexTrouble) as caught:
        index.start()
    assert caught.value.kind == "closed"
    assert index.pid is None


def test_a_server_that_is_not_there_is_closed(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    index = Index(tmp_path, f"http://127.0.0.1:{port}")
    with pytest.raises(IndexTrouble) as caught:
        index.start()
    assert caught.value.kind == "closed"


def test_killed_before_it_began_it_does_not_begin(tmp_path: Path) -> None:
    index = Index(tmp_path, None)
    index.kill()
    started = time.monotonic()
    with pytest.raises(IndexTrouble):
        index.start()
    assert time.monotonic() - started < 1.5
