"""Streaming a draft: however it is cut, the pieces add up to the whole, and no mark is ever split."""

import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.citations import without_illegal
from service.spoken import spoken
from service.visible import Visible
from tests.lying import Liar

SENT = frozenset({1, 2, 3})
DRAFTS = [
    "Foo is fast [1]. Bar is slow [7]. Baz [2, 3] is 【9】 odd.",
    "p < 0.05 [ and 1 < 2 [n] here [Source 8](https://x.example/y). End [1]",
    "<think>Let me see [1]</think>Foo is fast [1].",
    "In [0, 1] it costs $5 [9] and $x \\in [1]$ holds [1]. So $[n]$ [2].",
    "```\nFoo is fast [1].\n```",
    '{"answer": "Foo is fast [1].", "citations": [1]}',
    '[{"text": "Foo is fast", "citations": [1]}]',
    "Foo <b>bold</b> <thinkpad> is [[2]] [1][9][2].",
    "- Foo [1]\n- Bar [44]\n\n1. Baz [ 2 ]  ",
    "Foo [1[7]2] bar 【1†L1-L2】 baz [1",
    "",
    "NO ANSWER",
    "Foo is <|im_start|> fast [1].<|im_end|><eos>",
    "<｜begin▁of▁sentence｜>Foo [**9**] is [chunk 1] so.</s>",
]


def streamed(pieces: list[str]) -> list[str]:
    visible = Visible(SENT)
    return [*(visible.feed(piece) for piece in pieces), visible.rest()]


def whole(draft: str) -> str:
    return without_illegal(spoken(draft), SENT)


@pytest.mark.parametrize("draft", DRAFTS)
def test_cut_at_every_pair_of_points_it_is_the_whole(draft: str) -> None:
    for first in range(len(draft) + 1):
        for second in range(first, len(draft) + 1):
            pieces = streamed([draft[:first], draft[first:second], draft[second:]])
            assert "".join(pieces) == whole(draft), (first, second)


@pytest.mark.parametrize("draft", DRAFTS)
def test_letter_by_letter_no_mark_is_split(draft: str) -> None:
    for piece in streamed(list(draft)):
        assert not re.search(r"\[\s*\d+\s*$|^\s*\d+\s*\]", piece) or piece == whole(draft)


@given(
    draft=st.text(alphabet=st.sampled_from('ab12 .[]()【】$<>/\\n{}"`think-,'), max_size=60), seed=st.integers(0, 10**6)
)
def test_any_text_cut_anyhow_is_the_whole(draft: str, seed: int) -> None:
    cuts = sorted(random.Random(seed).randint(0, len(draft)) for _ in range(4))
    pieces = [draft[left:right] for left, right in zip([0, *cuts], [*cuts, len(draft)], strict=True)]
    if "</" not in draft:
        assert "".join(streamed(pieces)) == whole(draft)


def test_two_hundred_lies_cut_at_random() -> None:
    chance = random.Random(7)
    liar = Liar(7, ["We show that Foo is 3 times faster than Bar. It costs $5 and lies in [0, 1]."], 3)
    for _ in range(200):
        draft = liar.draft()
        pieces = []
        rest = draft
        while rest:
            size = chance.randint(1, 12)
            pieces.append(rest[:size])
            rest = rest[size:]
        if "</" not in draft or draft.startswith("<think>"):
            assert "".join(streamed(pieces)) == whole(draft), draft


def test_prose_is_not_held_back() -> None:
    visible = Visible(SENT)
    assert visible.feed("Foo is") == "Foo is"
    assert visible.feed(" fast and 1 < 2, p < 0.05") == " fast and 1 < 2, p < 0.05"
    assert visible.feed(" so") == " so"


def test_thoughts_without_a_beginning_never_show_where_the_model_is_known_to_think() -> None:
    visible = Visible(SENT, thinks=True)
    shown = [visible.feed(piece) for piece in ("Let me ", "see [1].", "</thi", "nk>", "Foo [1].")]
    assert "".join([*shown, visible.rest()]) == "Foo [1]."


def test_a_draft_ten_times_as_long_does_not_cost_a_hundred_times_as_much() -> None:
    def seconds(sentences: int) -> float:
        began = time.process_time()  # which other work on the machine does not lengthen
        pieces = streamed(["Foo is fast [1]. "] * sentences)
        taken = time.process_time() - began
        assert "".join(pieces) == whole("Foo is fast [1]. " * sentences)
        return taken

    assert seconds(4_000) < 40 * seconds(400)
