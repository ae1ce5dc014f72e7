"""What stands between the socket and the routes, from the outside in.

Trace    an id for each request, its log line, its metrics, headers that every answer carries
(CORS)   Starlette's, so that a page can read errors too
Faults   any exception -> problem+json
Keys     who calls, and whether they may; how often they may
Bodies   bodies too large or too slow (service.bodies)
"""

import hmac
import logging
import re
import time
import uuid
from contextvars import ContextVar
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.config import Server, is_loopback
from service.metrics import Metrics
from service.problems import FOREIGN_HOST, FOREIGN_ORIGIN, NO_KEY, TOO_MANY, Refusal, respond

access_log = logging.getLogger("loccit.access")
fault_log = logging.getLogger("loccit.faults")
request_id: ContextVar[str | None] = ContextVar("request_id", default=None)

_SANE_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_LOCKED = re.compile(r"/(?:v1|mcp|metrics)(?:/|$)")
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
_GONE = 499
_CALLERS = 10_000


class Trace:
    """Names each request, logs it without its body, counts it, and dresses its answer."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        name = given if _SANE_ID.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = name
        status, began = _GONE, time.perf_counter()

        async def dressed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _dress(MutableHeaders(scope=message), name)
            await send(message)

        if scope["method"] == "HEAD":  # answered as GET; the server, which keeps its own scope, leaves the body out
            scope = {**scope, "method": "GET"}
        token = request_id.set(name)
        self.metrics.in_flight.inc()
        try:
            await self.app(scope, receive, dressed)
        finally:
            self.metrics.in_flight.dec()
            self._note(scope, status, time.perf_counter() - began)
            request_id.reset(token)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "unmatched")
        method = scope["method"] if scope["method"] in ("GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD") else "other"
        self.metrics.requests.labels(method, route, str(status)).inc()
        self.metrics.request_seconds.labels(route).observe(seconds)
        client = scope.get("client") or ("local", 0)
        fields = {"method": method, "route": route, "status": status, "ms": round(seconds * 1000, 1)}
        access_log.info("request", extra={"fields": fields | {"client": client[0]}})


class Faults:
    """Answers every exception with problem+json. Stands inside CORS, or a page could not read the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except ClientDisconnect:
            return
        except Exception as error:  # the last line: whatever it is, the client gets a clean 500 and the log the cause
            response = respond(error, scope)
            if response.status_code == 500 or started:
                fault_log.exception("request failed")
            if started:
                raise
            await response(scope, receive, send)


class Keys:
    """Lets in who has a key, if keys are set, and each caller only so often."""

    def __init__(self, app: ASGIApp, server: Server, token: str) -> None:
        self.app = app
        self.server = server
        self.token = token.encode()
        self.buckets = Buckets(server.rate_limit)
        self.names = {name.lower() for name in server.allowed_hosts}
        # A page whose name was pointed at this machine is no foreign origin to a browser: only its name gives it away.
        own = not server.api_keys and is_loopback(server.host)
        self.checks_names = "*" not in self.names and bool(own or self.names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or raise Refusal."""
        if scope["type"] == "http" and self.checks_names:
            self._refuse_foreign_names(Headers(scope=scope))
        if scope["type"] == "http" and _LOCKED.match(scope["path"]):
            self._admit(scope)
        await self.app(scope, receive, send)

    def _admit(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        key = _key_in(headers)
        if key and hmac.compare_digest(key, self.token):
            return
        if self.server.api_keys:
            if not key:
                raise Refusal(NO_KEY, "Send a key as Authorization: Bearer KEY, or as X-API-Key.")
            if not self.server.accepts(key):
                raise Refusal(NO_KEY, "The key is not one of this service's keys.")
        elif scope["method"] not in ("GET", "HEAD", "OPTIONS"):
            self._refuse_foreign_pages(headers)
        caller = key if self.server.api_keys else (scope.get("client") or ("", 0))[0].encode()
        wait_s = self.buckets.wait_s(caller)
        if wait_s:
            limit = f"At most {self.server.rate_limit} requests a minute; try again in {wait_s} s."
            raise Refusal(TOO_MANY, limit, retry_after_s=wait_s)

    def _refuse_foreign_names(self, headers: Headers) -> None:
        """Only by a name of this machine, or one that is allowed, may the service be called."""
        name = _host_name(headers.get("host", ""))
        local = not name or name.endswith(".localhost") or is_loopback(name)
        if not (local or name in self.names or hmac.compare_digest(_key_in(headers), self.token)):
            raise Refusal(
                FOREIGN_HOST, "The service is not called so; server.allowed_hosts lists further names it goes by."
            )

    def _refuse_foreign_pages(self, headers: Headers) -> None:
        """A page anywhere on the web can post to a service on this machine; without keys only this stops it."""
        origin = headers.get("origin")
        if origin is None or {"*", origin} & set(self.server.cors_origins):
            return
        if urlsplit(origin).netloc != headers.get("host"):
            raise Refusal(
                FOREIGN_ORIGIN, "Pages from this origin may not call; server.cors_origins lists those that may."
            )


class Buckets:
    """A bucket of requests for each caller, filled at `per_minute`; None never runs dry."""

    def __init__(self, per_minute: int | None) -> None:
        self.per_minute = per_minute
        self.left: dict[bytes, tuple[float, float]] = {}

    def wait_s(self, caller: bytes) -> int:
        """Take one request; 0, or how many seconds until there is one."""
        if self.per_minute is None:
            return 0
        now, rate = time.monotonic(), self.per_minute / 60
        left, then = self.left.get(caller, (float(self.per_minute), now))
        left = min(self.per_minute, left + (now - then) * rate)
        if left < 1:
            return max(1, round((1 - left) / rate))
        self.left.pop(caller, None)
        self.left[caller] = (left - 1, now)
        if len(self.left) > _CALLERS:
            del self.left[next(iter(self.left))]
        return 0


def _host_name(host: str) -> str:
    """The name in a Host header, without its port; what is no such header is a name that nobody goes by."""
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".") if host else ""
    except ValueError:
        return "?"


def _key_in(headers: Headers) -> bytes:
    scheme, _, key = headers.get("authorization", "").partition(" ")
    found = key.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "").strip()
    return found.encode("latin-1")


def _dress(headers: MutableHeaders, name: str) -> None:
    headers["X-Request-ID"] = name
    for header, value in _HEADERS.items():
        headers.setdefault(header, value)
    headers.setdefault("Cache-Control", "no-store")
