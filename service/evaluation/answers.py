"""All answers -> tables, failures and the curve of risk against coverage (pure)."""

from collections.abc import Callable, Iterable, Sequence

from service.evaluation import measures
from service.evaluation.asking import Asked
from service.evaluation.estimates import between, mean, share
from service.evaluation.filtering import kept
from service.evaluation.judging import Cited, cited, rank
from service.evaluation.labelled import FOLLOW_UP
from service.evaluation.tables import Cell, Table
from vectorstore.paper import Paper

_STAGES = ("retrieve", "generate", "verify", "total")


def judged(asked: Asked) -> Cited:
    """The citations of the answer that was given."""
    return _of(asked, unrefused=False)


def _of(asked: Asked, *, unrefused: bool) -> Cited:
    case = asked.case
    answer = asked.unrefused if unrefused and asked.unrefused is not None else asked.answer
    citations = () if answer is None else answer.citations
    return cited(citations, case.relevant, case.partial, case.gold)


def place(asked: Asked) -> int | None:
    """The rank of the first relevant paper among those found."""
    return rank(asked.found, asked.case.relevant)


def tables(run: Sequence[Asked]) -> tuple[Table, ...]:
    """Every table that the questions at hand give something to."""
    made = (_finding(run), _sentences(run), _papers(run), _silence(run), _follow_ups(run), _filters(run), _times(run))
    return tuple(table for table in made if table.rows)


def _by_kind(
    run: Iterable[Asked], title: str, columns: tuple[str, ...], row: Callable[[list[Asked]], tuple[Cell, ...]]
) -> Table:
    """A row of each kind of question, in order of first appearance, and one of all where there are several."""
    kinds: dict[str, list[Asked]] = {}
    for asked in run:
        kinds.setdefault(asked.case.kind, []).append(asked)
    rows = [(kind, row(members)) for kind, members in kinds.items()]
    if len(kinds) > 1:
        rows.append(("all", row([asked for members in kinds.values() for asked in members])))
    return Table(title, columns, tuple(rows))


def _answerable(run: Iterable[Asked]) -> list[Asked]:
    return [asked for asked in run if asked.case.answerable]


def _finding(run: Sequence[Asked]) -> Table:
    def row(members: list[Asked]) -> tuple[Cell, ...]:
        places = [place(asked) for asked in members]
        return (
            len(members),
            share([found == 1 for found in places]),
            share([found is not None for found in places]),
            share([asked.abstained for asked in members]),
        )

    columns = ("questions", "right paper first", "right paper found", "abstained")
    return _by_kind(_answerable(run), "Finding the right paper", columns, row)


def _sentences(run: Sequence[Asked]) -> Table:
    def row(members: list[Asked]) -> tuple[Cell, ...]:
        counts = [judged(asked) for asked in members]
        return (
            sum(each.right + each.wrong + each.half + each.unknown for each in counts),
            mean([each.precision for each in counts if each.precision is not None]),
            mean([each.precision_at_worst for each in counts if each.precision_at_worst is not None]),
            mean([each.recall for each in counts if each.recall is not None]),
            share([each.right > 0 for each in counts]),
        )

    columns = ("citations", "precision", "at worst", "recall", "any right")
    return _by_kind(
        [asked for asked in run if asked.case.gold], "Citing the sentences that answer (gold sentences)", columns, row
    )


def _papers(run: Sequence[Asked]) -> Table:
    def of_papers(asked: Asked) -> Cited:
        case = asked.case
        return cited(asked.answer.citations if asked.answer else (), case.relevant, case.partial, ())

    def row(members: list[Asked]) -> tuple[Cell, ...]:
        counts = [of_papers(asked) for asked in members]
        pairs = list(zip(members, counts, strict=True))
        return (
            mean([each.precision for each in counts if each.precision is not None]),
            mean([each.precision_at_worst for each in counts if each.precision_at_worst is not None]),
            mean([len(each.papers & asked.case.relevant) / len(asked.case.relevant) for asked, each in pairs]),
            share([each.right > 0 for each in counts]),
        )

    columns = ("precision", "at worst", "recall", "any right")
    return _by_kind(_answerable(run), "Citing the papers that answer", columns, row)


