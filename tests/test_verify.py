"""Verdicts: what holds is supported by exact words, and what only sounds like it is not."""

import pytest

from service.evidence import Evidence
from service.minilm import MiniLM
from service.verify import Verifier
from vectorstore.paper import Paper, Passage

BIDST = (
    "Dynamic Sparse Training (DST) is an effective approach. BiDST excels at discovering excellent sparse patterns by "
    "optimizing mask and weight simultaneously, resulting in maximum 2.62% higher accuracy, 2.1$\\times$ faster "
    "execution speed, and 25$\\times$ reduced overhead."
)
USIS = (
    "We construct the first large-scale underwater salient instance segmentation dataset (USIS10K), which contains "
    "10,632 underwater images with pixel-level annotations in 7 categories from various underwater scenes. Existing "
    "methods do not generalize to underwater scenes."
)
ADAM = "We show that Prodigy outperforms DoG on all benchmarks. Adam requires a tuned rate. It works without labels."


def evidence(*abstracts: str) -> list[Evidence]:
    papers = [Paper(f"p{number}", abstract) for number, abstract in enumerate(abstracts, 1)]
    return [
        Evidence(number, Passage(paper.paper_id, 0, len(paper.abstract), paper.abstract), paper, f"{paper.paper_id}:0-")
        for number, paper in enumerate(papers, 1)
    ]


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    return Verifier(evidence(BIDST, USIS, ADAM), MiniLM().token_vectors)


@pytest.mark.parametrize(
    ("sentence", "cited"),
    [
        ("BiDST is up to 2.62% more accurate.", 1),
        ("BiDST excels at discovering excellent sparse patterns by optimizing mask and weight simultaneously.", 1),
        ("BiDST reaches 2.1x faster execution and 25x reduced overhead.", 1),
        ("USIS10K contains 10632 underwater images with pixel-level annotations in seven categories.", 2),
        ("Existing methods do not generalise to underwater scenes.", 2),
        ("Prodigy outperforms DoG on all benchmarks.", 3),
    ],
)
def test_what_the_abstract_says_is_supported(verifier: Verifier, sentence: str, cited: int) -> None:
    check = verifier.check(sentence, [cited])
    assert check.verdict == "supported", check
    assert {quote.number for quote in check.quotes} == {cited}
    assert not check.repaired


@pytest.mark.parametrize(
    ("sentence", "cited", "why"),
    [
        ("BiDST is up to 9.3% more accurate.", 1, "number 9.3% is in no"),
        ("BiDST is 2.62 times more accurate.", 1, "another unit"),
        ("USIS10K contains 7 underwater images with pixel-level annotations.", 2, "belongs to something else"),
        ("USIS10K contains 10,632 categories from various underwater scenes.", 2, "belongs to something else"),
        (
            "SparseGPT excels at discovering excellent sparse patterns by optimizing mask and weight.",
            1,
            "name sparsegpt",
        ),
        ("Existing methods generalize to underwater scenes.", 2, "denies"),
        ("BiDST does not excel at discovering excellent sparse patterns.", 1, "denies"),
        ("DoG outperforms Prodigy on all benchmarks.", 3, "the other way round"),
        ("BiDST results in 2.62% lower accuracy.", 1, "says higher"),
        ("BiDST execution is 2.1x slower.", 1, "says faster"),
        ("It works with labels.", 3, "denies"),
        ("The moon is made of green cheese.", 1, ""),
    ],
)
def test_what_the_abstract_does_not_say_is_not_supported(
    verifier: Verifier, sentence: str, cited: int, why: str
) -> None:
    check = verifier.check(sentence, [cited])
    assert check.verdict != "supported", check
    assert why in (check.why or "")


def test_a_wrong_mark_is_repaired(verifier: Verifier) -> None:
    check = verifier.check("USIS10K contains 10,632 underwater images.", [1])
    assert check.verdict == "supported"
    assert check.repaired
    assert {quote.number for quote in check.quotes} == {2}


def test_a_missing_mark_is_found(verifier: Verifier) -> None:
    check = verifier.check("Prodigy outperforms DoG on all benchmarks.", [])
    assert (check.verdict, check.repaired) == ("supported", True)


def test_every_paper_that_says_it_is_cited() -> None:
    twice = Verifier(
        evidence("Foo trains three times faster than Bar.", "As known, Foo trains three times faster than Bar."),
        MiniLM().token_vectors,
    )
    check = twice.check("Foo trains 3 times faster than Bar.", [1, 2])
    assert [quote.number for quote in check.quotes] == [1, 2]


def test_two_sentences_of_an_abstract_carry_their_sum(verifier: Verifier) -> None:
    check = verifier.check("Prodigy outperforms DoG on all benchmarks, and Adam requires a tuned rate.", [3])
    assert check.verdict == "supported"
    assert len(check.quotes) == 2


def test_quotes_are_exact(verifier: Verifier) -> None:
    for sentence in ("BiDST is up to 2.62% more accurate.", "Nothing of the kind."):
        for quote in verifier.check(sentence, [1, 2, 3]).quotes:
            assert (BIDST, USIS, ADAM)[quote.number - 1][quote.start : quote.end] == quote.text


@pytest.mark.parametrize("sentence", ["", "...", "It is.", "[]", "😀"])
def test_words_without_content_are_not_supported(verifier: Verifier, sentence: str) -> None:
    assert verifier.check(sentence, [1]).verdict == "unsupported"


def test_without_evidence_nothing_is_supported() -> None:
    assert Verifier([], MiniLM().token_vectors).check("Foo is fast.", [1]).verdict == "unsupported"
