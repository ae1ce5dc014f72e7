"""No text, however odd, costs more than a moment: what reads drafts, questions and abstracts is linear enough."""

import time
from collections.abc import Callable

import pytest

from service import citations, evidence, followup, intent, quantities, spoken, vetoes, words
from vectorstore.clean import clean_abstract
from vectorstore.sentences import sentences

_ODD = (
    *(
        "[",
        "[1",
        "[1 ",
        "[1,",
        "[1-",
        "[source ",
        "$",
        "$ ",
        "<think>",
        "</think>",
        "<",
        "a.",
        "A. ",
        "e.g.",
        " ",
        "\n",
    ),
    *("1,", "1.1.", "\\[", "(", "not ", "x", "X1-", "hello ", "{", "```\n", "- ", "ignore ", "which papers ", "«»"),
    *("[1](http://", "Hi, ", "thanks "),
)
_READERS: dict[str, tuple[Callable[[str], object], int]] = {
    "marks": (lambda text: citations.read(text, {1, 2}), 9_000),
    "visible": (lambda text: citations.without_illegal(text, {1, 2}), 9_000),
    "spoken": (spoken.spoken, 9_000),
    "intent": (intent.not_a_question, 4_000),
    "leans": (followup.leans, 4_000),
    "words": (words.stems, 9_000),
    "numbers": (quantities.numbers, 9_000),
    "names": (words.names, 9_000),
    "neutral": (evidence.neutral, 60_000),
    "parse": (evidence.parse, 60_000),
    "sentences": (sentences, 60_000),
    "clean": (clean_abstract, 60_000),
    "vetoes": (lambda text: vetoes.disagreement(text[:1_500], text), 9_000),
    "containment": (lambda text: vetoes.containment(text, text), 9_000),
}


@pytest.mark.parametrize("name", _READERS)
def test_repetition_costs_no_more_than_a_moment(name: str) -> None:
    read, length = _READERS[name]
    for unit in _ODD:
        began = time.process_time()
        read((unit * length)[:length])
        assert time.process_time() - began < 2.0, unit


_DRAFTS = (
    "Foo is [" + ", ".join(map(str, range(1, 40))) + "] is it.",
    "[1" + " " * 5_000 + "x",
    "[no" + " " * 9_000,
    "[1-" + "9" * 5_000 + "] and [" + "9" * 5_000 + "].",
)


@pytest.mark.parametrize("draft", _DRAFTS)
def test_a_draft_cant_stop_the_service_with_a_mark(draft: str) -> None:
    began = time.process_time()
    citations.read(draft, {1, 2})
    citations.without_illegal(draft, {1, 2})
    evidence.parse(f"[{'9' * 5_000}]\n{draft}")
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize(
    "abstract",
    [
        "© " + " " * 3_000 + "x We do a thing.",
        "We study tails." + "\n" * 59_000 + "They are long.",
        "Burrows <" + " " * 58_000 + "x. They are deep.",
    ],
)
def test_an_abstract_cant_stop_the_service_with_white_space(abstract: str) -> None:
    began = time.process_time()
    clean_abstract(abstract)
    evidence.neutral(abstract)
    assert time.process_time() - began < 2.0
