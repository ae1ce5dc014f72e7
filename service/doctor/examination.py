"""The order of the examination. Each Finding is given out as soon as it is known."""

import time
from collections.abc import AsyncGenerator, AsyncIterator

import anyio

from service import tokens
from service.config import Llm, Settings
from service.doctor import configuration, folder, obedience, replies, vectors, window
from service.doctor.endpoint import Endpoint, Listed, Said
from service.doctor.findings import Area, Finding
from service.doctor.window import Step
from service.errors import ConfigError, EvidenceTooLong
from service.minilm import MiniLM
from service.models import embeddings
from vectorstore.paper import Embedder

# Seconds after which no further long or canned prompt is begun.
_WINDOW_S = _CANNED_S = 120.0
# Tokens of the model to one of tiktoken, until the endpoint counts: on the safe side.
_RATIO = 1.2
_ROOM = 32
_HELLO = [("system", "You reply in one short sentence."), ("user", "Which colour is the sky on a clear day?")]
_COUNT = "How many flags are there, and of which colour? There are two blue ones."


async def examine(settings: Settings) -> AsyncGenerator[Finding, None]:
    """Everything there is to find. Raises nothing of ours: an error is a Finding."""
    for finding in configuration.of_settings(settings):
        yield finding
    embedder, trouble = _embedder(settings)
    if trouble is not None:
        yield trouble
    for finding in await anyio.to_thread.run_sync(lambda: list(folder.of_folder(settings, embedder))):
        yield finding
    if embedder is not None:
        for finding in await anyio.to_thread.run_sync(lambda: list(vectors.of_embedder(embedder))):
            yield finding
    if settings.llm.model == configuration.OFFLINE:
        found = "offline:extractive answers in the abstracts' own words: there is no endpoint to check"
        yield Finding("model", "endpoint", "ok", found)
        return
    async for finding in _of_model(settings, embedder):
        yield finding


def _embedder(settings: Settings) -> tuple[Embedder | None, Finding | None]:
    try:
        return embeddings(settings.embeddings), None
    except ConfigError as error:
        return None, _unset("embedding", error, "see embeddings.model, embeddings.base_url and embeddings.api_key")


async def _of_model(settings: Settings, embedder: Embedder | None) -> AsyncIterator[Finding]:
    try:
        endpoint = Endpoint(settings.llm, embedder or MiniLM())
    except ConfigError as error:
        yield _unset("model", error, "see llm.model, llm.base_url and llm.api_key")
        return
    listed = Listed(None)
    if _speaks_openai(settings.llm):
        listed = await endpoint.listed()
        found = list(replies.of_list(listed, settings.llm))
        for finding in found:
            yield finding
        if any(finding.mark == "fault" for finding in found):
            return
    whole = await endpoint.ask(_HELLO)
    answers = replies.of_reply(whole, settings.llm)
    yield answers
    if answers.mark == "fault":
        return
    async for finding in _of_talk(endpoint, whole, listed, settings):
        yield finding


async def _of_talk(endpoint: Endpoint, whole: Said, listed: Listed, settings: Settings) -> AsyncIterator[Finding]:
    """What only a model that answers can show."""
    streamed = await endpoint.stream(_HELLO)
    for finding in replies.of_stream(whole, streamed):
        yield finding
    yield replies.of_parameters(endpoint.refused())
    if _speaks_openai(settings.llm):
        yield replies.of_json(await endpoint.in_json(_COUNT))
    room = settings.llm.max_output_tokens if replies.thinks([whole, streamed]) else _ROOM
    most = window.longest(settings.llm, room)
    steps, trouble = await _window_steps(endpoint.with_room(room), most)
    yield window.of_window(steps, most, settings.llm, listed.window, trouble)
    said, followed = await _canned(endpoint, streams=streamed.error is None)
    yield replies.of_thoughts([whole, streamed, *said], settings.llm)
    if followed:
        yield obedience.of_obedience(followed)
    yield replies.of_speed([streamed, *said], _longest_read(steps), settings.retrieval.top_k, settings.llm)


async def _window_steps(endpoint: Endpoint, most: int) -> tuple[list[Step], str | None]:
    """Longer and longer prompts, while they tell something new and time is left; what went wrong, if it did."""
    steps: list[Step] = []
    ratio = _RATIO
    ends = time.monotonic() + _WINDOW_S
    while (length := window.next_length(steps, most)) is not None:
        pace = max((step.seconds / step.sent for step in steps), default=0.0)
        if steps and time.monotonic() + pace * length > ends:
            return steps, "longer prompts take too long to try"
        messages = window.prompt(length, ratio, len(steps))
        ours = tokens.count("\n".join(text for _, text in messages))
        said = await endpoint.ask(messages)
        step = _step(said, round(ours * ratio))
        if step is None:
            return steps, str(said.error)
        steps.append(step)
        if step.sent == step.counted:
            ratio = step.counted / ours
    return steps, None


def _step(said: Said, sent: int) -> Step | None:
    """What one long prompt showed; None if it failed otherwise than for its length."""
    if isinstance(said.error, EvidenceTooLong):
        return Step(sent, refused=True, named=window.window_named(str(said.error)), seconds=said.seconds)
    if said.error is not None:
        return None
    counted = said.draft.prompt_tokens
    recalled = window.WORD in said.draft.text.lower()
    exact = counted if counted >= 0.8 * sent else sent
    return Step(exact, counted, recalled, seconds=said.seconds)


async def _canned(endpoint: Endpoint, *, streams: bool) -> tuple[list[Said], list[obedience.Obeyed]]:
    """The canned prompts, as many as time allows; the unanswerable ones are not left to the last."""
    all_said: list[Said] = []
    followed: list[obedience.Obeyed] = []
    ends = time.monotonic() + _CANNED_S
    for which in range(obedience.NUMBER):
        if time.monotonic() > ends:
            break
        asked = obedience.canned(which)
        said = await (endpoint.stream(asked.messages) if streams else endpoint.ask(asked.messages))
        all_said.append(said)
        if said.error is None:
            followed.append(obedience.obeyed(said.draft.text, asked))
    return all_said, followed


def _longest_read(steps: list[Step]) -> tuple[int, float]:
    read = [step for step in steps if not step.refused]
    longest = max(read, key=lambda step: step.counted or step.sent, default=None)
    return (longest.counted or longest.sent, longest.seconds) if longest else (0, 0.0)


def _speaks_openai(llm: Llm) -> bool:
    return llm.model.startswith("openai:")


def _unset(area: Area, error: ConfigError, change: str) -> Finding:
    return Finding(area, "settings", "fault", str(error), change)
