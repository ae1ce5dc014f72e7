"""Questions that take something for granted which the abstract denies: "Why does X fail?" of an X that works (pure).

What a question presupposes is cut out of its own words, and held against the sentence that speaks of the same with the
checks that hold a draft against its quotes.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from service import vetoes, words
from vectorstore.paper import Hit, Paper
from vectorstore.sentences import sentences

# Below this share of its words in one sentence, the sentence may speak of something else.
_SPEAKS_OF_IT = 0.5
_FEWEST_WORDS = 3
_HEARD = 2
_AUXILIARY = r"(?:do|does|did|is|are|was|were|can|can't|cannot|could|must|should|will|would|has|have|had)"
_SAYING = r"(?:conclude|find|show|prove|claim|argue|demonstrate|suggest|imply|report|state|say)s?"
_FORMS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^\W*(?:since|given that|because|now that|as)\s+(?P<premise>[^,?]+),",
        rf"^\W*why\s+(?:exactly\s+)?{_AUXILIARY}\s+[^?]*?\b{_SAYING}\s+that\s+(?P<premise>[^?]+)",
        rf"^\W*why\s+(?:exactly\s+)?(?P<premise>{_AUXILIARY}\s+[^?]+)",
        rf"^\W*(?:which|what)\s+[^?]*?\b{_SAYING}\s+that\s+(?P<premise>[^?]+)",
        rf"^\W*(?:by how much|to what (?:extent|degree)|how (?:much|strongly))\s+{_AUXILIARY}\s+(?P<premise>[^?]+)",
        r"^\W*(?P<premise>(?:which|what)\s+[^?]+?\s(?:do|does|did|must)\s+[^?]+\b(?:need|require|demand)\b[^?]*)",
    )
)
_TITLE = re.compile(
    r",?\s*\b(?:according to|in the (?:paper|position paper|article|study)|in ['‘“\"])[^?]*$", re.IGNORECASE
)

_SAYS = re.compile(r"^.*?\b(?:prove|show|find|conclude|claim|argue|demonstrate|state)[sd]?\s+that\s+", re.IGNORECASE)


def presupposed(question: str) -> str | None:
    """What the question takes for granted, in its own words; None if it only asks."""
    for form in _FORMS:
        if found := form.match(question):
            return _SAYS.sub("", _TITLE.sub("", found.group("premise"))).strip()
    return None


def contradicted(question: str, texts: Sequence[str]) -> int | None:
    """The place of the sentence that denies what the question takes for granted, or None.

    Only the sentences that speak most of it are heard.
    """
    premise = presupposed(question)
    if premise is None or len(words.stems(premise)) < _FEWEST_WORDS:
        return None
    shares = [vetoes.containment(premise, text) for text in texts]
    nearest = sorted(range(len(texts)), key=lambda place: -shares[place])[:_HEARD]
    speaking = (place for place in nearest if shares[place] >= _SPEAKS_OF_IT)
    return next((place for place in speaking if vetoes.turned(premise, texts[place])), None)


class Denial(NamedTuple):
    """The sentence of a paper's abstract that denies what a question takes for granted."""

    paper: Paper
    quote: str


def denied(question: str, hits: Sequence[Hit]) -> Denial | None:
    """What the best paper found says against the question's premise, or None."""
    if not hits:
        return None
    paper = hits[0].paper
    texts = [paper.abstract[start:end] for start, end in sentences(paper.abstract)]
    place = contradicted(question, texts)
    return None if place is None else Denial(paper, texts[place])
