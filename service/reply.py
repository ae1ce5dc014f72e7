"""Everything of an Answer that is not the text itself: status, reason, provenance, timings, id (pure but for the
clock).
"""

import hashlib
import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from service.compose import Composed
from service.config import Llm
from service.domain import (
    Answer,
    AnswerHit,
    CheckedSentence,
    Event,
    Hits,
    Provenance,
    Question,
    Status,
    Timings,
    Usage,
    Verify,
)
from service.models import Draft
from service.premise import Denial
from vectorstore.paper import Hit, Paper

NO_USAGE = Usage()
NOTHING = Composed("", (), (), ())
EXTRACTED = (
    "Nothing of the model's draft is supported by the abstracts; this answer is made of their own sentences instead."
)
NOT_NEAR = (
    "These abstracts don't say: nothing in the collection is near enough to the question. "
    "The nearest passages are listed as near misses."
)
NOT_SAID = (
    "These abstracts don't say: the nearest papers are on this topic, but their abstracts do not answer the question."
)
NOT_IN_IT = (
    "These abstracts don't say: {papers} come nearest to the question, but no sentence of theirs answers it. "
    "The full papers may."
)
DENIED = "The question takes for granted what the abstract of {paper} says otherwise: “{quote}”"
SAID_NOTHING = "The model's draft was empty; this answer is made of the abstracts' own sentences instead."
NOTHING_HOLDS = "Nothing of the model's draft is supported by the abstracts, and they hold no answer."
NONE_SUPPORTED = "No sentence of the draft is supported by the abstracts."
SOME_UNSUPPORTED = "Some sentences are not supported by the abstracts, or only in part."
CUT_OFF = "The model's answer was cut off at its length limit."
# "No answer key is needed [1]." is an answer.
_NO_ANSWER = re.compile(
    r"\W*NO[ _-]?ANSWER(?:\W*|\s?[.:;,!?(\[\n–—*\"'].{0,200}|\s-\s.{0,200})", re.IGNORECASE | re.DOTALL
)
_NEAR_MISSES = 3
# A paper that holds so much of what the question is about is on its topic.
_ON_TOPIC = 0.5


@dataclass(frozen=True, slots=True)
class Found:
    """What retrieval found: hits, best first, and how sure we are that they answer.

    `topic`: the share of the question's information that one paper holds. `denied`: what the question takes for granted
    and a paper denies.
    """

    standalone: str
    hits: tuple[Hit, ...]
    confidence: float
    papers: int
    index: str
    filtered: bool
    usage: Usage = NO_USAGE
    topic: float = 0.0
    denied: Denial | None = None


class Clock:
    """Milliseconds by stage, since it was made."""

    def __init__(self) -> None:
        self._begun = self._last = time.perf_counter()
        self._laps: dict[str, int] = {}

    def lap(self, stage: str) -> None:
        """End `stage` now."""
        now = time.perf_counter()
        self._laps[stage] = round((now - self._last) * 1000)
        self._last = now

    def timings(self) -> Timings:
        """What was measured so far; a stage that did not happen took 0."""
        return Timings(**self._laps, total=round((time.perf_counter() - self._begun) * 1000))


