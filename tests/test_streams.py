"""Answers over time: events, heartbeats, failures in the middle, clients that leave, a service that stops."""

import json
from collections.abc import AsyncGenerator, Callable

import anyio
import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from service import streams
from service.errors import ModelUnreachable
from service.problems import Refusal
from service.streams import EventStream, Named, Stopping, Turnstile, unless_gone
from vectorstore.errors import UnknownCollection

pytestmark = pytest.mark.anyio
Events = Callable[[], AsyncGenerator[Named, None]]


class Wire:
    """The two ends of an ASGI call: what was sent, and a client that leaves when told."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.left = anyio.Event()

    async def receive(self) -> Message:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    @property
    def body(self) -> str:
        return b"".join(message.get("body", b"") for message in self.sent).decode()

    @property
    def events(self) -> list[tuple[str, object]]:
        blocks = [block for block in self.body.split("\n\n") if block.startswith("event: ")]
        pairs = [block.removeprefix("event: ").split("\ndata: ") for block in blocks]
        return [(name, json.loads(data)) for name, data in pairs]


async def run(events: Events, stopping: Stopping | None = None, wire: Wire | None = None) -> Wire:
    wire = wire or Wire()
    with anyio.fail_after(20):
        stream = EventStream(events, stopping or Stopping(), Turnstile(1).enter())
        await stream({"type": "http", "state": {"request_id": "r"}}, wire.receive, wire.send)
    return wire


async def test_events_in_order_with_the_headers_that_proxies_need() -> None:
    """Traps section 3: SSE arrives in one lump without X-Accel-Buffering; charset=utf-8."""

    async def events() -> AsyncGenerator[Named, None]:
        yield "text", "Hé\nllo"
        yield "answer", {"a": 1}

    wire = await run(events)
    headers = dict(wire.sent[0]["headers"])
    assert headers[b"x-accel-buffering"] == b"no"
    assert headers[b"content-type"] == b"text/event-stream; charset=utf-8"
    assert wire.events == [("text", "Hé\nllo"), ("answer", {"a": 1})]
    assert "é" in wire.body
    assert wire.sent[-1].get("more_body", False) is False


async def test_a_failure_in_mid_stream_is_an_error_event_and_the_end() -> None:
    """Traps section 3: an exception in mid-stream closes the connection and the client can't tell."""

    async def events() -> AsyncGenerator[Named, None]:
        yield "text", "Half"
        raise ModelUnreachable("The model went away.")

    wire = await run(events)
    name, problem = wire.events[-1]
    assert name == "error"
    assert problem == {
        "type": "urn:loccit:problem:model-failed",
        "title": "The language model did not answer",
        "status": 502,
        "detail": "The model went away.",
        "request_id": "r",
    }


async def test_an_unforeseen_failure_tells_nothing_of_the_inside() -> None:
    async def events() -> AsyncGenerator[Named, None]:
        yield "text", "Half"
        raise RuntimeError("the password is hush")

    wire = await run(events)
    assert wire.events[-1][0] == "error"
    assert "hush" not in wire.body


async def test_a_failure_before_the_first_event_has_its_own_status() -> None:
    async def events() -> AsyncGenerator[Named, None]:
        for collection in ("none",):
            if collection:
                raise UnknownCollection("There is no such collection.")
            yield "never", None

    wire = await run(events)
    assert wire.sent[0]["status"] == 404
    assert json.loads(wire.body)["detail"] == "There is no such collection."


async def test_the_heart_beats_while_nothing_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT_S", 0.05)
    monkeypatch.setattr(streams, "_FIRST_EVENT_S", 0.05)

    async def events() -> AsyncGenerator[Named, None]:
        await anyio.sleep(0.3)
        yield "answer", {}

    wire = await run(events)
    assert wire.body.count(": still here\n\n") >= 3
    assert wire.events == [("answer", {})]
    assert streams.HEARTBEAT_S <= 15


async def test_the_client_leaves_and_the_work_ends() -> None:
    """Traps sections 3, 4: the client leaves -> the call to the model is closed within 2 s."""
    ended = anyio.Event()

    async def events() -> AsyncGenerator[Named, None]:
        try:
            yield "text", "Half"
            await anyio.sleep(60)
        finally:
            ended.set()

    wire = Wire()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, events, None, wire)
        await anyio.sleep(0.1)
        wire.left.set()
        with anyio.fail_after(2):
            await ended.wait()


async def test_a_client_that_does_not_read_can_leave_too() -> None:
    ended = anyio.Event()

    async def events() -> AsyncGenerator[Named, None]:
        try:
            for number in range(1_000):
                yield "text", number
        finally:
            ended.set()

    class Stuck(Wire):
        async def send(self, message: Message) -> None:
            await anyio.sleep(60)

    wire = Stuck()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, events, None, wire)
        await anyio.sleep(0.1)
        wire.left.set()
        with anyio.fail_after(2):
            await ended.wait()


async def test_a_stopping_service_tells_its_streams_first() -> None:
    """Traps section 3: with a graceful timeout streams are cut without an event: tell them first."""
    stopping = Stopping()

    async def events() -> AsyncGenerator[Named, None]:
        yield "text", "Half"
        stopping.tell()
        await anyio.sleep(60)

    wire = await run(events, stopping)
    name, problem = wire.events[-1]
    assert name == "error"
    assert isinstance(problem, dict)
    assert problem["status"] == 503
    assert stopping.told


def test_a_turnstile_lets_so_many_in() -> None:
    turnstile = Turnstile(1)
    with turnstile.enter():
        with pytest.raises(Refusal) as caught, turnstile.enter():
            pass
        assert caught.value.kind.status == 503
    with turnstile.enter():
        pass


def request(wire: Wire) -> Request:
    return Request({"type": "http", "method": "GET", "headers": []}, wire.receive)


async def test_unless_gone_gives_what_the_work_gives_or_raises() -> None:
    async def work() -> int:
        return 7

    async def fails() -> int:
        raise UnknownCollection("none")

    assert await unless_gone(request(Wire()), work) == 7
    with pytest.raises(UnknownCollection):
        await unless_gone(request(Wire()), fails)


async def test_unless_gone_ends_the_work_when_the_client_leaves() -> None:
    wire, ended = Wire(), anyio.Event()

    async def work() -> int:
        try:
            wire.left.set()
            await anyio.sleep(60)
        finally:
            ended.set()
        return 7

    with pytest.raises(ClientDisconnect), anyio.fail_after(2):
        await unless_gone(request(wire), work)
    assert ended.is_set()
