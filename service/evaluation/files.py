"""Lines of labelled files, gzip or not, with the place of a fault in the message."""

import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from service.errors import ServiceError

M = TypeVar("M", bound=BaseModel)


class BadLabels(ServiceError):
    """A labelled set that can't be read or used."""


def text(path: Path) -> io.TextIOBase:
    """The text of a file for reading, `.gz` unpacked; a byte order mark is left out."""
    raw = gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # noqa: SIM115 - closed with what is returned
    return io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers. Raises BadLabels."""
    try:
        with text(path) as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or "it is damaged or not gzip"
        raise BadLabels(f"{path.name} can't be read: {reason}.") from None
    except UnicodeDecodeError:
        raise BadLabels(f"{path.name} is not UTF-8 text.") from None


def rows(path: Path, shape: type[M]) -> Iterator[M]:
    """Each line of JSON as a `shape`. Raises BadLabels with file, line and field."""
    for number, line in lines(path):
        try:
            yield shape.model_validate_json(line)
        except ValidationError as error:
            raise BadLabels(f"{path.name}, line {number}: {fault(error)}.") from None


def fault(error: ValidationError) -> str:
    """The first fault of a row, as words."""
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(map(str, first["loc"]))
    return f"{field}: {first['msg']}" if field else first["msg"]
