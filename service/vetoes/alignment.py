"""A sentence laid along a quote, and what stands in the gaps (pure).

A false sentence is often the abstract's own with one thing exchanged: a name, a number, a "not", "may" for "does". As
bags of words the two agree. Laid side by side, they differ in a gap between equal words, and the gap tells.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from service import quantities, words
from service.vetoes.lexicon import CUE, DOUBLE, FRAME, HEDGE, UNIVERSAL, alike, opposite
from service.vetoes.veto import Veto

_TOKEN = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?|[%×]|[^\W\d_][^\W_]*(?:-[^\W_]+)*")
_COMPOUND = re.compile(r"(?:[A-Z]?[^\W\dA-Z]+|\d+)(?:-(?:[A-Z]?[^\W\dA-Z]+|\d+))+")
_WIDEST = 6
_LONG = 5
# Words beyond which a sentence is a table: laying it along another costs their product.
_LONGEST = 400


class Token(NamedTuple):
    """A word as compared, and where it stands in the plain text."""

    form: str
    start: int
    end: int
    telling: bool


class Gap(NamedTuple):
    """What stands between two runs of equal words, in the sentence (its tokens `start:end`) and in the quote."""

    said: str
    quoted: str
    start: int
    end: int


@lru_cache(maxsize=8_192)
def tokens(text: str) -> tuple[Token, ...]:
    """Every word and number of `text` in comparable form, stop words too."""
    text = words.plain(text)
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        found += _parts(match.group(), match.start())
    return tuple(found)


def _parts(word: str, start: int) -> Iterator[Token]:
    """A name stays whole; an ordinary compound falls apart, for "large scale" is "large-scale"."""
    spelled = quantities.numbers(word) if word[:1].isalpha() and "-" in word else ()
    if len(spelled) == 1 and spelled[0].end == len(word):
        yield Token(f"{spelled[0].value:g}", start, start + len(word), telling=True)
    elif _COMPOUND.fullmatch(word):
        for part in re.finditer(r"[^-]+", word):
            yield _token(part.group(), start + part.start())
    else:
        yield _token(word, start)


def _token(word: str, start: int) -> Token:
    end = start + len(word)
    if re.fullmatch(r"[\d,]+(?:\.\d+)?", word):
        return Token(f"{float(word.replace(',', '')):g}", start, end, telling=True)
    folded = word.casefold()
    if folded in quantities.NUMBER_WORDS:
        return Token(f"{float(quantities.NUMBER_WORDS[folded]):g}", start, end, telling=True)
    if (value := quantities.in_one_word(word)) is not None:
        return Token(str(value), start, end, telling=True)
    if quantities.is_unit(word):
        return Token(quantities.unit(word).casefold(), start, end, telling=False)
    if folded in {"percent", "times", "×", "x"}:
        return Token("%" if folded == "percent" else "×", start, end, telling=False)
    return Token(words.stem(word), start, end, telling=folded not in words.STOP_WORDS and word not in "%×")


class Aligned(NamedTuple):
    """Runs of equal tokens as (start in the sentence, start in the quote, length), and the gaps between them."""

    runs: tuple[tuple[int, int, int], ...]
    gaps: tuple[Gap, ...]


@lru_cache(maxsize=8_192)
def align(sentence: str, quote: str) -> Aligned:
    """The sentence laid along the quote."""
    mine, theirs = tokens(sentence), tokens(quote)
    if len(mine) > _LONGEST or len(theirs) > _LONGEST:
        return Aligned((), ())
    matcher = SequenceMatcher(None, [each.form for each in mine], [each.form for each in theirs], autojunk=False)
    runs = [
        (a, b, size)
        for a, b, size in matcher.get_matching_blocks()
        if size >= 3 or any(each.telling for each in mine[a : a + size])
    ]
    return Aligned(tuple(runs), tuple(_gaps(sentence, quote, runs)))


def _gaps(sentence: str, quote: str, runs: Sequence[tuple[int, int, int]]) -> Iterator[Gap]:
    mine, theirs = tokens(sentence), tokens(quote)
    edges = [(0, 0, 0), *runs, (len(mine), len(theirs), 0)]
    for (a, b, size), (a_next, b_next, size_next) in pairwise(edges):
        start, begin = a + size, b + size
        around = [*mine[a:start], *mine[a_next : a_next + size_next]]
        wide = a_next - start > _WIDEST or b_next - begin > _WIDEST
        moved = start == a_next and _within(theirs[begin:b_next], mine)
        if wide or moved or (start, begin) == (a_next, b_next) or sum(each.telling for each in around) < 2:
            continue
        yield Gap(
            _slice(sentence, mine[start:a_next]),
            _slice(quote, theirs[begin:b_next]),
            start,
            a_next,
        )


def _within(taken: Sequence[Token], all_of_it: Sequence[Token]) -> bool:
    """Whether the words stand elsewhere in the sentence, in a row."""
    return f" {' '.join(each.form for each in taken)} " in f" {' '.join(each.form for each in all_of_it)} "


def _slice(text: str, taken: Sequence[Token]) -> str:
    return words.plain(text)[taken[0].start : taken[-1].end] if taken else ""


def exchanged(sentence: str, quotes: Sequence[str]) -> Veto | None:
    """What a gap exchanges, where no other quote has the sentence's own words there."""
    laid = [align(sentence, quote) for quote in quotes]
    last = len(tokens(sentence))
    for one in laid:
        for gap in one.gaps:
            veto = _exchange(gap)
            if veto and not any(_covers(other, gap, last) for other in laid if other is not one):
                return veto
    return None


