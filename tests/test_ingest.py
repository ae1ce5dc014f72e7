from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.embedders import HashingEmbedder
from tests.stores import everything, found, opened, paper
from vectorstore.errors import EmbedderFailed, EmbedderMismatch, UnknownCollection
from vectorstore.paper import Paper, Query, Report, Skip, Vectors


class Spoiling(HashingEmbedder):
    """Gives what a broken model gives, for texts that hold a mark."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = super().embed(texts)
        for row, text in enumerate(texts):
            if "nonce3 " in text or "nonce3." in text:
                vectors[row] = np.nan
            if "nonce5." in text:
                vectors[row] = 0.0
            if "nonce7." in text:
                raise ConnectionError("the endpoint hung up")
        if any("nonce8." in text for text in texts):
            return vectors[:-1]
        if any("nonce9." in text for text in texts):
            return vectors[:, :-1]
        return vectors


def test_every_record_is_counted_once_and_skips_say_why(tmp_path: Path) -> None:
    """Law 8."""
    records: list[Paper | Skip] = [
        paper(1),
        Skip("record 2", "not JSON"),
        Paper("x", " \n "),
        paper(1),
        Paper("y", "half \ud800 a pair"),
        Paper("z", "An abstract.", year=10**12),
        paper(2),
    ]
    with opened(tmp_path) as store:
        report = store.add(records)
    assert (report.added, report.updated, report.unchanged, report.records) == (2, 0, 1, 7)
    assert [skip.reason.split(",")[0] for skip in report.skipped] == [
        "not JSON", "no abstract", "its text holds half of a surrogate pair", "its year is no year",
    ]  # fmt: skip
    assert report.skipped[1].record == "record 3 (x)"


def test_a_record_that_the_model_spoils_is_skipped_and_the_others_are_not(tmp_path: Path) -> None:
    with opened(tmp_path, Spoiling()) as store:
        report = store.add([paper(number) for number in (1, 2, 3, 4, 5)])
        assert (report.added, report.records) == (3, 5)
        assert [skip.record for skip in report.skipped] == ["record 3 (p3)", "record 5 (p5)"]
        assert {each.paper_id for each in everything(store)} == {"p1", "p2", "p4"}


def test_a_spoiled_update_leaves_the_paper_as_it_was(tmp_path: Path) -> None:
    with opened(tmp_path, Spoiling()) as store:
        store.add([paper(1)])
        assert len(store.add([Paper("p1", "now nonce3 spoils it")]).skipped) == 1
        assert list(everything(store)) == [paper(1)]
        assert store.add([paper(1)]).unchanged == 1


@pytest.mark.parametrize(("number", "why"), [(7, "hung up"), (8, "array of"), (9, "vectors of 63")])
def test_a_model_that_fails_says_so_and_leaves_what_was_stored(tmp_path: Path, number: int, why: str) -> None:
    with opened(tmp_path, Spoiling(), [paper(1)]) as store:
        with pytest.raises(EmbedderFailed, match=why):
            store.add([paper(2), paper(number)])
        assert list(everything(store)) == [paper(1)]


def test_the_input_is_read_batch_by_batch_and_each_is_findable_at_once(tmp_path: Path) -> None:
    read, told = [], []

    def records() -> Iterator[Paper]:
        for number in range(150):
            read.append(number)
            yield paper(number)

    with opened(tmp_path) as store:

        def progress(report: Report) -> None:
            told.append((report.added, len(read)))
            last = report.added - 1
            assert found(store, f"nonce{last}", mode="lexical") == [f"p{last}"]
            assert found(store, paper(last).abstract, mode="dense")[0] == f"p{last}"

        store.add(records(), progress=progress)
    assert told == [(64, 64), (128, 128), (150, 150)]


def test_an_input_that_breaks_off_keeps_its_full_batches(tmp_path: Path) -> None:
    def records() -> Iterator[Paper]:
        yield from map(paper, range(100))
        raise ValueError("the file ends here")

    with opened(tmp_path) as store:
        with pytest.raises(ValueError, match="ends here"):
            store.add(records())
        assert store.collection("default").papers == 64


def test_what_is_known_is_not_embedded_again(tmp_path: Path) -> None:
    embedder = HashingEmbedder()
    papers = [paper(number) for number in range(20)]
    with opened(tmp_path, embedder, papers) as store:
        embedder.texts.clear()
        store.add(papers)
        assert embedder.texts == []
        assert store.add([paper(1, venue="ICML")]).updated == 1
        assert embedder.texts == [], "a venue is not embedded"
        store.add([paper(1, title="Another")])
        assert len(embedder.texts) == 1


def test_a_new_title_is_found_and_the_old_is_not(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.add([paper(1, title="Zebras"), paper(2)])
        store.add([paper(1, title="Giraffes")])
        assert found(store, "zebras", mode="lexical") == []
        assert found(store, "giraffe", mode="lexical") == ["p1"]


def test_passages_tile_the_abstract(tmp_path: Path) -> None:
    """Law 6, as stored: what a hit says of its place is its place."""
    long = Paper("long", " ".join(paper(number).abstract for number in range(40)))
    with opened(tmp_path, HashingEmbedder(max_tokens=128), [long]) as store:
        assert store.collection("default").passages > 1
        for number in range(40):
            (hit,) = store.search(Query(f"nonce{number}", mode="lexical"))
            assert long.abstract[hit.passage.start : hit.passage.end] == hit.passage.text
            assert f"nonce{number}." in hit.passage.text


def test_another_embedder_is_refused_by_both_names(tmp_path: Path) -> None:
    opened(tmp_path, HashingEmbedder("model:one"), [paper(1)]).close()
    with opened(tmp_path, HashingEmbedder("model:two")) as store:
        with pytest.raises(EmbedderMismatch, match=r"model:one.*model:two.*loccit reindex"):
            store.add([paper(2)])
        assert list(everything(store)) == [paper(1)]


def test_an_empty_collection_takes_any_embedder(tmp_path: Path) -> None:
    with opened(tmp_path, HashingEmbedder("model:one"), [paper(1)]) as store:
        store.delete("default", "p1")
    with opened(tmp_path, HashingEmbedder("model:two", 32)) as store:
        assert store.add([paper(2)]).added == 1
        assert store.collection("default").embedder == "model:two"


def test_a_model_that_changed_behind_its_name_is_noticed(tmp_path: Path) -> None:
    """traps.md 1: another size of vector under the same name."""
    opened(tmp_path, HashingEmbedder("same", 64), [paper(1)]).close()
    with opened(tmp_path, HashingEmbedder("same", 32)) as store, pytest.raises(EmbedderFailed, match="32 numbers"):
        store.add([paper(2)])


def test_an_unknown_collection_names_those_there_are(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.create_collection("physics")
        with pytest.raises(UnknownCollection, match=r"'nope'.*default, physics"):
            store.add([paper(1)], "nope")


@pytest.mark.parametrize(
    "abstract",
    ["{x} {{a}} $name {% raw %}", r"\frac{3}{2} $p < 0.05$", "emoji 😀 and e\u0301", "NUL \x00 inside", "日本語。要旨"],
)
def test_text_is_stored_as_it_is(tmp_path: Path, abstract: str) -> None:
    with opened(tmp_path, papers=[Paper("a/b?c#d%41 ü", abstract, authors=("Ö, {}",))]) as store:
        stored = store.paper("default", "a/b?c#d%41 ü")
        assert stored is not None
        assert (stored.abstract, stored.authors) == (abstract, ("Ö, {}",))
        assert store.paper("default", "\ud800") is None
