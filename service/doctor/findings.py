"""What the doctor found: one line each, with a mark, and what to change."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from service.wire import Json

Area = Literal["configuration", "store", "embedding", "model"]
# A fault must be changed; a warning works, but not as well as it could; a note is neither good nor bad.
Mark = Literal["ok", "note", "warning", "fault"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: `found` says what is so, `change` which setting mends it."""

    area: Area
    check: str
    mark: Mark
    found: str
    change: str | None = None


def is_well(found: Sequence[Finding]) -> bool:
    """Whether nothing must be changed."""
    return all(each.mark != "fault" for each in found)


def plain_data(found: Sequence[Finding]) -> Json:
    """The findings as plain data, in order."""
    return {"well": is_well(found), "findings": [asdict(each) for each in found]}


def tokens_said(number: float) -> str:
    """12345 -> "12,345 tokens"."""
    return f"{round(number):,} tokens"
