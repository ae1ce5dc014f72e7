"""Plain text: one abstract a paragraph, blank lines between, perhaps a heading; no titles."""

import re
from collections.abc import Iterator

from vectorstore.clean import clean_abstract, why_no_abstract
from vectorstore.paper import Paper, Skip
from vectorstore.sentences import sentences

_BLANK = re.compile(r"\n[ \t]*\n\s*")
_HEADING_WORDS = 14


def read_text(text: str) -> Iterator[Paper | Skip]:
    """A Paper a paragraph. A heading is not a record: short, and no sentence."""
    for number, paragraph in enumerate(filter(str.strip, _BLANK.split(text)), 1):
        if _is_heading(paragraph):
            continue
        abstract = clean_abstract(" ".join(line.strip() for line in paragraph.splitlines()))
        reason = why_no_abstract(abstract)
        yield Skip(f"paragraph {number}", reason) if reason else Paper("", abstract)


def _is_heading(paragraph: str) -> bool:
    line = paragraph.strip()
    return (
        "\n" not in line
        and len(line.split()) <= _HEADING_WORDS
        and len(sentences(line)) == 1
        and line[-1] not in ".!?…"
    )
