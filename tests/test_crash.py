"""Law 9: an acknowledged paper survives `kill -9` at any moment, and the store comes back by itself and answers."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.stores import everything, found, indexed, opened, paper
from vectorstore.paper import Paper, Query
from vectorstore.store import Store

ROOT = Path(__file__).parents[1]
# Adds papers for ever, changes and deletes some, and says what it is about to do and what is acknowledged.
_ADDER = """
import sys
from pathlib import Path
from tests.stores import opened, paper
store = opened(Path(sys.argv[1]))
for number in range(int(sys.argv[2]), 10**9, 20):
    store.add([paper(each) for each in range(number, number + 20)])
    print("version1", number, number + 20, flush=True)
    if number % 100 == 0:
        print("unsure", number, number + 2, flush=True)
        store.delete("default", f"p{number}")
        print("gone", number, number + 1, flush=True)
        store.add([paper(number + 1, version=2)])
        print("version2", number + 1, number + 2, flush=True)
"""


def _run_and_kill(folder: Path, first: int, seconds: float) -> list[tuple[str, int, int]]:
    process = subprocess.Popen(
        [sys.executable, "-c", _ADDER, str(folder), str(first)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    said = [process.stdout.readline()]
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    said += process.stdout.readlines()
    process.stdout.close()
    process.wait()
    # A line that the kill cut short acknowledges nothing.
    return [(what, int(start), int(end)) for what, start, end in (line.split() for line in said if line.endswith("\n"))]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_killed_at_random_moments_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    chance = random.Random(7)
    known: dict[int, str] = {}
    alive: dict[int, Paper] = {}
    first = 0
    for _ in range(5):
        for what, start, end in _run_and_kill(tmp_path, first, chance.uniform(0.2, 4.0)):
            known.update(dict.fromkeys(range(start, end), what))
            first = max(first, end)
        first = (first // 100 + 2) * 100
        alive = {number: paper(number, version=int(what[-1])) for number, what in known.items() if what[-1] in "12"}
        with opened(tmp_path) as store:
            stored = {each.paper_id: each for each in everything(store)}
            assert [own for own in alive.values() if stored.get(own.paper_id) != own] == []
            assert [number for number, what in known.items() if what == "gone" and f"p{number}" in stored] == []
            for own in chance.sample(list(alive.values()), 20):
                assert found(store, f"{own.title}. {own.abstract}", top_k=1) == [own.paper_id]
    with opened(tmp_path) as store:
        indexed(store, 120)
        assert store.state().degraded == ()
        assert [own for own in chance.sample(list(alive.values()), 300) if not _is_found(store, own)] == []


def _is_found(store: Store, own: Paper) -> bool:
    """Whether Chroma has it among the ten nearest to the very text that was embedded."""
    hits = store.search(Query(f"{own.title}. {own.abstract}", 10, mode="dense"))
    assert store.state().indexes[0].state == "current"
    return own.paper_id in {hit.paper.paper_id for hit in hits}


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_killed_while_a_job_runs_it_goes_on_and_counts_each_record_once(tmp_path: Path) -> None:
    script = """
import json, sys, time
from pathlib import Path
from tests.stores import opened, paper
folder = Path(sys.argv[1])
spool = folder.parent / "spool"
rows = [{"id": f"p{n}", "title": paper(n).title, "abstract": paper(n).abstract} for n in range(3000)]
rows[10:10] = [{"id": "empty"}] * 7
spool.write_text("".join(json.dumps(row) + "\\n" for row in rows))
store = opened(folder)
job = store.start_job(spool, "papers.jsonl")
print(job, flush=True)
time.sleep(60)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "store")], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    job_id = process.stdout.readline().strip()
    time.sleep(0.7)
    process.send_signal(signal.SIGKILL)
    process.stdout.close()
    process.wait()
    with opened(tmp_path / "store") as store:
        job = store.job(job_id)
        assert job is not None
        assert 0 < job.added < 3000, "the kill came too early or too late to tell anything"
        while job.state in {"queued", "running"}:
            time.sleep(0.05)
            job = store.job(job_id)
            assert job is not None
        assert (job.state, job.added, job.updated, job.unchanged, job.skipped) == ("done", 3000, 0, 0, 7)
        assert store.collection("default").papers == 3000
