"""What a text is when no reader takes it, so that a bibliography is never read as prose."""

import re

_KINDS = (
    ("PubMed's tagged form", re.compile(r"^PMID- ?\d|^(?:OWN|STAT|DCOM)\s?- ", re.MULTILINE)),
    ("Web of Science's tagged form", re.compile(r"^FN .*\n(?:.*\n)?VR ", re.MULTILINE)),
    ("Ovid's tagged form", re.compile(r"^<\d+>\s*$|^\s?VN\s+- Ovid", re.MULTILINE)),
    ("RIS", re.compile(r"^(?:TY  ?- [A-Z]{3,7}\s*$|(?:[A-Z][A-Z0-9]  ?- .*\n){3})", re.MULTILINE)),
    ("BibTeX", re.compile(r"^\s*@\s*\w+\s*[{(]", re.MULTILINE)),
    ("XML or HTML", re.compile(r"\A\s*<(?:\?xml|!doctype|!--|[a-zA-Z][\w:-]*[\s>])", re.IGNORECASE)),
    ("Markdown with front matter", re.compile(r"\A\s*---\s*\n\s*[\w#][^\n]*(?:\n[^\n]+)*?\n---\s*$", re.MULTILINE)),
    ("PubMed's text form", re.compile(r"\A\s*(?:\d+\. )?.*\b\d{4}\b.*;.*doi: ?10\.|^PMID: \d+", re.MULTILINE)),
)
_COLUMNS = frozenset("title abstract authors author year doi journal venue keywords pmid id url".split())
_LONGEST_NAME = 60


def foreign_kind(head: str) -> str | None:
    """The name of the format that `head` begins, where it is one that can't be read as prose."""
    if _is_table(head):
        return "a table (CSV)"
    return next((name for name, pattern in _KINDS if pattern.search(head[:20_000])), None)


def _is_table(head: str) -> bool:
    """Whether the first line names columns, one of them a usual one, or the first lines have the same tabs."""
    lines = [line for line in head[:20_000].split("\n") if line.strip()][:3]
    if not lines:
        return False
    tabs = {line.strip("\n").count("\t") for line in lines}
    if len(lines) > 1 and len(tabs) == 1 and tabs != {0}:
        return True
    fields = [field.strip(' "\ufeff') for field in re.split(r"[,;\t]", lines[0])]
    names = len(fields) > 1 and all(len(field) <= _LONGEST_NAME for field in fields) and fields[-1][-1:] not in {*".!?"}
    return names and not _COLUMNS.isdisjoint(field.casefold() for field in fields)
