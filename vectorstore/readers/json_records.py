"""JSON: one object, an array, an envelope with a list in it; and JSON lines, one record a line."""

import json
from collections.abc import Iterator, Mapping

from vectorstore.paper import Paper, Skip
from vectorstore.readers.fields import paper_from_record

_LISTS = (
    "papers",
    "results",
    "data",
    "items",
    "notes",
    "records",
    "message",
    "hits",
    "response",
    "docs",
    "works",
    "abstracts",
)


def read_json(text: str) -> Iterator[Paper | Skip]:
    """A Paper or Skip a record of one JSON value. Raises ValueError where the text is not JSON."""
    value = _loads(text)
    for number, record in enumerate(_records(value), 1):
        # Semantic Scholar answers null for an id that it does not know: no record.
        if record is not None:
            yield _one(record, f"record {number}")


def read_json_lines(text: str) -> Iterator[Paper | Skip]:
    """A Paper or Skip a line; a line that is not JSON is skipped by itself."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = _loads(line)
        except ValueError as error:
            yield Skip(f"line {number}", f"not JSON: {error}")
            continue
        yield _one(record, f"line {number}")


def _loads(text: str) -> object:
    try:
        value: object = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at column {error.colno}") from None
    return value


def _records(value: object) -> list[object]:
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping):
        for name in _LISTS:
            inner = value.get(name)
            if isinstance(inner, list):
                return inner
            if isinstance(inner, Mapping) and "abstract" not in value:
                return _records(inner)
    return [value]


def _one(record: object, label: str) -> Paper | Skip:
    if not isinstance(record, Mapping):
        return Skip(label, "not an object with fields")
    return paper_from_record(record, label)
