"""A follow-up and its conversation -> a question that stands alone, without a model (pure).

"Does it treat keys and values the same way?" finds nothing by itself. Where a question leans on what was said, the
topic of the last question that stood alone is carried over in front of it.
"""

import re
from collections.abc import Sequence

from service import words
from service.domain import Turn

_POINTS = re.compile(
    r"\b(?:does|do|did|is|was|are|were|can|has|would|about|of|than|like|on|in|with|by|to|from|isn't) that\b(?! \w+ed\b)"
    r"|\bthat (?:one|paper|method|model|approach|benchmark|data ?set|study|work|case|help|save|mean|hold|give|cost)\b"
    r"|\b(?:that|there|then|too|instead|else|one)\W*$|\b(?:which|this|the) one\b|\b(?:of|between) (?:these|those)\b"
    r"|\bsuch (?!as\b)"
    r"|\bthe (?:paper|method|authors?|model|approach|benchmark|data ?set|study)\b(?! (?:on|of|that|by|about)\b)"
    r"|\bthe (?:former|latter|two|other)\b|^\W*(?:and|but|so|then|also|what about|how about)\b|^\W*\w+ (?:one|of)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:it|they|them|this|these|those|he|she)\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"\b(?:its|their|theirs|his|her)\b", re.IGNORECASE)
_MARKS = re.compile(r"\s{0,3}\[\d{1,9}\]")
_SHORT = 3
_LAST_TURNS = 6
_LONGEST_TURN = 1_000


def leans(question: str) -> bool:
    """Whether `question` needs what was said before: it points there, or a pronoun of it stands for nothing in it."""
    if _POINTS.search(question) or (len(words.stems(question)) < _SHORT and not words.names(question)):
        return True
    return _unbound(_PRONOUN, question, 2) or _unbound(_POSSESSIVE, question, 1)


def _unbound(pronoun: re.Pattern[str], question: str, most: int) -> bool:
    """Whether a pronoun comes after so few words that it can hardly stand for one of them."""
    match = pronoun.search(question)
    return match is not None and len(words.stems(question[: match.start()])) <= most


def standalone(question: str, history: Sequence[Turn]) -> str:
    """`question` with the topic of the conversation in front of it, where it leans on one."""
    if not history or not leans(question):
        return question
    asked = [_said(turn) for turn in reversed(history) if turn.role == "user"]
    topic = next((said for said in asked if not leans(said)), asked[0] if asked else "")
    return f"{topic} {question}" if topic else question


def transcript(history: Sequence[Turn]) -> str:
    """The last turns of a conversation as lines, without the marks of earlier answers."""
    return "\n".join(f"{turn.role}: {_said(turn)}" for turn in history[-_LAST_TURNS:])


def _said(turn: Turn) -> str:
    """What counts of a turn: its beginning, without marks. Cut first: a turn may be long, and patterns are slow."""
    return _MARKS.sub("", turn.content[:_LONGEST_TURN]).strip()
