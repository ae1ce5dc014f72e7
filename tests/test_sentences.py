"""Sentences of scientific prose: a quote must not be cut in two."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectorstore.sentences import sentences


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Methods such as SGD (e.g. with momentum) work.",
        "As shown by Smith et al. in 2020, it works.",
        "See Fig. 2 and Eq. 3 for details.",
        "It reaches 2.62% higher accuracy, i.e. more.",
        "J. Smith proved it.",
        "The code is at https://example.org/a.b.c and works.",
        "Let $f(x) = 1. Then$ it holds.",
        "It holds w.r.t. Some norm.",
        "Does it? yes, it does.",
        "Compared with U.S. Census data it works.",
        "Values vs. Baselines are shown.",
    ],
)
def test_no_sentence_is_cut_in_two(text: str) -> None:
    assert cut(text) == [text]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It works. We show it.", ["It works.", "We show it."]),
        ('He said "so." Then it ended.', ['He said "so."', "Then it ended."]),
        ("Is it so? We think so! It is.", ["Is it so?", "We think so!", "It is."]),
        ("Uses ReLU, etc. We show it.", ["Uses ReLU, etc.", "We show it."]),
        ("Pruned networks (90%). $L_2$ norms help.", ["Pruned networks (90%).", "$L_2$ norms help."]),
        ("これは文です。次の文です。", ["これは文です。", "次の文です。"]),
        ("One heading\n\nAnother paragraph", ["One heading", "Another paragraph"]),
        ("Proposed by Foo et al. However, it fails.", ["Proposed by Foo et al.", "However, it fails."]),
    ],
)
def test_sentences_end_where_they_end(text: str, found: list[str]) -> None:
    assert cut(text) == found


@given(st.text(max_size=300))
def test_sentences_hold_every_character_that_is_not_white_space(text: str) -> None:
    spans = sentences(text)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
    assert all(start < end for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
