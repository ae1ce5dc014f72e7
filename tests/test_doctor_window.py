"""The doctor's look for the true context window, against servers that are all made of numbers."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service import tokens
from service.config import Llm
from service.doctor import window
from service.doctor.window import Step, bounds, next_length, of_window, prompt, window_named
from tests.fake_replies import TOO_LONG


@dataclass
class Pretender:
    """A server with a window of so many tokens, and what it does with a longer prompt."""

    size: int
    refuses: bool = False
    names: bool = False
    counts: bool = True
    recalls: bool = True

    def step(self, sent: int) -> Step:
        whole = sent <= self.size
        if self.refuses and not whole:
            return Step(sent, refused=True, named=self.size if self.names else None)
        return Step(sent, min(sent, self.size) if self.counts else 0, recalled=self.recalls and whole)


def examined(server: Pretender, most: int) -> list[Step]:
    steps: list[Step] = []
    while (length := next_length(steps, most)) is not None:
        assert length <= most
        steps.append(server.step(length))
    return steps


SERVERS = st.builds(
    Pretender,
    size=st.integers(300, 200_000),
    refuses=st.booleans(),
    names=st.booleans(),
    counts=st.booleans(),
    recalls=st.booleans(),
)


@given(SERVERS, st.integers(1_024, 200_000))
def test_the_window_is_found_in_few_prompts_and_never_believed_larger(server: Pretender, configured: int) -> None:
    llm = Llm(context_window=configured, max_output_tokens=16)
    most = window.longest(llm, 32)
    steps = examined(server, most)
    found = of_window(steps, most, llm)
    assert len(steps) <= 10
    assert sum(step.sent for step in steps) <= 8 * most
    _, high = bounds(steps)
    if high is None:
        # A cut of less than a fifth can't be told by counts, which no two tokenizers agree on.
        assert server.size >= window._READ * most or not (server.counts or server.recalls or server.refuses)
        assert found.mark in {"ok", "note"} or server.size < most
        return
    assert server.size < most
    assert found.mark == "fault"
    assert found.change is not None
    if "set llm.context_window = " in found.change:
        wanted = int(found.change.split("set llm.context_window = ")[1].split()[0].strip(","))
        assert 0.8 * server.size - 64 <= wanted <= server.size
    else:
        assert server.size < 1_024 + 128


def test_a_silent_cut_at_4096_is_found_in_four_prompts() -> None:
    """Traps section 4: Ollama's /v1 ignores num_ctx and keeps the last 4,096 tokens only."""
    llm = Llm(context_window=8_192)
    most = window.longest(llm, 32)
    steps = examined(Pretender(4_096), most)
    assert len(steps) == 4
    found = of_window(steps, most, llm)
    assert found.mark == "fault"
    assert "about 4,096 tokens: longer prompts are cut without a word" in found.found
    assert found.change is not None
    assert found.change.startswith("set llm.context_window = 4096")


def test_a_cut_is_found_by_the_lost_word_where_nothing_is_counted() -> None:
    llm = Llm(context_window=8_192)
    most = window.longest(llm, 32)
    found = of_window(examined(Pretender(4_096, counts=False), most), most, llm)
    assert "the beginning is not seen" in found.found
    assert found.mark == "fault"


def test_a_model_that_says_no_word_back_and_counts_nothing_can_not_be_told() -> None:
    llm = Llm()
    steps = examined(Pretender(4_096, counts=False, recalls=False), 8_000)
    found = of_window(steps, 8_000, llm, stated=4_096)
    assert found.mark == "note"
    assert found.change == "set llm.context_window to 4096, which the endpoint states"


def test_a_model_that_read_everything_and_forgot_the_beginning_is_no_silent_cut() -> None:
    steps = [Step(256, 256, recalled=True), Step(1_024, 1_024, recalled=True), Step(4_000, 4_000)]
    found = of_window(steps, 4_000, Llm(context_window=4_096))
    assert found.mark == "warning"
    assert "of 4,000 tokens it no longer recalls the beginning" in found.found


def test_a_larger_window_than_configured_is_told() -> None:
    steps = [Step(256, 256, recalled=True), Step(8_100, 8_100, recalled=True)]
    found = of_window(steps, 8_100, Llm(), stated=131_072)
    assert found.mark == "ok"
    assert "131,072" in found.found


def test_what_stopped_the_look_is_told() -> None:
    steps = [Step(256, 256, recalled=True)]
    assert "at least 256 tokens; it fell over" in of_window(steps, 8_000, Llm(), trouble="it fell over").found
    none = of_window([], 8_000, Llm(), trouble="it fell over")
    assert none.mark == "warning"
    assert none.change == "set llm.context_window to what the server was started with"


def test_huge_windows_are_tried_in_part_only() -> None:
    llm = Llm(context_window=1_000_000)
    most = window.longest(llm, 32)
    steps = examined(Pretender(1_000_000), most)
    assert max(step.sent for step in steps) < 33_000
    assert "longer ones are not tried" in of_window(steps, most, llm).found


def test_the_advice_leaves_room_for_the_reply() -> None:
    change = window.advice(2_048, Llm(context_window=8_192, max_output_tokens=2_000))
    assert "llm.context_window = 2048 and llm.max_output_tokens = 512" in change


def test_a_refusal_that_names_the_configured_window_is_no_fault() -> None:
    """The length sent is an estimate where the endpoint counts nothing."""
    steps = [Step(256, recalled=True), Step(8_100, refused=True, named=8_192)]
    assert of_window(steps, 8_100, Llm()).mark == "ok"


@pytest.mark.parametrize(
    ("who", "size"),
    [
        ("openai", 8_192),
        ("openai-newer", 272_000),
        ("llama.cpp", 4_096),
        ("llama.cpp-older", None),
        ("vllm", 4_096),
        ("vllm-newer", 4_096),
        ("lm-studio", 4_096),
        ("ollama", None),
    ],
)
def test_the_window_is_read_from_refusals_of_every_server(who: str, size: int | None) -> None:
    raw = TOO_LONG[who].raw
    assert raw is not None
    assert window_named(raw.decode()) == size


@pytest.mark.parametrize("length", [256, 1_000, 5_000])
def test_prompts_have_the_length_that_is_asked_for(length: int) -> None:
    messages = prompt(length, 1.0, turn=3)
    assert abs(tokens.count("\n".join(text for _, text in messages)) - length) < 60
    assert window.WORD in messages[0][1]
    assert window.WORD not in messages[1][1]
    assert prompt(length, 1.0, turn=4)[1] != messages[1]
