"""`loccit eval`: retrieval and answers, measured on a labelled set."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import anyio
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from service import __version__, wire
from service.config import Settings
from service.errors import ServiceError
from service.evaluation import answers, beir, labelled, plots, retrieval
from service.evaluation.asking import Asked, Desk
from service.evaluation.corpus import collected, every, in_file
from service.evaluation.failures import details, failures
from service.evaluation.files import BadLabels
from service.evaluation.tables import Outcome, as_json, print_outcome
from service.models import embeddings
from service.wire import Json
from vectorstore.errors import FolderInUse
from vectorstore.paper import Embedder
from vectorstore.store import Store

evaluating = typer.Typer(help="Measure retrieval and answers on a labelled set.", no_args_is_help=True)

Kept = Annotated[
    Path | None,
    typer.Option("--store", help="Where collections made for measuring are kept [default: in the data folder]."),
]
JsonFile = Annotated[
    Path | None, typer.Option("--json", dir_okay=False, help="Write every figure and every question here.")
]
PlotFile = Annotated[Path | None, typer.Option("--plot", dir_okay=False, help="Draw the figures here, as SVG.")]


@evaluating.command("retrieval")
def retrieval_command(
    folders: Annotated[list[Path], typer.Argument(exists=True, file_okay=False, help="Folders in the BEIR layout.")],
    split: Annotated[str | None, typer.Option(help="Which judgements, where a folder has several.")] = None,
    store: Kept = None,
    json_file: JsonFile = None,
    plot: PlotFile = None,
) -> None:
    """How well papers are found: dense, lexical and hybrid on sets in the BEIR layout."""
    plots.check(plot)
    settings = Settings.load()
    embedder = embeddings(settings.embeddings)
    runs = [_ran(beir.load(folder, split), store or _kept(settings), embedder) for folder in folders]
    found = retrieval.outcome(runs)
    print_outcome(found, 0)
    _write_json(json_file, found, {"embedder": embedder.name})
    if plot is not None:
        _write(plot, plots.bars(runs))


@evaluating.command("answers")
def answers_command(
    files: Annotated[
        list[Path], typer.Argument(exists=True, dir_okay=False, help="Labelled questions, as JSON lines or CSV.")
    ],
    collection: Annotated[str, typer.Option(help="The collection that is asked.")] = "default",
    papers: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="Ask these papers instead, in a collection of their own."),
    ] = None,
    shown: Annotated[int, typer.Option("--failures", min=0, help="How many failures of each sort to show.")] = 3,
    store: Kept = None,
    json_file: JsonFile = None,
    plot: PlotFile = None,
) -> None:
    """How good answers are: the right papers, the right sentences, and silence where there is no answer."""
    plots.check(plot)
    settings = Settings.load()
    cases = [case for file in files for case in labelled.load(file)]
    embedder = embeddings(settings.embeddings)
    with _asked(settings, embedder, collection, papers, store or _kept(settings)) as (opened, name):
        cases = labelled.resolved(cases, every(opened, name))
        run = _answered(settings, opened, embedder, name, cases)
    notes = [f"Left out: {each.qid}, for {each.reason}." for each in cases if isinstance(each, labelled.Unusable)]
    if not run:
        raise BadLabels(" ".join(["No question can be asked.", *notes[:3]]))
    found = Outcome(answers.tables(run), tuple(notes), failures(run), details(run))
    print_outcome(found, shown)
    points, here = answers.curve(run)
    risk: Json = [[coverage, share] for coverage, share in points]
    _write_json(json_file, found, {"model": settings.llm.model, "embedder": embedder.name, "risk_by_coverage": risk})
    if plot is not None:
        _write(plot, plots.risk(points, here))


@contextmanager
def _asked(
    settings: Settings, embedder: Embedder, collection: str, papers: Path | None, kept: Path
) -> Iterator[tuple[Store, str]]:
    """The store that is asked, and the name of its collection."""
    if papers is not None:
        read = in_file(papers)
        with (
            progress(f"{papers.name}: storing", len(read)) as (shown, bar),
            collected(
                kept,
                embedder,
                papers.name.partition(".")[0],
                read,
                lambda report: shown.update(bar, completed=report.records),
            ) as made,
        ):
            shown.update(bar, visible=False)
            yield made
        return
    try:
        with Store(settings.store.path, embedder, chroma_url=settings.store.chroma_url) as store:
            yield store, collection
    except FolderInUse as error:
        raise BadLabels(
            f"{error} To measure answers, stop it, or give the papers as a file with --papers: they are stored apart."
        ) from None


def _answered(
    settings: Settings,
    store: Store,
    embedder: Embedder,
    collection: str,
    cases: Sequence[labelled.Case | labelled.Unusable],
) -> list[Asked]:
    usable = [case for case in cases if isinstance(case, labelled.Case)]

    async def run() -> list[Asked]:
        desk = Desk(settings, store, embedder, collection)
        asked: list[Asked] = []
        with progress("asking", len(usable)) as (shown, bar):
            async for each in desk.ask_all(usable):
                asked.append(each)
                shown.advance(bar)
        return asked

    return anyio.run(run)


def _ran(wanted: beir.RetrievalSet, kept: Path, embedder: Embedder) -> retrieval.Run:
    with (
        progress(f"{wanted.name}: storing", len(wanted.papers)) as (shown, bar),
        collected(
            kept, embedder, wanted.name, wanted.papers, lambda report: shown.update(bar, completed=report.records)
        ) as (store, collection),
    ):
        shown.update(bar, description=f"{wanted.name}: asking", completed=0, total=len(wanted.queries))
        return retrieval.run(store, collection, embedder, wanted, lambda: shown.advance(bar))


def _kept(settings: Settings) -> Path:
    return settings.store.path / "evaluation"


@contextmanager
def progress(what: str, total: int) -> Iterator[tuple[Progress, TaskID]]:
    """A bar on stderr, where that is a terminal."""
    out = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as shown:
        yield shown, shown.add_task(what, total=total)


def _write_json(path: Path | None, found: Outcome, made: dict[str, Json]) -> None:
    if path is not None:
        _write(path, wire.dumps(as_json(found, {"loccit": __version__, **made})).decode() + "\n")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ServiceError(f"{path} can't be written: {error.strerror or 'output error'}.") from None
