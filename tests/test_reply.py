"""What a model sends around its prose, and when it says that there is no answer."""

from dataclasses import replace

import pytest

from service.premise import Denial
from service.reply import Found, says_no_answer, too_little
from service.spoken import spoken
from vectorstore.paper import Hit, Paper, Passage


@pytest.mark.parametrize(
    "draft",
    [
        "NO ANSWER",
        "**No answer.**",
        "NO_ANSWER\n\nThe passages are silent.",
        "No answer: they don't say.",
        "NO ANSWER [1]",
    ],
)
def test_a_refusal_is_one(draft: str) -> None:
    assert says_no_answer(draft)


@pytest.mark.parametrize("draft", ["No answer key is needed [1].", "No answer-only labels are used [1].", ""])
def test_an_answer_that_begins_like_a_refusal_is_none(draft: str) -> None:
    assert not says_no_answer(draft)


@pytest.mark.parametrize(
    "draft",
    [
        "Foo is fast [1].<|im_end|>",
        "<｜begin▁of▁sentence｜>Foo is fast [1].<eos>",
        "[INST]Foo is fast [1].</s>",
        "<<SYS>><think>Hm</think>Foo is fast [1].<</SYS>>",
    ],
)
def test_control_words_are_not_spoken(draft: str) -> None:
    assert spoken(draft) == "Foo is fast [1]."


TEXT = "Sharp claims do not hold."
PAPER = Paper("p", TEXT, "On Claims")
HITS = (Hit(Passage("p", 0, len(TEXT), TEXT), PAPER, 1.0),)
FOUND = Found("?", HITS, 0.1, 1, "i", filtered=False)


def test_a_paper_on_the_topic_that_does_not_say_it_is_named() -> None:
    assert "“On Claims”" in str(too_little(replace(FOUND, topic=0.9), 0.25))


def test_nothing_on_the_topic_names_no_paper() -> None:
    assert "“On Claims”" not in str(too_little(FOUND, 0.25))


def test_a_denied_premise_is_answered_with_the_quote_however_sure() -> None:
    sure = replace(FOUND, confidence=0.9)
    assert too_little(sure, 0.25) is None
    reason = str(too_little(replace(sure, denied=Denial(PAPER, TEXT)), 0.25))
    assert "“On Claims”" in reason
    assert f"“{TEXT}”" in reason
