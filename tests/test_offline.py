"""The extractive model: a LangChain chat model like any other, that answers in sentences of the evidence."""

import re

import pytest
from langchain_core.messages import HumanMessage, SystemMessage

import prompts
from service.evidence import Evidence, render
from service.minilm import MiniLM
from service.offline import NO_ANSWER, Extractive, trim
from vectorstore.paper import Paper, Passage

KIVI = (
    "Efficiently serving large language models requires batching. The key-value (KV) cache becomes the new bottleneck "
    "in speed and memory. In this paper, we develop a tuning-free 2-bit KV cache quantization algorithm named KIVI. "
    "Furthermore, KIVI enables models to use 2.6 times less peak memory. The source code is available at "
    "https://example.org/kivi."
)
PRUNE = (
    "Pruning removes weights. We show that gradual magnitude pruning enables value-based agents to maximize parameter "
    "effectiveness."
)


@pytest.fixture(scope="module")
def model() -> Extractive:
    return Extractive(embedding=MiniLM())


def ask(model: Extractive, question: str, *abstracts: str) -> str:
    papers = [Paper(f"p{number}", abstract) for number, abstract in enumerate(abstracts, 1)]
    numbered = [
        Evidence(number, Passage(paper.paper_id, 0, len(paper.abstract), paper.abstract), paper, "")
        for number, paper in enumerate(papers, 1)
    ]
    rendered = prompts.load("answer").render(evidence=render(numbered), question=question)
    return str(model.invoke([SystemMessage(rendered[0][1]), HumanMessage(rendered[1][1])]).content)


def test_it_says_what_answers_the_question_not_how_the_abstract_begins(model: Extractive) -> None:
    reply = ask(model, "Is there a way to quantize the KV cache to two bits without tuning?", KIVI, PRUNE)
    assert "tuning-free 2-bit KV cache quantization" in reply
    assert "Efficiently serving" not in reply


def test_a_number_is_answered_with_a_number(model: Extractive) -> None:
    reply = ask(model, "How much memory does KIVI save?", KIVI, PRUNE)
    assert "2.6 times less peak memory" in reply


def test_every_sentence_has_its_mark_and_is_verbatim_but_for_its_first_words(model: Extractive) -> None:
    reply = ask(model, "What is KIVI?", KIVI)
    assert re.fullmatch(r"(?:[^\[\]]+ \[1\]\.\s?)+", reply)
    for said in re.split(r" \[1\]\.\s?", reply)[:-1]:
        assert said[1:] in KIVI


def test_several_papers_are_cited_where_several_are_asked_for(model: Extractive) -> None:
    abstracts = [
        f"Weights are many. We propose method {name}, which prunes the weights of neural networks."
        for name in ("Foo", "Bar", "Baz")
    ]
    reply = ask(model, "Which methods prune the weights of neural networks?", *abstracts)
    assert {"[1]", "[2]", "[3]"} <= set(re.findall(r"\[\d\]", reply))


def test_where_to_get_the_code_is_said_only_when_asked(model: Extractive) -> None:
    assert "example.org" not in ask(model, "What is KIVI?", KIVI)
    assert "example.org" in ask(model, "Where is the source code of KIVI available?", KIVI)


def test_no_evidence_is_no_answer(model: Extractive) -> None:
    assert ask(model, "What is KIVI?") == NO_ANSWER


@pytest.mark.parametrize(
    "prompt",
    ["", "no tags here", "<evidence>\n</evidence>", "<evidence>\n[1]\n\n</evidence>\n<question>\n\n</question>"],
)
def test_a_prompt_of_another_kind_is_no_answer(model: Extractive, prompt: str) -> None:
    assert model.invoke(prompt).content == NO_ANSWER


def test_equal_prompts_give_equal_replies(model: Extractive) -> None:
    assert len({ask(model, "What is KIVI?", KIVI, PRUNE) for _ in range(3)}) == 1


@pytest.mark.parametrize(
    ("text", "trimmed"),
    [
        ("Furthermore, KIVI is fast.", "KIVI is fast."),
        ("In this paper, we show it.", "We show it."),
        ("To address this issue, we propose Foo.", "We propose Foo."),
        ("However, it fails.", "However, it fails."),
        ("Specifically, moreover, it works.", "It works."),
        ("First-order methods work.", "First-order methods work."),
    ],
)
def test_linking_words_are_trimmed(text: str, trimmed: str) -> None:
    assert trim(text) == trimmed
