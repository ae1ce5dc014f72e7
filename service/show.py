"""What the command line prints for a person. Texts of papers are data: brackets in them are no markup, and a control
character in them never reaches the terminal.
"""

import unicodedata
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from service.config import Setting
from service.domain import Answer, AnswerHit, Citation
from service.shapes import PaperList, SearchReply, StoredPaper

_WIDEST = 100
_SNIPPET = 300


def console() -> Console:
    """The terminal, or whatever stdout is. NO_COLOR is rich's own business."""
    out = Console(highlight=False, markup=False, emoji=False, soft_wrap=False)
    if not out.is_terminal:
        out = Console(highlight=False, markup=False, emoji=False, soft_wrap=True, width=_WIDEST)
    elif out.width > _WIDEST:
        out.width = _WIDEST
    return out


def answer(given: Answer) -> None:
    """The answer, then its quotes by number, then what was not supported or came closest."""
    out = console()
    out.print(Text(plain(given.answer or given.reason or "")))
    for citation in given.citations:
        out.print()
        out.print(_heading(f"[{citation.number}] ", _byline(citation), citation.retracted))
        out.print(_indented(f"“{plain(citation.quote)}”"))
        if citation.url or citation.title:
            out.print(_indented(plain(citation.url or citation.paper_id), "dim"))
    for sentence in given.sentences:
        if sentence.verdict in ("partly", "unsupported"):
            how = "Only partly supported" if sentence.verdict == "partly" else "Not supported"
            out.print(Text(f"\n{how} by the quotes: {plain(sentence.text)}", "yellow"))
    if given.answer and given.reason:
        out.print(Text(f"\n{plain(given.reason)}", "dim"))
    if given.near_misses:
        out.print(Text("\nClosest:", "dim"))
        _hits(out, given.near_misses)


def search(reply: SearchReply) -> None:
    """Hits, the best first."""
    out = console()
    if not reply.hits:
        out.print("Nothing found.")
    _hits(out, reply.hits)


def papers(listed: PaperList) -> None:
    """One paper a line: id, year, title or the first words of the abstract."""
    out = console()
    for paper in listed.papers:
        line = Text(plain(paper.paper_id), "bold", no_wrap=True, overflow="ellipsis")
        line.append(f"  {paper.year or '    '}  {plain(paper.title or paper.abstract[:80])}", "default")
        out.print(line)
    left = listed.total - len(listed.papers)
    if left > 0:
        cursor = "" if listed.next_cursor is None else f", or --cursor {listed.next_cursor}"
        out.print(Text(f"{left} more; see them with --limit{cursor}.", "dim"))


def paper(stored: StoredPaper) -> None:
    """One paper in full."""
    out = console()
    out.print(
        _heading("", ", ".join(_details(stored.title, stored.authors, stored.year, stored.venue)), stored.retracted)
    )
    out.print(Text(plain(stored.paper_id), "dim"))
    if stored.url:
        out.print(Text(plain(stored.url), "dim"))
    out.print()
    out.print(Text(plain(stored.abstract, lines=True)))


def settings(listed: Sequence[Setting]) -> None:
    """Each setting, its value as TOML would have it, and where it came from."""
    out = console()
    width = max(len(setting.key) for setting in listed)
    for setting in listed:
        line = Text(f"{setting.key:<{width}} = {_toml(setting.value)}", no_wrap=True, overflow="ellipsis")
        where = f"{setting.origin}: {setting.name}" if setting.name else setting.origin
        line.append(f"   ({where})", "dim")
        out.print(line)


def plain(text: str, *, lines: bool = False) -> str:
    """Text without control characters, in one line unless `lines`."""
    kept = (
        char if not unicodedata.category(char).startswith("C") or (lines and char == "\n") else " " for char in text
    )
    return "".join(kept)


def _hits(out: Console, hits: Sequence[AnswerHit]) -> None:
    for rank, hit in enumerate(hits, 1):
        out.print(_heading(f"{rank}. ", plain(hit.title or hit.paper_id), retracted=False, note=f"  {hit.score:.3f}"))
        text = plain(hit.text)
        out.print(_indented(text if len(text) <= _SNIPPET else text[:_SNIPPET].rsplit(" ", 1)[0] + " …"))
        if hit.title:
            out.print(_indented(plain(hit.paper_id), "dim"))


def _heading(lead: str, text: str, retracted: bool, note: str = "") -> Text:
    heading = Text(lead, "bold cyan")
    if retracted:
        heading.append("RETRACTED ", "bold red")
    return heading.append(text, "bold").append(note, "dim")


def _byline(citation: Citation) -> str:
    details = _details(citation.title, citation.authors, citation.year, citation.venue)
    return ", ".join(details) or plain(citation.paper_id)


def _details(title: str | None, authors: Sequence[str], year: int | None, venue: str | None) -> list[str]:
    names = [*authors[:3], "et al."] if len(authors) > 3 else list(authors)
    parts = [title, ", ".join(names), venue, str(year) if year else None]
    return [plain(part) for part in parts if part]


def _indented(text: str, style: str = "default") -> Text:
    return Text("    " + text, style)


def _toml(value: object) -> str:
    if value is None:
        return '"none"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return str(value)
