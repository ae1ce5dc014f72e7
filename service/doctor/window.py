"""The true context window: how much to send next, and what it means (pure but for `filler`'s counting).

A secret word stands at the very beginning of a prompt of growing length and is asked back. A server that cuts the
beginning off without a word (Ollama's /v1 does, at 4,096 tokens) loses it. Where a model is too weak to say any word
back, the prompt tokens that the endpoint counts tell the same. Lengths are in tokens of the model, as far as its own
counts let us know them.
"""

import re
from collections.abc import Sequence
from itertools import cycle, islice
from typing import NamedTuple

from service import tokens
from service.config import Llm
from service.doctor.findings import Finding, Mark, tokens_said

WORD = "zanzibar"
SHORTEST = 256
# Beyond this a look costs more than it tells.
MOST = 32_768
_GROWTH = 4
_MOST_STEPS = 10
# A count below this share of what was sent means that the rest was not read.
_READ = 0.8
# Lengths are aimed at, and met about so well.
_WHOLE = 0.93
_SMALLEST_SETTING = 1_024
_FILLER = (
    "The river was low that summer, and the boats lay on the bank.",
    "A clerk counted the sacks twice and wrote the number down.",
    "Nobody in the village remembered who had built the bridge.",
    "In the evening the lamps were lit one after another.",
    "The baker closed early and walked home by the canal.",
    "Two children carried a ladder across the market square.",
    "Rain had been promised for days, but none had come.",
)
_NAMED = re.compile(
    r"(?:context[ _](?:length|size|window)|maximum model length|configured limit|maximum number of tokens)"
    r"[^\d]{0,30}(\d[\d,]{2,8})",
    re.IGNORECASE,
)


class Step(NamedTuple):
    """One prompt of about `sent` tokens: how many the endpoint counted (0: it does not say), whether the secret came
    back, whether the prompt was refused as too long, and the window that the refusal names.
    """

    sent: int
    counted: int = 0
    recalled: bool = False
    refused: bool = False
    named: int | None = None
    seconds: float = 0.0


def prompt(length: int, ratio: float, turn: int) -> list[tuple[str, str]]:
    """Messages of about `length` tokens, at `ratio` tokens of the model to one of tiktoken.

    Each `turn` begins its filler elsewhere, so that a server's cache can't make its counts smaller.
    """
    words = filler(max(0, round(length / ratio) - 60), turn)
    return [
        ("system", f"The secret word is {WORD}. You are asked for it at the end."),
        ("user", f"{words}\n\nWhat is the secret word? Reply with that word only."),
    ]


def filler(count: int, turn: int) -> str:
    """Plain sentences of at most `count` tokens."""
    begin = turn % len(_FILLER)
    several = [*_FILLER[begin:], *_FILLER[:begin]]
    whole, rest = divmod(count, sum(map(_cost, several)))
    some = list(islice(cycle(several), whole * len(several)))
    for sentence in several:
        rest -= _cost(sentence)
        if rest < 0:
            break
        some.append(sentence)
    return " ".join(some)


def _cost(sentence: str) -> int:
    return tokens.count(f" {sentence}")


def window_named(refusal: str) -> int | None:
    """The window that an endpoint's refusal of a long prompt names."""
    found = _NAMED.search(refusal)
    return int(found[1].replace(",", "")) if found else None


def longest(llm: Llm, room: int) -> int:
    """How many tokens to send at most: what the settings promise, less `room` for the reply."""
    return min(llm.context_window, MOST) - room - 32


def was_read(step: Step, *, recalls: bool) -> bool | None:
    """Whether all of a prompt was read; None where nothing tells."""
    if step.refused:
        return False
    if step.recalled:
        return True
    if step.counted:
        return step.counted >= _READ * step.sent
    return False if recalls else None


