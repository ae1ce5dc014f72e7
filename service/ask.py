"""A question in, events out, the last of them the Answer.

    is it a question? -> retrieval -> is there enough? -> draft -> check each sentence -> compose

The model only ever writes the draft. What the reader sees is composed from checked sentences and our own citations.
"""

import re
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

import anyio
from langchain_core.language_models.chat_models import BaseChatModel

from service import floor, intent, reply
from service.checking import Checked, Checker
from service.config import Settings
from service.domain import Answer, Event, Question, TextPiece, Verify
from service.errors import EvidenceTooLong, ModelError
from service.judge import Judge
from service.minilm import MiniLM
from service.models import Draft, draft, stream
from service.offline import Extractive
from service.retrieval import Prepared, Retrieval
from service.spoken import has_thought
from service.visible import Visible
from vectorstore.paper import Embedder
from vectorstore.store import Store

# Models whose servers may send the end of their thoughts without the beginning.
_THINKERS = re.compile(
    r"\br1\b|-r1|qwq|qwen3|think|reason|magistral|gpt-oss|nemotron|exaone-deep|deepseek", re.IGNORECASE
)


class Answerer:
    """Answers questions over one store with one model. Safe to use from many tasks at once.

    `failure` says why the model gave no draft the last time it was asked; None if it gave one, or was not asked.
    """

    failure: str | None = None

    def __init__(self, settings: Settings, store: Store, embedder: Embedder, model: BaseChatModel) -> None:
        self._settings = settings
        self._model = model
        local = embedder if isinstance(embedder, MiniLM) else MiniLM()
        self._retrieval = Retrieval(settings, store, model, local)
        judge = Judge(model, settings.llm.timeout_s) if settings.answer.judge == "model" else None
        self._checker = Checker(local, extractive=isinstance(model, Extractive), judge=judge)
        self._floor = floor.DEFAULT_FLOOR if settings.answer.floor is None else settings.answer.floor
        self._thinks = _THINKERS.search(settings.llm.model) is not None

    async def answer(self, question: Question) -> Answer:
        """The whole Answer. Raises ServiceError or VectorstoreError."""
        async with aclosing(self._events(question, streaming=False)) as events:
            async for event in events:
                if isinstance(event.data, Answer):
                    return event.data
        raise AssertionError("events always end with an Answer")

    async def events(self, question: Question) -> AsyncGenerator[Event, None]:
        """Hits, text pieces as the model says them, checked sentences, last the Answer. Raises as `answer` does.

        Close it (`contextlib.aclosing`) to leave early: the call to the model is closed with it.
        """
        async with aclosing(self._events(question, streaming=True)) as events:
            async for event in events:
                yield event

    async def prepare(self, question: Question) -> Prepared:
        """What is found for a question, and the messages that would ask the model."""
        return await self._retrieval.prepare(question)

    def judged(self, text: str, prepared: Prepared, mode: Verify) -> Answer:
        """The Answer that a draft in these words becomes."""
        frame = self._frame(Question(question="?"))
        frame.found = prepared.found
        checked = self._checker.check(text, prepared, mode)
        return frame.answer(checked.composed, checked.note, Draft(text), mode)

    def _frame(self, question: Question) -> reply.Frame:
        return reply.Frame(question, self._settings.llm, self._retrieval.prompt.tag, reply.Clock())

    async def _events(self, question: Question, *, streaming: bool) -> AsyncGenerator[Event, None]:
        frame = self._frame(question)
        if reason := intent.not_a_question(question.question):
            for event in reply.refused(frame, reason):
                yield event
            return
        prepared = await self.prepare(question)
        frame.clock.lap("retrieve")
        frame.found = prepared.found
        if reason := reply.too_little(prepared.found, self._floor):
            for event in reply.refused(frame, reason):
                yield event
            return
        yield Event("hits", frame.hits())
        async with aclosing(self._said(question, prepared, frame, streaming)) as events:
            async for event in events:
                yield event

    async def _said(
        self, question: Question, prepared: Prepared, frame: reply.Frame, streaming: bool
    ) -> AsyncGenerator[Event, None]:
        mode = question.verify or self._settings.answer.verify
        said = Draft("")
        ends = time.monotonic() + self._settings.llm.timeout_s
        try:
            async with aclosing(self._drafted(prepared, mode, streaming, ends)) as steps:
                async for step in steps:
                    if isinstance(step, str):
                        yield Event("text", TextPiece(text=step))
                    else:
                        said, prepared = step
        except ModelError as error:
            self.failure = str(error)
            raise
        self.failure = None
        frame.clock.lap("generate")
        checked = await self._check(said, prepared, mode, ends)
        frame.clock.lap("verify")
        for event in reply.sentence_events(checked.composed):
            yield event
        yield Event("answer", frame.answer(checked.composed, checked.note, said, mode))

    async def _drafted(
        self, prepared: Prepared, mode: Verify, streaming: bool, ends: float
    ) -> AsyncGenerator[str | tuple[Draft, Prepared], None]:
        """Visible pieces, last the draft and what it was made from.

        The model is asked once more, with half of the evidence, if its window is smaller than configured.
        """
        shown = False
        for last in (False, True):
            try:
                async with aclosing(self._pieces(prepared, mode, streaming, ends)) as pieces:
                    async for piece in pieces:
                        shown = shown or bool(piece)
                        yield (piece, prepared) if isinstance(piece, Draft) else piece
            except EvidenceTooLong:
                if last or shown:  # what the reader has seen can't be begun again
                    raise
                prepared = self._retrieval.with_less(prepared)
            else:
                return

    async def _pieces(
        self, prepared: Prepared, mode: Verify, streaming: bool, ends: float
    ) -> AsyncGenerator[str | Draft, None]:
        visible = Visible(prepared.numbers, thinks=self._thinks)
        if not streaming or self._settings.answer.drafts > 1:
            said = await self._best(prepared, mode, ends)
            yield visible.feed(said.text) + visible.rest()
            yield said
            return
        llm = self._settings.llm
        async with aclosing(stream(self._model, prepared.messages, ends - time.monotonic(), llm.retries)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Draft):
                    self._thinks = self._thinks or has_thought(piece.text)
                    yield visible.rest()
                    yield piece
                elif shown := visible.feed(piece):
                    yield shown

    async def _best(self, prepared: Prepared, mode: Verify, ends: float) -> Draft:
        """The draft of which most holds, of as many as are configured; its usage is that of all."""
        llm = self._settings.llm
        drafts = [
            await draft(self._model, prepared.messages, ends - time.monotonic(), llm.retries)
            for _ in range(self._settings.answer.drafts)
        ]
        if len(drafts) == 1:
            return drafts[0]
        ranks = [_rank(await self._check(said, prepared, mode, ends)) for said in drafts]
        best = drafts[ranks.index(max(ranks))]
        return best._replace(
            prompt_tokens=sum(said.prompt_tokens for said in drafts),
            completion_tokens=sum(said.completion_tokens for said in drafts),
        )

    async def _check(self, said: Draft, prepared: Prepared, mode: Verify, ends: float) -> Checked:
        return await anyio.to_thread.run_sync(partial(self._checker.check, said.text, prepared, mode, ends))


def _rank(checked: Checked) -> tuple[float, int]:
    return (checked.supported / max(1, checked.sentences), checked.supported)
