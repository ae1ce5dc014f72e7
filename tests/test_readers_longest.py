"""Fields that are far too long: refused or cut, and never slow."""

import time

from vectorstore.paper import Paper, Skip
from vectorstore.readers import paper_from_record
from vectorstore.readers.fields import LONGEST_TITLE


def test_a_text_far_too_long_is_refused_before_it_is_cleaned() -> None:
    began = time.monotonic()
    for filler in ("&amp;" + "amp;" * 2_000_000, "Abstract: " * 500_000, "x. © 2020 A\n" * 500_000, "<i>" * 2_000_000):
        found = paper_from_record({"abstract": filler}, "record 1")
        assert isinstance(found, Skip)
        assert "at most" in found.reason
    assert time.monotonic() - began < 2


def test_layers_upon_layers_cost_little() -> None:
    began = time.monotonic()
    paper_from_record({"abstract": "&" + "amp;" * 50_000}, "record 1")
    assert time.monotonic() - began < 10


def test_a_title_is_no_longer_than_titles_are() -> None:
    record = {"abstract": "We show that pruning works.", "title": "On pruning " * 100_000}
    found = paper_from_record(record, "record 1")
    assert isinstance(found, Paper)
    assert len(found.title or "") in range(LONGEST_TITLE - 20, LONGEST_TITLE + 1)
    assert paper_from_record(record | {"title": found.title}, "record 1") == found
