"""Which sentences of the evidence answer a question (pure, given token vectors).

Signals and weights were fitted on the dev questions (BENCHMARKS.md): how well each word piece of the question finds a
like one in the sentence (MaxSim), whether the authors speak of their own work, numbers where a number is asked for;
the first sentence of an abstract is nearly always background.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from service import quantities, words
from service.evidence import Shown
from service.maxsim import Pieces
from vectorstore.paper import Vectors
from vectorstore.sentences import sentences

TokenVectors = Callable[[Sequence[str]], Sequence[Vectors]]

_OWN_WORK = re.compile(r"\b(?:our|ours|we|this (?:paper|work|study|article|position paper))\b", re.IGNORECASE)
_CONTRIBUTION = re.compile(
    r"\b(?:we|our|this (?:paper|work|study))\b[^.]{0,40}\b(?:propos|introduc|present|develop|show|find|prov"
    r"|demonstrat|design|deriv|establish|"
    r"study|identif|investigat|construct|unveil|reveal|observ|provid|offer|achiev|explor|leverag|address|enabl"
    r"|consider)",
    re.IGNORECASE,
)
_WHERE_TO_GET_IT = re.compile(
    r"https?://|\bcode (?:is|are|available|can)|\bpublicly available\b|\bgithub\b", re.IGNORECASE
)
_ASKS_FOR_A_NUMBER = re.compile(
    r"\bhow (?:many|much|large|big|long|far|fast|often|high|low|deep|accurate\w*)\b|\bby how\b|"
    r"\bwhat (?:\w+ ){0,2}(?:percentage|number|fraction|share|speed-?up|size|rate|ratio|factor|dimension)\b",
    re.IGNORECASE,
)
_ASKS_WHERE_TO_GET_IT = re.compile(
    r"\b(?:code|implementation|github|url|link|download|available|repository|open.source)\b", re.IGNORECASE
)
_MAXSIM, _OWN, _CONTRIBUTES, _NUMBER, _OPENS, _ACCESS, _ORDER = 1.05, 1.2, 0.6, 1.5, 1.1, 2.0, 0.7


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of the evidence with its place and how well it answers: `score` compares within one question only."""

    number: int
    position: int
    text: str
    similarity: float
    score: float


def asks_for_a_number(question: str) -> bool:
    """Whether only a number answers the question."""
    return _ASKS_FOR_A_NUMBER.search(question) is not None


def candidates(question: str, evidence: Sequence[Shown], token_vectors: TokenVectors) -> list[Candidate]:
    """Every sentence of the evidence, best answer first. The order of the evidence (best passage first) counts too."""
    places = [
        (item.number, position, " ".join(item.text[start:end].split()))
        for item in evidence
        for position, (start, end) in enumerate(sentences(item.text))
    ]
    if not places:
        return []
    similarities = _maxsim(question, [text for _, _, text in places], token_vectors)
    spread = _z(similarities)
    scored = [
        Candidate(
            number, position, text, similarity, _MAXSIM * z + _cues(question, text, position) - _ORDER * (number - 1)
        )
        for (number, position, text), similarity, z in zip(places, similarities, spread, strict=True)
    ]
    return sorted(scored, key=lambda one: (-one.score, one.number, one.position))


def _maxsim(question: str, texts: Sequence[str], token_vectors: TokenVectors) -> list[float]:
    """For each text, the mean over the question's word pieces of the best cosine to one of the text's."""
    asked, *given = token_vectors([words.plain(question), *map(words.plain, texts)])
    return Pieces(given).like(asked)


def _z(values: Sequence[float]) -> list[float]:
    array = np.array(values)
    deviation = float(array.std())
    return [float(value) for value in (array - array.mean()) / deviation] if deviation > 1e-6 else [0.0] * len(values)


def _cues(question: str, text: str, position: int) -> float:
    score = (
        _OWN * bool(_OWN_WORK.search(text)) + _CONTRIBUTES * bool(_CONTRIBUTION.search(text)) - _OPENS * (position == 0)
    )
    if asks_for_a_number(question):
        score += _NUMBER * bool(quantities.numbers(text))
    if _WHERE_TO_GET_IT.search(text) and not _ASKS_WHERE_TO_GET_IT.search(question):
        score -= _ACCESS
    return score
