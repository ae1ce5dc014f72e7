"""The retrieval chain: a question -> what was found for it, numbered, in the messages that ask the model.

alone -> find -> number the evidence that fits -> write the prompt
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableLambda

import prompts
from service import floor, tokens
from service.config import Settings
from service.domain import Question, QuestionFilters, Usage, YearRange
from service.errors import ModelError, QuestionTooLong
from service.evidence import Evidence, neutral, render, select
from service.followup import leans, standalone, transcript
from service.messages import messages_of
from service.minilm import MiniLM
from service.models import draft
from service.offline import Extractive
from service.premise import denied
from service.reply import Found
from service.spoken import spoken
from vectorstore.paper import Filters, Hit, Query
from vectorstore.store import Store

# Local models count tokens otherwise than tiktoken does; their windows are believed to hold this share of it.
_WINDOW_SHARE = 0.85
_LONGEST_REWRITE = 600
# Tokens: a sentence or two. With less there is nothing to answer from.
_LEAST_EVIDENCE = 64


class Asked(NamedTuple):
    """A question with its form that stands alone, and what it cost to rewrite it."""

    question: Question
    alone: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question with what was found for it and the messages that ask the model."""

    found: Found
    evidence: tuple[Evidence, ...]
    messages: list[BaseMessage]

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of the evidence that is sent: the only ones that a mark may have."""
        return frozenset(item.number for item in self.evidence)


class Retrieval:
    """Finds and prepares. Safe to use from many tasks at once."""

    def __init__(self, settings: Settings, store: Store, model: BaseChatModel, minilm: MiniLM) -> None:
        self._settings = settings
        self._llm = settings.llm
        self._store = store
        self._model = model
        self._minilm = minilm
        self.prompt = prompts.load("answer")
        self._rewrite = prompts.load("rewrite")
        self._chain: Runnable[Question, Prepared] = (
            RunnableLambda(self._alone) | RunnableLambda(self._find) | RunnableLambda(self._prepare)
        )

    async def prepare(self, question: Question) -> Prepared:
        """Raises ServiceError or VectorstoreError."""
        return await self._chain.ainvoke(question)

    def with_less(self, prepared: Prepared) -> Prepared:
        """The same question with half of the evidence."""
        hits = prepared.found.hits[: max(1, len(prepared.evidence) // 2)]
        return self._numbered(prepared.found, hits, tokens.count(render(prepared.evidence)) // 2)

    async def _alone(self, question: Question) -> Asked:
        """A follow-up in the words of the model; by carrying the topic over where there is none, or it fails."""
        carried = standalone(question.question, question.history)
        if not question.history or not leans(question.question) or isinstance(self._model, Extractive):
            return Asked(question, carried, Usage())
        conversation = neutral(transcript(question.history))
        rendered = self._rewrite.render(conversation=conversation, question=neutral(question.question))
        needed = tokens.count("\n".join(text for _, text in rendered)) + _LONGEST_REWRITE // 4
        if needed > self._llm.context_window * _WINDOW_SHARE:
            return Asked(question, carried, Usage())
        try:
            said = await draft(self._model, messages_of(rendered), self._llm.timeout_s / 2, retries=0)
        except ModelError:
            return Asked(question, carried, Usage())
        alone = " ".join(spoken(said.text).strip("\"'` \n").split())
        usage = Usage(prompt_tokens=said.prompt_tokens, completion_tokens=said.completion_tokens)
        return Asked(question, alone if 0 < len(alone) <= _LONGEST_REWRITE else carried, usage)

    def _find(self, asked: Asked) -> Found:
        question, alone, usage = asked
        top_k = question.top_k or self._settings.retrieval.top_k
        query = Query(alone, top_k, "hybrid", filters_of(question.filters), question.collection)
        hits = tuple(self._store.search(query))
        state = self._store.collection(question.collection)
        words = floor.content_words(alone)
        frequencies, size = self._store.frequencies(question.collection, words)
        weights = floor.information(alone, dict(zip(words, frequencies, strict=True)), size)
        return Found(
            standalone=alone,
            hits=hits,
            confidence=floor.confidence(alone, hits, weights, self._minilm),
            topic=max((floor.coverage(weights, hit) for hit in hits), default=0.0),
            denied=denied(alone, hits),
            papers=state.papers,
            index=f"{state.embedder}#{state.revision}",
            filtered=bool(query.filters),
            usage=usage,
        )

    def _prepare(self, found: Found) -> Prepared:
        """Number the evidence that fits in the model's window beside everything else, and write the prompt."""
        rest = self.prompt.render(evidence="", question=neutral(found.standalone))
        spent = tokens.count("\n".join(text for _, text in rest))
        room = int((self._llm.context_window - self._llm.max_output_tokens) * _WINDOW_SHARE) - spent
        if room < _LEAST_EVIDENCE:
            raise QuestionTooLong(
                f"the question leaves no room for evidence in the model's window of {self._llm.context_window} tokens; "
                "ask in fewer words, or set llm.context_window to a larger one if the model has it"
            )
        return self._numbered(found, found.hits, room)

    def _numbered(self, found: Found, hits: Sequence[Hit], room: int) -> Prepared:
        evidence = select(hits, room, tokens.count)
        rendered = self.prompt.render(evidence=render(evidence), question=neutral(found.standalone))
        return Prepared(found, evidence, messages_of(rendered))


def filters_of(asked: QuestionFilters) -> Filters:
    """The filters as the store takes them; a single year is a range of one."""
    year = asked.year if isinstance(asked.year, YearRange) else YearRange(gte=asked.year, lte=asked.year)
    return Filters(year.gte, year.lte, asked.venue, asked.author, asked.paper_ids)
