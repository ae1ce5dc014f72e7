"""The `loccit` command. It speaks the HTTP API, to the server that owns the data folder or to one in this process."""

import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Literal, TypeVar
from urllib.parse import quote

import anyio
import typer
from pydantic import BaseModel

from service import adding, show, wire
from service.cli_doctor import doctor
from service.cli_eval import evaluating
from service.client import Api, Params, connected
from service.config import Settings
from service.domain import Answer
from service.errors import ConfigError, ServiceError
from service.logs import log_nothing, log_to_stderr
from service.serving import serve as serve_http
from service.shapes import PaperList, SearchReply, StoredPaper
from service.site import curl_line
from service.wire import Json
from service.years import years
from vectorstore.errors import VectorstoreError
from vectorstore.paper import Mode

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
_EPILOG = (
    "Exit status: 0 done (also where the answer is that the abstracts do not say), 1 failed, "
    "2 wrong usage or settings, 130 interrupted."
)
app = typer.Typer(
    name="loccit",
    help="Answers over research abstracts, every sentence pinned to the words that carry it.",
    epilog=_EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
papers = typer.Typer(help="The papers of a collection: list, show ID, delete ID.", invoke_without_command=True)
app.add_typer(papers, name="papers")
app.add_typer(evaluating, name="eval")
app.command()(doctor)

Collection = Annotated[str, typer.Option(help="The collection.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, as the HTTP API gives it.")]
Year = Annotated[str | None, typer.Option(help="Year of publication: 2024, 2020..2024, 2020.. or ..2024.")]
Venue = Annotated[str | None, typer.Option(help="Only papers of this venue.")]
Author = Annotated[str | None, typer.Option(help="Only papers of this author.")]
TopK = Annotated[int | None, typer.Option(min=1, max=100, help="How many passages to look at.")]


@app.callback()
def _start(debug: Annotated[bool, typer.Option(help="Log to stderr what happens inside.")] = False) -> None:
    if debug:
        log_to_stderr()
    else:
        log_nothing()


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to serve on [default: server.host].")] = None,
    port: Annotated[int | None, typer.Option(help="Port to serve on [default: server.port].")] = None,
    with_sample: Annotated[
        bool, typer.Option("--with-sample", help="Load the sample where there is no paper.")
    ] = False,
) -> None:
    """Serve the HTTP API and the web page."""
    log_to_stderr()
    settings = Settings.load(flags={"server.host": host, "server.port": port})

    def ready(url: str) -> None:
        print(f"loccit serves on {url}\nAsk it something:\n  {curl_line(url)}", flush=True)

    serve_http(settings, with_sample=with_sample, ready=ready)


@app.command()
def add(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders; - reads standard input.")],
    form: Annotated[
        str | None, typer.Option("--format", help="The form of the files, where it is not guessed.")
    ] = None,
    collection: Annotated[str, typer.Option(help="The collection; it is created if need be.")] = "default",
    verbose: Annotated[bool, typer.Option("--verbose", help="Show every skipped record.")] = False,
) -> None:
    """Read files or folders and store their papers."""

    async def work(api: Api) -> adding.Tally:
        if collection != "default":
            await api.call("PUT", _path("collections", collection))
        return await adding.add(api, paths, form, collection)

    tally = _over_api(work)
    shown = tally.skipped if verbose else tally.skipped[:20]
    for line in [*tally.failed, *(f"skipped {skip}" for skip in shown)]:
        print(show.plain(line), file=sys.stderr)
    if len(tally.skipped) > len(shown):
        print(f"… and {len(tally.skipped) - len(shown)} more skipped; --verbose shows them.", file=sys.stderr)
    counts = f"{tally.added} added, {tally.updated} updated, {tally.unchanged} unchanged, {len(tally.skipped)} skipped"
    print(counts)
    if not tally.files:
        raise typer.Exit(1)


@app.command()
def ask(  # noqa: PLR0913, PLR0917 - typer makes an option of each
    question: str,
    as_json: AsJson = False,
    collection: Collection = "default",
    year: Year = None,
    venue: Venue = None,
    author: Author = None,
    verify: Annotated[Literal["annotate", "strict", "off"] | None, typer.Option(help="How to check it.")] = None,
    top_k: TopK = None,
) -> None:
    """Answer a question; the quotes that carry the answer stand below it."""
    body: dict[str, Json] = {"question": question, "collection": collection, "filters": _filters(year, venue, author)}
    body |= _given(verify=verify, top_k=top_k)
    _print(_over_api(lambda api: _text(api, "POST", "/v1/ask", body)), as_json, Answer, show.answer)


