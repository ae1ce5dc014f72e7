"""Answers over time: server-sent events, and calls that end when the client leaves."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, aclosing, contextmanager
from typing import TypeVar

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from pydantic import BaseModel
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from service import wire
from service.problems import BUSY, STOPPING, Refusal, problem_of, request_id_of, respond

HEARTBEAT_S = 10.0
# So long a failure can still be an answer with its own status; then the stream begins, and failures are events.
_FIRST_EVENT_S = 5.0
_HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}


class Turnstile:
    """Lets `places` in at a time and refuses the next at once: a queue of questions only times out later."""

    def __init__(self, places: int) -> None:
        self.free = places

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Hold a place. Raises Refusal if there is none."""
        if self.free <= 0:
            raise Refusal(BUSY, "The service answers as many questions as it can; try again in a moment.")
        self.free -= 1
        try:
            yield
        finally:
            self.free += 1


class Stopping:
    """Says to whoever holds a stream open that the service is about to stop."""

    def __init__(self) -> None:
        self._event = anyio.Event()

    def tell(self) -> None:
        """Say so, from the thread of the event loop."""
        self._event.set()

    @property
    def told(self) -> bool:
        """Whether the service is stopping."""
        return self._event.is_set()

    async def wait(self) -> None:
        """Return once it was said."""
        await self._event.wait()


T = TypeVar("T")
Named = tuple[str, wire.Json | BaseModel]


class EventStream(Response):
    """Events as `text/event-stream`. A failure is the last event, `error`; the client leaving ends the work at once."""

    def __init__(
        self, events: Callable[[], AsyncGenerator[Named, None]], stopping: Stopping, place: AbstractContextManager[None]
    ) -> None:
        super().__init__()
        self.events = events
        self.stopping = stopping
        self.place = place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until they end, fail, the client leaves or the service stops."""
        with self.place:
            into, outof = anyio.create_memory_object_stream[Named | Exception](16)
            async with anyio.create_task_group() as tasks, outof:
                tasks.start_soon(self._produce, into)
                tasks.start_soon(self._stop, into.clone())
                tasks.start_soon(_until_gone, receive, tasks.cancel_scope)
                await _forward(outof, scope, send)
                tasks.cancel_scope.cancel()

    async def _produce(self, into: MemoryObjectSendStream[Named | Exception]) -> None:
        # One task runs the generator from its first step to its last: its timeouts belong to a task.
        async with into:
            try:
                async with aclosing(self.events()) as events:
                    async for event in events:
                        await into.send(event)
            except Exception as error:  # noqa: BLE001 - whatever it is, the client hears that it failed
                await into.send(error)
                return
            await into.send(_END)

    async def _stop(self, into: MemoryObjectSendStream[Named | Exception]) -> None:
        async with into:
            await self.stopping.wait()
            await into.send(Refusal(STOPPING, "The service is stopping; ask again in a moment."))


_END: Named = ("", None)


async def _forward(outof: MemoryObjectReceiveStream[Named | Exception], scope: Scope, send: Send) -> None:
    first: Named | Exception | None = None
    with anyio.move_on_after(_FIRST_EVENT_S):
        first = await outof.receive()
    if isinstance(first, Exception):
        await respond(first, scope)(scope, _nothing, send)
        return
    raw = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
    await send({"type": "http.response.start", "status": 200, "headers": raw})
    item: Named | Exception | None = first
    while item is not _END:
        await send({"type": "http.response.body", "body": _framed(item, scope), "more_body": True})
        if isinstance(item, Exception):
            break
        item = None
        with anyio.move_on_after(HEARTBEAT_S):
            item = await outof.receive()
    await send({"type": "http.response.body", "body": b""})


def _framed(item: Named | Exception | None, scope: Scope) -> bytes:
    if item is None:
        return b": still here\n\n"
    if isinstance(item, Exception):
        problem = problem_of(item, request_id_of(scope))
        item = ("error", problem.model_dump(exclude_none=True))
    name, data = item
    return b"event: " + name.encode() + b"\ndata: " + wire.dumps(data) + b"\n\n"


async def _nothing() -> dict[str, object]:
    return {"type": "http.disconnect"}


async def _until_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


async def unless_gone(request: Request, work: Callable[[], Awaitable[T]]) -> T:
    """What `work` gives; if the client leaves first, the work is cancelled and ClientDisconnect raised.

    Without this a model goes on writing, on the only local slot or for money, for nobody.
    """
    outcome: list[T | Exception] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_until_gone, request.receive, tasks.cancel_scope)
        try:
            outcome.append(await work())
        except Exception as error:  # noqa: BLE001 - carried out of the task group, which would wrap it
            outcome.append(error)
        tasks.cancel_scope.cancel()
    if not outcome:
        raise ClientDisconnect
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    return outcome[0]
