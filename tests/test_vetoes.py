"""Law 3: what the words of an abstract do not carry is never `supported`, however near it sounds.

The rules were made on one half of the ICML abstracts; these tests look at the other half.
"""

import gzip
import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

from service import vetoes
from service.evidence import Evidence
from service.minilm import MiniLM
from service.verify import Verifier
from tests.falsehoods import FALSE
from tests.variants import TRUE, Case, Maker, cases
from vectorstore.paper import Paper, Passage

PAPERS = 80
EACH = 15


@pytest.fixture(scope="module")
def unseen(shared: Path) -> list[Paper]:
    """Abstracts of the half that no rule was made on."""
    with gzip.open(shared / "data" / "corpora" / "icml2024.jsonl.gz", "rt", encoding="utf-8") as file:
        papers = [Paper(row["id"], row["abstract"]) for row in map(json.loads, file) if row["abstract"]]
    return [paper for paper in papers if hashlib.sha256(paper.paper_id.encode()).digest()[-1] % 2][:PAPERS]


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def accepted(papers: Sequence[Paper], makers: dict[str, Maker], minilm: MiniLM) -> dict[str, list[tuple[bool, Case]]]:
    """For each kind, whether each case is `supported`."""
    found: dict[str, list[tuple[bool, Case]]] = defaultdict(list)
    for case in cases(papers, makers, seed=7, count=EACH, sent=3):
        evidence = [
            Evidence(number, Passage(paper.paper_id, 0, len(paper.abstract), paper.abstract), paper, "")
            for number, paper in enumerate(case.papers, 1)
        ]
        check = Verifier(evidence, minilm.token_vectors).check(case.sentence, [1])
        found[case.kind].append((check.verdict == "supported", case))
    return found


def shares(found: dict[str, list[tuple[bool, Case]]]) -> dict[str, float]:
    return {kind: sum(yes for yes, _ in members) / len(members) for kind, members in found.items()}


def test_what_an_abstract_says_in_other_words_is_supported(unseen: list[Paper], minilm: MiniLM) -> None:
    found = accepted(unseen, TRUE, minilm)
    assert found.keys() == TRUE.keys()
    refused = [f"{case.kind}: {case.sentence}" for members in found.values() for yes, case in members if not yes]
    assert min(shares(found).values()) >= 0.85, "\n".join(refused)
    assert len(refused) <= 0.04 * sum(map(len, found.values())), "\n".join(refused)


def test_what_it_does_not_say_is_not(unseen: list[Paper], minilm: MiniLM) -> None:
    found = accepted(unseen, FALSE, minilm)
    assert found.keys() == FALSE.keys()
    believed = [f"{case.kind}: {case.sentence}" for members in found.values() for yes, case in members if yes]
    assert max(shares(found).values()) <= 0.15, "\n".join(believed)
    assert len(believed) <= 0.03 * sum(map(len, found.values())), "\n".join(believed)


SAID = "VLMs may generalize better to OOD data than VMs on some of the 12 benchmarks, without any labels."


@pytest.mark.parametrize(
    ("sentence", "hard"),
    [
        (SAID.replace("VLMs", "X").replace("VMs", "VLMs").replace("X", "VMs"), True),
        (SAID.replace("12", "13"), True),
        (SAID.replace("better", "worse"), True),
        (SAID.replace("without", "with"), True),
        (SAID.replace("may ", "may not "), True),
        (SAID.replace("may ", ""), False),
        (SAID.replace("some", "all"), False),
        (SAID.replace("data", "robots"), False),
        (SAID.replace(", without", " and run in real time on telephones, without"), False),
    ],
)
def test_one_thing_exchanged_is_noticed(sentence: str, hard: bool) -> None:
    assert vetoes.disagreement(SAID, SAID) is None
    veto = vetoes.disagreement(sentence, SAID)
    assert veto is not None
    assert veto.hard == hard, veto


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("The authors propose a method for robots.", "In this paper, we propose a method for robots."),
        ("It attains a higher accuracy.", "It achieves a higher accuracy."),
        ("A depends on B when C is known.", "When C is known, A depends on B."),
        ("COVID-19 patients recover.", "Here, COVID-19 patients recover."),
        ("Foo is outperformed by Bar on images.", "Bar outperforms Foo on images."),
    ],
)
def test_other_words_for_the_same_are_no_disagreement(sentence: str, quote: str) -> None:
    assert vetoes.disagreement(sentence, quote) is None


def test_a_further_quote_does_not_make_good_what_the_nearest_denies() -> None:
    nearest, other = "Risedronate decreased the risk of fractures.", "The dose increased over the years."
    veto = vetoes.disagreement("Risedronate increased the risk of fractures.", nearest, other)
    assert veto is not None
    assert veto.hard


def test_what_stands_in_another_quote_is_not_missing() -> None:
    quotes = ("Foo is fast on images.", "Bar needs 12 hours of training.")
    assert vetoes.disagreement("Foo is fast on images, and Bar needs 12 hours of training.", *quotes) is None
    assert vetoes.disagreement("Foo is fast on images, and Bar needs 12 hours of training.", quotes[0]) is not None
