"""Why a sentence does not follow from a quote."""

from typing import NamedTuple


class Veto(NamedTuple):
    """Why a sentence does not follow from a quote. `hard`: the quote contradicts it, not merely lacks it."""

    text: str
    hard: bool
