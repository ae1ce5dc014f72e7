"""Mark-up in abstracts -> plain text; what only looks like mark-up stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectorstore.readers.markup import plain
from vectorstore.readers.values import tidy, tidy_abstract


@pytest.mark.parametrize(
    "text",
    [
        "if a<b and c>d",
        "x <i and y> z",
        "the mean <p> of p",
        "<think>no tag of ours</think>",
        "P < 0.001, n > 5",
        "see <https://example.org>",
        r"$r<s$ and $\langle x \rangle$",
        "a <b> b, never closed",
    ],
)
def test_what_only_looks_like_a_tag_stays(text: str) -> None:
    assert plain(text) == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("The (<i>APOE</i>) gene, <i>CD33 (</i>x)", "The (APOE) gene, CD33 (x)"),
        ("CO<sub>2</sub> and Ca<sup>2+</sup>", "CO2 and Ca2+"),
        ("10<sup>5</sup> and 10<sup> -3 </sup>", "10^5 and 10^-3"),
        ("One.<br>Two.<br/>Three.", "One.\nTwo.\nThree."),
        ('<p class="a">One.</p><p>Two.</p>', "One.\n\nTwo."),
        ("<jats:p>It is <jats:italic>in vitro</jats:italic>.</jats:p>", "It is in vitro."),
        ("<jats:sec><jats:title>Aims:</jats:title><jats:p>To see.</jats:p></jats:sec>", "Aims: To see."),
        ("&lt;b&gt;bold&lt;/b&gt;", "bold"),
        ("&amp;lt;b&amp;gt;bold&amp;lt;/b&amp;gt;", "bold"),
        ("one <!-- two --> three", "one  three"),
        (
            "<jats:alternatives><jats:inline-graphic/><jats:tex-math>$H^{*}$</jats:tex-math></jats:alternatives>",
            "$H^{*}$",
        ),
        (
            '<math><mi>M</mi><mml:mi>n</mml:mi><annotation encoding="x-tex">M_n</annotation></math> grows',
            "$M_n$ grows",
        ),
        ("<math><mi>M</mi> <mo>=</mo> <mn>2</mn></math>", "M=2"),
        (
            "<tex-math>\\documentclass{minimal}\\begin{document}$$x_1$$\\end{document}</tex-math>",
            "$$x_1$$",
        ),
    ],
)
def test_mark_up_goes_and_formulas_stand_once(text: str, cleaned: str) -> None:
    """traps.md 7: JATS tags, unbound prefixes, doubled formulas, doubly encoded entities."""
    assert tidy(text).strip() == cleaned


PIECES = ["<i>", "</i>", "<sup>2</sup>", "10", "<jats:title>A", "</jats:title>", "&lt;", "&amp;", "b>", "<", ">", "<p>"]


@given(st.lists(st.sampled_from([*PIECES, "<!--", "-->", "</p>", "<math>", "</math>", " ", "Abstract"])).map("".join))
def test_tidying_twice_is_tidying_once(text: str) -> None:
    assert tidy(tidy(text)) == tidy(text)
    assert tidy_abstract(tidy_abstract(text)) == tidy_abstract(text)
