"""Which records are one paper, and what it then is."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectorstore.merge import arxiv_id, doi, identify, is_published, keys, merge
from vectorstore.paper import Paper

ABSTRACT = "We prune attention heads, and lose 2.5% of accuracy on SST-2."
PAPER = Paper("a", ABSTRACT)


def _same(one: Paper, other: Paper) -> bool:
    return not set(keys(one)).isdisjoint(keys(other))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("10.1145/3292500.3330701", "10.1145/3292500.3330701"),
        ("https://doi.org/10.1145/3292500.3330701", "10.1145/3292500.3330701"),
        ("http://dx.doi.org/10.1145/ABC.", "10.1145/abc"),
        ("DOI: 10.1145/ABC", "10.1145/abc"),
        ("doi:10.1145/ABC [doi]", "10.1145/abc"),
        ("(10.1016/S0140-6736(05)66545-1)", "10.1016/s0140-6736(05)66545-1"),
        (
            "10.1002/(SICI)1097-461X(1998)66:4%3C261::AID-QUA1%3E3.0.CO;2-T",
            "10.1002/(sici)1097-461x(1998)66:4<261::aid-qua1>3.0.co;2-t",
        ),
        ("version 10.2/3", None),
        ("110.1145/3", None),
        ("", None),
        (None, None),
    ],
)
def test_a_doi_in_any_spelling(text: str | None, found: str | None) -> None:
    assert doi(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2401.00001", "2401.00001"),
        ("arXiv:2401.00001v3", "2401.00001"),
        ("http://arxiv.org/abs/2401.00001v1", "2401.00001"),
        ("https://arxiv.org/pdf/0704.0001.pdf", "0704.0001"),
        ("https://doi.org/10.48550/arXiv.2401.00001", "2401.00001"),
        ("hep-th/9901001v2", "hep-th/9901001"),
        ("math.GT/0309136", "math/0309136"),
        ("1234.5678", None),
        ("10.1234/2401.000012345", None),
        (None, None),
    ],
)
def test_an_arxiv_id_in_any_spelling(text: str | None, found: str | None) -> None:
    assert arxiv_id(text) == found


@pytest.mark.parametrize(
    ("paper", "paper_id"),
    [
        (replace(PAPER, doi="10.1145/ABC", arxiv_id="2401.00001"), "a"),
        (Paper("", ABSTRACT, doi="https://doi.org/10.1145/ABC", arxiv_id="2401.00001"), "doi:10.1145/abc"),
        (Paper("", ABSTRACT, arxiv_id="arXiv:2401.00001v2"), "arxiv:2401.00001"),
        (Paper("", ABSTRACT, title="T"), f"sha:{keys(PAPER)[-1].removeprefix('abstract:')[:12]}"),
    ],
)
def test_a_paper_without_an_id_gets_one(paper: Paper, paper_id: str) -> None:
    assert identify(paper) == replace(paper, paper_id=paper_id)


@pytest.mark.parametrize(
    "abstract",
    [
        f"  {ABSTRACT.upper()}\n",
        ABSTRACT.replace(" ", "\n  "),
        ABSTRACT.replace("attention", "*attention*"),
        ABSTRACT.replace("attention", r"\textit{attention}"),
        ABSTRACT.replace("attention", r"\emph{attention}").replace("2.5%", r"$2.5$\%"),
        ABSTRACT.replace("attention", "<i>attention</i>"),
        ABSTRACT.replace("SST-2", "SST–2"),
        ABSTRACT.replace("SST-2", "“SST-2”"),
        ABSTRACT.replace("heads", "heads\u00ad"),
    ],
)
def test_the_same_abstract_in_other_dress_is_the_same_paper(abstract: str) -> None:
    assert _same(PAPER, Paper("b", abstract, title="With a title"))


@pytest.mark.parametrize(
    "other",
    [
        Paper("b", "Another abstract.", doi="https://doi.org/10.1145/abc"),
        Paper("b", "Another abstract.", arxiv_id="2401.00001v7"),
        Paper("b", "Another abstract.", doi="10.48550/arXiv.2401.00001"),
    ],
)
def test_one_shared_identifier_is_enough(other: Paper) -> None:
    assert _same(replace(PAPER, doi="10.1145/ABC", arxiv_id="arXiv:2401.00001"), other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (replace(PAPER, title="Introduction"), Paper("b", "Another abstract.", title="Introduction")),
        (PAPER, Paper("b", ABSTRACT.replace("2.5%", "3.5%"))),
        (Paper("a", "漢字。"), Paper("b", "漢語。")),
        (Paper("a", "..."), Paper("b", "???")),
    ],
)
def test_a_title_alone_or_almost_the_same_abstract_is_another_paper(one: Paper, other: Paper) -> None:
    assert not _same(one, other)


def test_nothing_is_lost_and_the_newer_record_holds() -> None:
    old = Paper("a", ABSTRACT, title="Old", authors=("Ada",), venue="ICML", url="https://a.org", retracted=True)
    new = Paper("b", "Newer.", title="New", year=2024, doi="10.1145/x")
    assert merge(old, new) == Paper(
        "a", "Newer.", "New", ("Ada",), 2024, "ICML", "https://a.org", "10.1145/x", None, retracted=True
    )


@pytest.mark.parametrize("preprint_is_newer", [True, False])
def test_a_publication_says_where_and_when_not_its_preprint(*, preprint_is_newer: bool) -> None:
    """traps.md 7, merging: a preprint and its publication."""
    preprint = Paper(
        "a", ABSTRACT, year=2023, venue="arXiv.org", doi="10.48550/arxiv.2301.00001", arxiv_id="2301.00001"
    )
    published = Paper("a", ABSTRACT, year=2024, venue="ICML 2024", doi="10.1145/abc", url="https://icml.cc/1")
    assert not is_published(preprint)
    assert is_published(published)
    both = merge(published, preprint) if preprint_is_newer else merge(preprint, published)
    assert both == replace(published, arxiv_id="2301.00001")


PAPERS = st.builds(
    Paper,
    st.text(min_size=1),
    st.text(min_size=1),
    title=st.one_of(st.none(), st.text()),
    year=st.one_of(st.none(), st.integers(1500, 2100)),
    venue=st.sampled_from([None, "arXiv", "ICML"]),
    doi=st.sampled_from([None, "10.1145/a", "10.48550/arXiv.2401.00001"]),
    arxiv_id=st.sampled_from([None, "2401.00001"]),
    retracted=st.booleans(),
)


@given(PAPERS, PAPERS)
def test_merging_again_changes_nothing_and_keys_are_stable(old: Paper, new: Paper) -> None:
    once = merge(old, new)
    assert merge(once, new) == once
    assert merge(old, old) == old
    assert keys(once)[-1] == keys(new)[-1]
    assert set(keys(identify(replace(new, paper_id="")))) == set(keys(new))