@app.command()
def search(  # noqa: PLR0913, PLR0917 - typer makes an option of each
    query: str,
    as_json: AsJson = False,
    mode: Annotated[Mode, typer.Option(help="By meaning (dense), by words (lexical), or both.")] = "hybrid",
    collection: Collection = "default",
    year: Year = None,
    venue: Venue = None,
    author: Author = None,
    top_k: TopK = None,
) -> None:
    """Show the passages that fit a query best."""
    body: dict[str, Json] = {"query": query, "mode": mode, "collection": collection}
    body |= {"filters": _filters(year, venue, author), **_given(top_k=top_k)}
    _print(_over_api(lambda api: _text(api, "POST", "/v1/search", body)), as_json, SearchReply, show.search)


@papers.callback()
def _papers(call: typer.Context) -> None:
    if call.invoked_subcommand is None:
        list_papers()


@papers.command("list")
def list_papers(
    collection: Collection = "default",
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="How many.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="Where to go on: next_cursor of the last list.")] = None,
    year: Year = None,
    venue: Venue = None,
    author: Author = None,
    as_json: AsJson = False,
) -> None:
    """List papers."""
    bounds = years(year)
    given = _given(collection=collection, limit=limit, cursor=cursor, venue=venue, author=author)
    given |= _given(year_gte=bounds.gte, year_lte=bounds.lte)
    asked = {name: str(value) for name, value in given.items()}
    text = _over_api(lambda api: _text(api, "GET", "/v1/papers", params=asked))
    _print(text, as_json, PaperList, show.papers)


@papers.command("show")
def show_paper(paper_id: str, collection: Collection = "default", as_json: AsJson = False) -> None:
    """Show one paper in full."""
    path = _path("papers", paper_id)
    text = _over_api(lambda api: _text(api, "GET", path, params={"collection": collection}))
    _print(text, as_json, StoredPaper, show.paper)


@papers.command("delete")
def delete_paper(paper_id: str, collection: Collection = "default") -> None:
    """Delete one paper."""
    path = _path("papers", paper_id)
    _over_api(lambda api: _text(api, "DELETE", path, params={"collection": collection}))
    print("deleted")


@app.command()
def reindex(collection: Annotated[str | None, typer.Option(help="Only this one; all if not given.")] = None) -> None:
    """Rebuild the index from the stored papers; nothing is lost if it is interrupted."""
    params = {} if collection is None else {"collection": collection}
    _over_api(lambda api: _text(api, "POST", "/v1/reindex", params=params))
    print("reindexed")


@app.command()
def config(as_json: AsJson = False) -> None:
    """Show the settings in force, secrets masked, and where each came from."""
    listed = Settings.load().in_force()
    if as_json:
        print(wire.dumps([asdict(setting) for setting in listed]).decode())
    else:
        show.settings(listed)


def _over_api(work: Callable[[Api], Awaitable[T]]) -> T:
    settings = Settings.load()

    async def run() -> T:
        async with connected(settings) as api:
            return await work(api)

    return anyio.run(run)


async def _text(api: Api, method: str, path: str, body: Json = None, params: Params | None = None) -> str:
    return (await api.call(method, path, body, params)).text


def _print(text: str, as_json: bool, shape: type[M], shown: Callable[[M], None]) -> None:
    if as_json:
        print(text)
    else:
        shown(shape.model_validate_json(text))


def _filters(year: str | None, venue: str | None, author: str | None) -> dict[str, Json]:
    return _given(year=years(year).model_dump(exclude_none=True) or None, venue=venue, author=author)


def _given(**fields: Json) -> dict[str, Json]:
    return {name: value for name, value in fields.items() if value is not None}


def _path(kind: str, name: str) -> str:
    return f"/v1/{kind}/{quote(name, safe='', errors='replace')}"


def _complain(error: Exception, status: int) -> int:
    for line in str(error).splitlines():
        print(f"loccit: {show.plain(line)}", file=sys.stderr)
    return status


def main() -> None:
    """Run the command; failures of ours are a sentence on stderr, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal that can't show a letter shows "?" and goes on
            stream.reconfigure(errors="replace")
    status = 0
    try:
        app()
    except ConfigError as error:
        status = _complain(error, 2)
    except (ServiceError, VectorstoreError) as error:
        status = _complain(error, 1)
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:
        # The reader has gone, as `head` does. Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)