def _silence(run: Sequence[Asked]) -> Table:
    sure = [asked.confidence for asked in _answerable(run)]

    def row(members: list[Asked]) -> tuple[Cell, ...]:
        unsure = [asked.confidence for asked in members]
        return (len(members), share([asked.abstained for asked in members]), between(measures.auroc, sure, unsure))

    wanted = [asked for asked in run if not asked.case.answerable]
    table = _by_kind(wanted, "Saying no where the abstracts do not say", ("questions", "abstained", "AUROC"), row)
    silent = [asked for asked in run if asked.abstained and asked.error is None]
    if not (wanted and silent):
        return table
    precise = share([not asked.case.answerable for asked in silent])
    return Table(
        table.title, table.columns, (*table.rows, ("abstentions that were right", (len(silent), precise, None)))
    )


def _follow_ups(run: Sequence[Asked]) -> Table:
    turns = [asked for asked in _answerable(run) if asked.case.kind == FOLLOW_UP]
    if not turns:
        return Table("", (), ())
    forms = [("as asked", [place(asked) for asked in turns])]
    alone = [rank(asked.alone, asked.case.relevant) for asked in turns if asked.alone is not None]
    if alone:
        forms.append(("in the labelled standalone form", alone))
    rows = tuple(
        (name, (share([found == 1 for found in places]), share([found is not None for found in places])))
        for name, places in forms
    )
    return Table("Follow-up questions", ("right paper first", "right paper found"), rows)


def _filters(run: Sequence[Asked]) -> Table:
    filtered = [asked for asked in run if asked.case.filters.model_dump(exclude_none=True)]
    if not filtered:
        return Table("", (), ())
    hits = [kept(paper, asked.case.filters) for asked in filtered for paper in asked.hits]
    relevant = [
        len(set(asked.found) & asked.case.relevant) / len(asked.case.relevant)
        for asked in filtered
        if asked.case.relevant
    ]
    cells = (len(filtered), share(hits), share([_cites_only_kept(asked) for asked in filtered]), mean(relevant))
    columns = ("questions", "hits that pass", "answers that pass", "relevant found")
    return Table("Filters", columns, (("all", cells),))


def _cites_only_kept(asked: Asked) -> bool:
    by_id: dict[str, Paper] = {paper.paper_id: paper for paper in asked.hits}
    citations = asked.answer.citations if asked.answer else ()
    return all(
        citation.paper_id in by_id and kept(by_id[citation.paper_id], asked.case.filters) for citation in citations
    )


def _times(run: Sequence[Asked]) -> Table:
    timings = [asked.answer.timings_ms.model_dump() for asked in run if asked.answer is not None and asked.answer.hits]
    if not timings:
        return Table("", (), ())
    rows = tuple((stage, _spread(sorted(timing[stage] for timing in timings))) for stage in _STAGES)
    return Table(f"Milliseconds a question, by stage ({len(timings)} not refused by the floor)", ("p50", "p95"), rows)


def _spread(ordered: Sequence[int]) -> tuple[Cell, ...]:
    return (ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)])


def curve(run: Sequence[Asked]) -> tuple[list[tuple[float, float]], tuple[float, float] | None]:
    """Risk by coverage at every floor, and where this run stands. An answer is right if a citation of it is."""
    spoken = [
        (asked.confidence, asked.case.answerable and _of(asked, unrefused=True).right > 0)
        for asked in run
        if not asked.abstained or (asked.unrefused is not None and asked.unrefused.status != "abstained")
    ]
    given = [asked.case.answerable and judged(asked).right > 0 for asked in run if not asked.abstained]
    here = (len(given) / len(run), given.count(False) / len(given)) if given else None
    return measures.risk_by_coverage(spoken, len(run)), here