@dataclass(slots=True)
class Frame:
    """What is known of an Answer before its text; `found` is set once retrieval is done."""

    question: Question
    llm: Llm
    prompt: str
    clock: Clock
    found: Found = field(default_factory=lambda: Found("", (), 0.0, 0, "", filtered=False))

    def hits(self) -> Hits:
        """The retrieved passages as the reader sees them."""
        return Hits(hits=tuple(map(answer_hit, self.found.hits)))

    def refusal(self, reason: str) -> Answer:
        """An Answer that says nothing but why. The model was not asked."""
        near = tuple(map(answer_hit, self.found.hits[:_NEAR_MISSES]))
        return self._filled(NOTHING, "abstained", reason, Draft(""), near, ())

    def answer(self, composed: Composed, note: str | None, said: Draft, mode: Verify) -> Answer:
        """The Answer made of a draft."""
        hits = tuple(map(answer_hit, self.found.hits))
        if not composed.sentences:
            why = note or (NONE_SUPPORTED if composed.dropped else NOT_SAID)
            return self._filled(composed, "abstained", why, said, hits[:_NEAR_MISSES], hits)
        whole = mode == "off" or all(sentence.verdict == "supported" for sentence in composed.sentences)
        status: Status = "answered" if whole and not said.truncated else "partial"
        reason = note or (None if whole else SOME_UNSUPPORTED) or (CUT_OFF if said.truncated else None)
        return self._filled(composed, status, reason, said, (), hits)

    def _filled(
        self,
        composed: Composed,
        status: Status,
        reason: str | None,
        said: Draft,
        near_misses: tuple[AnswerHit, ...],
        hits: tuple[AnswerHit, ...],
    ) -> Answer:
        answer = Answer(
            id="",
            question=self.question.question,
            standalone_question=self.found.standalone or self.question.question,
            status=status,
            reason=reason,
            answer=composed.answer,
            sentences=composed.sentences,
            citations=composed.citations,
            hits=hits,
            near_misses=near_misses,
            provenance=Provenance(
                model=self.llm.model,
                prompt=self.prompt,
                index=self.found.index,
                collection=self.question.collection,
                seed=self.llm.seed,
            ),
            usage=Usage(
                prompt_tokens=self.found.usage.prompt_tokens + said.prompt_tokens,
                completion_tokens=self.found.usage.completion_tokens + said.completion_tokens,
            ),
            timings_ms=self.clock.timings(),
            dropped=composed.dropped,
            repaired=composed.repaired,
            truncated=said.truncated,
        )
        return answer.model_copy(update={"id": _fingerprint(answer)})


def _fingerprint(answer: Answer) -> str:
    """Equal for equal answers: of everything but the measurements."""
    fields = answer.model_dump(mode="json", exclude={"id", "timings_ms", "usage"})
    return hashlib.sha256(
        json.dumps(fields, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace")
    ).hexdigest()[:24]


def answer_hit(hit: Hit) -> AnswerHit:
    """A hit as the reader sees it."""
    passage = hit.passage
    return AnswerHit(
        passage_id=passage.passage_id,
        paper_id=passage.paper_id,
        title=hit.paper.title,
        text=passage.text,
        start=passage.start,
        end=passage.end,
        score=round(hit.score, 4),
        dense_rank=hit.dense_rank,
        lexical_rank=hit.lexical_rank,
    )


def sentence_events(composed: Composed) -> Iterator[Event]:
    """One event a sentence, with the citations that it uses."""
    for sentence in composed.sentences:
        used = tuple(citation for citation in composed.citations if citation.number in sentence.citations)
        yield Event("sentence", CheckedSentence(sentence=sentence, citations=used))


def refused(frame: Frame, reason: str) -> Iterator[Event]:
    """The events of a question that is turned away: the hits of its Answer, which are none, and the Answer."""
    yield Event("hits", Hits(hits=()))
    yield Event("answer", frame.refusal(reason))


def says_no_answer(draft: str) -> bool:
    """Whether the draft is the refusal that the prompt asks for."""
    return _NO_ANSWER.fullmatch(draft) is not None


def too_little(found: Found, at_least: float) -> str | None:
    """Why no model is asked; None if what was found may answer."""
    if not found.papers:
        return "This collection has no papers yet. Add some, for example with `loccit add FILE`."
    if not found.hits and found.filtered:
        return "No paper passes these filters."
    if found.denied is not None and at_least > 0.0:
        return DENIED.format(paper=_named(found.denied.paper), quote=found.denied.quote)
    if found.confidence >= at_least and found.hits:
        return None
    return NOT_IN_IT.format(papers=_nearest(found.hits)) if found.topic >= _ON_TOPIC else NOT_NEAR


def _nearest(hits: Sequence[Hit]) -> str:
    return " and ".join(_named(hit.paper) for hit in hits[:2])


def _named(paper: Paper) -> str:
    return f"“{paper.title}”" if paper.title else f"the paper {paper.paper_id}"
