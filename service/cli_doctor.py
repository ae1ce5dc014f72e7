"""`loccit doctor`: what is set, stored and answered, and which setting to change."""

from contextlib import aclosing
from typing import Annotated

import anyio
import typer
from rich.console import Console
from rich.text import Text

from service import show, wire
from service.config import Settings
from service.doctor import Finding, examine, is_well, plain_data
from service.doctor.configuration import of_faults
from service.errors import ConfigError

_MARKS = {"ok": ("✓", "green"), "note": ("·", "dim"), "warning": ("!", "yellow"), "fault": ("✗", "bold red")}


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Check settings, store and models, and say which setting to change. Exit status 1: something must be changed."""
    out = None if as_json else show.console()
    found = anyio.run(_examined, out)
    if out is None:
        typer.echo(wire.dumps(plain_data(found)).decode())
    else:
        out.print(Text(f"\n{_summary(found)}", "bold"))
    if not is_well(found):
        raise typer.Exit(1)


async def _examined(out: Console | None) -> list[Finding]:
    try:
        settings = Settings.load()
    except ConfigError as error:
        found = of_faults(error)
        for finding in found:
            _print(out, finding)
        return found
    found = []
    async with aclosing(examine(settings)) as findings:
        async for finding in findings:
            _print(out, finding)
            found.append(finding)
    return found


def _print(out: Console | None, finding: Finding) -> None:
    if out is None:
        return
    mark, style = _MARKS[finding.mark]
    line = Text(f"{mark} ", style)
    line.append(f"{finding.area}, {finding.check}: ", "bold")
    line.append(show.plain(finding.found), "default")
    if finding.change is not None:
        line.append(f" → {show.plain(finding.change)}", style)
    out.print(line)


def _summary(found: list[Finding]) -> str:
    faults = sum(each.mark == "fault" for each in found)
    warnings = sum(each.mark == "warning" for each in found)
    if faults:
        return f"{faults} of {len(found)} checks found something that must be changed."
    return (
        "All is well." if not warnings else f"All works; {warnings} of {len(found)} checks found what could be better."
    )
