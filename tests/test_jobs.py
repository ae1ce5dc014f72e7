import json
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.embedders import HashingEmbedder
from tests.stores import eventually, opened, paper
from vectorstore.errors import FolderUnusable, UnknownCollection
from vectorstore.jobs import MOST_SKIPS, Job
from vectorstore.paper import Vectors
from vectorstore.store import Store


def _spool(folder: Path, *rows: object, name: str = "spool") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _record(number: int) -> dict[str, object]:
    return {"id": f"p{number}", "title": paper(number).title, "abstract": paper(number).abstract}


def _done(store: Store, job_id: str) -> Job:
    def ended() -> bool:
        job = store.job(job_id)
        return job is not None and job.state in {"done", "failed"}

    eventually(ended)
    job = store.job(job_id)
    assert job is not None
    return job


def test_a_job_adds_a_file_and_keeps_its_counts(tmp_path: Path) -> None:
    spool = _spool(tmp_path, *map(_record, range(100)), {"id": "x", "title": "no abstract here"}, _record(1))
    with opened(tmp_path / "store") as store:
        job_id = store.start_job(spool, "papers.jsonl", None, "default")
        job = _done(store, job_id)
        assert (job.state, job.added, job.unchanged, job.skipped, job.records) == ("done", 100, 1, 1, 102)
        assert (job.filename, job.collection, job.error) == ("papers.jsonl", "default", None)
        assert len(job.skips) == 1
        assert store.paper("default", "p7") is not None
    assert not spool.exists()
    assert list((tmp_path / "store" / "jobs").iterdir()) == []
    with opened(tmp_path / "store") as store:
        assert store.job(job_id) == job, "it can be asked for after a restart"


def test_skips_are_all_counted_and_so_many_named(tmp_path: Path) -> None:
    spool = _spool(tmp_path, _record(1), *[{"id": f"x{number}"} for number in range(MOST_SKIPS + 500)])
    with opened(tmp_path / "store") as store:
        job = _done(store, store.start_job(spool, "papers.jsonl"))
    assert (job.added, job.skipped, len(job.skips)) == (1, MOST_SKIPS + 500, MOST_SKIPS)


def test_a_file_that_can_not_be_read_fails_with_a_sentence_and_the_next_is_done(tmp_path: Path) -> None:
    with opened(tmp_path / "store") as store:
        bad = store.start_job(_spool(tmp_path, _record(2)), "papers", "no such format")
        good = store.start_job(_spool(tmp_path, _record(1)), "papers.jsonl")
        failed = _done(store, bad)
        assert failed.state == "failed"
        assert failed.error
        assert _done(store, good).added == 1


def test_a_model_that_fails_fails_the_job(tmp_path: Path) -> None:
    class Failing(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            raise ConnectionError("the endpoint hung up")

    with opened(tmp_path / "store", Failing()) as store:
        job = _done(store, store.start_job(_spool(tmp_path, _record(1)), "papers.jsonl"))
    assert job.state == "failed"
    assert job.error is not None
    assert "hung up" in job.error


def test_an_unknown_collection_is_refused_before_the_file_is_taken(tmp_path: Path) -> None:
    spool = _spool(tmp_path, _record(1))
    with opened(tmp_path / "store") as store, pytest.raises(UnknownCollection):
        store.start_job(spool, None, None, "nope")
    assert spool.exists()


def test_nobody_knows_that_job(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        assert store.job("nope") is None
        assert store.job("\ud800") is None


def test_closing_stops_a_job_and_the_next_start_goes_on_with_it(tmp_path: Path) -> None:
    class Slow(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            eventually(lambda: (tmp_path / "go").exists() or len(self.texts) < 128)
            return super().embed(texts)

    store = opened(tmp_path / "store", Slow())
    job_id = store.start_job(_spool(tmp_path, *map(_record, range(500))), "papers.jsonl")

    def begun() -> bool:
        job = store.job(job_id)
        return job is not None and job.added >= 128

    eventually(begun)
    store._jobs._stopping.set()
    (tmp_path / "go").touch()
    store.close()
    with opened(tmp_path / "store") as store:
        job = _done(store, job_id)
    assert (job.state, job.added, job.unchanged) == ("done", 500, 0)


def test_a_file_that_was_left_over_is_cleared_away(tmp_path: Path) -> None:
    opened(tmp_path).close()
    (tmp_path / "jobs" / "orphan").write_bytes(b"x")
    opened(tmp_path).close()
    assert list((tmp_path / "jobs").iterdir()) == []


def test_a_full_disk_makes_a_job_wait_and_not_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vectorstore.jobs._PAUSE_S", 0.05)
    with opened(tmp_path / "store") as store:
        with store._database.write() as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages + 5}")
        job_id = store.start_job(_spool(tmp_path, *map(_record, range(100))), "papers.jsonl")
        time.sleep(0.5)
        job = store.job(job_id)
        assert job is not None
        assert (job.state, job.added) == ("running", 0)
        with store._database.write() as connection:
            connection.execute("PRAGMA max_page_count = 100000")
        assert _done(store, job_id).added == 100


def test_a_folder_in_which_no_job_can_be_kept_is_said(tmp_path: Path) -> None:
    (tmp_path / "jobs").write_text("in the way")
    for _ in range(2):
        with pytest.raises(FolderUnusable, match="jobs in it"):
            opened(tmp_path)


def test_a_file_that_is_gone_fails_without_its_path_and_the_queue_goes_on(tmp_path: Path) -> None:
    with opened(tmp_path / "store") as store:
        store.start_job(_spool(tmp_path, *map(_record, range(600))), "papers.jsonl")
        gone = store.start_job(_spool(tmp_path, _record(1), name="gone"), "papers.jsonl")
        (tmp_path / "store" / "jobs" / gone).unlink()
        job = _done(store, gone)
        assert job.state == "failed"
        assert str(tmp_path) not in (job.error or "")
        assert _done(store, store.start_job(_spool(tmp_path, _record(2), name="good"), "papers.jsonl")).state == "done"
