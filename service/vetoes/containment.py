"""How much of a sentence's words a quote has (pure)."""

from functools import lru_cache
from itertools import pairwise

from service import words
from service.vetoes.alignment import Token, tokens
from service.vetoes.lexicon import FRAME, senses
from service.vetoes.veto import Veto

_PREFIX = 5
_WINDOW = 4
_STRANGE = 1.5
_SHARE = 0.3


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


def unsaid(sentence: str, quote: str) -> Veto | None:
    """Words of the sentence that the quote has in no form: two close together, or too many of them.

    A word with only a synonym there counts as half a stranger.
    """
    lines = [_offered(line) for line in quote.split("\n")]
    known, beginnings, meant = (frozenset().union(*parts) for parts in zip(*lines, strict=True))
    telling = [each for each in tokens(sentence) if _must_stand(each)]
    strange = [
        0.0 if _holds(each.form, known, beginnings) else 0.5 if _means(each.form, meant) else 1.0 for each in telling
    ]
    windows = [sum(strange[place : place + _WINDOW]) for place in range(len(strange))]
    if not windows or (max(windows) < _STRANGE and sum(strange) <= _SHARE * len(strange)):
        return None
    start = windows.index(max(windows))
    places = [place for place in range(start, min(start + _WINDOW, len(strange))) if strange[place]]
    text = words.plain(sentence)[telling[places[0]].start : telling[places[-1]].end]
    return Veto(f"the cited passages do not say “{text}”", hard=False)


@lru_cache(maxsize=8_192)
def _offered(line: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The forms in a line, their beginnings, and the numbers (as text) of the senses they have."""
    held = (*words.stems(line), *(each.form for each in tokens(line)))
    known, beginnings = _held(held)
    return known, beginnings, frozenset(str(sense) for stem in held for sense in senses(stem))


def _means(form: str, meant: frozenset[str]) -> bool:
    return any(str(sense) in meant for sense in senses(form))


def _must_stand(each: Token) -> bool:
    """Whether a word needs words behind it: not what every report says of itself, and numbers are looked at apart."""
    return each.telling and each.form not in FRAME and not each.form[0].isdigit()
