"""The draft as it arrives: what may be shown already, what must wait (pure).

However a stream is cut, the pieces given out add up to `without_illegal(spoken(draft))`: no mark is split, no illegal
one shown, no thought leaks. So text waits where what follows could still change it: from an open bracket or formula,
a tag that may be a thought, white space; and everything waits where the draft begins like JSON, a fence or a thought.
"""

import re
from collections.abc import Collection

from service.citations import without_illegal
from service.spoken import has_thought, spoken

_OPENS, _CLOSES = "[【［〔", "]】］〕"
# A mark is over once something stands behind it that is neither a further bracket nor a link.
_CLOSED_LAST = re.compile(r"[\]】］〕\\]{1,3}(?:\([^()\s]{0,300}\)?)?\Z")
_LONGEST_MARK = 160
_LONGEST_ANSWER = 4_000
_OPEN_TAG = re.compile(r"<(?:<[^<>\s]{0,40}>?|[^<>\s]{0,40})\Z")
_FORMULA = re.compile(r"\$(?=\S|\Z)[^$\n]{0,200}\Z")
_CLOSED_FORMULA = re.compile(r"\$(?=\S)[^$\n]{0,200}(?<=\S)\$(?!\d)")
_WAITS_WHOLE = ("{", "```", "[{", '["')


class Visible:
    """Feed it the pieces of a draft; it gives out what may be shown. `thinks`: wait for the end of the thoughts."""

    def __init__(self, sent: Collection[int], *, thinks: bool = False) -> None:
        self._sent = sent
        self._raw = ""
        self._given = ""
        self._thinks = thinks
        self._due = 0

    def feed(self, piece: str) -> str:
        """What became visible with this piece, perhaps nothing."""
        self._raw += piece
        if len(self._raw) < self._due:
            return ""
        # Each look costs the whole draft: the further it is beyond what answers take, the rarer they are.
        self._due = len(self._raw) + max(0, len(self._raw) - _LONGEST_ANSWER) // 32
        if self._waits():
            return ""
        return self._more(_settled(self._raw))

    def rest(self) -> str:
        """What is left once the draft has ended."""
        return self._more(self._raw)

    def _waits(self) -> bool:
        begun = self._raw.lstrip()
        if self._thinks and not has_thought(begun):
            return True
        return begun.startswith(_WAITS_WHOLE) or any(start.startswith(begun) for start in _WAITS_WHOLE)

    def _more(self, raw: str) -> str:
        seen = without_illegal(spoken(raw), self._sent)
        # Thoughts that end without having begun can't be taken back once shown: what follows them is shown behind.
        new = seen[len(self._given) :] if seen.startswith(self._given) else ""
        self._given += new
        return new


def _settled(raw: str) -> str:
    """The part of `raw` that nothing which may follow can change."""
    raw = _OPEN_TAG.sub("", raw)
    raw = raw[: _open_bracket(raw)].rstrip()
    line = raw[raw.rfind("\n") + 1 :]
    formula = _FORMULA.search(_CLOSED_FORMULA.sub(lambda match: " " * len(match.group()), line))
    return raw[: len(raw) - len(line) + formula.start()].rstrip() if formula else raw


def _open_bracket(raw: str) -> int:
    """Where the first bracket stands that is open, or closed with nothing behind it yet; else the end."""
    start = max(raw.rfind("\n") + 1, len(raw) - _LONGEST_MARK)
    opened: list[int] = []
    last = len(raw)
    for place in range(start, len(raw)):
        if raw[place] in _OPENS:
            opened.append(place)
        elif raw[place] in _CLOSES and opened:
            last = opened.pop()
    if opened:
        last = opened[0]
    elif not _CLOSED_LAST.search(raw):
        return len(raw)
    return last - 1 if last and raw[last - 1] == "\\" else last
