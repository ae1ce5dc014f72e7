import itertools
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.embedders import HashingEmbedder
from tests.stores import everything, found, indexed, opened, paper
from vectorstore.database import FILE_NAME
from vectorstore.errors import EmbedderFailed, EmbedderMismatch
from vectorstore.paper import Paper, Report, Vectors

PAPERS = [paper(number) for number in range(150)]


class Failing(HashingEmbedder):
    """Breaks down after so many calls."""

    def __init__(self, name: str, calls: int) -> None:
        super().__init__(name)
        self._calls = itertools.count(1)
        self._most = calls

    def embed(self, texts: Sequence[str]) -> Vectors:
        if next(self._calls) > self._most:
            raise ConnectionError("gone")
        return super().embed(texts)


def test_another_embedder_takes_over(tmp_path: Path) -> None:
    opened(tmp_path, HashingEmbedder("model:one"), PAPERS).close()
    told: list[Report] = []
    with opened(tmp_path, HashingEmbedder("model:two", 32)) as store:
        before = (list(everything(store)), store.collection("default").revision)
        assert store.reindex(progress=told.append) == Report(updated=150)
        assert [report.updated for report in told] == [64, 128, 150]
        assert list(everything(store)) == before[0]
        assert store.collection("default").revision > before[1]
        assert store.collection("default").embedder == "model:two"
        assert found(store, PAPERS[9].abstract, mode="dense")[0] == "p9"
        assert found(store, "nonce9", mode="lexical") == ["p9"]
        assert store.add(PAPERS).unchanged == 150, "what identifies the papers has come along"
        assert [each.name for each in store.collections()] == ["default"]
        assert store.state().degraded == ()


def test_interrupted_it_loses_nothing_and_goes_on(tmp_path: Path) -> None:
    opened(tmp_path, HashingEmbedder("model:one"), PAPERS).close()
    with opened(tmp_path, Failing("model:two", 1)) as store:
        with pytest.raises(EmbedderFailed, match="gone"):
            store.reindex("default")
        with pytest.raises(EmbedderMismatch):
            found(store, "x")
        assert [each.name for each in store.collections()] == ["default"]
    with opened(tmp_path, HashingEmbedder("model:one")) as store:
        assert found(store, PAPERS[9].abstract)[0] == "p9"
        store.delete("default", "p3")
        store.delete("default", "p140")
    again = HashingEmbedder("model:two")
    with opened(tmp_path, again) as store:
        assert store.reindex() == Report(updated=148)
        assert len(again.texts) == 150 - 64 - 1, "the 64 papers of the first try are not paid for again"
        assert [each.paper_id for each in everything(store)] == [f"p{n}" for n in range(150) if n not in {3, 140}]
        assert "p3" not in found(store, PAPERS[3].abstract, top_k=100)


def test_a_try_for_a_third_embedder_is_begun_anew(tmp_path: Path) -> None:
    opened(tmp_path, HashingEmbedder("model:one"), PAPERS).close()
    with opened(tmp_path, Failing("model:two", 1)) as store, pytest.raises(EmbedderFailed):
        store.reindex()
    third = HashingEmbedder("model:three")
    with opened(tmp_path, third) as store:
        store.reindex()
        assert len(third.texts) == 150
        assert found(store, PAPERS[9].abstract)[0] == "p9"


def test_a_paper_without_a_usable_vector_stops_it_rather_than_being_lost(tmp_path: Path) -> None:
    class Blank(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            return super().embed(texts) * 0

    opened(tmp_path, HashingEmbedder("model:one"), PAPERS).close()
    with opened(tmp_path, Blank("model:two")) as store, pytest.raises(EmbedderFailed, match="no usable vector"):
        store.reindex()
    with opened(tmp_path, HashingEmbedder("model:one")) as store:
        assert list(everything(store)) == PAPERS


def test_another_way_to_cut_is_another_manifest(tmp_path: Path) -> None:
    opened(tmp_path, papers=PAPERS).close()
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute("UPDATE collections SET splitter = 'pages-0'")
    connection.commit()
    connection.close()
    with opened(tmp_path) as store:
        with pytest.raises(EmbedderMismatch, match=r"pages-0.*loccit reindex"):
            found(store, "x")
        assert store.reindex() == Report(updated=150)
        assert found(store, PAPERS[9].abstract)[0] == "p9"


@pytest.mark.parametrize("refilled", [False, True])
def test_what_is_deleted_or_replaced_meanwhile_is_not_overwritten(tmp_path: Path, refilled: bool) -> None:
    opened(tmp_path, HashingEmbedder("model:one"), PAPERS[:70]).close()
    with opened(tmp_path, HashingEmbedder("model:two")) as store:

        def meanwhile(report: Report) -> None:
            if report.updated == 64:
                store.delete_collection("default")
                if refilled:
                    store.add([paper(500)])

        store.reindex(progress=meanwhile)
        assert [each.paper_id for each in everything(store)] == ["p500"] * refilled
        assert found(store, paper(500).abstract) == ["p500"] * refilled
        assert [each.name for each in store.collections()] == ["default"]


def test_the_same_embedder_pays_for_nothing_and_builds_the_index_again(tmp_path: Path) -> None:
    embedder = HashingEmbedder()
    with opened(tmp_path, embedder, PAPERS) as store:
        store.create_collection("other")
        store.add([Paper("a", "One abstract.")], "other")
        indexed(store)
        embedder.texts.clear()
        assert store.reindex() == Report(unchanged=151)
        assert embedder.texts == []
        assert {each.state for each in store.state().indexes} <= {"catching up", "rebuilding", "current"}
        indexed(store)
