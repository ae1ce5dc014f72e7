"""Drafts of a model that lies: seeded, endless, in every way the checks must withstand."""

import random
import re
from collections.abc import Sequence

from vectorstore.sentences import sentences

_MARKS = (
    "[{}]",
    "[ {} ]",
    "[{}.]",
    "[Source {}]",
    "[[{}]]",
    "【{}】",
    "【{}†L1-L2】",
    "[^{}]",
    "\\[{}\\]",
    "[{}](https://invented.example)",
    "[ref. {}]",
)
_INVENTED = (
    "The method was trained on 512 GPUs for 93 days",
    "SuperNetXL-9 outperforms everything by 77.7%",
    "As shown by Smith et al. (2019), the effect is well known",
    "This holds with p < 0.0001 in all 48 trials",
    "The authors received the Turing award for it",
    "It costs $5 million per run",
)
_WRAPS = (
    "{}",
    "{}",
    "{}",
    "- {}",
    "1. {}",
    "**{}**",
    '"{}"',
    "<think>{}</think>{}",
    "According to the passages, {}",
    "```\n{}\n```",
    '{{"answer": "{}"}}',
)


class Liar:
    """Turns the sentences of abstracts into drafts, true and false mixed. Equal seeds give equal drafts."""

    def __init__(self, seed: int, abstracts: Sequence[str], sent: int) -> None:
        self._random = random.Random(seed)
        self._truths = [abstract[start:end] for abstract in abstracts for start, end in sentences(abstract)]
        self._sent = sent

    def draft(self) -> str:
        """One draft of one to six sentences."""
        lines = [self._line() for _ in range(self._random.randint(1, 6))]
        draft = self._random.choice((" ", "\n", "\n\n")).join(lines)
        return draft[: self._random.randint(1, len(draft))] if self._random.random() < 0.15 else draft

    def _line(self) -> str:
        text = self._random.choice(
            (self._true, self._true, self._wrong_number, self._negated, self._swapped_name, self._invented)
        )()
        marked = f"{text.rstrip('.')} {self._marks()}." if self._random.random() < 0.7 else f"{text} {self._marks()}"
        return self._random.choice(_WRAPS).replace("{}", marked).replace("{{", "{").replace("}}", "}")

    def _marks(self) -> str:
        return "".join(self._mark() for _ in range(self._random.choice((0, 1, 1, 1, 2, 3))))

    def _mark(self) -> str:
        number = self._random.choice((self._random.randint(1, max(1, self._sent)), self._random.randint(0, 400)))
        if self._random.random() < 0.1:
            return self._random.choice(
                ("[1, 2, 99]", "[2-40]", "[n]", "[citation needed]", "[1[7]2]", "[0]", "[-3]", "[٣]", "[１２]")
            )
        return self._random.choice(_MARKS).format(number)

    def _true(self) -> str:
        return self._random.choice(self._truths)

    def _wrong_number(self) -> str:
        text = self._true()
        return (
            re.sub(r"\d+", lambda match: str(int(match.group()) + self._random.randint(1, 900)), text)
            + f" by {self._random.randint(60, 99)}%"
        )

    def _negated(self) -> str:
        return re.sub(r"\b(is|are|can|does|show|we)\b", r"\1 not", self._true(), count=1)

    def _swapped_name(self) -> str:
        return re.sub(r"\b[A-Z]\w*[A-Z]\w*\b", self._random.choice(("ZyxNet", "QWOP-7", "BERTina")), self._true())

    def _invented(self) -> str:
        return self._random.choice(_INVENTED)
