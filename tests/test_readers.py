"""Files -> Papers: by content, whatever wrote them; each record one paper or one skip with its reason."""

import gzip
import io
import json
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from vectorstore.errors import Unreadable
from vectorstore.paper import Paper, Skip
from vectorstore.readers import READERS, paper_from_record, read

ABSTRACT = "We show that pruning works. It removes 90% of the weights."


def records(content: bytes | str, name: str | None = None, **named: str) -> list[Paper | Skip]:
    data = content.encode() if isinstance(content, str) else content
    return list(read(io.BytesIO(data), name, **named))


def test_the_sample_is_19_papers_and_its_heading_is_none() -> None:
    found = records((ROOT / "data" / "icml2024-sample.txt").read_bytes())
    assert len(found) == 19
    assert all(isinstance(one, Paper) for one in found)


def test_hard_wrapped_paragraphs_are_joined() -> None:
    (found,) = records("We show that\npruning   \nworks.\n")
    assert isinstance(found, Paper)
    assert found.abstract == "We show that pruning works."


@pytest.mark.parametrize("filename", [None, "odd.csv", "papers.txt"])
@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"abstract": ABSTRACT}),
        json.dumps([{"abstract": ABSTRACT}]),
        json.dumps({"papers": [{"abstract": ABSTRACT}]}),
        json.dumps({"results": [{"abstract": ABSTRACT}], "meta": {"count": 1}}),
        json.dumps({"message": {"items": [{"abstract": ABSTRACT}]}}),
        json.dumps({"data": [{"abstract": ABSTRACT}]}, indent=2),
    ],
)
def test_json_of_every_shape_is_read_whatever_its_name(content: str, filename: str | None) -> None:
    (found,) = records(content, filename)
    assert isinstance(found, Paper)
    assert found.abstract == ABSTRACT


def test_json_lines_with_a_bad_line_lose_only_that_line() -> None:
    lines = [
        json.dumps({"id": 1, "abstract": ABSTRACT}),
        "{broken",
        json.dumps(["no object"]),
        json.dumps({"id": 4, "abstract": ABSTRACT}),
    ]
    first, bad, odd, last = records("\n".join(lines))
    assert isinstance(first, Paper)
    assert isinstance(last, Paper)
    assert isinstance(bad, Skip)
    assert bad.record == "line 2"
    assert bad.reason.startswith("not JSON: ")
    assert odd == Skip("line 3", "not an object with fields")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_encodings(encoding: str) -> None:
    (found,) = records("Für Ärzte: pruning works – it removes 90 % of the weights.".encode(encoding))
    assert isinstance(found, Paper)
    assert found.abstract.startswith("Für Ärzte: pruning works – it")


def test_a_first_odd_byte_far_behind_the_beginning() -> None:
    (found,) = records(b"Pruning works well. " * 1_000 + b"Caf\xe9.")
    assert isinstance(found, Paper)
    assert found.abstract.endswith("Café.")


def test_lone_carriage_returns_are_line_ends() -> None:
    assert len(records("One is here.\r\rTwo is there.\r")) == 2


