"""Follow-ups without a model: the topic is carried over, and only where it is needed."""

import time

import pytest

from service.domain import Turn
from service.followup import standalone, transcript

TALK = (
    Turn(role="user", content="How can I quantise an LLM's KV cache to two bits?"),
    Turn(role="assistant", content="KIVI is a tuning-free 2-bit scheme [1]."),
)


@pytest.mark.parametrize(
    "question", ["Does it treat keys and values the same way?", "And how much memory does that save?", "Why?"]
)
def test_a_question_that_leans_gets_the_topic(question: str) -> None:
    alone = standalone(question, TALK)
    assert alone == f"How can I quantise an LLM's KV cache to two bits? {question}"


def test_the_topic_is_the_last_question_that_stood_alone() -> None:
    talk = (
        *TALK,
        Turn(role="user", content="And how much memory does that save?"),
        Turn(role="assistant", content="2.6 times."),
    )
    assert standalone("Which GPUs were they run on?", talk).startswith("How can I quantise")


def test_a_question_that_stands_alone_stays() -> None:
    question = "Which benchmarks test agents operating websites?"
    assert standalone(question, TALK) == question


def test_without_history_nothing_changes() -> None:
    assert standalone("And that?", ()) == "And that?"


def test_marks_of_earlier_answers_are_not_carried() -> None:
    talk = (Turn(role="user", content="What is KIVI [8]?"),)
    assert standalone("Is it fast?", talk) == "What is KIVI? Is it fast?"


def test_a_long_turn_costs_little_and_is_cut() -> None:
    talk = (Turn(role="user", content="What is KIVI?" + " " * 19_000 + "x"),)
    began = time.monotonic()
    assert standalone("Is it fast?", talk) == "What is KIVI? Is it fast?"
    assert len(transcript(talk)) < 100
    assert time.monotonic() - began < 0.5
