"""Files -> Papers. `READERS` is the table: a new format is one generator and its row here."""

import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from vectorstore.errors import Unreadable
from vectorstore.paper import Paper, Skip
from vectorstore.readers.encoding import decode
from vectorstore.readers.fields import paper_from_record
from vectorstore.readers.json_records import read_json, read_json_lines
from vectorstore.readers.kinds import foreign_kind
from vectorstore.readers.text import read_text

__all__ = ["READERS", "Reader", "paper_from_record", "read"]

# Unpacked; a small file that unpacks to more than this is a trap, or should be split.
MAX_BYTES = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Reader:
    """A family of formats. `sniff` sees the text's beginning and decides; file names are only a hint to people."""

    name: str
    suffixes: tuple[str, ...]
    sniff: Callable[[str], bool]
    read: Callable[[str], Iterator[Paper | Skip]]


def _is_json_lines(head: str) -> bool:
    lines = [line for line in head.split("\n") if line.strip()]
    if len(lines) < 2 or not lines[0].lstrip().startswith("{"):
        return False
    try:
        json.loads(lines[0])
    except (ValueError, RecursionError):
        return lines[1].lstrip().startswith("{")
    return True


READERS = (
    Reader("jsonl", (".jsonl", ".ndjson"), _is_json_lines, read_json_lines),
    Reader("json", (".json",), lambda head: head.lstrip()[:1] in {"{", "["}, read_json),
    Reader("text", (".txt", ".text"), lambda head: foreign_kind(head) is None, read_text),
)
_BY_NAME = {reader.name: reader for reader in READERS}
_NAMES = ", ".join(_BY_NAME)


def read(data: BinaryIO, filename: str | None = None, format: str | None = None) -> Iterator[Paper | Skip]:  # noqa: A002
    """The records of a file, gzip or not. Raises Unreadable: empty, not text, a format that no reader knows."""
    name = filename or "the input"
    text = decode(_unpacked(data, name), name)
    if not text.strip():
        raise Unreadable(f"{name} is empty.")
    reader = _reader(text, name, format)
    try:
        yield from reader.read(text)
    except ValueError as error:
        raise Unreadable(f"{name} is not {reader.name}: {error}.") from None


def _reader(text: str, name: str, wanted: str | None) -> Reader:
    if wanted is not None:
        if wanted not in _BY_NAME:
            raise Unreadable(f"There is no format named {wanted!r}; there are {_NAMES}.")
        return _BY_NAME[wanted]
    head = text[:200_000]
    for reader in READERS:
        if reader.sniff(head):
            return reader
    raise Unreadable(f"{name} looks like {foreign_kind(head)}, which can't be read yet; these can: {_NAMES}.")


def _unpacked(data: BinaryIO, name: str) -> bytes:
    content = data.read(MAX_BYTES + 1)
    try:
        if content.startswith(b"\x1f\x8b"):
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
                content = packed.read(MAX_BYTES + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise Unreadable(f"{name} is a damaged gzip file.") from None
    if len(content) > MAX_BYTES:
        raise Unreadable(f"{name} holds more than {MAX_BYTES:,} bytes; split it and add the parts.")
    return content
