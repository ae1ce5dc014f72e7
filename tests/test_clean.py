"""What `clean` mends, what it leaves alone, and that it never needs a second time."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.conftest import ROOT
from vectorstore.clean import LONGEST, clean, clean_abstract, why_no_abstract

PIECES = [
    "Abstract",
    "Abstract: ",
    "Summary. ",
    "We show ",
    "&amp;",
    "amp;",
    "&#x80;",
    "&lt;i&gt;",
    "©",
    " 2015 Elsevier B.V. All rights reserved.",
    "(c) 2005 Wiley. ",
    "\r",
    "\n",
    "\n\n",
    "Ã©",
    "â€™",
    "\xad",
    "\x93",
    "e",
    "\u0301",
    "ﬁ",
    "\ud83d",
    "\x00",
    "\u200b",
    "\u3000",
    "- item one",
    "A line of text that is long enough to have been wrapped by something ",
]
TEXT = st.one_of(
    st.text(),
    st.text(st.characters()),  # surrogates too
    st.lists(st.sampled_from(PIECES)).map("".join),
)


@given(TEXT)
@example("Abstract: Abstract: Abstract We show")
@example("&amp;amp;amp;lt;")
@example("ÃƒÂ©tude")
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    assert clean_abstract(clean_abstract(text)) == clean_abstract(text)
    assert clean(clean_abstract(text)) == clean_abstract(text)


@given(TEXT)
def test_what_is_left_can_be_stored_and_shown(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert all(character.isprintable() or character == "\n" or ord(character) > 0xA0 for character in cleaned)
    assert "\x00" not in cleaned


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)).filter(lambda text: "&" not in text))
def test_plain_ascii_is_left_alone(text: str) -> None:
    assert clean(text) == text.strip()


@pytest.mark.parametrize(
    "text",
    [
        r"a rate of $\tilde{O}(\varepsilon^{-2})$ for $r>0$ and $\{1, \dots, n\}$",
        r"\frac{3}{2} \& \'etale {x} {{a}} {0} $name {% raw %} <think> `code`",
        "if a<b and c>d then R&D; AT&T &c. &it;",
        "p < 0.05, x_i  two  spaces, *last-iterate* convergence",
        "👩🏽\u200d💻 שלום می\u200cخواهم 漢字 naïve façade Ångström",
        "the French « LIBERTÉ » and É» alone, SÃO PAULO",
        "Müller and Ã©",
        "â€ and à\x80\x80".replace("\x80", "€"),
        "Abstractions are useful.",
        "Abstract reasoning is hard.",
        "Abstractive summaries are short.",
        "Summary-level data are used.",
        "Two lines\nof a poem",
        "An item (c) 2005 data points were taken.",
        "We list:\n- the first of several long items, which is as long as a wrapped line\n- the second",
    ],
)
def test_it_is_left_alone(text: str) -> None:
    assert clean_abstract(text) == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("one\x00 two\x07 \ud800three\udfff", "one two three"),
        ("soft\u00adly, zero\u200bwidth, \ufeffmarks", "softly, zerowidth, marks"),
        ("bro\u00ad\n  ken", "broken"),
        ("e\u0301tude", "étude"),
        ("ﬁne eﬀect, eﬃcient, ﬂow", "fine effect, efficient, flow"),
        ("10\u00a0000 and 5\u202f%", "10 000 and 5 %"),
        ("A &amp; B, 5 &lt; 6, &alpha;-helix, &#946;, &#x3b3;, &apos;", "A & B, 5 < 6, α-helix, β, γ, '"),
        ("doubly &amp;lt; encoded &amp;amp;amp; more", "doubly < encoded & more"),
        ("a surrogate &#55357; and nothing &#0;", "a surrogate \ufffd and nothing \ufffd"),
        ("\x93quoted\x94 \x96 it\x92s", "“quoted” – it’s"),
        ("GonzÃ¡lez wrote â€œIt isâ€\x9d", "González wrote “It is”"),
        ("cafÃ©", "café"),
        ("Î±-helix and Î²-sheet", "α-helix and β-sheet"),
        ("ÃƒÂ©tude", "étude"),
    ],
)
def test_it_is_mended(text: str, cleaned: str) -> None:
    """traps.md 7, noise: NUL, surrogates, soft hyphens, zero width, ligatures, entities, mojibake where certain."""
    assert clean(text) == cleaned


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Abstract: We show.", "We show."),
        ("ABSTRACT\n\nWe show.", "We show."),
        ("Abstract—We show.", "We show."),
        ("Abstract. Pruning works.", "Pruning works."),
        ("AbstractPruning works.", "Pruning works."),
        ("Abstract We show.", "We show."),
        ("Summary – Pruning works.", "Pruning works."),
        ("Summary - Pruning works.", "Pruning works."),
        ("Abstract: Abstract: We show.", "We show."),
        ("It works. © 2015 Elsevier B.V. All rights reserved.", "It works."),
        ("It works. (c) 2005 Wiley Periodicals, Inc.", "It works."),
        ("It works.\nCopyright (C) 2010 John Wiley & Sons, Ltd.", "It works."),
        ("© 2015 IEEE.In this paper we prune.", "In this paper we prune."),
        ("© 2015 Elsevier B.V. All rights reserved. We prune.", "We prune."),
    ],
)
def test_what_exports_glue_on_goes(text: str, cleaned: str) -> None:
    assert clean_abstract(text) == cleaned


def test_hard_wrapped_lines_are_joined_and_paragraphs_kept() -> None:
    line = "A line of text that is long enough to have been wrapped by something"
    assert clean_abstract(f"  {line}\n  {line} \nand so on.\n \n\nThe end.") == f"{line} {line} and so on.\n\nThe end."


def test_the_sample_needs_no_mending() -> None:
    text = (ROOT / "data" / "icml2024-sample.txt").read_text(encoding="utf-8").strip()
    assert clean(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "...",
        "[No abstract available]",
        "No abstract available.",
        "no abstract",
        "N/A",
        "None",
        "nan",
        "Summary form only given.",
        "Abstract unavailable",
        "Summary not available",
    ],
)
def test_what_says_nothing_is_no_abstract(text: str) -> None:
    assert why_no_abstract(text) == "no abstract"


def test_a_whole_text_is_no_abstract() -> None:
    assert why_no_abstract("We show it.") is None
    assert "characters" in (why_no_abstract("word " * LONGEST) or "")
