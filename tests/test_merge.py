"""When two records are one paper, and what it then is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectorstore.merge import arxiv_id, doi, identify, keys, merge
from vectorstore.paper import Paper

ABSTRACT = "We show that pruning works. It removes 90% of the weights."


def same(one: Paper, other: Paper) -> bool:
    return not set(keys(one)).isdisjoint(keys(other))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("10.1000/ABC.def", "10.1000/abc.def"),
        ("https://doi.org/10.1000/ABC", "10.1000/abc"),
        ("doi: 10.1000/abc.", "10.1000/abc"),
        ("http://dx.doi.org/10.1000/abc", "10.1000/abc"),
        ("none", None),
        (None, None),
    ],
)
def test_a_doi_in_every_spelling(text: str | None, found: str | None) -> None:
    assert doi(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2401.00001v3", "2401.00001"),
        ("arXiv:2401.00001", "2401.00001"),
        ("https://arxiv.org/abs/2401.00001v1", "2401.00001"),
        ("https://arxiv.org/pdf/hep-th/9901001", "hep-th/9901001"),
        ("none", None),
    ],
)
def test_an_arxiv_id_without_its_version(text: str, found: str | None) -> None:
    assert arxiv_id(text) == found


def test_the_same_abstract_in_other_mark_up_is_one_paper() -> None:
    plain = Paper("a", "We reach 5% on the *hard* set of $n$ items - at last.")
    marked = Paper("b", "We reach 5\\% on the \\emph{hard} set of n items – at  last.\n")
    assert same(plain, marked)


def test_one_doi_or_one_arxiv_id_is_one_paper() -> None:
    assert same(Paper("a", "One.", doi="10.1/x"), Paper("b", "Another.", doi="10.1/x"))
    assert same(Paper("a", "One.", arxiv_id="2401.00001"), Paper("b", "Another.", arxiv_id="2401.00001"))


def test_a_title_alone_makes_no_paper_the_same() -> None:
    assert not same(Paper("a", "One is here.", "Editorial"), Paper("b", "Two is there.", "Editorial"))


def test_ids_where_records_have_none() -> None:
    assert identify(Paper("", ABSTRACT, doi="10.1/x")).paper_id == "doi:10.1/x"
    assert identify(Paper("", ABSTRACT, arxiv_id="2401.00001")).paper_id == "arxiv:2401.00001"
    assert identify(Paper("", ABSTRACT)).paper_id.startswith("sha:")
    assert identify(Paper("given", ABSTRACT, doi="10.1/x")).paper_id == "given"


def test_merging_loses_nothing_and_believes_the_newer() -> None:
    old = Paper("a", ABSTRACT, "Old", ("Ada",), 2020, "arXiv", None, None, "2001.00001")
    new = Paper("b", ABSTRACT, "New", (), None, "ICML", "https://example.org", "10.1/x", retracted=True)
    assert merge(old, new) == Paper(
        "a", ABSTRACT, "New", ("Ada",), 2020, "ICML", "https://example.org", "10.1/x", "2001.00001", retracted=True
    )


@given(st.text(min_size=1))
def test_a_paper_merged_with_itself_is_itself(abstract: str) -> None:
    paper = identify(Paper("", abstract))
    assert merge(paper, paper) == paper
    assert same(paper, paper)
