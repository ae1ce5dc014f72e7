"""What bounds the checks of a draft, and the events of a question that is turned away."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.ask import Answerer
from service.checking import MOST_CLAIMS
from service.config import Settings
from service.domain import Answer, Question, Turn
from service.errors import ModelError, QuestionTooLong
from service.judge import Judge
from service.minilm import MiniLM
from service.models import chat_model
from tests.fake_llm import FakeLLM
from tests.fake_replies import Reply
from vectorstore.paper import Paper
from vectorstore.store import Store

QUESTION = Question(question="How is EOI initialised?")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = Store(tmp_path_factory.mktemp("store"), MiniLM())
    store.add([Paper("eoi", "EOI is initialised by composing random Givens rotations.")])
    yield store
    store.close()


def behind(fake: FakeLLM, store: Store, **more: object) -> Answerer:
    flags = {"llm.model": "openai:fake", "llm.base_url": fake.url, "llm.retries": 0, "answer.floor": 0.0}
    settings = Settings.load(flags=flags | more, environ={}, cwd=Path("/nonexistent"))
    return Answerer(settings, store, MiniLM(), chat_model(settings.llm, MiniLM()))


@pytest.mark.anyio
async def test_a_draft_that_runs_on_is_checked_so_far_and_says_what_is_left_out(store: Store) -> None:
    with FakeLLM("EOI composes random Givens rotations [1]. " * 60) as fake:
        answer = await behind(fake, store).answer(QUESTION)
    assert len(answer.sentences) == MOST_CLAIMS
    assert sum(str(MOST_CLAIMS) in one.why for one in answer.dropped) == 60 - MOST_CLAIMS


def test_a_judge_is_not_asked_once_the_time_is_over(store: Store) -> None:
    with FakeLLM("no") as fake:
        judge = Judge(behind(fake, store)._model, 60)
        assert not judge.objects("EOI is fast.", ["EOI is slow."], time.monotonic() - 1)
        assert not fake.requests


@pytest.mark.anyio
@pytest.mark.parametrize("question", ["Hello", "What is the capital of France?"])
async def test_a_question_turned_away_has_its_hits_event_too(question: str, store: Store) -> None:
    with FakeLLM("Paris [1].") as fake:
        asked = behind(fake, store)
        asked._floor = 0.99
        events = [event async for event in asked.events(Question(question=question))]
    assert [event.name for event in events] == ["hits", "answer"]
    answer = events[-1].data
    assert isinstance(answer, Answer)
    assert answer.status == "abstained"


@pytest.mark.anyio
async def test_a_question_that_leaves_no_room_for_evidence_is_refused_with_a_sentence(store: Store) -> None:
    with FakeLLM("EOI [1].") as fake:
        asked = behind(fake, store, **{"llm.context_window": 1_024, "llm.max_output_tokens": 64})
        with pytest.raises(QuestionTooLong, match="1024 tokens"):
            await asked.answer(Question(question="How is EOI initialised, " + "and how fast is it then, " * 150 + "?"))
        assert not fake.requests


@pytest.mark.anyio
async def test_a_conversation_too_long_for_the_window_is_not_rewritten_by_the_model(store: Store) -> None:
    history = tuple(Turn(role="user", content=f"How is EOI initialised {'so well ' * 120}?") for _ in range(6))
    with FakeLLM("EOI composes random Givens rotations [1].") as fake:
        asked = behind(fake, store, **{"llm.context_window": 1_536, "llm.max_output_tokens": 64})
        await asked.answer(Question(question="Is it fast?", history=history))
        assert len(fake.requests) == 1


@pytest.mark.anyio
async def test_a_model_that_failed_is_remembered_until_it_answers(store: Store) -> None:
    replies: list[str | Reply] = [Reply(status=500, raw=b"{}"), "EOI composes random Givens rotations [1]."]
    with FakeLLM(lambda _: replies.pop(0)) as fake:
        asked = behind(fake, store)
        failures = [asked.failure]
        with pytest.raises(ModelError):
            await asked.answer(QUESTION)
        failures.append(asked.failure)
        await asked.answer(QUESTION)
        failures.append(asked.failure)
    assert [failure is None for failure in failures] == [True, False, True]
