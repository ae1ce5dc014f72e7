"""Files -> Papers. `READERS` is the table: a new format is one generator and its row here."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, TextIO

from vectorstore.errors import Unreadable
from vectorstore.paper import Paper, Skip
from vectorstore.readers.fields import paper_from_record
from vectorstore.readers.json_records import is_json, is_json_lines, read_json, read_json_lines
from vectorstore.readers.kinds import foreign_kind
from vectorstore.readers.opening import Opened, opened
from vectorstore.readers.text import read_text

__all__ = ["READERS", "Reader", "paper_from_record", "read"]


@dataclass(frozen=True, slots=True)
class Reader:
    """A family of formats.

    `sniff` sees the text's beginning and decides; `suffixes` only tell people which files these are. `read` gives a
    Paper or a Skip for each record, as it comes to it; it raises ValueError with a few words where the whole is not
    what it should be.
    """

    name: str
    suffixes: tuple[str, ...]
    sniff: Callable[[str], bool]
    read: Callable[[TextIO], Iterator[Paper | Skip]]


# In the order in which they are asked; the last takes what no other knows and nothing foreign.
READERS = (
    Reader("jsonl", (".jsonl", ".ndjson"), is_json_lines, read_json_lines),
    Reader("json", (".json",), is_json, read_json),
    Reader("text", (".txt", ".text"), lambda head: foreign_kind(head) is None, read_text),
)
_BY_NAME = {reader.name: reader for reader in READERS}
_NAMES = ", ".join(_BY_NAME)


def read(data: BinaryIO, filename: str | None = None, format: str | None = None) -> Iterator[Paper | Skip]:  # noqa: A002
    """The records of a file, gzip or not, as they are read; `data` is left open.

    Raises Unreadable at the first or a later record: empty, not text, damaged, or of a format that no reader knows.
    """
    name = filename or "the input"
    if format is not None and format not in _BY_NAME:
        raise Unreadable(f"There is no format named {format!r}; there are {_NAMES}.")
    file = opened(data, name)
    reader = _BY_NAME[format] if format else _reader(file, name)
    try:
        yield from reader.read(file.stream)
    except ValueError as error:
        raise Unreadable(f"{name} is not {reader.name}: {error}.") from None


def _reader(file: Opened, name: str) -> Reader:
    for reader in READERS:
        if reader.sniff(file.head):
            return reader
    raise Unreadable(f"{name} looks like {foreign_kind(file.head)}, which can't be read yet; these can: {_NAMES}.")
