"""What a similarity can't see: numbers, units, names, negation and direction that disagree (pure).

`disagreement(sentence, quote)` is None only if every number, unit and name of the sentence stands in the quote,
and nothing the sentence affirms is denied there, or the other way round.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from service import words

_PREFIX = 5
# More of them are a table, which no sentence of an answer is.
_MOST_NUMBERS = 60


class Veto(NamedTuple):
    """Why a sentence does not follow from a quote. `hard`: the quote contradicts it, not merely lacks it."""

    text: str
    hard: bool


def containment(sentence: str, quote: str) -> float:
    """The share of the sentence's content words that the quote has, from 0 to 1; 1 only if they stand in one run."""
    wanted = words.stems(sentence)
    if not wanted:
        return 0.0
    held = words.stems(quote)
    known, beginnings = _held(held)
    share = sum(_holds(stem, known, beginnings) for stem in wanted) / len(wanted)
    if share == 1.0 and not _is_run(wanted, held):
        pairs = set(pairwise(held))
        kept = sum(pair in pairs for pair in pairwise(wanted))
        return 0.9 + 0.09 * kept / max(1, len(wanted) - 1)
    return share


@lru_cache(maxsize=8_192)
def _held(stems: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """The stems, and everything of `_PREFIX` letters or more that one of them begins with."""
    return frozenset(stems), frozenset(stem[:end] for stem in stems for end in range(_PREFIX, len(stem) + 1))


def _holds(stem: str, known: frozenset[str], beginnings: frozenset[str]) -> bool:
    """Whether the stem is there, or one that it begins or that begins it: accur(ate), accuraci (accuracy)."""
    return stem in known or stem in beginnings or any(stem[:end] in known for end in range(_PREFIX, len(stem)))


def _is_run(wanted: tuple[str, ...], held: tuple[str, ...]) -> bool:
    width = len(wanted)
    return any(held[start : start + width] == wanted for start in range(len(held) - width + 1))


def disagreement(sentence: str, quote: str) -> Veto | None:
    """The first thing on which the two disagree, or None."""
    for check in _CHECKS:
        if veto := check(sentence, quote):
            return veto
    return None


def _numbers(sentence: str, quote: str) -> Veto | None:
    offered, asked = words.numbers(quote), words.numbers(sentence)
    if len(asked) > _MOST_NUMBERS:
        return Veto("it holds more numbers than can be checked", hard=True)
    for number in asked:
        same = [other for other in offered if other.value == number.value]
        if not same:
            return Veto(f"number {_spelled(sentence, number)} is in no cited passage", hard=True)
        if not any(_units_agree(number, other) for other in same):
            return Veto(f"number {_spelled(sentence, number)} has another unit in the cited passage", hard=True)
        if _counts_something_else(sentence, number, quote, same, offered):
            return Veto(
                f"number {_spelled(sentence, number)} belongs to something else in the cited passage", hard=True
            )
    return None


def _spelled(text: str, number: words.Number) -> str:
    return words.plain(text)[number.start : number.end].strip()


def _units_agree(one: words.Number, other: words.Number) -> bool:
    return one.unit == other.unit or (not (one.unit and other.unit) and "%" not in {one.unit, other.unit})


def _counts_something_else(
    sentence: str, number: words.Number, quote: str, same: list[words.Number], offered: tuple[words.Number, ...]
) -> bool:
    """Whether the word behind the number ("7 images") stands behind another number only ("10,632 images")."""
    counted = _words_behind(sentence, number)
    behind_same = any(counted & _words_behind(quote, other) for other in same)
    behind_other = any(counted & _words_behind(quote, other) for other in offered if other not in same)
    return behind_other and not behind_same


@lru_cache(maxsize=16_384)
def _words_behind(text: str, number: words.Number) -> frozenset[str]:
    """Stems of the next two content words behind a number, up to the next number or the end of the clause."""
    rest = re.split(r"[,;:.]\s|\d", words.plain(text)[number.end : number.end + 80], maxsplit=1)[0]
    return frozenset(words.stems(rest)[:2])


def _names(sentence: str, quote: str) -> Veto | None:
    held, letters = _held_names(quote)
    for name in sorted(words.names(sentence)):
        if name not in held and not (len(name) > 3 and name in letters):
            return Veto(f"name {name} is in no cited passage", hard=False)
    return None


@lru_cache(maxsize=8_192)
def _held_names(quote: str) -> tuple[frozenset[str], str]:
    """Whatever in the quote could be a name, and all its letters in one run ("Auto GPT" holds AutoGPT)."""
    held = words.names(quote) | {words.fold_name(word) for word in words.tokens(quote)}
    return held, re.sub(r"\W|_", "", words.plain(quote)).casefold()


_CUE = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|cannot|nothing|nobody|hardly|barely|fail(?:s|ed|ing|ure)?"
    r"|lack(?:s|ed|ing)?|"
    r"unable|impossible|insufficient|in(?:capable|effective)|absent|absence|free of|rather than|instead of)\b|n['’]t\b",
    re.IGNORECASE,
)
_DOUBLE = re.compile(r"\bnot only\b|\bno longer than\b|\bnot just\b|\bnot merely\b|\bnone the less\b", re.IGNORECASE)
_SCOPE = 3
# Characters behind a negation in which its scope must lie.
_REACH = 200


