from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.embedders import HashingEmbedder
from tests.stores import found, opened, paper
from vectorstore.errors import EmbedderFailed, EmbedderMismatch, UnknownCollection
from vectorstore.paper import Mode, Paper, Query, Vectors
from vectorstore.search import fuse
from vectorstore.store import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with opened(tmp_path_factory.mktemp("search"), papers=[paper(number) for number in range(300)]) as store:
        yield store


_FIGURES = st.dictionaries(st.integers(0, 30), st.floats(-1, 1, width=32), min_size=1)


@given(_FIGURES, st.dictionaries(st.integers(0, 30), st.floats(0, 50, width=32)), st.floats(-1, 1))
def test_fused_scores_lie_between_0_and_1_and_keep_order(
    cosines: Mapping[int, float], bm25s: Mapping[int, float], usual: float
) -> None:
    bm25s = {number: score for number, score in bm25s.items() if number in cosines}
    fused = fuse(cosines, bm25s, usual)
    assert fused.keys() == cosines.keys()
    assert all(0 <= score <= 1 + 1e-9 for score in fused.values())
    for one in cosines:
        for other in cosines:
            if cosines[one] >= cosines[other] and bm25s.get(one, 0) >= bm25s.get(other, 0):
                assert fused[one] >= fused[other] - 1e-9


def test_the_best_in_both_legs_scores_1_and_nothing_is_nothing() -> None:
    assert fuse({}, {}, 0.1) == {}
    assert fuse({1: 0.5, 2: 0.1}, {1: 7.0}, 0.1) == {1: pytest.approx(1.0), 2: 0.0}
    assert fuse({1: 0.5}, {}, 0.5) == {1: 0.0}


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
def test_a_paper_is_found_by_its_own_words(store: Store, mode: Mode) -> None:
    for number in (0, 17, 299):
        text = f"nonce{number}" if mode == "lexical" else paper(number).abstract
        assert found(store, text, mode=mode)[0] == f"p{number}"


def test_each_hit_says_what_either_leg_thought_of_it(store: Store) -> None:
    hits = store.search(Query(paper(5).abstract, top_k=100))
    assert hits[0].dense_rank == hits[0].lexical_rank == 1
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        assert hit.cosine is not None
        assert (hit.dense_rank or hit.lexical_rank) is not None
    dense = store.search(Query(paper(5).abstract, top_k=100, mode="dense"))
    assert [hit.dense_rank for hit in dense] == list(range(1, 101))
    assert {(hit.lexical_rank, hit.bm25) for hit in dense} == {(None, None)}
    lexical = store.search(Query("nonce5", mode="lexical"))
    assert [(hit.lexical_rank, hit.dense_rank, hit.cosine) for hit in lexical] == [(1, None, None)]


def test_the_same_question_gives_the_same_hits_whatever_the_order_of_arrival(tmp_path: Path, store: Store) -> None:
    """Law 11."""
    with opened(tmp_path, papers=[paper(number) for number in reversed(range(300))]) as other:
        for text in ("graph pruning", "points on bench nonce7", "nothing of the kind"):
            ours, theirs = store.search(Query(text, 50)), other.search(Query(text, 50))
            assert [hit.passage.passage_id for hit in ours] == [hit.passage.passage_id for hit in theirs]
            assert np.allclose([hit.score for hit in ours], [hit.score for hit in theirs], atol=1e-5)


def test_one_paper_does_not_fill_the_list(tmp_path: Path) -> None:
    long = Paper("long", " ".join(f"Zebras run, says sentence {number}." for number in range(200)))
    with opened(tmp_path, HashingEmbedder(max_tokens=128), [long, paper(1), paper(2)]) as store:
        assert store.collection("default").passages > 3
        assert sorted(found(store, "zebras run")) == ["long", "p1", "p2"]
        assert found(store, "zebras run", mode="lexical") == ["long"]


def test_top_k_is_kept(store: Store) -> None:
    for top_k in (1, 7, 100):
        assert len(found(store, "study of data", top_k=top_k)) == top_k
    for top_k in (0, 101, -1):
        with pytest.raises(ValueError, match="between 1 and 100"):
            found(store, "x", top_k=top_k)


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
def test_nothing_stored_is_nothing_found(tmp_path: Path, mode: Mode) -> None:
    with opened(tmp_path) as store:
        assert found(store, "anything", mode=mode) == []
        store.add([paper(1)])
        store.delete("default", "p1")
        assert found(store, paper(1).abstract, mode=mode) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        '"',
        "AND OR NOT",
        "NEAR(",
        "title:",
        "\x00",
        "😀",
        "\ud800",
        "{x} $y %s",
        "' OR 1=1 --",
        "word " * 10_000,
    ],
)
def test_no_question_raises(store: Store, text: str) -> None:
    for mode in ("hybrid", "dense", "lexical"):
        found(store, text, mode=mode)


def test_a_known_vector_is_not_computed_again(tmp_path: Path) -> None:
    embedder = HashingEmbedder()
    with opened(tmp_path, embedder, [paper(1), paper(2)]) as store:
        vector = embedder.embed([paper(2).abstract])
        embedder.texts.clear()
        for given_vector in (vector, vector[0]):
            assert store.search(Query("x", mode="dense"), given_vector)[0].paper.paper_id == "p2"
        found(store, "nonce1", mode="lexical")
        assert embedder.texts == []


def test_deleted_and_replaced_text_is_never_found(store: Store) -> None:
    store.add([paper(900), paper(901)])
    store.delete("default", "p900")
    store.add([paper(901, version=2)])
    assert "p900" not in found(store, paper(900).abstract, top_k=100)
    assert all("version1" not in hit.passage.text.lower() or hit.paper.paper_id != "p901"
               for hit in store.search(Query(paper(901).abstract, 100)))  # fmt: skip
    store.delete("default", "p901")


def test_collections_are_apart(store: Store) -> None:
    store.create_collection("other")
    store.add([paper(500)], "other")
    assert found(store, "nonce500", mode="lexical") == []
    assert found(store, "nonce500", mode="lexical", collection="other") == ["p500"]
    assert found(store, paper(1).abstract, collection="other") == ["p500"]
    with pytest.raises(UnknownCollection, match="nope"):
        found(store, "x", collection="nope")


def test_another_embedder_may_not_search(tmp_path: Path) -> None:
    """traps.md 1: a swap of models of the same size gives wrong neighbours without a word."""
    opened(tmp_path, HashingEmbedder("model:one"), [paper(1)]).close()
    with opened(tmp_path, HashingEmbedder("model:two")) as store:
        with pytest.raises(EmbedderMismatch, match=r"model:one.*model:two.*loccit reindex"):
            found(store, "x")
        assert store.papers().total == 1
        assert any("loccit reindex" in sentence for sentence in store.state().degraded)


def test_a_question_without_a_usable_vector_is_said(tmp_path: Path) -> None:
    class Blank(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            return np.zeros((len(texts), 64), np.float32)

    opened(tmp_path, papers=[paper(1)]).close()
    with opened(tmp_path, Blank()) as store:
        with pytest.raises(EmbedderFailed, match="no usable vector"):
            found(store, "x")
        assert found(store, "nonce1", mode="lexical") == ["p1"]


def test_frequencies_count_passages(store: Store) -> None:
    counts, size = store.frequencies("default", ["nonce7", "studied", "zebra"])
    assert (counts[0], counts[2], size) == (1, 0, 300)
    assert counts[1] == 300
