"""Asking a model over a real socket: what is sent, how often, what each failure becomes."""

import asyncio
import threading
import time
from collections.abc import Iterator

import anyio
import pytest
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import SecretStr

from service.config import Llm
from service.errors import EvidenceTooLong, ModelRefused, ModelUnreachable
from service.minilm import MiniLM
from service.models import Draft, chat_model, draft
from tests import fake_replies as replies
from tests.fake_llm import FakeLLM
from tests.fake_replies import Reply

pytestmark = pytest.mark.anyio
MESSAGES: list[BaseMessage] = [
    SystemMessage("Answer from the evidence."),
    HumanMessage("{x} {{a}} $n \\frac{3}{2} ü?"),
]
KEY = "sk-very-secret-0123456789abcdef"


@pytest.fixture
def fake() -> Iterator[FakeLLM]:
    with FakeLLM("The answer [1].") as server:
        yield server


def model(fake: FakeLLM, **settings: object) -> BaseChatModel:
    given: dict[str, object] = {"model": "openai:fake", "base_url": fake.url, **settings}
    return chat_model(Llm.model_validate(given), MiniLM())


async def test_sends_the_messages_as_they_are_and_reads_the_reply(fake: FakeLLM) -> None:
    said = await draft(model(fake, seed=7), MESSAGES, 10)
    assert said == Draft("The answer [1].", "stop", 11, 7)
    assert not said.truncated
    assert fake.chats[0].body["messages"] == [
        {"role": "system", "content": MESSAGES[0].content},
        {"role": "user", "content": MESSAGES[1].content},
    ]
    assert fake.chats[0].body["seed"] == 7
    assert fake.chats[0].body["max_tokens"] == 512
    assert len(fake.requests) == 1


async def test_leaves_unset_parameters_out(fake: FakeLLM) -> None:
    await draft(model(fake, temperature="none"), MESSAGES, 10)
    assert not {"temperature", "seed", "max_completion_tokens", "top_p", "n", "stop"} & fake.chats[0].body.keys()


async def test_no_key_is_needed_for_a_local_server(fake: FakeLLM) -> None:
    await draft(model(fake), MESSAGES, 10)
    await draft(model(fake, api_key=KEY), MESSAGES, 10)
    assert [request.headers["authorization"] for request in fake.chats] == ["Bearer not-needed", f"Bearer {KEY}"]


@pytest.mark.parametrize(
    ("refuses", "calls"), [(["max_tokens"], 2), (["temperature"], 2), (["max_tokens", "temperature"], 3)]
)
async def test_max_tokens_and_temperature_refused_by_newer_models(
    fake: FakeLLM, refuses: list[str], calls: int
) -> None:
    fake.refuses = frozenset(refuses)
    asked = model(fake)
    assert (await draft(asked, MESSAGES, 10, 0)).text == "The answer [1]."
    assert len(fake.chats) == calls
    sent = fake.chats[-1].body
    assert not sent.keys() & set(refuses)
    assert sent["max_completion_tokens" if "max_tokens" in refuses else "max_tokens"] == 512
    await draft(asked, MESSAGES, 10, 0)
    assert len(fake.chats) == calls + 1


async def test_a_parameter_refused_again_and_again_costs_one_extra_call(fake: FakeLLM) -> None:
    fake.script = [replies.error(400, "Unsupported parameter: 'temperature' is not supported with this model.")]
    with pytest.raises(ModelRefused, match="status 400"):
        await draft(model(fake), MESSAGES, 10)
    assert len(fake.chats) == 2


async def test_a_refused_parameter_is_left_out_by_calls_under_way_too(fake: FakeLLM) -> None:
    fake.refuses = frozenset({"temperature"})
    asked = model(fake)
    said = await asyncio.gather(*[draft(asked, MESSAGES, 10, 0) for _ in range(6)])
    assert {one.text for one in said} == {"The answer [1]."}


@pytest.mark.parametrize("wording", replies.TOO_LONG)
async def test_400_maximum_context_length(fake: FakeLLM, wording: str) -> None:
    fake.script = [replies.TOO_LONG[wording]]
    with pytest.raises(EvidenceTooLong, match=r"llm\.context_window"):
        await draft(model(fake), MESSAGES, 10)
    assert len(fake.chats) == 1


@pytest.mark.parametrize(
    ("reply", "kind", "sentence", "calls"),
    [
        (replies.UNAUTHORIZED, ModelRefused, "refused the key: set llm.api_key", 1),
        (replies.FORBIDDEN, ModelRefused, "does not allow this key to use the model fake", 1),
        (replies.NOT_FOUND, ModelRefused, "knows no model fake", 1),
        (replies.NO_QUOTA, ModelRefused, "quota", 1),
        (replies.rate_limited("0"), ModelRefused, "limits the rate", 3),
        (replies.SERVER_ERROR, ModelRefused, "failed with status 500", 3),
        (replies.LOADING, ModelRefused, "failed with status 503.*Loading model", 3),
        (replies.NOT_JSON, ModelRefused, "can't be used", 1),
        (replies.HTML, ModelRefused, "can't be used", 1),
        (replies.NULL_CHOICES, ModelRefused, "can't be used", 1),
        (replies.NO_CHOICES, ModelRefused, "can't be used", 1),
        (Reply(None, finish="content_filter"), ModelRefused, "content filter", 1),
    ],
)
async def test_each_error_is_one_sentence_and_exactly_1_plus_retries_calls(
    fake: FakeLLM, reply: Reply, kind: type[Exception], sentence: str, calls: int
) -> None:
    fake.script = [reply]
    with pytest.raises(kind, match=sentence) as caught:
        await draft(model(fake, api_key=KEY), MESSAGES, 10, 2)
    assert len(fake.chats) == calls
    assert f"127.0.0.1:{fake.port}" in str(caught.value) or "content filter" in sentence
    for secret in (KEY, KEY[3:], "/home/someone", "Traceback", "<html"):
        assert secret not in str(caught.value)


