"""Law 3, by one word: numbers, units, names, negations and directions that differ are never `supported`."""

import pytest

from service.evidence import Evidence
from service.minilm import MiniLM
from service.verify import Check, Verifier
from tests.pairs import FALSE, TRUE, Pair
from vectorstore.paper import Paper, Passage


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def checked(pair: Pair, minilm: MiniLM) -> Check:
    papers = [Paper(f"p{number}", quote) for number, quote in enumerate(pair.quotes, 1)]
    evidence = [
        Evidence(number, Passage(paper.paper_id, 0, len(paper.abstract), paper.abstract), paper, "")
        for number, paper in enumerate(papers, 1)
    ]
    return Verifier(evidence, minilm.token_vectors).check(pair.said, [item.number for item in evidence])


@pytest.mark.parametrize("pair", FALSE, ids=lambda pair: f"{pair.kind}: {pair.said}")
def test_false_by_one_word_is_not_supported(pair: Pair, minilm: MiniLM) -> None:
    check = checked(pair, minilm)
    assert check.verdict != "supported", (pair.quotes, check)


@pytest.mark.parametrize("pair", TRUE, ids=lambda pair: f"{pair.kind}: {pair.said}")
def test_true_in_other_words_is_supported(pair: Pair, minilm: MiniLM) -> None:
    check = checked(pair, minilm)
    assert check.verdict == "supported", (pair.quotes, check)
