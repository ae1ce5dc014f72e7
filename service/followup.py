"""A follow-up and its conversation -> a question that stands alone, without a model (pure).

"Does it treat keys and values the same way?" finds nothing by itself. Where a question leans on what was said, the
topic of the last question that stood alone is carried over in front of it.
"""

import re
from collections.abc import Sequence

from service import words
from service.domain import Turn

_LEANS = re.compile(
    r"\b(?:it|its|they|them|their|theirs|this|that|these|those|he|she|his|her|there|such|the (?:paper|method"
    r"|authors?|model|approach|benchmark|data ?set|study|work|"
    r"same|former|latter|two|first|second|other)|which one|that one|of them|of these|of those|one)\b|^\W*(?:and"
    r"|but|so|then|also|what about|how about|why)\b",
    re.IGNORECASE,
)
_MARKS = re.compile(r"\s*\[\d+\]")
_SHORT = 3


def leans(question: str) -> bool:
    """Whether `question` needs what was said before it."""
    return _LEANS.search(question) is not None or len(words.stems(question)) < _SHORT


def standalone(question: str, history: Sequence[Turn]) -> str:
    """`question` with the topic of the conversation in front of it, where it leans on one."""
    if not history or not leans(question):
        return question
    topic = next((turn.content for turn in reversed(history) if turn.role == "user" and not leans(turn.content)), None)
    topic = topic or next((turn.content for turn in reversed(history) if turn.role == "user"), None)
    return f"{_MARKS.sub('', topic).strip()} {question}" if topic else question