def test_gzip_is_transparent() -> None:
    assert len(records(gzip.compress(json.dumps([{"abstract": ABSTRACT}] * 3).encode()), "x.json.gz")) == 3


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"  \n\n", "is empty"),
        (b"%PDF-1.7 ...", "is a PDF"),
        (b"PK\x03\x04xx", "ZIP"),
        (bytes(range(256)) * 40, "is not text"),
        (b"\x1f\x8b\x08\x00damaged", "damaged gzip"),
        (gzip.compress(b"We show it.")[:-6], "damaged gzip"),
        (b"TY  - JOUR\nTI  - A title\nAB  - We show.\nER  - \n", "looks like RIS"),
        (b"@article{a, title={A}, abstract={We show.}}", "looks like BibTeX"),
        (b"title,abstract,year\nA,We show.,2020\n", "looks like a table"),
        (b"<?xml version='1.0'?><a/>", "looks like XML"),
        (b"<html><body>We show.</body></html>", "looks like XML or HTML"),
        (b"PMID- 123\nTI  - A title\nAB  - We show.\n", "PubMed"),
        (b'{"abstract": "We show', "is not json"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_cant_be_read_says_why_in_one_sentence(content: bytes, says: str) -> None:
    with pytest.raises(Unreadable, match=says) as caught:
        records(content, "file.dat")
    assert str(caught.value).startswith("file.dat ")
    assert "\n" not in str(caught.value)


def test_an_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(Unreadable, match="no format named 'docx'; there are jsonl, json, text"):
        records("x", format="docx")


def test_a_named_format_is_taken_at_its_word() -> None:
    (found,) = records("[1] is a mark, they say, and so it is.", format="text")
    assert isinstance(found, Paper)


@pytest.mark.parametrize(
    "text",
    [
        "The author, the year and the title, as given, are kept. We show it.",
        "We look at title, abstract, keywords, and references.",
        "---\n\nWe show it.\n\n---\n\nIt works.",
        "We show that x\n- y holds, and\nTY - z does too.",
    ],
)
def test_prose_that_lists_words_or_has_rules_is_prose(text: str) -> None:
    assert all(isinstance(one, Paper) for one in records(text))


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("first\tsecond\nWe show it.\tx\n", "a table"),
        ("Abstract ;Year\nWe show it.;2020\n", "a table"),
        ("PMID- 1\nTI  - A\nAB  - We show.\nAU  - B\n", "PubMed's tagged form"),
        ("FN Clarivate\nVR 1.0\nPT J\n", "Web of Science's tagged form"),
        ("---\ntitle: A\nabstract: We show.\n---\n", "Markdown with front matter"),
        ("\nTY - JOUR\nAB - We show.\nER -\n", "RIS"),
        ("Some words.\n\n@article(a,\n", "BibTeX"),
    ],
)
def test_a_format_that_cant_be_read_is_named(content: str, kind: str) -> None:
    with pytest.raises(Unreadable, match=f"looks like {kind}"):
        records(content)


@given(
    st.lists(
        st.one_of(
            st.builds(lambda text: json.dumps({"abstract": text}), st.text()),
            st.just("{broken"),
            st.just("null"),
            st.just("[]"),
        ),
        min_size=2,
    )
)
def test_records_in_are_papers_plus_skips(lines: list[str]) -> None:
    """Law 8, for every line of a JSON-lines file."""
    found = records("\n".join(lines), format="jsonl")
    assert len(found) == len(lines)
    assert all(isinstance(one, Paper) or one.reason for one in found)


def test_every_reader_has_a_name_of_its_own_and_suffixes() -> None:
    assert len({reader.name for reader in READERS}) == len(READERS)
    assert all(suffix.startswith(".") for reader in READERS for suffix in reader.suffixes)


def test_the_real_exports_in_json_have_the_counts_written_beside_them(shared: Path) -> None:
    samples = shared / "data" / "samples"
    expected = json.loads((samples / "EXPECTED.json").read_text())
    names = [name for name in expected if name.endswith((".json", ".jsonl"))]
    assert len(names) >= 11
    for name in names:
        with (samples / name).open("rb") as file:
            found = list(read(file, name))
        counts = (str(len(found)), str(sum(isinstance(one, Paper) for one in found)))
        assert counts == (expected[name]["records"], expected[name]["with_abstract"]), name


def test_no_bibliography_is_read_as_prose(shared: Path) -> None:
    samples = shared / "data" / "samples"
    for folder in (
        "ris",
        "bibtex",
        "csv",
        "pubmed_xml",
        "nbib",
        "wos",
        "acl_xml",
        "arxiv_atom",
        "scopus_csv",
        "pubmed_text",
        "endnote_xml",
    ):
        for path in sorted((samples / folder).iterdir()):
            with path.open("rb") as file, pytest.raises(Unreadable):
                list(read(file, path.name))


def test_the_icml_collection_is_whole(shared: Path) -> None:
    with (shared / "data" / "corpora" / "icml2024.jsonl.gz").open("rb") as file:
        found = list(read(file))
    assert len(found) == 2_610
    assert all(isinstance(one, Paper) and one.title and one.authors and one.year == 2024 for one in found)


def test_every_paper_of_the_real_exports_is_read_again_as_it_was_written(shared: Path) -> None:
    """The command line reads a file and sends what it read, so both readings must agree."""
    count = 0
    for path in sorted((shared / "data" / "samples").rglob("*.*")):
        with path.open("rb") as file:
            try:
                records = list(read(file, path.name))
            except Unreadable:
                continue
        for record in records:
            if isinstance(record, Paper):
                assert paper_from_record(json.loads(json.dumps(asdict(record))), "again") == record
                count += 1
    assert count >= 34
