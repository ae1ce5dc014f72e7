"""Labelled questions: JSON lines, or a table as CSV.

A row of JSON has `question` and what answers it: `paper_id` and `gold_sentences`, or `relevant` and `partial` (lists
of paper ids), or `"unanswerable": true` with a `kind`. `filters` are those of a question; `turns` make a conversation.
A CSV has the columns `question`, `sentence`, `paper_id`, `kind`, of which only the first is needed; rows with the same
question are one question. A sentence without an id names its paper: whichever abstract holds it.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from service.domain import QuestionFilters, YearRange
from service.evaluation.files import BadLabels, fault, rows, text
from service.evaluation.judging import plain_words
from vectorstore.paper import Paper

ONE, SEVERAL, FOLLOW_UP, FILTERED = "one paper", "several papers", "follow-up", "filtered"
_NONE_LEFT, _FOLLOW_UP_NOT_SAID, _UNKIND = "filtered, none fits", "follow-up, not in abstract", "unanswerable"
_NO_ANSWER_KINDS = {"not in corpus", "not in abstract", "false premise", "off domain"}
_SAME_KIND = {"absent detail": "not in abstract", "absent topic": "not in corpus"}
_FILTER_NAMES = {"year": "year", "author": "author", "venue": "venue", "paper_ids": "paper_ids", "id": "paper_ids"}


@dataclass(frozen=True, slots=True)
class Case:
    """One labelled question. Cases of one `conversation` follow one another. `gold`: sentences that answer it."""

    qid: str
    question: str
    kind: str
    answerable: bool = True
    relevant: frozenset[str] = frozenset()
    partial: frozenset[str] = frozenset()
    gold: tuple[str, ...] = ()
    filters: QuestionFilters = field(default_factory=QuestionFilters)
    conversation: str = ""
    standalone: str | None = None


@dataclass(frozen=True, slots=True)
class Unusable:
    """A question that can't be asked or judged, and why."""

    qid: str
    reason: str


class _Turn(BaseModel):
    user: str = Field(min_length=1)
    paper_ids: tuple[str, ...] = ()
    standalone: str | None = None
    answerable: bool = True


class _Row(BaseModel):
    qid: str = Field("", validation_alias=AliasChoices("qid", "id", "_id"))
    question: str = ""
    paper_id: str | None = None
    gold_sentences: tuple[str, ...] = ()
    relevant: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    kind: str | None = None
    unanswerable: bool = False
    filters: dict[str, int | str | list[str] | YearRange] | None = None
    turns: tuple[_Turn, ...] = ()


def load(path: Path) -> Iterator[Case | Unusable]:
    """The questions of a file, in order. Raises BadLabels."""
    read = _csv_rows(path) if ".csv" in path.suffixes else rows(path, _Row)
    for number, given in enumerate(read, 1):
        row = given if given.qid else given.model_copy(update={"qid": f"{path.name.partition('.')[0]}-{number}"})
        if row.turns:
            yield from _conversation(row)
        elif not row.question.strip():
            raise BadLabels(f"{path.name}, question {number}: `question` is missing or empty.")
        else:
            yield _case(row)


def _case(row: _Row) -> Case | Unusable:
    kind = (row.kind or "").replace("_", " ").strip().lower()
    kind = _SAME_KIND.get(kind, kind)
    relevant = frozenset(row.relevant or ([row.paper_id] if row.paper_id else []))
    if row.filters is not None:
        return _filtered(row, relevant)
    if row.unanswerable or kind in _NO_ANSWER_KINDS or not (relevant or row.gold_sentences):
        return Case(row.qid, row.question, kind or _UNKIND, answerable=False)
    kind = SEVERAL if len(relevant) > 1 else ONE
    return Case(row.qid, row.question, kind, relevant=relevant, partial=frozenset(row.partial), gold=row.gold_sentences)


