"""One record with named fields, in the words and shapes of every service -> one Paper, or one Skip with its reason."""

import json
import sys
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectorstore.clean import LONGEST
from vectorstore.paper import Paper, Skip
from vectorstore.readers import paper_from_record
from vectorstore.readers.fields import FIELDS

ABSTRACT = "We show that pruning works. It removes 90% of the weights."


def paper(**fields: object) -> Paper:
    found = paper_from_record({"abstract": ABSTRACT} | fields, "record 1")
    assert isinstance(found, Paper), found
    return found


WHOLE = Paper(
    "abc",
    ABSTRACT,
    "A title",
    ("Ada Lovelace", "Alan Turing"),
    2024,
    "ICML",
    "https://example.org/a",
    "10.1000/abc",
    "2401.00001",
)


@pytest.mark.parametrize(
    "record",
    [
        {"paper_id": "abc", "title": "A title", "abstract": ABSTRACT, "authors": ["Ada Lovelace", "Alan Turing"],
         "year": 2024, "venue": "ICML", "url": "https://example.org/a", "doi": "10.1000/ABC", "arxiv_id": "2401.00001"},
        {"paperId": "abc", "title": " A\n title ", "abstract": ABSTRACT, "year": 2024, "venue": "ICML",
         "authors": [{"authorId": "1", "name": "Ada Lovelace"}, {"authorId": None, "name": "Alan Turing"}],
         "externalIds": {"DOI": "10.1000/ABC", "ArXiv": "2401.00001"}, "url": "https://example.org/a"},
        {"contexts": ["As [4] and [7] show."], "citingPaper": {"paperId": "abc", "title": "A title",
         "abstract": ABSTRACT, "authors": [{"name": "Ada Lovelace"}, {"name": "Alan Turing"}], "year": 2024,
         "venue": "ICML", "url": "https://example.org/a", "externalIds": {"ArXiv": "2401.00001",
         "DOI": "10.1000/abc"}}},
        {"id": "abc", "forum": "f", "content": {"title": {"value": "A title"}, "abstract": {"value": ABSTRACT},
         "authors": {"value": ["Ada Lovelace", "Alan Turing"]}, "venue": {"value": "ICML"}}, "pdate": 5,
         "cdate": 1_714_521_600_000, "url": "https://example.org/a", "doi": "doi.org/10.1000/abc",
         "arxiv": "arXiv:2401.00001v3"},
        {"id": "abc", "display_name": "A title", "abstract_inverted_index": {"We": [0], "show": [1], "that": [2],
         "pruning": [4], "works.": [5], "It": [6], "removes": [9], "90%": [10], "of": [11], "the": [12],
         "weights.": [13]}, "publication_year": 2024, "primary_location": {"source": {"display_name": "ICML"},
         "landing_page_url": "https://example.org/a"}, "ids": {"doi": "https://doi.org/10.1000/abc",
         "arxiv": "https://arxiv.org/abs/2401.00001"}, "authorships": [{"author": {"display_name": "Ada Lovelace"}},
         {"raw_author_name": "Alan Turing", "author": {}}]},
        {"key": "abc", "data": {"title": "A title", "abstractNote": ABSTRACT, "creators": [{"firstName": "Ada",
         "lastName": "Lovelace"}, {"name": "Alan Turing"}], "date": "May 2024", "publicationTitle": "ICML",
         "url": "https://example.org/a", "DOI": "10.1000/abc", "archiveID": "arXiv:2401.00001", "arXiv": "2401.00001"}},
        {"id": "abc", "type": "article-journal", "title": "A title", "abstract": ABSTRACT, "container-title": "ICML",
         "author": [{"family": "Lovelace", "given": "Ada"}, {"literal": "Alan Turing"}],
         "issued": {"date-parts": [["2024", 5]]}, "URL": "https://example.org/a", "DOI": "10.1000/abc",
         "arxiv-id": "2401.00001"},
        {"_id": "abc", "title": ["A title"], "container-title": ["ICML"], "published-print": {"date-parts": [[2024]]},
         "author": [{"given": "Ada", "family": "Lovelace", "sequence": "first"}, {"given": "Alan", "family": "Turing"}],
         "abstract": f"<jats:title>Abstract</jats:title><jats:p>{ABSTRACT}</jats:p>", "URL": "https://example.org/a",
         "DOI": "10.1000/abc", "arXiv ID": "2401.00001"},
        {"_source": {"ID": "abc", "TITLE": "A title", "Abstract ": ABSTRACT, "AUTHORS": "Lovelace, Ada",
         "author names": "x", "Authors": "Ada Lovelace and Alan Turing", "Publication Year": "2024.0",
         "Source title": "ICML", "Link": "https://example.org/a", "doi": "DOI 10.1000/abc", "arXiv": "2401.00001"}},
    ],
    ids=["own", "s2", "s2-citing", "openreview", "openalex", "zotero", "csl", "crossref", "folded"],
)  # fmt: skip
def test_the_usual_services(record: dict[str, object]) -> None:
    found = paper_from_record(record, "record 1")
    assert isinstance(found, Paper)
    expected = asdict(WHOLE)
    if "_source" in record:
        expected["authors"] = ("Lovelace, Ada",)
    assert asdict(found) == expected


