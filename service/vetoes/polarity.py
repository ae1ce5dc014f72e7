"""Negation and direction: what the one affirms, the other must not deny (pure)."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from service import words
from service.vetoes.lexicon import CUE, DOUBLE, FRAME, IDIOM, sides
from service.vetoes.veto import Veto

_SCOPE = 3
_ENDS_SCOPE = frozenset("to by for when if because since as through using via where that which unless until".split())
_ENDS_AT_ONCE = frozenset(("for", "when", "if", "since", "while"))
# Characters behind a negation in which its scope must lie.
_REACH = 200


def negation(sentence: str, quote: str) -> Veto | None:
    """A word denied in the one and only affirmed in the other."""
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
    text = DOUBLE.sub(" ", words.plain(text))
    denied: set[str] = set()
    affirmed: set[str] = set()
    for clause in re.split(r"[,;:]\s|\.\s|\bbut\b|\balthough\b|\bwhile\b|\bwhereas\b", text):
        position = 0
        for cue in CUE.finditer(clause):
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
        if word in _ENDS_AT_ONCE or (seen and word in _ENDS_SCOPE):
            return place
        seen += bool(words.stems(word))
        if seen == _SCOPE:
            return place + 1
    return len(behind)


class _Turn(NamedTuple):
    """A word with an opposite: which side it is on, and the content words around it."""

    word: str
    sides: frozenset[tuple[int, bool]]
    around: frozenset[str]


_AROUND = 3


def direction(sentence: str, quote: str) -> Veto | None:
    """More of it in the one, less of the same in the other: by the words around each."""
    theirs = _turns(quote)
    for mine in _turns(sentence):
        against = frozenset((number, not left) for number, left in mine.sides)
        worst = max((turn for turn in theirs if turn.sides & against), key=lambda turn: _near(mine, turn), default=None)
        same = max((_near(mine, turn) for turn in theirs if turn.sides & mine.sides), default=0)
        if worst is not None and _near(mine, worst) > same:
            return Veto(f"the cited passage says {worst.word}, the sentence {mine.word}", hard=True)
    return None


def _near(one: _Turn, other: _Turn) -> int:
    return len(one.around & other.around)


@lru_cache(maxsize=8_192)
def _turns(text: str) -> tuple[_Turn, ...]:
    spoken = [(word, words.stem(word)) for word in words.tokens(IDIOM.sub(" ", text))]
    spoken = [(word, form) for word, form in spoken if word.casefold() not in words.STOP_WORDS or sides(form)]
    return tuple(
        _Turn(word, sides(form), frozenset(near for _, near in _window(spoken, place)) - {form})
        for place, (word, form) in enumerate(spoken)
        if sides(form)
    )


def _window(spoken: Sequence[tuple[str, str]], place: int) -> Sequence[tuple[str, str]]:
    return spoken[max(0, place - _AROUND) : place + _AROUND + 1]


_COMPARES = re.compile(
    r"\b(outperform\w*|surpass\w*|exceed\w*|beat\w*|improv\w* (?:over|upon)|better than|worse than|faster than"
    r"|slower than|superior to|inferior to|higher than|lower than|larger than|smaller than|more \w+ than"
    r"|less \w+ than)(?P<passive> by)?\b",
    re.IGNORECASE,
)
_WINDOW = 4
_CLAUSE = re.compile(r"[,;:]\s|\b(?:that|which|while|and|but)\b")
_PHRASE = re.compile(r"[,;:]\s|\b(?:that|which|while|and|but|in|on|for|with|by|across|when|at|from|under|using)\b")
_ADVERB = re.compile(r"\b\w+ly\b")


def swapped(sentence: str, quote: str) -> Veto | None:
    """The same words compared the other way round: A outperforms B, B outperforms A."""
    mine = _sides(sentence)
    theirs = [sides for line in quote.split("\n") for sides in _sides(line)]
    for said in mine:
        same = [held for held in theirs if held.verb == said.verb]
        if same and all(_crossed(said, held) for held in same):
            return Veto("the cited passage compares the other way round", hard=True)
    return None


# "Our method beats B": who does so is said elsewhere.
_ANYONE = FRAME | frozenset(map(words.stem, "algorithm model framework approach system network architecture".split()))


def stitched(sentence: str, quotes: str) -> Veto | None:
    """A comparison whose right side none of the quotes' comparisons with that left side has."""
    held = _sides(quotes)
    for said in _sides(sentence):
        of_it = [one for one in held if one.verb == said.verb and (one.left & said.left or not one.left - _ANYONE)]
        if of_it and said.right and not any(one.right & said.right or not one.right for one in of_it):
            return Veto("the cited passages compare it with something else", hard=False)
    return None


class _Sides(NamedTuple):
    verb: str
    left: frozenset[str]
    right: frozenset[str]


def _crossed(one: _Sides, other: _Sides) -> bool:
    across = len(one.left & other.right) + len(one.right & other.left)
    return across > len(one.left & other.left) + len(one.right & other.right)


@lru_cache(maxsize=8_192)
def _sides(text: str) -> tuple[_Sides, ...]:
    """What stands nearest to each comparison, on its left and on its right; of words on both sides, neither."""
    text = words.plain(text)
    found = []
    for match in _COMPARES.finditer(text):
        left = frozenset(_nearest(text[: match.start()], last=True))
        right = frozenset(_nearest(text[match.end() :], last=False))
        if match.group("passive"):
            left, right = right, left
        found.append(_Sides(words.stem(match.group(1).split()[0]), left - right, right - left))
    return tuple(found)


def _nearest(text: str, *, last: bool) -> tuple[str, ...]:
    """The content words nearest to a comparison within its clause."""
    clauses = _CLAUSE.split(text[-_REACH:]) if last else _PHRASE.split(text[:_REACH])
    held = words.stems(_ADVERB.sub(" ", clauses[-1 if last else 0]))
    return held[-_WINDOW:] if last else held[:_WINDOW]
