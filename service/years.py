"""Years of publication as people write them: 2024, 2020..2024, 2020.., ..2024."""

import re

from service.domain import YearRange
from service.errors import ServiceError

_RANGE = re.compile(r"(\d{1,4})?\s*(?:\.\.|-|–)\s*(\d{1,4})?|(\d{1,4})")


class NotYears(ServiceError):
    """Words that are no years."""


def years(text: str | None) -> YearRange:
    """The range that `text` means; no text is any year. Raises NotYears."""
    if text is None:
        return YearRange()
    found = _RANGE.fullmatch(text.strip())
    if not found or not any(found.groups()):
        raise NotYears(f'"{text}" is not a year; write 2024, 2020..2024, 2020.. or ..2024.')
    first, last = found[1] or found[3], found[2] or found[3]
    bounds = YearRange(gte=int(first) if first else None, lte=int(last) if last else None)
    if bounds.gte is not None and bounds.lte is not None and bounds.gte > bounds.lte:
        raise NotYears(f'"{text}" ends before it begins.')
    return bounds