@pytest.mark.parametrize(
    ("authors", "names"),
    [
        ("Ada Lovelace; Alan Turing", ("Ada Lovelace", "Alan Turing")),
        ("Ada Lovelace and Alan Turing", ("Ada Lovelace", "Alan Turing")),
        ("Lovelace, Ada and Turing, Alan", ("Lovelace, Ada", "Turing, Alan")),
        ("Ada Lovelace, Alan Turing", ("Ada Lovelace", "Alan Turing")),
        ("Ada Lovelace, Alan Turing, and Grace Hopper", ("Ada Lovelace", "Alan Turing", "Grace Hopper")),
        ("A. Lovelace, A. Turing and\n  G. Hopper (Bologna Univ. and INFN)", ("A. Lovelace", "A. Turing", "G. Hopper")),
        ("Lovelace, A., Turing, A. M.", ("Lovelace, A.", "Turing, A. M.")),
        ("Lovelace A, Turing AM, et al.", ("Lovelace A", "Turing AM")),
        ("['Marx, Karl', 'Lindgren, Astrid']", ("Marx, Karl", "Lindgren, Astrid")),
        ("Lovelace, Ada", ("Lovelace, Ada",)),
        ("Sandra Anderson", ("Sandra Anderson",)),
        (["Ada Lovelace; Alan Turing"], ("Ada Lovelace", "Alan Turing")),
        (["University of Rock and Roll", "Turing, Alan"], ("University of Rock and Roll", "Turing, Alan")),
        ([["Lovelace", "Ada", ""], ["Turing", "Alan", "", "Bletchley"]], ("Ada Lovelace", "Alan Turing")),
        ({"name": "Ada Lovelace"}, ("Ada Lovelace",)),
        ([None, "", 3, {}, {"name": None}, "Ada Lovelace", "Ada  Lovelace"], ("3", "Ada Lovelace")),
        (None, ()),
        (7, ()),
    ],
)
def test_authors_in_every_shape(authors: object, names: tuple[str, ...]) -> None:
    assert paper(authors=authors).authors == names


@pytest.mark.parametrize(
    ("fields", "year"),
    [
        ({"year": 2024}, 2024),
        ({"year": "2024"}, 2024),
        ({"year": 2024.0}, 2024),
        ({"published": "2024-05-01T00:00:00Z"}, 2024),
        ({"date": "1 Jan.-Feb. 2019"}, 2019),
        ({"issued": {"date-parts": [[2024, 5]]}}, 2024),
        ({"issued": {"date-parts": [[None]]}, "created": {"date-parts": [[2018]]}}, 2018),
        ({"cdate": 1_704_067_200_000}, 2024),
        ({"cdate": 1_704_067_199_000}, 2023),
        (
            {"versions": [{"version": "v1", "created": "Mon, 2 Apr 2007 19:18:42 GMT"}], "update_date": "2008-11-26"},
            2007,
        ),
        ({"year": "n.d.", "date": "2020"}, 2020),
        ({"year": True}, None),
        ({"year": 20240101}, None),
        ({"year": float("nan")}, None),
        ({"year": float("inf")}, None),
        ({"year": 10**400}, None),
        ({"year": -5}, None),
    ],
)
def test_years_in_every_shape(fields: dict[str, object], year: int | None) -> None:
    assert paper(**fields).year == year


