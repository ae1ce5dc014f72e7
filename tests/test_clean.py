"""Cleaning takes what is no text, and leaves every letter, number and formula."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectorstore.clean import clean, clean_abstract, why_no_abstract


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\x00b\x07c", "abc"),
        ("a\ud800b", "ab"),
        ("soft\u00adhyphen zero\u200bwidth \ufeffmark", "softhyphen zerowidth mark"),
        ("eﬃcient ﬁne", "efficient fine"),
        ("A &amp; B &lt; C &#946; &beta;", "A & B < C β β"),
        ("A &amp;amp; B", "A & B"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("e\u0301", "é"),
        ("  edge  ", "edge"),
        ("50\u00a0%", "50 %"),
    ],
)
def test_what_is_no_text_goes(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@pytest.mark.parametrize(
    "text",
    [
        r"$\frac{3}{2}$ \& {x} $name",
        "p < 0.05 & q",
        "👩\u200d🔬 works",
        "שלום مرحبا",
        "AT&T; R&D",
        "a_b^c ~ {% raw %}",
        "10 µm ± 2",
    ],
)
def test_what_is_text_stays(text: str) -> None:
    assert clean(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Abstract: We show it.", "We show it."),
        ("ABSTRACT\nWe show it.", "We show it."),
        ("AbstractWe show it.", "We show it."),
        ("Summary - We show it.", "We show it."),
        ("Abstract interpretation is sound.", "Abstract interpretation is sound."),
        ("Abstractive summaries are short.", "Abstractive summaries are short."),
    ],
)
def test_the_word_abstract_in_front_goes_where_it_is_a_label(text: str, cleaned: str) -> None:
    assert clean_abstract(text) == cleaned


@given(st.text())
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    assert clean(text).isprintable() or set(clean(text)) - set(" ")


@given(st.text())
def test_what_is_cleaned_can_be_written(text: str) -> None:
    clean_abstract(text).encode("utf-8")
    assert "\x00" not in clean_abstract(text)


def test_an_abstract_of_no_words_is_none() -> None:
    assert why_no_abstract("...") == "no abstract"
    assert why_no_abstract("We show it.") is None
