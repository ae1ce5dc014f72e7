"""Years as people write them."""

import pytest

from service.domain import YearRange
from service.years import NotYears, years


@pytest.mark.parametrize(
    ("text", "gte", "lte"),
    [
        (None, None, None),
        ("2024", 2024, 2024),
        ("2020..2024", 2020, 2024),
        ("2020-2024", 2020, 2024),
        (" 2020 .. ", 2020, None),
        ("..2024", None, 2024),
    ],
)
def test_ranges(text: str | None, gte: int | None, lte: int | None) -> None:
    assert years(text) == YearRange(gte=gte, lte=lte)


@pytest.mark.parametrize("text", ["", "..", "abc", "2020...2024", "20200", "2024..2020", "２０２４x"])
def test_other_words_are_refused_in_words(text: str) -> None:
    with pytest.raises(NotYears, match=r"is not a year|ends before"):
        years(text)
