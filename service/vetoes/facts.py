"""Numbers, units and names: each of the sentence must stand in a quote (pure)."""

import re
from functools import lru_cache

from service import quantities, words
from service.vetoes.veto import Veto

# The 19 of COVID-19 counts nothing: `names` looks at it.
_IN_A_NAME = re.compile(r"[A-Za-z]-$")
# More of them are a table, which no sentence of an answer is.
_MOST_NUMBERS = 60


def numbers(sentence: str, quote: str) -> Veto | None:
    """A number of the sentence that the quote has not, or has with another unit or of another thing."""
    offered, asked = quantities.numbers(quote), quantities.numbers(sentence)
    if len(asked) > _MOST_NUMBERS:
        return Veto("it holds more numbers than can be checked", hard=True)
    for number in asked:
        if _IN_A_NAME.search(words.plain(sentence)[: number.start][-2:]):
            continue
        same = [other for other in offered if other.value == number.value]
        if not same:
            return Veto(f"number {_spelled(sentence, number)} is in no cited passage", hard=True)
        if not any(_units_agree(number, other) for other in same):
            return Veto(f"number {_spelled(sentence, number)} has another unit in the cited passage", hard=True)
        if not any(number.bound == other.bound or not (number.bound and other.bound) for other in same):
            return Veto(f"number {_spelled(sentence, number)} is another bound in the cited passage", hard=True)
        if _counts_something_else(sentence, number, quote, same, offered):
            return Veto(
                f"number {_spelled(sentence, number)} belongs to something else in the cited passage", hard=True
            )
    return None


def _spelled(text: str, number: quantities.Number) -> str:
    return words.plain(text)[number.start : number.end].strip()


def _units_agree(one: quantities.Number, other: quantities.Number) -> bool:
    return one.unit == other.unit or (not (one.unit and other.unit) and "%" not in {one.unit, other.unit})


def _counts_something_else(
    sentence: str,
    number: quantities.Number,
    quote: str,
    same: list[quantities.Number],
    offered: tuple[quantities.Number, ...],
) -> bool:
    """Whether the word behind the number ("7 images") stands behind another number only ("10,632 images")."""
    counted = _words_behind(sentence, number)
    behind_same = any(counted & _words_behind(quote, other) for other in same)
    behind_other = any(counted & _words_behind(quote, other) for other in offered if other not in same)
    return behind_other and not behind_same


@lru_cache(maxsize=16_384)
def _words_behind(text: str, number: quantities.Number) -> frozenset[str]:
    """Stems of the next two content words behind a number, up to the next number or the end of the clause."""
    rest = re.split(r"[,;:.]\s|\d", words.plain(text)[number.end : number.end + 80], maxsplit=1)[0]
    return frozenset(words.stems(rest)[:2])


_COMPLEXITY = re.compile(r"(?<![^\W\d_])([OoΩΘ]|\\(?:Omega|Theta))\s?\(((?:[^()\n]|\([^()\n]{0,40}\)){1,80})\)")


def complexity(sentence: str, quote: str) -> Veto | None:
    """An O(…) of the sentence that is none of the quote's."""
    held = _complexities(quote)
    for folded, spelled in _complexities(sentence).items():
        if folded not in held:
            return Veto(f"{spelled} is in no cited passage", hard=bool(held))
    return None


@lru_cache(maxsize=8_192)
def _complexities(text: str) -> dict[str, str]:
    """Each O(…) as compared (no spaces, no backslashes) and as it is written."""
    found = _COMPLEXITY.finditer(words.plain(text))
    return {re.sub(r"[\s\\·*]", "", match.group()).casefold(): match.group() for match in found}


def names(sentence: str, quote: str) -> Veto | None:
    """A name of the sentence that the quote has in no spelling."""
    lines = [_held_names(line) for line in quote.split("\n")]
    held = frozenset().union(*(found for found, _ in lines))
    letters = " ".join(run for _, run in lines)
    for name in sorted(words.names(sentence)):
        if name not in held and not (len(name) > 3 and name in letters):
            return Veto(f"name {name} is in no cited passage", hard=False)
    return None


@lru_cache(maxsize=8_192)
def _held_names(quote: str) -> tuple[frozenset[str], str]:
    """Whatever in the quote could be a name, and all its letters in one run ("Auto GPT" holds AutoGPT)."""
    held = words.names(quote) | {words.fold_name(word) for word in words.tokens(quote)}
    return held, re.sub(r"\W|_", "", words.plain(quote)).casefold()
