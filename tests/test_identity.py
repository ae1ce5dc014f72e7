"""Law 7: adding twice changes nothing, and the same paper from two files is one paper."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.stores import everything, found, opened, paper
from vectorstore.paper import Paper, Report, Skip
from vectorstore.store import Store

A, B, C = paper(1).abstract, paper(2).abstract, paper(3).abstract


def _counts(report: Report) -> tuple[int, int, int]:
    return report.added, report.updated, report.unchanged


def test_the_same_file_twice_is_all_unchanged(tmp_path: Path) -> None:
    papers = [paper(number) for number in range(200)]
    with opened(tmp_path) as store:
        assert _counts(store.add(papers)) == (200, 0, 0)
        before = store.collection("default")
        assert _counts(store.add(papers)) == (0, 0, 200)
        assert store.collection("default") == before


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Paper("a", A, doi="10.1/x"), Paper("b", B, doi="10.1/x")),
        (Paper("", A, arxiv_id="2401.00001"), Paper("b", B, arxiv_id="2401.00001")),
        (Paper("a", A), Paper("b", A, title="With a title")),
        (Paper("", A), Paper("", A)),
        (Paper("a", A), Paper("a", B)),
    ],
)
def test_the_same_paper_is_one(tmp_path: Path, first: Paper, second: Paper) -> None:
    with opened(tmp_path) as store:
        store.add([first])
        (known,) = everything(store)
        store.add([second])
        (only,) = everything(store)
        assert only.paper_id == known.paper_id


def test_metadata_is_merged(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.add([Paper("a", A, title="T", venue="ICML")])
        assert _counts(store.add([Paper("b", A, year=2020, doi="10.1/x")])) == (0, 1, 0)
        (only,) = everything(store)
        assert (only.title, only.venue, only.year, only.doi) == ("T", "ICML", 2020, "10.1/x")


def test_a_changed_abstract_replaces_the_old(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.add([paper(1), paper(2)])
        assert _counts(store.add([paper(1, version=2)])) == (0, 1, 0)
        assert found(store, "version2", mode="lexical") == ["p1"]
        assert all("version1" not in hit for hit in _texts(store, "nonce1 version1"))
        # The record of before, letter for letter, is the news of today.
        assert _counts(store.add([paper(1)])) == (0, 1, 0)
        assert found(store, "version2", mode="lexical") == []


def _texts(store: Store, text: str) -> list[str]:
    return [each.abstract for each in everything(store) if f"{text.split(maxsplit=1)[0]}." in each.abstract]


def test_two_versions_in_one_file_can_be_added_twice(tmp_path: Path) -> None:
    """Across batches too: the first version must not win its place back at the second adding."""
    papers = [Paper("a", A), *(paper(number) for number in range(10, 110)), Paper("a", B), Paper("b", C)]
    with opened(tmp_path) as store:
        assert _counts(store.add(papers)) == (102, 1, 0)
        before = list(everything(store))
        assert _counts(store.add(papers)) == (0, 0, 103)
        assert list(everything(store)) == before
        assert store.paper("default", "a") == Paper("a", B)


def test_a_third_record_makes_two_papers_one(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.add([Paper("a", A, doi="10.1/x", year=2020), Paper("b", B, arxiv_id="2401.00001", venue="V")])
        assert _counts(store.add([Paper("c", B, doi="10.1/x")])) == (0, 1, 0)
        (only,) = everything(store)
        assert (only.paper_id, only.abstract, only.year, only.venue) == ("a", B, 2020, "V")
        assert store.collection("default").passages == 1
        assert _counts(store.add([Paper("c", B, doi="10.1/x")])) == (0, 0, 1)


def test_the_third_record_may_come_in_the_same_batch(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        report = store.add([Paper("a", A, doi="10.1/x"), Paper("b", B), Paper("c", B, doi="10.1/x")])
        assert _counts(report) == (1, 2, 0)
        assert len(list(everything(store))) == 1


def test_one_id_on_two_papers_of_one_file_keeps_them_apart(tmp_path: Path) -> None:
    """traps.md 7: a RIS export with the same id on two papers."""
    twins = [Paper("12345", A, title="On sampling"), Paper("12345", B, title="Of pruning")]
    with opened(tmp_path) as store:
        assert _counts(store.add(twins)) == (2, 0, 0)
        assert {each.abstract for each in everything(store)} == {A, B}
        assert _counts(store.add(twins)) == (0, 0, 2)
        # A correction to one of them reaches that one.
        edited = [twins[0], replace(twins[1], year=2021)]
        assert _counts(store.add(edited)) == (0, 1, 1)
        assert {(each.abstract, each.year) for each in everything(store)} == {(A, None), (B, 2021)}


def test_one_id_on_two_papers_without_titles_keeps_them_apart(tmp_path: Path) -> None:
    twins = [
        Paper("1", "We study how the tides of small moons bend the light of distant stars."),
        Paper("1", "Sparse networks train faster once their rotations are exactly orthogonal."),
    ]
    with opened(tmp_path) as store:
        assert _counts(store.add(twins)) == (2, 0, 0)
        assert {each.abstract for each in everything(store)} == {each.abstract for each in twins}
        assert _counts(store.add(twins)) == (0, 0, 2)


def test_one_id_on_two_papers_far_apart_in_one_file(tmp_path: Path) -> None:
    between = [paper(number) for number in range(10, 110)]
    twins = [Paper("12345", A, title="On sampling"), *between, Paper("12345", B, title="Of pruning")]
    with opened(tmp_path) as store:
        assert store.add(twins).added == 102
        assert store.add(twins).unchanged == 102


def test_a_changed_paper_under_the_same_id_of_another_input_is_an_update(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.add([Paper("a", A, title="Old")])
        assert _counts(store.add([Paper("a", B, title="New")])) == (0, 1, 0)
        assert list(everything(store)) == [Paper("a", B, title="New")]


def test_a_value_set_back_is_set_back(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for year in (2020, 2021, 2020):
            store.add([Paper("a", A, year=year)])
            assert [each.year for each in everything(store)] == [year]


def test_a_deleted_paper_can_come_again(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.add([paper(1)])
        assert store.delete("default", "p1")
        assert not store.delete("default", "p1")
        assert _counts(store.add([paper(1)])) == (1, 0, 0)


_RECORDS = st.lists(
    st.builds(
        Paper,
        st.sampled_from(["", "", "a", "b"]),
        st.sampled_from([A, B, C, f"{A} {B}"]),
        title=st.sampled_from([None, "One", "Two"]),
        year=st.sampled_from([None, 2020, 2021]),
        doi=st.sampled_from([None, None, "10.1/x", "10.1/Y"]),
        arxiv_id=st.sampled_from([None, None, "2401.00001"]),
    ),
    max_size=12,
)


@pytest.mark.parametrize("between", [0, 40])
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=_RECORDS)
def test_law_7_and_8(library: Store, between: int, records: list[Paper]) -> None:
    """Records of one batch, and, with skips between them, of many batches."""
    gap = [Skip("a record", "no abstract")] * between
    spaced: list[Paper | Skip] = []
    for record in records:
        spaced += [record, *gap]
    library.delete_collection("default")
    first = library.add(spaced)
    stored = list(everything(library))
    again = library.add(spaced)
    assert first.records == again.records == len(spaced)
    assert _counts(again) == (0, 0, len(records))
    assert list(everything(library)) == stored
    assert first.added >= len(stored) == len({each.paper_id for each in stored})
    assert len({each.abstract for each in stored}) == len(stored)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with opened(tmp_path_factory.mktemp("identity")) as store:
        yield store
