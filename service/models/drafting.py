"""Asking a model: one deadline over everything, exactly 1 + retries calls, and a reply read into a Draft."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import NamedTuple

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from pydantic import SecretStr

from service.errors import ModelError, ModelRefused, ServiceError
from service.models import faults
from service.models.endpoint import shown

_CUT = frozenset({"length", "max_tokens", "model_length"})
# What LangChain's OpenAI class calls a parameter that an endpoint may refuse.
_OPTIONAL = {"temperature": "temperature", "seed": "seed", "stream_options": "stream_usage"}
_REFUSED = (
    "unsupported",
    "not supported",
    "does not support",
    "unrecognized",
    "unknown",
    "not permitted",
    "unexpected",
)


class Draft(NamedTuple):
    """What a model said. `finish_reason` is as the endpoint gave it, in lower case."""

    text: str
    finish_reason: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def truncated(self) -> bool:
        """Whether the model was stopped before it had ended."""
        return self.finish_reason in _CUT or self.finish_reason == "content_filter"


async def draft(model: BaseChatModel, messages: Sequence[BaseMessage], deadline_s: float, retries: int = 2) -> Draft:
    """The whole reply, within `deadline_s` seconds, retries and their pauses included.

    Raises ModelUnreachable, ModelRefused or EvidenceTooLong.
    """
    tries = _Tries(model, deadline_s, retries)
    while True:
        try:
            async with asyncio.timeout_at(tries.ends):
                message = await model.ainvoke(list(messages))
            return _usable(_read(message))
        except ServiceError:
            raise
        except Exception as error:  # noqa: BLE001 - each provider's library has a tree of its own
            await tries.after(error)


async def stream(
    model: BaseChatModel, messages: Sequence[BaseMessage], deadline_s: float, retries: int = 2
) -> AsyncGenerator[str | Draft, None]:
    """Pieces of the reply as they come, last the whole of it as a Draft. Raises as `draft` does.

    Close it (`contextlib.aclosing`) to leave early: the HTTP call is closed with it. Nothing is tried again once a
    piece was given out.
    """
    tries = _Tries(model, deadline_s, retries)
    begun = False
    while True:
        try:
            async with aclosing(_pieces(model, messages, tries.ends)) as pieces:
                async for piece in pieces:
                    begun = True
                    yield piece
        except ServiceError:
            raise
        except Exception as error:
            if begun:
                raise tries.meaning(error) from error
            await tries.after(error)
        else:
            return


async def _pieces(
    model: BaseChatModel, messages: Sequence[BaseMessage], ends: float
) -> AsyncGenerator[str | Draft, None]:
    texts: list[str] = []
    reason: str | None = None
    used = (0, 0)
    async with aclosing(model.astream(list(messages))) as replies:  # type: ignore[type-var]  # it is an async generator
        while True:
            # Around each wait and not around a yield: a timeout must never strike in the caller's code.
            async with asyncio.timeout_at(ends):
                message = await _next(replies)
            if message is None:
                break
            piece = _read(message)
            reason = piece.finish_reason or reason
            used = (max(used[0], piece.prompt_tokens), max(used[1], piece.completion_tokens))
            if piece.text:
                texts.append(piece.text)
                yield piece.text
    if reason is None:
        raise ConnectionError("no finish_reason: the stream was cut, however cleanly")
    yield _usable(Draft("".join(texts), reason, *used))


async def _next(replies: AsyncIterator[BaseMessage]) -> BaseMessage | None:
    try:
        return await anext(replies, None)
    except ValueError as error:
        # What LangChain makes of a stream that ended before its first event.
        if "No generation chunks" in str(error):
            return None
        raise


def _read(message: BaseMessage) -> Draft:
    metadata = message.response_metadata
    reason = metadata.get("finish_reason") or metadata.get("stop_reason") or metadata.get("done_reason")
    usage = message.usage_metadata if isinstance(message, AIMessage) else None
    text = str(message.text) or str(message.additional_kwargs.get("refusal") or "")
    counts = (usage["input_tokens"], usage["output_tokens"]) if usage else (0, 0)
    return Draft(text, str(reason).lower() if reason else None, *counts)


def _usable(said: Draft) -> Draft:
    if said.finish_reason == "content_filter" and not said.text.strip():
        raise ModelRefused("The content filter of the model endpoint withheld the reply.")
    return said


class _Tries:
    """The calls that one draft may cost."""

    def __init__(self, model: BaseChatModel, deadline_s: float, retries: int) -> None:
        self.ends = asyncio.get_running_loop().time() + deadline_s
        self._model = model
        self._left = retries
        self._left_out: set[str] = set()
        self._pause = 0.25

    async def after(self, error: Exception) -> None:
        """Return when the call may be made again; else raise what `error` means."""
        parameter = _refused_parameter(error)
        if parameter and parameter not in self._left_out:
            # Each call counts for itself: another task may have changed the model after this one was sent.
            self._left_out.add(parameter)
            _leave_out(self._model, parameter)
            return
        pause = faults.asked_pause(error)
        self._pause *= 2
        pause = self._pause if pause is None else pause
        left = self.ends - asyncio.get_running_loop().time()
        if not (self._left and faults.is_passing(error) and pause < left):
            raise self.meaning(error) from error
        self._left -= 1
        await asyncio.sleep(pause)

    def meaning(self, error: Exception) -> ModelError:
        """`error` as one of ours."""
        name = str(getattr(self._model, "model_name", ""))
        return faults.translate(error, _endpoint(self._model), model=name, secret=_secret(self._model))


def _refused_parameter(error: Exception) -> str | None:
    """The parameter that the endpoint's 400 says it does not take, if that is what it says."""
    said = faults.message_of(error).lower()
    if faults.status_of(error) not in {400, 422} or faults.is_too_long(error):
        return None
    if not any(word in said for word in _REFUSED):
        return None
    return next((name for name in ("max_tokens", *_OPTIONAL) if name in said), None)


def _leave_out(model: BaseChatModel, parameter: str) -> None:
    """Change `model`, for good, so that it does not send `parameter`; max_tokens goes by its newer name."""
    if parameter == "max_tokens":
        body: dict[str, object] = getattr(model, "extra_body", None) or {}
        if "max_tokens" in body:
            rest = {name: value for name, value in body.items() if name != "max_tokens"}
            _set(model, max_tokens=body["max_tokens"], extra_body=rest or None)
    elif hasattr(model, _OPTIONAL[parameter]):
        _set(model, **{_OPTIONAL[parameter]: None})


def _set(model: BaseChatModel, **values: object) -> None:
    for name, value in values.items():
        setattr(model, name, value)


def _endpoint(model: BaseChatModel) -> str:
    url = getattr(model, "openai_api_base", None) or getattr(model, "base_url", None)
    return f"The model endpoint {shown(str(url))}" if url else "The model endpoint"


def _secret(model: BaseChatModel) -> str:
    key = getattr(model, "openai_api_key", None)
    return key.get_secret_value() if isinstance(key, SecretStr) else ""
