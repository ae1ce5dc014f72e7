"""Streaming from a model: pieces as they come, every way to break off, and the call closed when the reader leaves."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import aclosing

import anyio
import pytest
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage

from service.config import Llm
from service.errors import EvidenceTooLong, ModelError, ModelRefused, ModelUnreachable
from service.minilm import MiniLM
from service.models import Draft, chat_model, stream
from tests import fake_replies as replies
from tests.fake_llm import FakeLLM
from tests.fake_replies import Reply

pytestmark = pytest.mark.anyio
MESSAGES: list[BaseMessage] = [HumanMessage("Why?")]


@pytest.fixture
def fake() -> Iterator[FakeLLM]:
    with FakeLLM("The answer is here [1].") as server:
        yield server


def model(fake: FakeLLM) -> BaseChatModel:
    return chat_model(Llm(model="openai:fake", base_url=fake.url), MiniLM())


async def read(
    asked: BaseChatModel, seconds: float = 10, retries: int = 2
) -> tuple[list[str], Draft | None, ModelError | None]:
    """The pieces, the whole if it came, the error if one came instead."""
    pieces: list[str] = []
    whole: Draft | None = None
    try:
        async with aclosing(stream(asked, MESSAGES, seconds, retries)) as events:
            async for event in events:
                if isinstance(event, str):
                    pieces.append(event)
                else:
                    whole = event
    except ModelError as error:
        return pieces, whole, error
    return pieces, whole, None


async def test_pieces_come_and_last_the_whole(fake: FakeLLM) -> None:
    pieces, whole, error = await read(model(fake))
    assert pieces == ["The", " answer", " is", " here", " [1]."]
    assert whole == Draft("The answer is here [1].", "stop", 11, 7)
    assert error is None
    assert fake.chats[0].body["stream_options"] == {"include_usage": True}


async def test_empty_choices_null_deltas_and_usage_chunks_are_no_text(fake: FakeLLM) -> None:
    fake.script = [
        Reply(pieces=["a", None, "", " b"], empty_choices=frozenset({"first", "middle", "last"}), reasoning="Hm.")
    ]
    pieces, whole, error = await read(model(fake))
    assert (pieces, error) == (["a", " b"], None)
    assert whole == Draft("a b", "stop", 11, 7)


async def test_usage_missing_is_zero(fake: FakeLLM) -> None:
    fake.script = [Reply("a", usage=None)]
    assert (await read(model(fake)))[1] == Draft("a", "stop", 0, 0)


async def test_finish_reason_length_is_truncated(fake: FakeLLM) -> None:
    fake.script = [Reply("Half an", finish="length")]
    whole = (await read(model(fake)))[1]
    assert whole is not None
    assert whole.truncated


@pytest.mark.parametrize("after", [0, 1, 3])
async def test_a_cleanly_cut_stream_is_an_error_not_a_good_answer(fake: FakeLLM, after: int) -> None:
    fake.script = [Reply("a b c d", cut_after=after)]
    pieces, whole, error = await read(model(fake), retries=0)
    assert len(pieces) == after
    assert whole is None
    assert isinstance(error, ModelUnreachable)


async def test_no_finish_reason_is_a_cut_even_with_done(fake: FakeLLM) -> None:
    fake.script = [Reply("a b", finish=None)]
    _, whole, error = await read(model(fake), retries=0)
    assert whole is None
    assert isinstance(error, ModelUnreachable)
    assert "before its reply was whole" in str(error)


async def test_connection_dropped_in_mid_stream_is_unreachable_and_not_tried_again(fake: FakeLLM) -> None:
    fake.script = [Reply("a b c d", drop_after=2, pause=0.05), Reply("Another.")]
    pieces, whole, error = await read(model(fake))
    assert pieces == ["a", " b"]
    assert whole is None
    assert isinstance(error, ModelUnreachable)
    assert len(fake.chats) == 1


async def test_connection_dropped_before_the_first_piece_is_tried_again(fake: FakeLLM) -> None:
    fake.script = [Reply("a b", drop_after=0), Reply("Another.")]
    pieces, _, error = await read(model(fake))
    assert (pieces, error) == (["Another."], None)


async def test_an_error_within_the_stream_is_an_error(fake: FakeLLM) -> None:
    fake.script = [Reply("a b c d", error_after=2)]
    pieces, whole, error = await read(model(fake))
    assert (pieces, whole) == (["a", " b"], None)
    assert isinstance(error, ModelRefused)
    assert "the model fell over" in str(error)


@pytest.mark.parametrize("wording", replies.TOO_LONG)
async def test_400_maximum_context_length(fake: FakeLLM, wording: str) -> None:
    fake.script = [replies.TOO_LONG[wording]]
    assert isinstance((await read(model(fake)))[2], EvidenceTooLong)
    assert len(fake.chats) == 1


async def test_errors_before_the_stream_cost_exactly_1_plus_retries_calls(fake: FakeLLM) -> None:
    fake.script = [replies.SERVER_ERROR]
    assert isinstance((await read(model(fake), retries=2))[2], ModelRefused)
    assert len(fake.chats) == 3


@pytest.mark.parametrize("parameter", ["temperature", "max_tokens", "stream_options"])
async def test_a_refused_parameter_is_left_out(fake: FakeLLM, parameter: str) -> None:
    fake.refuses = frozenset({parameter})
    _, whole, error = await read(model(fake), retries=0)
    assert error is None
    assert whole is not None
    assert len(fake.chats) == 2
    assert parameter not in fake.chats[1].body


async def test_slow_pieces_meet_the_overall_deadline(fake: FakeLLM) -> None:
    fake.script = [Reply("a b c d e f g h i j", pause=0.2)]
    begun = time.monotonic()
    pieces, whole, error = await read(model(fake), seconds=0.9)
    assert time.monotonic() - begun < 2
    assert 1 <= len(pieces) < 6
    assert whole is None
    assert isinstance(error, ModelUnreachable)
    assert await anyio.to_thread.run_sync(fake.wait_for_leave, 2)


async def test_a_deadline_that_passes_while_the_reader_works_strikes_in_the_stream_alone(fake: FakeLLM) -> None:
    fake.script = [Reply("a b c", pause=0.01)]
    worked = 0

    async def slowly() -> None:
        nonlocal worked
        async with aclosing(stream(model(fake), MESSAGES, 0.5)) as events:
            async for _ in events:
                await asyncio.sleep(0.7)
                worked += 1

    with pytest.raises(ModelUnreachable):
        await slowly()
    assert worked >= 1


async def test_closing_the_stream_closes_the_call_within_2_s(fake: FakeLLM) -> None:
    fake.script = [Reply("a b c d e f", pause=0.3)]
    async with aclosing(stream(model(fake), MESSAGES, 60)) as events:
        async for _ in events:
            break
    assert await anyio.to_thread.run_sync(fake.wait_for_leave, 2)


async def test_cancelling_the_reader_closes_the_call_every_time(fake: FakeLLM) -> None:
    fake.script = [Reply("a " * 200, pause=0.05)]
    asked = model(fake)
    for number in range(20):
        with anyio.move_on_after(0.06 + 0.009 * number) as scope:
            await read(asked, 60)
        assert scope.cancelled_caught, f"cancellation {number} was lost"
        fake.script = [Reply("a " * 200, pause=0.05)]
    # On a busy machine the earliest cancellation may come before its request was sent: there is nothing to close then.
    # And twenty calls at once take longer to be seen to end there; the test above holds one to its 2 s.
    arrived = len(fake.chats)
    assert arrived >= 15
    assert await anyio.to_thread.run_sync(fake.wait_for_leave, 10, arrived)


async def test_the_offline_model_streams_too() -> None:
    pieces, whole, error = await read(chat_model(Llm(), MiniLM()))
    assert (pieces, error) == (["NO ANSWER"], None)
    assert whole == Draft("NO ANSWER", "stop", 0, 0)
