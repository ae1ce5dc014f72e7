"""What a model sends around its prose, and when it says that there is no answer."""

import pytest

from service.reply import says_no_answer
from service.spoken import spoken


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
