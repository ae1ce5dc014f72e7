"""Plain text: one abstract a paragraph, blank lines between, perhaps a heading; no titles."""

import re
from collections.abc import Iterator
from typing import TextIO

from vectorstore.clean import LONGEST, why_no_abstract
from vectorstore.paper import Paper, Skip
from vectorstore.readers.values import tidy_abstract
from vectorstore.sentences import sentences

_HEADING_WORDS = 14
_WORD = re.compile(r"\w")


def read_text(stream: TextIO) -> Iterator[Paper | Skip]:
    """A Paper a paragraph. A heading or a rule is no record, unless the text has nothing else."""
    headings: list[Skip] = []
    papers = False
    for number, paragraph in enumerate(_paragraphs(stream), 1):
        label = f"paragraph {number}"
        if _is_heading(paragraph):
            if not papers and len(headings) < 1_000:
                headings.append(Skip(label, "a heading, not an abstract"))
            continue
        abstract = tidy_abstract(paragraph)
        reason = why_no_abstract(abstract)
        papers = True
        yield Skip(label, reason) if reason else Paper("", abstract)
    if not papers:
        yield from headings


def _paragraphs(stream: TextIO) -> Iterator[str]:
    """The paragraphs, their lines joined; of an endless one only as much as shows that it is too long."""
    lines: list[str] = []
    size = 0
    while line := stream.readline(LONGEST):
        if not line.strip() and (line.endswith("\n") or not lines):
            if lines:
                yield " ".join(lines)
            lines, size = [], 0
        elif size <= LONGEST:
            lines.append(line.strip())
            size += len(line)
    if lines:
        yield " ".join(lines)


def _is_heading(paragraph: str) -> bool:
    """Short and no sentence, or without a word."""
    if not _WORD.search(paragraph):
        return True
    short = len(paragraph.split()) <= _HEADING_WORDS and len(paragraph) < 200
    return short and paragraph[-1] not in ".!?…。！？" and len(sentences(paragraph)) == 1