async def test_no_retries_means_one_call(fake: FakeLLM) -> None:
    fake.script = [replies.SERVER_ERROR]
    with pytest.raises(ModelRefused):
        await draft(model(fake), MESSAGES, 10, 0)
    assert len(fake.chats) == 1


async def test_a_passing_error_is_tried_again(fake: FakeLLM) -> None:
    fake.script = [replies.LOADING, replies.rate_limited("0.1"), Reply("At last [1].")]
    assert (await draft(model(fake), MESSAGES, 10, 2)).text == "At last [1]."


async def test_retry_after_is_obeyed_within_the_deadline(fake: FakeLLM) -> None:
    fake.script = [replies.rate_limited("1"), Reply("Later [1].")]
    begun = time.monotonic()
    assert (await draft(model(fake), MESSAGES, 10)).text == "Later [1]."
    assert time.monotonic() - begun >= 1


@pytest.mark.parametrize("retry_after", ["120", "Fri, 31 Dec 2999 23:59:59 GMT"])
async def test_retry_after_beyond_the_deadline_is_not_waited_for(fake: FakeLLM, retry_after: str) -> None:
    fake.script = [replies.rate_limited(retry_after)]
    begun = time.monotonic()
    with pytest.raises(ModelRefused, match="limits the rate"):
        await draft(model(fake), MESSAGES, 5)
    assert time.monotonic() - begun < 2
    assert len(fake.chats) == 1


async def test_a_slow_first_byte_meets_the_overall_deadline(fake: FakeLLM) -> None:
    fake.script = [Reply(wait=30)]
    begun = time.monotonic()
    with pytest.raises(ModelUnreachable, match="did not answer in time"):
        await draft(model(fake), MESSAGES, 0.5)
    assert time.monotonic() - begun < 1.5
    assert fake.wait_for_leave(2)
    assert len(fake.chats) == 1


async def test_nobody_listens(fake: FakeLLM) -> None:
    asked = model(fake)
    fake.__exit__(None, None, None)
    try:
        with pytest.raises(ModelUnreachable, match=f"127.0.0.1:{fake.port} can't be reached"):
            await draft(asked, MESSAGES, 10, 1)
    finally:
        fake._thread = threading.Thread(target=lambda: None)
        fake._thread.start()


async def test_client_leaves_and_the_call_is_closed_within_2_s(fake: FakeLLM) -> None:
    fake.script = [Reply(wait=30)]
    with anyio.move_on_after(0.4) as scope:
        await draft(model(fake), MESSAGES, 60)
    assert scope.cancelled_caught
    assert await anyio.to_thread.run_sync(fake.wait_for_leave, 2)


@pytest.mark.parametrize("finish", ["length", "content_filter"])
async def test_finish_reason_length_is_truncated(fake: FakeLLM, finish: str) -> None:
    fake.script = [Reply("Half an ans", finish=finish)]
    assert (await draft(model(fake), MESSAGES, 10)).truncated


async def test_null_content_missing_usage_and_missing_finish_reason_are_an_empty_draft(fake: FakeLLM) -> None:
    fake.script = [Reply(None, finish=None, usage=None)]
    assert await draft(model(fake), MESSAGES, 10) == Draft("", None, 0, 0)


async def test_http_proxy_does_not_swallow_calls_to_loopback(fake: FakeLLM, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "OPENAI_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert (await draft(model(fake), MESSAGES, 10, 0)).text == "The answer [1]."


async def test_environment_meant_for_other_programs_does_not_reroute_the_call(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "OPENAI_API_BASE": "http://127.0.0.1:9/v1",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
        "LANGSMITH_GATEWAY": "true",
        "LANGSMITH_GATEWAY_URL": "http://127.0.0.1:9",
        "LANGSMITH_GATEWAY_API_KEY": "lsv2-secret",
        "OPENAI_API_KEY": "sk-of-the-environment",
    }.items():
        monkeypatch.setenv(name, value)
    await draft(model(fake), MESSAGES, 10, 0)
    assert fake.chats[0].headers["authorization"] == "Bearer not-needed"
    assert "lsv2-secret" not in str(fake.chats[0].headers)


async def test_one_model_serves_many_event_loops(fake: FakeLLM) -> None:
    asked = model(fake)

    def alone() -> str:
        return asyncio.run(draft(asked, MESSAGES, 10, 0)).text

    assert [await anyio.to_thread.run_sync(alone) for _ in range(3)] == ["The answer [1]."] * 3


async def test_the_offline_model_is_asked_the_same_way() -> None:
    said = await draft(chat_model(Llm(), MiniLM()), MESSAGES, 10)
    assert said == Draft("NO ANSWER", "stop", 0, 0)


async def test_the_key_is_masked_where_the_server_repeats_it(fake: FakeLLM) -> None:
    fake.script = [replies.error(400, "The header said Bearer odd.key/of+another=form, which is wrong.")]
    with pytest.raises(ModelRefused) as caught:
        await draft(model(fake, api_key=SecretStr("odd.key/of+another=form")), MESSAGES, 10)
    assert "odd.key" not in str(caught.value)
    assert "which is wrong" in str(caught.value)