@pytest.mark.parametrize(
    ("fields", "abstract"),
    [
        ({"abstract_inverted_index": {"pruning": [1, 4], "Our": [0], "works.": [2]}}, "Our pruning works. pruning"),
        ({"abstract": {"Background": "It is hard.", "Findings": "It works."}},
         "Background: It is hard.\nFindings: It works."),
        ({"abstract": [{"label": "BACKGROUND", "text": "It is hard."}, {"text": "It works."}]},
         "BACKGROUND: It is hard.\nIt works."),
        ({"abstract": ["It is hard.", None, "It works."]}, "It is hard.\nIt works."),
        ({"descriptions": [{"descriptionType": "Other", "description": "Page 7"},
                           {"descriptionType": "Abstract", "description": "It works."}]}, "It works."),
        ({"abstract": "N/A", "summary": "It works."}, "It works."),
        ({"_id": "1", "text": "It works."}, "It works."),
        ({"abstract": "&lt;p&gt;It &lt;i&gt;works&lt;/i&gt;.&lt;/p&gt;"}, "It works."),
        ({"abstract": "H<sub>2</sub>O at 10<sup>5</sup> Pa, a<b and c>d"}, "H2O at 10^5 Pa, a<b and c>d"),
        ({"abstract": "It \ud83d works.\x00"}, "It  works."),
    ],
)  # fmt: skip
def test_abstracts_in_every_shape(fields: dict[str, object], abstract: str) -> None:
    found = paper_from_record(fields, "record 1")
    assert isinstance(found, Paper)
    assert found.abstract == abstract


@pytest.mark.parametrize(
    "abstract", ["", None, "[No abstract available]", "No abstract available.", "N/A", "   ", "...", [], {}, 7, [[]]]
)
def test_no_abstract_is_a_skip(abstract: object) -> None:
    record = {"title": "A", "abstract": abstract, "note": "Not the abstract.", "bibtex": "abstract={x}"}
    assert paper_from_record(record, "record 3") == Skip("record 3 (A)", "no abstract")


def test_a_whole_text_is_no_abstract() -> None:
    found = paper_from_record({"abstract": "word " * LONGEST}, "record 1")
    assert isinstance(found, Skip)
    assert "characters" in found.reason


@pytest.mark.parametrize(
    ("fields", "retracted"),
    [
        ({"is_retracted": True}, True),
        ({"retracted": "yes"}, True),
        ({"isRetracted": 1}, True),
        ({"title": "RETRACTED: On pruning"}, True),
        ({"title": "[Retracted] On pruning"}, True),
        ({"title": "Retracted article: On pruning"}, True),
        ({"pubtype": ["Journal Article", "Retracted Publication"]}, True),
        ({"is_retracted": False}, False),
        ({"is_retracted": [True]}, False),
        ({"title": "Retracted muscles", "retracted": "no"}, False),
    ],
)
def test_retracted_papers_are_known(fields: dict[str, object], retracted: bool) -> None:
    """traps.md 5: a retracted paper says so in its citation."""
    assert paper(**fields).retracted is retracted


