"""The retrieval chain: a question in, events out, the last of them the Answer.

    find -> number the evidence -> write the prompt -> is there enough? -> draft -> check each sentence -> compose

The model only ever writes the draft. What the reader sees is composed from checked sentences and our own citations.
"""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial
from typing import NamedTuple

import anyio
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableLambda

import prompts
from service import citations, floor, intent, reply, tokens
from service.compose import Composed, compose
from service.config import Settings
from service.domain import Answer, Event, Question, TextPiece, Verify
from service.errors import EvidenceTooLong
from service.evidence import Evidence, neutral, render, select
from service.followup import standalone
from service.minilm import MiniLM
from service.models import Draft, draft
from service.offline import Extractive
from service.reply import Found
from service.spoken import spoken
from service.verify import Check, Verifier
from vectorstore.paper import Embedder, Filters, Hit, Query
from vectorstore.store import Store

# Local models count tokens otherwise than tiktoken does; their windows are believed to hold this share of it.
_WINDOW_SHARE = 0.85


class Prepared(NamedTuple):
    """A question with what was found for it and the messages that ask the model."""

    found: Found
    evidence: tuple[Evidence, ...]
    messages: list[BaseMessage]


class Answerer:
    """Answers questions over one store with one model. Safe to use from many tasks at once."""

    def __init__(self, settings: Settings, store: Store, embedder: Embedder, model: BaseChatModel) -> None:
        self._settings = settings
        self._store = store
        self._model = model
        self._local = embedder if isinstance(embedder, MiniLM) else MiniLM()
        self._prompt = prompts.load("answer")
        self._floor = floor.DEFAULT_FLOOR if settings.answer.floor is None else settings.answer.floor
        self._chain: Runnable[Question, Prepared] = RunnableLambda(self._find) | RunnableLambda(self._prepare)

    async def answer(self, question: Question) -> Answer:
        """The whole Answer. Raises ServiceError or VectorstoreError."""
        async with aclosing(self.events(question)) as events:
            async for event in events:
                if isinstance(event.data, Answer):
                    return event.data
        raise AssertionError("events always end with an Answer")

    async def events(self, question: Question) -> AsyncGenerator[Event, None]:
        """Hits, text pieces, checked sentences, last the Answer. Raises ServiceError or VectorstoreError."""
        clock = reply.Clock()
        frame = reply.Frame(question, self._settings.llm, self._prompt.tag, clock)
        if reason := intent.not_a_question(question.question):
            yield Event("answer", frame.refusal(reason))
            return
        prepared = await self.prepare(question)
        clock.lap("retrieve")
        frame.found = prepared.found
        if reason := self._too_little(prepared.found):
            yield Event("answer", frame.refusal(reason))
            return
        yield Event("hits", frame.hits())
        async for event in self._said(question, prepared, frame):
            yield event

    async def prepare(self, question: Question) -> Prepared:
        """What is found for a question, and the messages that would ask the model."""
        return await self._chain.ainvoke(question)

    def judged(self, text: str, prepared: Prepared, mode: Verify) -> Answer:
        """The Answer that a draft in these words becomes."""
        frame = reply.Frame(Question(question="?"), self._settings.llm, self._prompt.tag, reply.Clock(), prepared.found)
        return frame.answer(*self._checked(text, prepared, mode), Draft(text), mode)

    async def _said(self, question: Question, prepared: Prepared, frame: reply.Frame) -> AsyncGenerator[Event, None]:
        said, prepared = await self._draft(prepared)
        frame.clock.lap("generate")
        mode = question.verify or self._settings.answer.verify
        yield Event("text", TextPiece(text=citations.without_illegal(spoken(said.text), _numbers(prepared.evidence))))
        composed, note = await anyio.to_thread.run_sync(partial(self._checked, said.text, prepared, mode))
        frame.clock.lap("verify")
        for event in reply.sentence_events(composed):
            yield event
        yield Event("answer", frame.answer(composed, note, said, mode))

    def _find(self, question: Question) -> Found:
        alone = standalone(question.question, question.history)
        query = Query(alone, question.top_k, "hybrid", _filters(question), question.collection)
        hits = tuple(self._store.search(query))
        state = self._store.collection(question.collection)
        asked = floor.content_words(alone)
        frequencies, size = self._store.frequencies(question.collection, asked)
        confidence = floor.confidence(alone, hits, dict(zip(asked, frequencies, strict=True)), size)
        return Found(alone, hits, confidence, state.papers, f"{state.embedder}#{state.revision}", bool(query.filters))

    def _prepare(self, found: Found) -> Prepared:
        """Number the evidence that fits in the model's window beside everything else, and write the prompt."""
        llm = self._settings.llm
        spent = tokens.count(
            "\n".join(text for _, text in self._prompt.render(evidence="", question=neutral(found.standalone)))
        )
        room = int((llm.context_window - llm.max_output_tokens) * _WINDOW_SHARE) - spent
        return self._numbered(found, found.hits, max(room, 64))

    def _numbered(self, found: Found, hits: Sequence[Hit], room: int) -> Prepared:
        evidence = select(hits, room, tokens.count)
        rendered = self._prompt.render(evidence=render(evidence), question=neutral(found.standalone))
        roles = {"system": SystemMessage, "user": HumanMessage}
        return Prepared(found, evidence, [roles[role](text) for role, text in rendered])

    def _too_little(self, found: Found) -> str | None:
        if not found.papers:
            return "This collection has no papers yet. Add some, for example with `loccit add FILE`."
        if not found.hits:
            return (
                "No paper passes these filters."
                if found.filtered
                else "Nothing in this collection comes near the question."
            )
        return reply.NOT_NEAR if found.confidence < self._floor else None

    async def _draft(self, prepared: Prepared) -> tuple[Draft, Prepared]:
        """The model's draft; asked once more, with half of the evidence, if it does not fit the window."""
        llm = self._settings.llm
        ends = time.monotonic() + llm.timeout_s
        try:
            return await draft(self._model, prepared.messages, llm.timeout_s, llm.retries), prepared
        except EvidenceTooLong:
            hits = prepared.found.hits[: max(1, len(prepared.evidence) // 2)]
            room = tokens.count(render(prepared.evidence)) // 2
            prepared = self._numbered(prepared.found, hits, room)
            return await draft(self._model, prepared.messages, ends - time.monotonic(), llm.retries), prepared

    def _checked(self, text: str, prepared: Prepared, mode: Verify) -> tuple[Composed, str | None]:
        """The draft as the reader may see it; where nothing of it holds, the extractive one and a note that says so."""
        text = spoken(text)
        if reply.says_no_answer(text):
            return reply.NOTHING, None
        composed, checks = self._compose(text, prepared, mode)
        if (
            mode == "off"
            or any(check.verdict != "unsupported" for check in checks)
            or isinstance(self._model, Extractive)
        ):
            return composed, None
        extract = Extractive(embedding=self._local).invoke(prepared.messages)
        again, _ = self._compose(str(extract.content), prepared, mode)
        if reply.says_no_answer(str(extract.content)) or not again.citations:
            return reply.NOTHING, "Nothing of the model's draft is supported by the abstracts, and they hold no answer."
        return again._replace(
            dropped=(*composed.dropped, *reply.all_dropped(composed), *again.dropped)
        ), reply.EXTRACTED

    def _compose(self, text: str, prepared: Prepared, mode: Verify) -> tuple[Composed, list[Check]]:
        claims = citations.read(text, _numbers(prepared.evidence))
        verifier = Verifier(prepared.evidence, self._local.token_vectors)
        look = verifier.locate if mode == "off" else verifier.check
        checks = [look(claim.text, claim.cited) for claim in claims.claims]
        return compose(claims, checks, prepared.evidence, mode), checks


def _numbers(evidence: Sequence[Evidence]) -> frozenset[int]:
    return frozenset(item.number for item in evidence)


def _filters(question: Question) -> Filters:
    asked = question.filters
    year = asked.year
    exact = year if isinstance(year, int) else None
    return Filters(
        year_gte=exact if isinstance(year, int) else year.gte if year else None,
        year_lte=exact if isinstance(year, int) else year.lte if year else None,
        venue=asked.venue,
        author=asked.author,
        paper_ids=asked.paper_ids,
    )
