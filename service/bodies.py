"""Request bodies, never larger nor slower than allowed, whatever reads them."""

import time

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.problems import BODY_STALLED, BODY_TOO_LARGE, Refusal, respond

# A body may arrive slowly, but not slower than this: one byte every half minute would hold its place for ever.
_SLOWEST_BYTES_PER_S = 1_024
# After a refusal the rest of the body is read and thrown away for so long: a socket closed with unread
# data in it is reset, and the client would lose the answer that explains.
_LINGER_S = 5.0


class Bodies:
    """Refuses a body over `max_bytes` with 413, unread where its length is told, and a stalled one with 408."""

    def __init__(self, app: ASGIApp, max_bytes: int, timeout_s: float) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            self._check_length(scope)
            await self.app(scope, self._bounded(receive), watched)
        except Refusal as refusal:
            if started or refusal.kind.status not in (BODY_TOO_LARGE.status, BODY_STALLED.status):
                raise
            await _refuse(refusal, scope, receive, send)

    def _check_length(self, scope: Scope) -> None:
        told = Headers(scope=scope).get("content-length", "")
        if told.isascii() and told.isdigit() and (len(told) > 18 or int(told) > self.max_bytes):
            raise self._too_large()

    def _bounded(self, receive: Receive) -> Receive:
        taken, complete, began = 0, False, time.monotonic()

        async def bounded() -> Message:
            nonlocal taken, complete
            if complete:  # from here on it waits for the client to leave, which may take as long as it likes
                return await receive()
            left = self.timeout_s + taken / _SLOWEST_BYTES_PER_S - (time.monotonic() - began)
            try:
                with anyio.fail_after(min(self.timeout_s, max(left, 0))):
                    message = await receive()
            except TimeoutError:
                raise Refusal(BODY_STALLED, "The body stopped arriving; send it again.") from None
            taken += len(message.get("body", b""))
            complete = message["type"] != "http.request" or not message.get("more_body", False)
            if taken > self.max_bytes:
                raise self._too_large()
            return message

        return bounded

    def _too_large(self) -> Refusal:
        return Refusal(
            BODY_TOO_LARGE,
            f"A body may hold {self.max_bytes} bytes at most (server.max_body_bytes); send the file in parts.",
        )


async def _refuse(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    answer = respond(refusal, scope)
    answer.headers["Connection"] = "close"
    await send({"type": "http.response.start", "status": answer.status_code, "headers": answer.raw_headers})
    await send({"type": "http.response.body", "body": answer.body, "more_body": True})
    if refusal.kind.status == BODY_TOO_LARGE.status:
        with anyio.move_on_after(_LINGER_S):
            message: Message = {"more_body": True}
            while message.get("more_body", False):
                message = await receive()
    await send({"type": "http.response.body", "body": b""})
