"""Labelled questions -> answers, one after the other, as the service answers them."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from service.ask import Answerer
from service.config import Settings
from service.domain import Answer, Question, Turn
from service.errors import ModelError
from service.evaluation.labelled import Case
from service.models import chat_model
from vectorstore.paper import Embedder, Paper
from vectorstore.store import Store

_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A case with what the service made of it.

    `unrefused` is what it would have said without the floor, `alone` the ids found for the labelled standalone form of
    a follow-up. `answer` is None where the model failed, as `error` says.
    """

    case: Case
    answer: Answer | None
    confidence: float
    hits: tuple[Paper, ...]
    unrefused: Answer | None = None
    alone: tuple[str, ...] | None = None
    error: str | None = None

    @property
    def found(self) -> tuple[str, ...]:
        """The ids of the papers found, best first."""
        return tuple(paper.paper_id for paper in self.hits)

    @property
    def abstained(self) -> bool:
        """Whether nothing was said."""
        return self.answer is None or self.answer.status == "abstained"


class Desk:
    """Asks. A paid model is not asked again for what it would have said to a question refused by the floor."""

    def __init__(self, settings: Settings, store: Store, embedder: Embedder, collection: str) -> None:
        model = chat_model(settings.llm, embedder)
        self._answerer = Answerer(settings, store, embedder, model)
        bold = settings.model_copy(update={"answer": settings.answer.model_copy(update={"floor": 0.0})})
        free = settings.llm.model.startswith("offline:")
        self._bold = Answerer(bold, store, embedder, model) if free else None
        self._collection = collection

    async def ask_all(self, cases: Sequence[Case]) -> AsyncIterator[Asked]:
        """Every case in order; each conversation goes on with the answers that it got."""
        history: list[Turn] = []
        conversation = ""
        for case in cases:
            if case.conversation != conversation or not conversation:
                history, conversation = [], case.conversation
            asked = await self._ask(case, tuple(history[-50:]))
            yield asked
            if asked.answer is not None:
                said = (asked.answer.answer or asked.answer.reason or "")[:_LONGEST]
                history += [Turn(role="user", content=case.question), Turn(role="assistant", content=said)]

    async def _ask(self, case: Case, history: tuple[Turn, ...]) -> Asked:
        question = self._question(case, case.question, history)
        answer: Answer | None = None
        error: str | None = None
        try:
            answer = await self._answerer.answer(question)
        except ModelError as failure:
            error = str(failure)
        # Looked up once more, now as it stood alone: an Answer does not tell its confidence.
        alone = answer.standalone_question if answer else case.question
        found = (await self._answerer.prepare(self._question(case, alone[:4_000]))).found
        unrefused = None
        if self._bold is not None and answer is not None and answer.status == "abstained" and not answer.hits:
            unrefused = await self._bold.answer(question)
        if answer is not None and not answer.provenance.index:  # turned away before anything was looked up
            return Asked(case, answer, 0.0, (), unrefused)
        hits = tuple(hit.paper for hit in found.hits)
        return Asked(case, answer, found.confidence, hits, unrefused, await self._alone(case), error)

    async def _alone(self, case: Case) -> tuple[str, ...] | None:
        if case.standalone is None:
            return None
        found = (await self._answerer.prepare(self._question(case, case.standalone))).found
        return tuple(hit.paper.paper_id for hit in found.hits)

    def _question(self, case: Case, words: str, history: tuple[Turn, ...] = ()) -> Question:
        return Question(question=words, history=history, filters=case.filters, collection=self._collection)
