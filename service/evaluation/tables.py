"""What a measurement shows: tables of figures with their intervals, and the same as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.table import Table as Grid
from rich.text import Text

from service import show
from service.evaluation.estimates import Estimate
from service.wire import Json

# A figure, a count or words, or nothing where nothing was there to measure.
Cell = Estimate | int | str | None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under `columns`; the first cell of a row is its label and has no column name."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """A question that went wrong: of which kind, and what happened."""

    kind: str
    what: str
    question_id: str
    question: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything a run found. `notes` are sentences; `details` has a record for each question, for JSON only."""

    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    details: list[Json] = field(default_factory=list)


def print_outcome(outcome: Outcome, failures: int) -> None:
    """Tables and notes, then at most `failures` failures of each kind and way of failing."""
    out = show.console()
    for table in outcome.tables:
        out.print(_grid(table))
    for note in outcome.notes:
        out.print(Text(show.plain(note), "dim"))
    groups: dict[tuple[str, str], list[Failure]] = {}
    for failure in outcome.failures:
        groups.setdefault((failure.kind, failure.what), []).append(failure)
    for (kind, what), members in sorted(groups.items()):
        out.print(Text(f"\n{kind}: {what} ({len(members)})", "bold"))
        for failure in members[:failures]:
            out.print(Text(f"  {failure.question_id}  {show.plain(failure.question)}"))
            if failure.detail:
                out.print(Text(f"      {show.plain(failure.detail)}", "dim"))


def _grid(table: Table) -> Grid:
    grid = Grid(title=table.title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    grid.add_column("")
    for column in table.columns:
        grid.add_column(column, justify="right")
    for label, cells in table.rows:
        grid.add_row(Text(show.plain(label)), *(Text(_shown(cell)) for cell in cells))
    return grid


def _shown(cell: Cell) -> str:
    match cell:
        case None:
            return "–"
        case Estimate(value, low, high):
            return f"{_digits(value)} [{_digits(low)}, {_digits(high)}]"
        case _:
            return str(cell)


def _digits(value: float) -> str:
    """Three decimals without the zero before the point: tables of intervals are wide."""
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"


def as_json(outcome: Outcome, made: dict[str, Json]) -> Json:
    """The whole outcome; `made` says with what it was made."""
    return {
        "made": made,
        "tables": [
            {"title": table.title, "rows": [_row(table.columns, *row) for row in table.rows]}
            for table in outcome.tables
        ],
        "notes": list(outcome.notes),
        "failures": [_failure(each) for each in outcome.failures],
        "questions": outcome.details,
    }


def _failure(failure: Failure) -> Json:
    return {
        "kind": failure.kind,
        "what": failure.what,
        "qid": failure.question_id,
        "question": failure.question,
        "detail": failure.detail,
    }


def _row(columns: Sequence[str], label: str, cells: Sequence[Cell]) -> Json:
    return {"label": label} | {column: _value(cell) for column, cell in zip(columns, cells, strict=True)}


def _value(cell: Cell) -> Json:
    if isinstance(cell, Estimate):
        return {"value": cell.value, "low": cell.low, "high": cell.high, "n": cell.n}
    return cell
