"""What people read in a terminal: texts of papers are data there too."""

import pytest

from service import show
from service.domain import Answer, AnswerHit, Citation, Provenance, Sentence, Timings, Usage
from service.shapes import PaperList, StoredPaper

HOSTILE = "[bold]not[/bold] \x1b[31mred\x1b[0m \x07 [link=x]y[/link] 中 :smile:"


def hit(title: str | None = HOSTILE) -> AnswerHit:
    return AnswerHit(passage_id="p:0-9", paper_id="p", title=title, text="word " * 200, start=0, end=9, score=0.5)


def citation(**changes: object) -> Citation:
    fields: dict[str, object] = {"number": 1, "paper_id": "p", "title": HOSTILE, "authors": ("A", "B", "C", "D")}
    fields |= {"year": 2020, "venue": "V", "url": "https://x.example/[1]", "quote": HOSTILE, "start": 0, "end": 9}
    return Citation.model_validate(fields | {"passage_id": "p:0-9", "retracted": True} | changes)


def answer(**changes: object) -> Answer:
    said = Sentence(text="A claim.", start=0, end=8, citations=(1,), verdict="partly", score=0.4)
    fields: dict[str, object] = {
        "id": "x", "question": "q", "standalone_question": "q", "status": "partial", "reason": "Some is not there.",
        "answer": f"A claim. {HOSTILE} [1]", "sentences": (said,), "citations": (citation(),), "hits": (),
        "near_misses": (hit(), hit(None)), "usage": Usage(), "timings_ms": Timings(), "dropped": (), "truncated": False,
        "provenance": Provenance(model="m", prompt="p", index="i", collection="default", seed=None),
    }  # fmt: skip
    return Answer.model_validate(fields | changes)


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\x07" not in out
    return out


def test_an_answer_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    show.answer(answer())
    out = printed(capsys)
    assert "[bold]not[/bold]" in out
    assert ":smile:" in out
    assert "中" in out
    assert "[1] RETRACTED " in out
    assert "A, B, C, et al." in out
    assert "https://x.example/[1]" in out
    assert "Only partly supported by the quotes: A claim." in out
    assert "Some is not there." in out
    assert "Closest:" in out
    assert "…" in out


def test_an_answer_without_titles(capsys: pytest.CaptureFixture[str]) -> None:
    bare = citation(title=None, authors=(), year=None, venue=None, url=None, retracted=False)
    unsupported = Sentence(text="B.", start=0, end=2, citations=(), verdict="unsupported", score=0.0)
    show.answer(answer(status="answered", citations=(bare,), sentences=(unsupported,), near_misses=()))
    out = printed(capsys)
    assert out.count("[1] p\n") == 1
    assert "Not supported by the quotes: B." in out
    assert "Closest" not in out


def test_an_abstention_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    none: tuple[()] = ()
    show.answer(answer(status="abstained", answer="", reason="Not there.", citations=none, sentences=none))
    assert printed(capsys).startswith("Not there.\n\nClosest:\n")


def test_papers(capsys: pytest.CaptureFixture[str]) -> None:
    fields: dict[str, object] = {
        "abstract": f"Line one.\nLine two. {HOSTILE}",
        "title": HOSTILE,
        "authors": ("A",),
        "year": None,
    }
    fields |= {
        "authors": ("A",),
        "venue": None,
        "url": "https://x.example",
        "doi": None,
        "arxiv_id": None,
        "retracted": True,
    }
    paper = StoredPaper.model_validate(fields | {"paper_id": "p"})
    show.paper(paper)
    out = printed(capsys)
    assert "RETRACTED" in out
    assert "Line one.\nLine two." in out
    show.papers(PaperList(papers=(paper,), next_cursor="7", total=3))
    assert "2 more; see them with --limit, or --cursor 7." in printed(capsys)