def left_over(sentence: str, quotes: Sequence[str]) -> str:
    """The sentence without the runs of `_LONG` words or more that one of the quotes has."""
    said = tokens(sentence)
    covered = {
        place
        for quote in quotes
        for start, _, size in align(sentence, quote).runs
        if size >= _LONG
        for place in range(start, start + size)
    }
    return " ".join(
        words.plain(sentence)[each.start : each.end] for place, each in enumerate(said) if place not in covered
    )


def _covers(aligned: Aligned, gap: Gap, last: int) -> bool:
    """Whether a run holds the gap with a word on either side."""
    start, end = max(0, gap.start - 1), min(last, gap.end + 1)
    return any(a <= start and end <= a + size for a, _, size in aligned.runs)


@lru_cache(maxsize=16_384)
def _exchange(gap: Gap) -> Veto | None:
    for check in (_number, _name, _negation, _opposites, _strength, _word):
        if veto := check(gap):
            return veto
    return None


def _differs(gap: Gap, *, hard: bool) -> Veto:
    said, quoted = gap.said or "nothing", gap.quoted or "nothing"
    return Veto(f"the cited passage says “{quoted}” where the sentence says “{said}”", hard)


def _number(gap: Gap) -> Veto | None:
    mine = {number.value for number in quantities.numbers(gap.said)}
    theirs = {number.value for number in quantities.numbers(gap.quoted)}
    return _differs(gap, hard=True) if mine - theirs and theirs - mine else None


def _name(gap: Gap) -> Veto | None:
    opens = gap.start == 0
    mine, theirs = _names(gap.said, opens), _names(gap.quoted, opens)
    return _differs(gap, hard=True) if mine - theirs and theirs - mine and not _same_thing(gap) else None


def _names(text: str, opens: bool = False) -> frozenset[str]:
    """Names in a gap; within a sentence, a capital on the first word makes a name too."""
    return words.names(text if opens else f"a {text}") - {"we", "our", "the", "this", "a", "in"}


def _same_thing(gap: Gap) -> bool:
    """Whether one side is the other in initials: NLP, natural language processing."""
    return _abbreviates(gap.said, gap.quoted) or _abbreviates(gap.quoted, gap.said)


def _abbreviates(short: str, long: str) -> bool:
    initials = "".join(word[0] for word in re.findall(r"[^\W_]+", long)).casefold()
    folded = re.sub(r"\W", "", short).casefold().removesuffix("s")
    return len(folded) > 1 and folded in initials


def _negation(gap: Gap) -> Veto | None:
    mine, theirs = (len(CUE.findall(DOUBLE.sub(" ", text))) for text in (gap.said, gap.quoted))
    return _differs(gap, hard=True) if mine % 2 != theirs % 2 else None


def _opposites(gap: Gap) -> Veto | None:
    mine, theirs = _forms(gap.said), _forms(gap.quoted)
    turned = any(opposite(one, other) for one in mine - theirs for other in theirs - mine)
    return _differs(gap, hard=True) if turned else None


def _strength(gap: Gap) -> Veto | None:
    """A word like may or some in the quote and none in the sentence; all or always in the sentence only."""
    trimmed = not gap.said and len(_telling(HEDGE.sub(" ", gap.quoted))) >= 2  # a whole clause was left out
    dropped = HEDGE.search(gap.quoted) and not HEDGE.search(gap.said) and not trimmed
    widened = UNIVERSAL.search(gap.said) and not UNIVERSAL.search(gap.quoted)
    return _differs(gap, hard=False) if dropped or widened else None


def _word(gap: Gap) -> Veto | None:
    mine, theirs = _telling(gap.said), _telling(gap.quoted)
    lost = theirs - mine
    if not lost or _same_thing(gap):
        return None
    # "The method" for a name says less; "the method" for a theorem says something else.
    general = FRAME if lost <= FRAME or _names(gap.quoted) else frozenset()
    strange = [one for one in mine - theirs - general if not any(alike(one, other) for other in lost)]
    return _differs(gap, hard=False) if strange else None


def _forms(text: str) -> set[str]:
    return {each.form for each in tokens(text)}


def _telling(text: str) -> set[str]:
    return {each.form for each in tokens(text) if each.telling}