def _filtered(row: _Row, relevant: frozenset[str]) -> Case | Unusable:
    asked = row.filters or {}
    if unknown := sorted(asked.keys() - _FILTER_NAMES.keys()):
        return Unusable(row.qid, f"there is no filter by {', '.join(unknown)}")
    try:
        filters = QuestionFilters.model_validate({_FILTER_NAMES[name]: value for name, value in asked.items()})
    except ValidationError as error:
        return Unusable(row.qid, f"its filters are malformed ({fault(error)})")
    kind = FILTERED if relevant else _NONE_LEFT
    return Case(row.qid, row.question, kind, bool(relevant), relevant, frozenset(row.partial), filters=filters)


def _conversation(row: _Row) -> Iterator[Case]:
    for number, turn in enumerate(row.turns, 1):
        kind = FOLLOW_UP if number > 1 else SEVERAL if len(turn.paper_ids) > 1 else ONE
        yield Case(
            f"{row.qid}.{number}",
            turn.user,
            kind if turn.answerable else _FOLLOW_UP_NOT_SAID,
            turn.answerable,
            frozenset(turn.paper_ids) if turn.answerable else frozenset(),
            conversation=row.qid,
            standalone=turn.standalone if number > 1 else None,
        )


def _csv_rows(path: Path) -> list[_Row]:
    """One row a question, in order of first appearance."""
    made: dict[str, _Row] = {}
    for number, cells in _csv_lines(path):
        question = cells.get("question", "")
        if not question:
            raise BadLabels(f"{path.name}, line {number}: the column `question` is missing or empty.")
        row = made.get(question) or _Row(question=question, kind=cells.get("kind"), qid=cells.get("id", ""))
        sentence = cells.get("sentence") or cells.get("gold_sentence")
        gold = (*row.gold_sentences, sentence) if sentence else row.gold_sentences
        papers = (*row.relevant, cells["paper_id"]) if cells.get("paper_id") else row.relevant
        made[question] = row.model_copy(update={"gold_sentences": gold, "relevant": papers})
    return list(made.values())


def _csv_lines(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Cells by the lower-case name of their column, without empty ones. Spreadsheets write semicolons and tabs too."""
    try:
        with text(path) as file:
            head = file.readline()
            file.seek(0)
            table = csv.DictReader(file, delimiter=max(",;\t", key=head.count))
            for cells in table:
                named = {
                    name.strip().lower().replace(" ", "_"): value.strip()
                    for name, value in cells.items()
                    if name and value
                }
                if any(named.values()):
                    yield table.line_num, named
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise BadLabels(f"{path.name} can't be read as CSV in UTF-8: {error}.") from None


def resolved(cases: Iterable[Case | Unusable], papers: Iterable[Paper]) -> list[Case | Unusable]:
    """Cases with the ids of the collection: of papers it has, or else of those whose abstracts hold the sentences."""
    known: set[str] = set()
    texts: list[tuple[str, str]] = []
    for paper in papers:
        known.add(paper.paper_id)
        texts.append((paper.paper_id, _joined(paper.abstract)))
    return [_resolved(case, known, texts) if isinstance(case, Case) else case for case in cases]


def _resolved(case: Case, known: set[str], texts: list[tuple[str, str]]) -> Case | Unusable:
    if not case.answerable or (case.relevant and case.relevant <= known):
        return case
    if not case.gold:
        found = case.relevant & known
        missing = ", ".join(sorted(case.relevant - known)[:3])
        return replace(case, relevant=found) if found else Unusable(case.qid, f"the collection has no paper {missing}")
    sentences = [_joined(sentence) for sentence in case.gold]
    holders = {paper_id for paper_id, words in texts if any(sentence in words for sentence in sentences)}
    if not holders:
        return Unusable(case.qid, "no abstract of the collection holds its sentence")
    return replace(case, relevant=frozenset(holders))


def _joined(words: str) -> str:
    return f" {' '.join(plain_words(words))} "
