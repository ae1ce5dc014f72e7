"""Marks of every spelling, and what must never be taken for one."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.citations import as_text, read, with_marks, without_illegal

SENT = frozenset({1, 2, 3, 4})


def cited(draft: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(claim.text, claim.cited) for claim in read(draft, SENT).claims]


@pytest.mark.parametrize(
    "mark",
    [
        "[2]",
        "[ 2 ]",
        "[2.]",
        "[Source 2]",
        "[source: 2]",
        "[[2]]",
        "【2】",
        "［2］",
        "[^2]",
        "[#2]",
        "[Passage 2]",
        "[ref. 2]",
        "【2†L1-L3】",
        "\\[2\\]",
        "[２]",
    ],
)
def test_every_spelling_of_a_mark_is_understood(mark: str) -> None:
    assert cited(f"Foo is fast {mark}.") == [("Foo is fast.", (2,))]


@pytest.mark.parametrize(
    ("marks", "numbers"),
    [("[1, 2]", (1, 2)), ("[1-3]", (1, 2, 3)), ("[1][2]", (1, 2)), ("[1] [3]", (1, 3)), ("[1; 2]", (1, 2)),
     ("[1 and 2]", (1, 2)), ("[1，2]", (1, 2)),
     ("[Source 1, Source 3]", (1, 3)), ("[3–4]", (3, 4)), ("[2][2]", (2,))],
)  # fmt: skip
def test_lists_and_ranges(marks: str, numbers: tuple[int, ...]) -> None:
    assert cited(f"Foo is fast {marks}.") == [("Foo is fast.", numbers)]


def test_a_number_never_sent_is_gone_and_the_text_is_intact() -> None:
    found = read("Foo is 12 times faster [1][7]. In 2013 [12] it was new [3].", SENT)
    assert [claim.text for claim in found.claims] == ["Foo is 12 times faster.", "In 2013 it was new."]
    assert [claim.cited for claim in found.claims] == [(1,), (3,)]
    assert found.illegal == ("[7]", "[12]")


def test_a_list_keeps_its_legal_numbers() -> None:
    found = read("Foo [2, 9].", SENT)
    assert found.claims[0].cited == (2,)
    assert found.illegal == ("[2, 9]",)


@pytest.mark.parametrize(
    "text",
    [
        "It is so (Smith, 2020).",
        "p < 0.05 [",
        "1 < 2",
        "a[i] and x[:, 2:]",
        "the set $[n]$ of items",
        "In 2013, 25 of 30",
        "[sic] it is",
    ],
)
def test_prose_is_not_a_mark(text: str) -> None:
    found = read(text, SENT)
    assert "".join(claim.lead + claim.text for claim in found.claims) == text
    assert found.illegal == ()


def test_an_interval_is_text_with_its_digits() -> None:
    assert cited("Scores lie in [0, 1] here [2].") == [("Scores lie in ⟦0, 1⟧ here.", (2,))]
    assert cited("Let $x \\in [1]$ be so [2].") == [("Let $x \\in ⟦1⟧$ be so.", (2,))]


@pytest.mark.parametrize("placeholder", ["[n]", "[N]", "[citation needed]", "[Source]", "[?]", "[[n]]"])
def test_the_prompts_placeholder_is_dropped(placeholder: str) -> None:
    found = read(f"Foo is fast {placeholder}.", SENT)
    assert [claim.text for claim in found.claims] == ["Foo is fast."]
    assert found.illegal == (placeholder,)


def test_a_mark_cut_by_the_length_limit_is_dropped() -> None:
    assert cited("Foo is fast [1]. Bar is slow [1") == [("Foo is fast.", (1,)), ("Bar is slow", ())]


def test_taking_a_mark_out_makes_no_new_one() -> None:
    found = read("Foo [1[7]2] is fast.", SENT)
    assert "[12]" not in found.claims[0].text
    assert found.claims[0].cited == ()


def test_marks_belong_to_the_sentence_before_them() -> None:
    assert cited("Foo is fast. [1] Bar is slow. [2]") == [("Foo is fast.", (1,)), ("Bar is slow.", (2,))]
    assert cited("Foo is fast.[1][3] Bar is slow.[2]") == [("Foo is fast.", (1, 3)), ("Bar is slow.", (2,))]


def test_a_mark_as_subject_gets_words() -> None:
    assert cited("[1] shows that Foo is fast. [2] doubts it.") == [
        ("This paper shows that Foo is fast.", (1,)),
        ("This paper doubts it.", (2,)),
    ]


def test_bullets_and_lines_are_layout() -> None:
    found = read("Two ways:\n- Foo is fast [1]\n- Bar is 2.5 times slower [2]\n\n1. Qux [[4]]", SENT)
    assert [(claim.lead, claim.text, claim.cited) for claim in found.claims] == [
        ("", "Two ways:", ()),
        ("\n- ", "Foo is fast", (1,)),
        ("\n- ", "Bar is 2.5 times slower", (2,)),
        ("\n\n1. ", "Qux", (4,)),
    ]


def test_an_invented_link_behind_a_mark_is_gone() -> None:
    assert cited("Foo is fast [2](https://example.org/invented).") == [("Foo is fast.", (2,))]


@pytest.mark.parametrize(
    ("text", "numbers", "marked"),
    [
        ("It is so.", [1, 2], "It is so [1][2]."),
        ("It is so", [3], "It is so [3]"),
        ('He said "so."', [1], 'He said "so [1]."'),
        ("See https://example.org/a.b", [1], "See https://example.org/a.b [1]"),
        ("Is it?", [], "Is it?"),
        ("...", [1], "... [1]"),
    ],
)
def test_marks_go_before_the_final_punctuation(text: str, numbers: list[int], marked: str) -> None:
    assert with_marks(text, numbers) == marked


@given(st.text(alphabet=st.sampled_from("ab .[]【】1237,-n\n$\\()^#†s"), max_size=60))
def test_whatever_the_draft_no_bracketed_number_is_left(draft: str) -> None:
    found = read(draft, SENT)
    text = "".join(claim.lead + claim.text for claim in found.claims)
    assert not re.search(r"[\[【［]{1,2}\s*\d+\s*[\]】］]", text)
    assert all(set(claim.cited) <= SENT for claim in found.claims)


@given(st.text(max_size=80), st.text(max_size=80))
def test_digits_of_the_text_are_never_touched(before: str, after: str) -> None:
    plain = re.compile(r"[\[\]【】［］〔〕$]")
    before, after = plain.sub("", before), plain.sub("", after)
    found = read(f"{before} [7] {after}", SENT)
    digits = re.findall(r"\d", "".join(claim.lead + claim.text for claim in found.claims))
    assert digits == re.findall(r"\d", before + after) or _is_list_layout(before, after)


def _is_list_layout(before: str, after: str) -> bool:
    return any(re.match(r"[ \t]*\d{1,2}[.)][ \t]", line) for line in f"{before} {after}".split("\n"))


def test_without_illegal_keeps_what_was_said() -> None:
    assert without_illegal("Foo [1][9]. Bar [ 2 ] [n].", SENT) == "Foo [1]. Bar [ 2 ]."


@pytest.mark.parametrize(
    "mark", ["[**1**]", "[_1_]", "[\u200b1]", "[1\u200b]", "[chunk 1]", "[hit 1]", "[item 1]", "[id 1]", "[see 1]",
             "[p. 1]", "[see passage 1]"]
)  # fmt: skip
def test_marks_in_disguise_are_marks(mark: str) -> None:
    claims = read(f"Foo is fast {mark}.", {1})
    assert [(claim.text, claim.cited) for claim in claims.claims] == [("Foo is fast.", (1,))]
    assert without_illegal(f"Foo is fast {mark}.", {2}) == "Foo is fast."
    assert read(f"Foo is fast {mark}.", {2}).illegal == (mark,)


def test_unseen_letters_do_not_split_a_number() -> None:
    assert read("Foo is fast [1\u200b2].", {1, 2}).illegal == ("[1\u200b2]",)


def test_a_placeholder_of_an_abstract_stays_its_text() -> None:
    assert as_text("the vector [n] has length n") == "the vector ⟦n⟧ has length n"
    assert read(as_text("the vector [n] has length n"), {1}).illegal == ()


def test_an_endless_end_costs_little() -> None:
    began = time.monotonic()
    assert with_marks("x" + "!" * 50_000 + "y", [1]).endswith("y [1]")
    for draft in ("[" + "*" * 20_000, "[1" + "\u200b" * 20_000, "[see " * 5_000, "[1," + "1," * 9_000):
        read(draft, {1})
    assert time.monotonic() - began < 2
