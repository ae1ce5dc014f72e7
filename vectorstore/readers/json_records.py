"""JSON: one object, an array, an envelope with a list in it; and JSON lines, one record a line.

Lines and long arrays are read piece by piece, so that a file may be larger than memory.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import TextIO

from vectorstore.paper import Paper, Skip
from vectorstore.readers.fields import paper_from_record

# Characters. What is no longer is parsed as a whole, so that a mistake in it is told before anything is stored.
_AT_ONCE = 4_000_000
LONGEST_LINE = 10_000_000
LONGEST_VALUE = 300_000_000
_STEP = 1_000_000
# How near the end of what has been read a mistake may be only that the rest has not been.
_NEAR = 64

# Names of lists of records, and of what such a list lies in.
_LISTS = frozenset(
    "papers results data items notes records message hits response docs works abstracts articles publications entries"
    " result resultList search-results entry references".split()
)
_DECODER = json.JSONDecoder()
_BETWEEN = re.compile(r"[\s,]*")


def is_json(head: str) -> bool:
    """Whether a text begins as JSON does, and not as prose in brackets or braces."""
    return re.match(r"\s*(?:\{\s*[\w\"'}]|[\[{]\s*\Z|\[\s*(?:[\[{\]\"]|null\b))", head) is not None


def is_json_lines(head: str) -> bool:
    """Whether a text is an object a line: its first line is, or the first is broken and most of the others are."""
    lines = [line for line in head.split("\n")[:100] if line.strip()]
    if len(lines) < 2:
        return False
    if _is_object(lines[0]):
        return True
    whole = lines[1:-1] if len(lines) > 2 else lines[1:]
    return sum(map(_is_object, whole)) * 2 > len(whole)


def _is_object(line: str) -> bool:
    try:
        return isinstance(loads(line), dict)
    except ValueError:
        return False


def read_json(stream: TextIO) -> Iterator[Paper | Skip]:
    """A Paper or Skip a record. Raises ValueError where the text is not JSON."""
    text = stream.read(_AT_ONCE)
    if len(text) < _AT_ONCE or not text.lstrip().startswith("["):
        text += stream.read(LONGEST_VALUE)
        if len(text) > LONGEST_VALUE:
            raise ValueError(f"one value of more than {LONGEST_VALUE:,} characters; write a record a line")
        found: Iterator[object] = iter(records_in(loads(text)))
    else:
        found = _elements(text, stream)
    for number, record in enumerate(found, 1):
        # Semantic Scholar answers null for an id that it does not know: no record.
        if record is not None:
            yield _one(record, f"record {number}")


def read_json_lines(stream: TextIO) -> Iterator[Paper | Skip]:
    """A Paper or Skip a line; a line that is not JSON is skipped by itself."""
    number = 0
    while line := stream.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE and not line.endswith("\n"):
            while (rest := stream.readline(LONGEST_LINE)) and not rest.endswith("\n"):
                pass
            yield Skip(f"line {number}", f"longer than {LONGEST_LINE:,} characters")
        elif line.strip():
            yield _line(line, f"line {number}")


def _line(line: str, label: str) -> Paper | Skip:
    try:
        record = loads(line.rstrip("\n"))
    except ValueError as error:
        return Skip(label, f"not JSON: {error}")
    return _one(record, label)


def loads(text: str) -> object:
    """The value of a text. Raises ValueError with the reason in a few words."""
    try:
        value: object = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}" if "\n" in text.strip() else f"column {error.colno}"
        raise ValueError(f"{error.msg.removesuffix(' at')} at {place}") from None
    return value


def records_in(value: object) -> list[object]:
    """The records of a value: a list of them, the list in an envelope, or the value itself."""
    for _ in range(8):
        if isinstance(value, list):
            return value
        if not isinstance(value, Mapping) or value.get("abstract"):
            break
        names = [name for name in value if name in _LISTS and isinstance(value[name], list | Mapping)]
        if not names or ("title" in value and not _holds_records(value[names[0]])):
            break
        value = value[names[0]]
    return [value]


def _holds_records(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(each, Mapping) for each in value)


def _elements(text: str, stream: TextIO) -> Iterator[object]:
    """The elements of a long array, read on as they are needed. Raises ValueError at what is not JSON."""
    position, count, ended = text.index("[") + 1, 0, False
    while True:
        position = _BETWEEN.match(text, position).end()  # type: ignore[union-attr]  # it matches nothing too
        if text[position : position + 1] == "]":
            if (text[position + 1 :] + stream.read(_STEP)).strip():
                raise ValueError(f"more behind the end of its list, after {count:,} records")
            return
        found = _element(text, position, count + 1, ended)
        if found is not None:
            value, position = found
            count += 1
            yield value
            continue
        more = stream.read(max(_STEP, len(text) - position))
        text, position, ended = text[position:] + more, 0, not more
        if len(text) > LONGEST_VALUE:
            raise ValueError(f"record {count + 1:,} has more than {LONGEST_VALUE:,} characters")


def _element(text: str, position: int, number: int, ended: bool) -> tuple[object, int] | None:
    """The value at a position and where it ends; None if more of the text must be read to tell."""
    try:
        value, end = _DECODER.raw_decode(text, position)
    except RecursionError:
        raise ValueError(f"nested too deeply in record {number:,}") from None
    except json.JSONDecodeError as error:
        if ended or (error.pos < len(text) - _NEAR and not error.msg.startswith("Unterminated")):
            raise ValueError(
                f"{error.msg.removesuffix(' at')} in record {number:,}; those before it are stored"
            ) from None
        return None
    return (value, end) if end < len(text) or ended else None


def _one(record: object, label: str) -> Paper | Skip:
    if not isinstance(record, Mapping):
        return Skip(label, "not an object with fields")
    return paper_from_record(record, label)