def next_length(steps: Sequence[Step], most: int) -> int | None:
    """How many tokens to send next; None when what was seen is enough. Never more than `most`."""
    if not steps:
        return min(SHORTEST, most)
    last = steps[-1]
    read = was_read(last, recalls=steps[0].recalled)
    if len(steps) >= _MOST_STEPS or (read is False and _is_told(last)):
        return None
    low, high = bounds(steps)
    if high is None:
        return None if low >= _WHOLE * most else min(most, low * _GROWTH)
    return None if low == 0 or high - low <= max(64, low // 16) else (low + high) // 2


def _is_told(failed: Step) -> bool:
    """Whether a step that failed says by itself how large the window is."""
    return failed.named is not None or (not failed.refused and failed.counted > 0)


def bounds(steps: Sequence[Step]) -> tuple[int, int | None]:
    """The longest prompt that was taken (0: none), and the shortest that was refused, or not read whole."""
    recalls = steps[0].recalled
    taken = [step.sent for step in steps if was_read(step, recalls=recalls) is not False]
    lost = [step.sent for step in steps if was_read(step, recalls=recalls) is False]
    return max(taken, default=0), min(lost, default=None)


def of_window(
    steps: Sequence[Step], most: int, llm: Llm, stated: int | None = None, trouble: str | None = None
) -> Finding:
    """What the steps say of the window, against `llm.context_window`.

    `stated` is what the endpoint's list of models says; `trouble` why no longer prompt was tried.
    """
    if not steps:
        return _finding("warning", f"can't be told: {trouble}", _by_hand(stated))
    low, high = bounds(steps)
    if high is not None:
        return _of_lost(steps, low, llm)
    if was_read(steps[0], recalls=False) is None:
        found = "can't be told: the model does not say a word back, and the endpoint counts no tokens"
        return _finding("note", found, _by_hand(stated))
    if low < _WHOLE * most:
        return _finding("note", f"at least {tokens_said(low)}; {trouble}")
    return _of_whole(steps, low, llm, stated)


def _of_whole(steps: Sequence[Step], low: int, llm: Llm, stated: int | None) -> Finding:
    """Nothing was lost: what is set holds, or as much of it as was tried."""
    told = [f"holds a prompt of {tokens_said(low)}"]
    if llm.context_window > MOST:
        told.append("longer ones are not tried")
    if not steps[0].recalled:
        told.append("by the endpoint's count, for the model is too weak to say a word back")
    if stated is not None and stated > llm.context_window:
        told.append(f"the endpoint states {stated:,}, so llm.context_window may be as large")
    forgot = next((step for step in steps if steps[0].recalled and not step.recalled), None)
    if forgot is None:
        return _finding("ok", "; ".join(told))
    told.append(f"but of {tokens_said(forgot.sent)} it no longer recalls the beginning")
    return _finding("warning", "; ".join(told), "set retrieval.top_k to less, if answers miss what was found")


def _of_lost(steps: Sequence[Step], low: int, llm: Llm) -> Finding:
    """A prompt was refused, or cut in silence. Which it was, and how large the window is then."""
    failed = next(step for step in reversed(steps) if was_read(step, recalls=steps[0].recalled) is False)
    if failed.named is not None and failed.named >= llm.context_window:
        return _finding("ok", f"{tokens_said(failed.named)}, as the endpoint says")
    if failed.refused:
        size = failed.named or low
        how = f"{tokens_said(size)}, and longer prompts are refused"
    elif failed.counted:
        size = failed.counted
        how = f"about {tokens_said(size)}: longer prompts are cut without a word, and the rules at their beginning lost"
    else:
        size = low
        how = f"of a prompt longer than {tokens_said(size)} the beginning is not seen: it is cut without a word"
    return _finding("fault", f"{how} (llm.context_window is {llm.context_window:,})", advice(size, llm))


def advice(size: int, llm: Llm) -> str:
    """Which setting to change for a window of `size` tokens."""
    size = size // 64 * 64
    if size < _SMALLEST_SETTING:
        return "start the server with a window of at least 2,048 tokens (llama.cpp divides -c by its slots)"
    wanted = f"set llm.context_window = {size}"
    if llm.max_output_tokens > size // 2:
        wanted += f" and llm.max_output_tokens = {size // 4}"
    return f"{wanted}, or start the server with a larger window"


def _by_hand(stated: int | None) -> str:
    if stated is None:
        return "set llm.context_window to what the server was started with"
    return f"set llm.context_window to {stated}, which the endpoint states"


def _finding(mark: Mark, found: str, change: str | None = None) -> Finding:
    return Finding("model", "context window", mark, found, change)