def _negation(sentence: str, quote: str) -> Veto | None:
    denied, affirmed = _polarity(sentence)
    denied_there, affirmed_there = _polarity(quote)
    if denied & affirmed_there - denied_there:
        return Veto("the sentence denies what the cited passage says", hard=True)
    if denied_there & affirmed - affirmed_there:
        return Veto("the cited passage denies what the sentence says", hard=True)
    return None


@lru_cache(maxsize=8_192)
def _polarity(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Stems inside the reach of a negation, and stems outside of any."""
    text = _DOUBLE.sub(" ", words.plain(text))
    denied: set[str] = set()
    affirmed: set[str] = set()
    for clause in re.split(r"[,;:]\s|\.\s|\bbut\b|\balthough\b|\bwhile\b|\bwhereas\b", text):
        position = 0
        for cue in _CUE.finditer(clause):
            affirmed.update(words.stems(clause[position : cue.start()]))
            behind = re.findall(r"\S+", clause[cue.end() : cue.end() + _REACH])
            reach = _reach(behind)
            denied.update(words.stems(" ".join(behind[:reach])))
            position = cue.end() + len(" ".join(behind[:reach]))
        affirmed.update(words.stems(clause[position:]))
    return frozenset(denied), frozenset(affirmed)


def _reach(behind: list[str]) -> int:
    """How many words after a cue hold its first `_SCOPE` content words."""
    seen = 0
    for place, word in enumerate(behind):
        seen += bool(words.stems(word))
        if seen == _SCOPE:
            return place + 1
    return len(behind)


_OPPOSITES = """
increase raise grow rise gain boost | decrease reduce lower shrink fall drop decline cut
higher greater larger bigger more | lower smaller fewer less
better improve improvement superior | worse worsen degrade degradation inferior deteriorate
faster quicker accelerate speedup | slower slow
outperform surpass exceed beat | underperform
above over | below under
before | after
with | without
positive positively | negative negatively
upper | lower
maximum maximize | minimum minimize
possible | impossible
sufficient | insufficient
always | never sometimes
all every | none
easy | difficult hard
strong stronger | weak weaker
safe | unsafe vulnerable
"""
_SIDES = [
    tuple(frozenset(map(words.stem, side.split())) for side in line.split("|"))
    for line in _OPPOSITES.strip().splitlines()
]


def _direction(sentence: str, quote: str) -> Veto | None:
    said = {words.stem(word) for word in words.tokens(sentence)}
    there = {words.stem(word) for word in words.tokens(quote)}
    for one, other in _SIDES:
        for mine, theirs in ((one, other), (other, one)):
            if said & mine and not said & theirs and there & theirs and not there & mine:
                return Veto(f"the cited passage says {min(there & theirs)}, the sentence {min(said & mine)}", hard=True)
    return None


_COMPARES = re.compile(
    r"\b(outperform\w*|surpass\w*|exceed\w*|beat\w*|better than|worse than|faster than|slower than|superior to"
    r"|inferior to|higher than|lower than|"
    r"larger than|smaller than|more \w+ than|less \w+ than)\b", re.IGNORECASE,
)  # fmt: skip


def _swapped(sentence: str, quote: str) -> Veto | None:
    """The same words compared the other way round: A outperforms B, B outperforms A."""
    mine, theirs = _sides(sentence), _sides(quote)
    if mine is None or theirs is None or mine.verb != theirs.verb:
        return None
    crossed, recrossed = mine.left & theirs.right, mine.right & theirs.left
    straight = len(mine.left & theirs.left) + len(mine.right & theirs.right)
    if crossed and recrossed and len(crossed) + len(recrossed) > straight:
        return Veto("the cited passage compares the other way round", hard=True)
    return None


class _Sides(NamedTuple):
    verb: str
    left: frozenset[str]
    right: frozenset[str]


def _sides(text: str) -> _Sides | None:
    text = words.plain(text)
    match = _COMPARES.search(text)
    if match is None:
        return None
    left, right = words.stems(text[: match.start()])[-3:], words.stems(text[match.end() :])[:3]
    return _Sides(
        words.stem(match.group(1).split()[0]), frozenset(left) - frozenset(right), frozenset(right) - frozenset(left)
    )


_CHECKS: tuple[Callable[[str, str], Veto | None], ...] = (_numbers, _names, _negation, _direction, _swapped)
