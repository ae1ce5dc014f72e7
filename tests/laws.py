"""The contract's laws about an Answer, as one function that any test can call."""

import re

from service.domain import Answer
from vectorstore.store import Store

# Any bracketed number that a lenient reader could take for a mark, in whatever brackets.
_LOOKS_LIKE_A_MARK = re.compile(r"[\[【［〔]{1,2}\s*(?:[A-Za-z.#^]{1,12}\s*)?(\d+)[^\]】］〕\n]{0,20}[\]】］〕]{1,2}")


def assert_lawful(answer: Answer, store: Store) -> None:
    """Laws 1, 2 and the shape of 3 and 4."""
    _citations_are_exact(answer, store)
    _marks_are_ours(answer)
    _sentences_are_slices(answer)
    if answer.status == "abstained":
        assert answer.reason
        assert not answer.citations
        assert not answer.answer


def _citations_are_exact(answer: Answer, store: Store) -> None:
    for citation in answer.citations:
        paper = store.paper(answer.provenance.collection, citation.paper_id)
        assert paper is not None, f"{citation.paper_id} is not in the collection"
        assert citation.quote
        assert paper.abstract[citation.start : citation.end] == citation.quote
        assert citation.passage_id in {hit.passage_id for hit in answer.hits}


def _marks_are_ours(answer: Answer) -> None:
    marks = [int(number) for number in _LOOKS_LIKE_A_MARK.findall(answer.answer)]
    assert list(dict.fromkeys(marks)) == [citation.number for citation in answer.citations]
    assert [citation.number for citation in answer.citations] == list(range(1, len(answer.citations) + 1))


def _sentences_are_slices(answer: Answer) -> None:
    end = 0
    for sentence in answer.sentences:
        assert answer.answer[sentence.start : sentence.end] == sentence.text
        assert sentence.start >= end
        end = sentence.end
        shown = {int(number) for number in _LOOKS_LIKE_A_MARK.findall(sentence.text)}
        assert shown == set(sentence.citations)
        if sentence.verdict == "supported":
            assert sentence.citations
        if sentence.verdict == "unsupported":
            assert not sentence.citations
