"""Answers made by hand -> tables, failures and what is printed."""

import json

import pytest

from service.domain import Answer, AnswerHit, Citation, Provenance, QuestionFilters, Status, Timings, Usage
from service.evaluation import answers
from service.evaluation.asking import Asked
from service.evaluation.estimates import Estimate
from service.evaluation.failures import details, failures
from service.evaluation.labelled import Case
from service.evaluation.tables import Cell, Failure, Outcome, Table, as_json, print_outcome
from vectorstore.paper import Paper

MINE = Paper("p1", "Whales sing at night. Whales are large.", authors=("Ann Lee",), year=2020)
OTHER = Paper("p2", "Cats sleep.", authors=("Bo Li",), year=2021)
FILTERS = QuestionFilters(author="Ann Lee")


def citation(paper: Paper, quote: str) -> Citation:
    start = paper.abstract.index(quote)
    return Citation(
        number=1, paper_id=paper.paper_id, title=None, authors=(), year=None, venue=None, url=None,
        quote=quote, start=start, end=start + len(quote), passage_id=f"{paper.paper_id}:0-9",
    )  # fmt: skip


def answer(*citations: Citation, status: Status = "answered", total: int = 10) -> Answer:
    hit = AnswerHit(passage_id="p1:0-9", paper_id="p1", title=None, text="…", start=0, end=1, score=1.0)
    return Answer(
        id="x", question="Q?", standalone_question="Q?", status=status, reason=None, answer="A [1].", sentences=(),
        citations=citations, hits=(hit,), near_misses=(),
        provenance=Provenance(model="m", prompt="p", index="i", collection="c", seed=None), usage=Usage(),
        timings_ms=Timings(retrieve=1, total=total), dropped=(), truncated=False,
    )  # fmt: skip


def case(qid: str, *relevant: str, kind: str = "one paper", filters: QuestionFilters | None = None) -> Case:
    return Case(
        qid, "Q?", kind, bool(relevant), frozenset(relevant), gold=("Whales sing at night.",) if relevant else (),
        filters=filters or QuestionFilters(),
    )  # fmt: skip


SINGS, LARGE, SLEEP = (
    citation(MINE, "Whales sing at night."),
    citation(MINE, "Whales are large."),
    citation(OTHER, "Cats sleep."),
)
RUN = [
    Asked(case("good", "p1"), answer(SINGS), 0.9, (MINE, OTHER)),
    Asked(case("mixed", "p1"), answer(LARGE, SINGS, total=30), 0.8, (OTHER, MINE)),
    Asked(case("elsewhere", "p1"), answer(SLEEP), 0.7, (MINE,)),
    Asked(case("silent", "p1"), answer(status="abstained"), 0.3, (MINE,), unrefused=answer(SINGS)),
    Asked(case("broken", "p1"), None, 0.6, (MINE,), error="The model is gone."),
    Asked(case("leaky", "p1", kind="filtered", filters=FILTERS), answer(SINGS), 0.9, (MINE, OTHER)),
    Asked(case("bold", kind="not in corpus"), answer(SLEEP), 0.85, (OTHER,)),
    Asked(case("wise", kind="not in corpus"), answer(status="abstained"), 0.1, (OTHER,)),
]


def rows(title: str) -> dict[str, dict[str, Cell]]:
    table = next(table for table in answers.tables(RUN) if table.title.startswith(title))
    return {label: dict(zip(table.columns, cells, strict=True)) for label, cells in table.rows}


def value(cell: Cell) -> float:
    assert isinstance(cell, Estimate)
    return cell.value


def test_finding() -> None:
    found = rows("Finding")["one paper"]
    assert found["questions"] == 5
    assert value(found["right paper first"]) == 0.8
    assert value(found["right paper found"]) == 1.0
    assert value(found["abstained"]) == 0.4


def test_citing_sentences() -> None:
    """Precision is the mean over the answers with a judged citation: 1, a half, and the filtered one's 1."""
    found = rows("Citing the sentences")["all"]
    assert found["citations"] == 5
    assert value(found["precision"]) == pytest.approx(2.5 / 3)
    assert value(found["at worst"]) == pytest.approx(2.5 / 4)
    assert value(found["recall"]) == 0.5


def test_saying_no() -> None:
    """A model that failed has not abstained rightly or wrongly. AUROC: .85 is below two of six, .1 below all."""
    found = rows("Saying no")
    assert value(found["not in corpus"]["abstained"]) == 0.5
    assert value(found["not in corpus"]["AUROC"]) == pytest.approx((2 + 6) / 12)
    assert found["abstentions that were right"]["questions"] == 2
    assert value(found["abstentions that were right"]["abstained"]) == 0.5


def test_filters() -> None:
    found = rows("Filters")["all"]
    assert value(found["hits that pass"]) == 0.5
    assert value(found["answers that pass"]) == 1.0


def test_times_are_of_answers_that_were_drafted() -> None:
    assert rows("Milliseconds")["total"] == {"p50": 10, "p95": 30}


def test_risk_by_coverage_includes_what_the_floor_refused() -> None:
    """Of eight questions six could get an answer, "silent" among them; five got one, two of them not right."""
    points, here = answers.curve(RUN)
    assert points[0] == (0.25, 0.0)
    assert list(points[-1]) == pytest.approx([0.75, 2 / 6])
    assert here == (0.625, 0.4)
    assert answers.curve([]) == ([], None)


def test_the_worst_failure_of_a_question_is_told() -> None:
    assert {failure.question_id: failure.what for failure in failures(RUN)} == {
        "mixed": "cited a right paper that was not found first",
        "elsewhere": "cited no paper known to be right",
        "silent": "abstained",
        "broken": "the model failed",
        "leaky": "a filter let through what it should not",
        "bold": "answered",
    }


def test_details_are_json() -> None:
    by_id = {each["qid"]: each for each in json.loads(json.dumps(details(RUN)))}
    assert by_id["mixed"]["citations"] == {"right": 1, "half": 0, "wrong": 1, "unknown": 0}
    assert by_id["broken"]["status"] == "failed"


def test_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("T", ("a", "b"), (("row", (Estimate(0.5, 0.25, 1.0, 4), None)), ("more", (3, "x"))))
    shown = [Failure("kind", "went wrong", f"q{number}", "Why?", "because") for number in range(3)]
    outcome = Outcome((table,), ("A note.",), tuple(shown))
    print_outcome(outcome, 2)
    printed = capsys.readouterr().out
    assert ".500 [.250, 1.000]" in printed
    assert "–" in printed
    assert "kind: went wrong (3)" in printed
    assert "q1  Why?" in printed
    assert "q2" not in printed
    assert json.loads(json.dumps(as_json(outcome, {}))) == {
        "made": {},
        "tables": [
            {
                "title": "T",
                "rows": [
                    {"label": "row", "a": {"value": 0.5, "low": 0.25, "high": 1.0, "n": 4}, "b": None},
                    {"label": "more", "a": 3, "b": "x"},
                ],
            }
        ],
        "notes": ["A note."],
        "failures": [
            {"kind": "kind", "what": "went wrong", "qid": f"q{number}", "question": "Why?", "detail": "because"}
            for number in range(3)
        ],
        "questions": [],
    }
