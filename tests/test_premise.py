"""What a question takes for granted, and the sentence that denies it."""

import pytest

from service.premise import contradicted, denied, presupposed
from vectorstore.paper import Hit, Paper, Passage

FIRST = "Proteins are sequences."


@pytest.mark.parametrize(
    ("question", "abstract"),
    [
        ("Why does wildtype accuracy align with the goal of engineering?", "Wildtype accuracy does not align with it."),
        (
            "Why are contrastive methods so effective for gaze estimation?",
            "We reveal that contrastive methods are ineffective for gaze estimation.",
        ),
        (
            "Which experiments show that scaling simulation is sufficient for manipulation?",
            "We argue that scaling simulation is not sufficient for manipulation.",
        ),
        (
            "Why do strong models perform worse than their weak supervisors?",
            "We find that strong models consistently perform better than their weak supervisors.",
        ),
        (
            "Which distributional assumptions do the thresholds need?",
            "The thresholds hold without any distributional assumptions.",
        ),
    ],
)
def test_the_sentence_that_denies_it_is_found(question: str, abstract: str) -> None:
    assert contradicted(question, [FIRST, abstract]) == 1


@pytest.mark.parametrize(
    ("question", "abstract"),
    [
        ("Why does plain flow matching fail for sequences?", "We show that plain flow matching fails for sequences."),
        ("Does wildtype accuracy align with the goal?", "Wildtype accuracy does not align with the goal."),
        ("How can clients learn when there is no server?", "In SA-FL the server helps clients to learn."),
        ("Why is KIVI fast?", "Other methods are not fast."),
    ],
)
def test_what_is_so_or_only_asked_is_not_denied(question: str, abstract: str) -> None:
    assert contradicted(question, [FIRST, abstract]) is None


def test_a_title_in_the_question_is_no_part_of_the_premise() -> None:
    assert presupposed("Since 'Sand' proves that it is possible, how long is the key?") == "it is possible"


def test_the_quote_is_verbatim_and_of_the_best_paper_only() -> None:
    abstract = "Some text. Contrastive methods are ineffective for gaze estimation."
    hits = [
        Hit(Passage(name, 0, len(text), text), Paper(name, text), 1.0) for name, text in (("p", abstract), ("q", FIRST))
    ]
    found = denied("Why are contrastive methods so effective for gaze estimation?", hits)
    assert found is not None
    assert found.quote in abstract
    assert denied("Why are contrastive methods so effective for gaze estimation?", hits[::-1]) is None
