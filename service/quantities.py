"""The numbers of a text with their units and bounds, in comparable form (pure)."""

import re
from functools import lru_cache
from typing import NamedTuple

from service.words import plain


class Number(NamedTuple):
    """A number of a text: value, unit ("%", "×", "" …), its place in the plain text, and its bound: < > = or ""."""

    value: float
    unit: str
    start: int
    end: int
    bound: str = ""


_SCALES = {
    "hundred": 1e2, "k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "b": 1e9, "bn": 1e9, "billion": 1e9,
    "trillion": 1e12,
}  # fmt: skip
_ONES = dict(zip("one two three four five six seven eight nine".split(), range(1, 10), strict=True))
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True))
NUMBER_WORDS = (
    {"zero": 0, "hundred": 100, "thousand": 1_000, "million": 1_000_000}
    | _ONES
    | dict(zip(_TEENS, range(10, 20), strict=True))
    | _TENS
)
# Words that are a number and its unit in one.
_WITH_UNIT = (
    dict.fromkeys("half halve halves halved halving".split(), (50, "%"))
    | dict.fromkeys("twice double doubles doubled doubling twofold".split(), (2, "×"))
    | dict.fromkeys("thrice triple triples tripled tripling threefold".split(), (3, "×"))
    | dict.fromkeys("quadruple quadruples quadrupled fourfold".split(), (4, "×"))
    | {
        word: (place, "th")
        for place, word in enumerate("second third fourth fifth sixth seventh eighth ninth tenth".split(), 2)
    }
)
_PREFIXES = {
    "": "", "nano": "n", "micro": "μ", "milli": "m", "centi": "c", "kilo": "k", "mega": "M", "giga": "G", "tera": "T"
}  # fmt: skip
_BASES = {
    "second": "s", "metre": "m", "meter": "m", "gram": "g", "watt": "W", "joule": "J", "volt": "V", "hertz": "Hz",
    "byte": "b",
}  # fmt: skip
_SPELLED = {
    f"{prefix}{base}{plural}": sign + ("B" if base == "byte" else unit)
    for prefix, sign in _PREFIXES.items()
    for base, unit in _BASES.items()
    for plural in ("", "s")
    if (prefix + base) not in ("second", "byte")
}
_SYMBOLS = (
    "ns us μs ms s nm μm mm cm m km μg mg g kg mW W kW MW GW mV V kV mJ J kJ MJ ml mL mmHg dB dBZ fps Hz kHz MHz GHz"
).split()
_WORDS = (
    _SPELLED
    | dict.fromkeys(("percent", "percentagepoint", "percentagepoints"), "%")
    | dict.fromkeys(("-times", "times", "-fold", "fold", "x", "×"), "×")
    | dict.fromkeys(("bit", "bits", "-bit", "-bits"), "bit")
    | {"seconds": "s", "sec": "s", "minutes": "min", "hour": "h", "hours": "h", "day": "d", "days": "d", "us": "μs"}
    | dict.fromkeys(("dollar", "dollars", "usd", "＄"), "＄")
    | dict.fromkeys(("euro", "euros", "eur", "€"), "€")
)
# Upper and lower case differ: a milliwatt is no megawatt.
_UNITS = {symbol: symbol for symbol in _SYMBOLS} | {"us": "μs", "mL": "ml"}
_MONEY = "€£¥＄"
_BOUNDS = {"<": "<", "≤": "<", ">": ">", "≥": ">", "=": "="}


def unit(word: str) -> str:
    """A unit as compared; a word that is none stays itself in lower case."""
    return _UNITS.get(word) or _WORDS.get(word.casefold()) or word.casefold()


def in_one_word(word: str) -> int | None:
    """The value of a word that is a number and its unit in one: 2 of twice, 50 (%) of half; not of second, third."""
    value, counted_in = _WITH_UNIT.get(word.casefold(), (None, ""))
    return value if counted_in != "th" else None


def is_unit(word: str) -> bool:
    """Whether a word spells a unit out: milliseconds, metres."""
    return word.casefold() in _SPELLED


_NUMBER = re.compile(
    rf"(?:(?P<bound>[<>≤≥=])=?\s?)?(?P<money>[{_MONEY}]\s?)?"
    r"(?P<sign>(?<![^\s(=~<>≤≥])-)?(?<![\w.])(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"(?:(?P<scale>[kKMB])(?![\w])|\s?-?(?P<scaleword>thousand|million|billion|trillion|bn)\b)?"
    rf"(?:(?P<nth>st|nd|rd|th)\b|\s?(?P<unit>%|×|[{_MONEY}]|percentage points?|per\s?cent|-?fold\b|-?times\b|-?bits?\b"
    rf"|x\b|°C\b|(?:{'|'.join(sorted([*_SPELLED, *_SYMBOLS], key=len, reverse=True))}|seconds|sec|minutes|min|hours?|h"
    r"|days?|d|weeks|months|years|[GMTKgmtk][Bb]|dollars?|USD|euros?|EUR)\b))?"
)
_WORD_NUMBER = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TENS)})(?:[\s-](?P<ones>{'|'.join(_ONES)})\b)?"
    rf"|(?P<word>{'|'.join(word for word in NUMBER_WORDS if word != 'one' and word not in _TENS)}))\b"
    r"(?:[\s-](?P<scale>hundred|thousand|million|billion|trillion)\b)?"
    r"(?:[\s-](?P<unit>times|fold|bits?|percent|dollars|euros)\b)?",
    re.IGNORECASE,
)
# "Second, the authors …" counts the sentences of a draft; "double-blind" and "third-party" count nothing.
_IN_ONE_WORD = re.compile(
    rf"\b({'|'.join(_WITH_UNIT)})\b(?!,|-(?:blind|party|hand|life|precision|space|descent))", re.IGNORECASE
)


@lru_cache(maxsize=8_192)
def numbers(text: str) -> tuple[Number, ...]:
    """The numbers of `text` in order. "one" and "first" are left out: they seldom count."""
    text = plain(text)
    found = [_number(match) for match in _NUMBER.finditer(text)]
    taken = [(number.start, number.end) for number in found]
    spelled = [_spelled(match) for match in _WORD_NUMBER.finditer(text)]
    spelled += [Number(*_WITH_UNIT[match.group(1).casefold()], *match.span()) for match in _IN_ONE_WORD.finditer(text)]
    found += [one for one in spelled if not any(start < one.end and one.start < end for start, end in taken)]
    return tuple(sorted(found, key=lambda number: number.start))


def _number(match: re.Match[str]) -> Number:
    scale = (match.group("scale") or match.group("scaleword") or "").casefold()
    value = float(match.group("digits").replace(",", "")) * _SCALES.get(scale, 1.0)
    value = -value if match.group("sign") else value
    named = (match.group("money") or "").strip() or re.sub(r"\s", "", match.group("unit") or "")
    start = match.start("sign") if match.group("sign") else match.start("digits")
    bound = _BOUNDS.get(match.group("bound") or "", "")
    return Number(value, "th" if match.group("nth") else unit(named), start, match.end(), bound)


def _spelled(match: re.Match[str]) -> Number:
    word = match.group("word")
    value = NUMBER_WORDS[word.casefold()] if word else _TENS[match.group("tens").casefold()]
    value += _ONES.get((match.group("ones") or "").casefold(), 0)
    scale = _SCALES.get((match.group("scale") or "").casefold(), 1.0)
    return Number(value * scale, unit(match.group("unit") or ""), match.start(), match.end())