@pytest.mark.parametrize(
    ("title", "is_notice"),
    [
        ("Retraction notice to: On pruning", True),
        ("Retraction: On pruning", True),
        ("Correction to: On pruning", True),
        ("Author Correction: On pruning", True),
        ("Erratum", True),
        ("Corrigendum for On pruning", True),
        ("Expression of Concern: On pruning", True),
        ("Correction for attenuation in networks", False),
        ("Retraction maps on manifolds", False),
        ("Error correction", False),
    ],
)
def test_a_notice_is_not_a_paper_with_findings(title: str, is_notice: bool) -> None:
    """traps.md 5: the retraction notice and a correction notice are not papers with findings."""
    found = paper_from_record({"title": title, "abstract": ABSTRACT}, "record 1")
    assert isinstance(found, Skip) is is_notice


@pytest.mark.parametrize(
    ("fields", "ids"),
    [
        ({"id": "0704.0001"}, ("0704.0001", None, "0704.0001")),
        ({"id": "hep-th/9901001v2"}, ("hep-th/9901001v2", None, "hep-th/9901001")),
        ({"id": "http://arxiv.org/abs/2401.00001v2"}, ("http://arxiv.org/abs/2401.00001v2", None, "2401.00001")),
        ({"doi": "10.48550/arXiv.2401.00001"}, ("", "10.48550/arxiv.2401.00001", "2401.00001")),
        ({"url": "https://example.org/abs/1234567"}, ("", None, None)),
        ({"url": "https://example.org/2401.00001"}, ("", None, None)),
        ({"url": "https://doi.org/10.1000/ABC"}, ("", "10.1000/abc", None)),
        ({"articleids": [{"idtype": "pubmed", "value": "1"}, {"idtype": "doi", "value": "10.1000/abc"}]},
         ("", "10.1000/abc", None)),
        ({"_id": {"$oid": "5a55"}, "DOI": "10.1000/abc"}, ("", "10.1000/abc", None)),
        ({"id": 12}, ("12", None, None)),
        ({"id": 0, "key": "a b\u200b"}, ("0", None, None)),
        ({"id": None, "number": "3", "pmid": "9"}, ("9", None, None)),
        ({"id": True}, ("", None, None)),
    ],
)  # fmt: skip
def test_identifiers_in_every_spelling(fields: dict[str, object], ids: tuple[str, str | None, str | None]) -> None:
    found = paper(**fields)
    assert (found.paper_id, found.doi, found.arxiv_id) == ids


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "a b", 7, None, [[]]])
def test_only_a_web_address_is_a_url(url: object) -> None:
    assert paper(url=url).url is None
    assert paper(link=[{"URL": url}, {"URL": "https://example.org"}]).url == "https://example.org"


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.just(ABSTRACT),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["value", "name", "title", "source", "date-parts", "$oid", "a"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
NAMES = st.sampled_from([name for names in FIELDS.values() for name in names.split()] + ["content", "data", "paper"])


@given(st.dictionaries(NAMES | st.text(max_size=5), JSON_VALUES, max_size=8))
def test_any_json_object_is_a_paper_or_a_skip(record: dict[str, object]) -> None:
    found = paper_from_record(record, "record 1")
    if isinstance(found, Skip):
        assert found.reason
    else:
        json.dumps(asdict(found), ensure_ascii=False, allow_nan=False).encode()


@given(st.dictionaries(NAMES, st.text(), max_size=8))
def test_a_paper_written_down_and_read_again_is_the_same(record: dict[str, object]) -> None:
    found = paper_from_record(record | {"abstract": ABSTRACT}, "record 1")
    assert not isinstance(found, Paper) or paper_from_record(json.loads(json.dumps(asdict(found))), "again") == found


@pytest.mark.parametrize("name", sorted({name for names in FIELDS.values() for name in names.split()[:2]}))
def test_deep_nesting_is_survived(name: str) -> None:
    deep: object = ABSTRACT
    for number in range(sys.getrecursionlimit() * 3):
        deep = (
            [deep] if number % 2 else {"title": deep, "source": deep, "value": deep, "date-parts": deep, "author": deep}
        )
    found = paper_from_record({"abstract": ABSTRACT, name: deep}, "record 1")
    assert isinstance(found, Paper) or found.reason in {"nested too deeply", "no abstract"}
