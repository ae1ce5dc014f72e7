"""JSON in and out, strictly: what a lenient parser lets in becomes a 500 three layers further down.

Lone surrogates can't be written back as UTF-8, NaN and 1e999 are not JSON, and nesting a thousand deep
exhausts the stack of whoever walks it. All are refused here, with a sentence.
"""

import json
import re
from typing import NoReturn

from pydantic import BaseModel

Json = str | int | float | bool | list["Json"] | dict[str, "Json"] | None

_DEEPEST = 64
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class BadJson(ValueError):
    """The bytes are not JSON that we take; the message is one sentence."""


def loads(body: bytes) -> Json:
    """The value of a JSON body in UTF-8. Raises BadJson."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadJson("The body is not UTF-8 text.") from None
    value = _parsed(text)
    if _deeper_than(value, _DEEPEST):
        raise BadJson(f"The JSON is nested more than {_DEEPEST} levels deep.")
    if _SURROGATE.search(text):
        _refuse_lone_surrogates(value)
    return value


def dumps(value: Json | BaseModel, *, strict: bool = False) -> bytes:
    """JSON in UTF-8, letters as themselves. A lone surrogate becomes "?", or UnicodeEncodeError if `strict`."""
    if isinstance(value, BaseModel):
        return value.model_dump_json().encode("utf-8", "replace")
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "strict" if strict else "replace")


def _parsed(text: str) -> Json:
    try:
        value: Json = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except RecursionError:
        raise BadJson(f"The JSON is nested more than {_DEEPEST} levels deep.") from None
    except json.JSONDecodeError as error:
        raise BadJson(f"The body is not JSON: {error.msg} at line {error.lineno} column {error.colno}.") from None
    except BadJson:
        raise
    except ValueError:
        raise BadJson("The JSON holds a number with too many digits.") from None
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise BadJson(f"{name} is not a JSON number.")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise BadJson("The JSON holds a number that is too large.")
    return number


def _deeper_than(value: Json, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [inner for outer in level for inner in _children(outer)]
        if not level:
            return False
    return True


def _children(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return [inner for inner in value.values() if isinstance(inner, (dict, list))]
    if isinstance(value, list):
        return [inner for inner in value if isinstance(inner, (dict, list))]
    return []


def _refuse_lone_surrogates(value: Json) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise BadJson("The JSON holds a lone surrogate, half of a character.") from None
