"""What a text is when no reader takes it, so that a bibliography is never read as prose."""

import re

_KINDS = (
    ("RIS", re.compile(r"^\ufeff?(?:TY  ?- |(?:[A-Z][A-Z0-9]  ?- .*\n){3})", re.MULTILINE)),
    ("BibTeX", re.compile(r"^\s*@\s*\w+\s*[{(]", re.MULTILINE)),
    ("PubMed's tagged form", re.compile(r"^PMID- ?\d", re.MULTILINE)),
    ("Web of Science's tagged form", re.compile(r"^\ufeff?FN .*\n(?:.*\n)?VR ", re.MULTILINE)),
    ("XML or HTML", re.compile(r"\A\s*<(?:\?xml|!doctype|!--|[a-zA-Z][\w:-]*[\s>])", re.IGNORECASE)),
    ("Markdown with front matter", re.compile(r"\A---\s*\n")),
    ("PubMed's text form", re.compile(r"\A\s*(?:\d+\. )?.*\b\d{4}\b.*;.*doi: ?10\.|^PMID: \d+", re.MULTILINE)),
    ("Ovid's tagged form", re.compile(r"^<\d+>\s*$|^\s?VN\s+- Ovid", re.MULTILINE)),
)
_COLUMNS = frozenset("title abstract authors author year doi journal venue keywords pmid id url".split())


def foreign_kind(head: str) -> str | None:
    """The name of the format that `head` begins, where it is one that can't be read as prose."""
    if _is_table(head):
        return "a table (CSV)"
    return next((name for name, pattern in _KINDS if pattern.search(head[:20_000])), None)


def _is_table(head: str) -> bool:
    """Whether the first line names columns: two or more fields, one of them a usual name."""
    first = head.lstrip("\ufeff\n ").partition("\n")[0]
    fields = {field.strip(' "').casefold() for field in re.split(r"[,;\t]", first)}
    return len(fields) > 1 and not _COLUMNS.isdisjoint(fields)
