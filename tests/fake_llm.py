"""FAKE: a scripted OpenAI-compatible server on a real socket. It records what it gets and fails in every known way.

    with FakeLLM("The answer [1].") as fake:            # or FakeLLM(reply, reply, …): one a call, the last for ever
        ... fake.url ...                                # http://127.0.0.1:PORT/v1
        assert fake.chats[0].body["messages"]

A reply is a text, a Reply, or a function of the Request that gives one of these. `tests/fake_replies.py` has more.
"""

import contextlib
import json
import select
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

import pytest

from tests.fake_replies import BROKEN, Json, Reply, Request, Script, completion, error, events


@dataclass
class Vectors:
    """How /v1/embeddings answers. Vectors are a function of the text alone."""

    dimension: int = 8
    reverse: bool = False  # rows in the opposite order, `index` right
    drop: int = 0  # rows left out
    value: float | str | None = None  # instead of every number
    replies: list[Reply] = field(default_factory=list)  # answered first, one a call

    def of(self, text: str) -> list[float]:
        digest = sha256(text.encode("utf-8", "replace")).digest()
        return [digest[place % 32] / 255 + 0.01 for place in range(self.dimension)]

    def rows(self, texts: Sequence[str]) -> list[Json]:
        rows: list[Json] = []
        for index, text in enumerate(texts):
            vector = self.of(text) if self.value is None else [self.value] * self.dimension
            rows.append({"object": "embedding", "index": index, "embedding": vector})
        rows = rows[: len(rows) - self.drop]
        return rows[::-1] if self.reverse else rows


class _Gone(Exception):
    """The client left, or the server stops."""


class FakeLLM:
    """The server. `refuses` names the parameters that get OpenAI's 400; `left_at` is when clients left."""

    def __init__(self, *script: Script, refuses: Sequence[str] = (), models: Sequence[str] = ("fake",)) -> None:
        self.script: list[Script] = list(script) or [Reply()]
        self.refuses = frozenset(refuses)
        self.models = models
        self.vectors = Vectors()
        self.requests: list[Request] = []
        self.left_at: list[float] = []
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.fake = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), name="fake-llm")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def chats(self) -> list[Request]:
        return [request for request in self.requests if request.path.endswith("/chat/completions")]

    @property
    def prompt(self) -> str:
        """All messages of the last chat call, as one text."""
        return "\n".join(str(message["content"]) for message in self.chats[-1].body["messages"])

    def wait_for_leave(self, seconds: float, clients: int = 1) -> bool:
        """Whether so many clients have left, within `seconds`."""
        ends = time.monotonic() + seconds
        while len(self.left_at) < clients and time.monotonic() < ends:
            time.sleep(0.01)
        return len(self.left_at) >= clients

    def record(self, request: Request) -> None:
        with self._lock:
            self.requests.append(request)

    def answer(self, request: Request) -> Reply:
        """The reply that comes next in the script, or the 400 of a refused parameter."""
        for name in self.refuses & request.body.keys():
            return _refusal(name)
        with self._lock:
            entry = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if callable(entry):
            entry = entry(request)
        return Reply(entry) if isinstance(entry, str) else entry


def _refusal(name: str) -> Reply:
    if name == "temperature":
        text = "Unsupported value: 'temperature' does not support 0.0 with this model."
        return error(400, text + " Only the default (1) value is supported.", code="unsupported_value")
    text = f"Unsupported parameter: '{name}' is not supported with this model."
    hint = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
    return error(400, text + hint, code="unsupported_parameter")


class _Server(ThreadingHTTPServer):
    fake: FakeLLM
    daemon_threads = False
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that leaves is what many tests are about."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def handle(self) -> None:
        self.connection.settimeout(10)
        with contextlib.suppress(_Gone, OSError):
            super().handle()

    def do_GET(self) -> None:
        self._record(b"")
        if self.path == "/v1/models":
            self._json(
                200, {"object": "list", "data": [{"id": name, "object": "model"} for name in self.server.fake.models]}
            )
        else:
            self._json(404, {"error": {"message": f"no {self.path} here"}})

    def do_POST(self) -> None:
        request = self._record(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if self.path == "/v1/embeddings":
            self._embeddings(request)
        elif self.path == "/v1/chat/completions":
            self._chat(request)
        else:
            self._json(404, {"error": {"message": f"no {self.path} here"}})

    def _record(self, raw: bytes) -> Request:
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, headers, raw, time.monotonic())
        self.server.fake.record(request)
        return request

    def _embeddings(self, request: Request) -> None:
        vectors = self.server.fake.vectors
        given = request.body["input"]
        texts = [given] if isinstance(given, str) else given
        if vectors.replies:
            self._whole(vectors.replies.pop(0))
        elif not all(isinstance(text, str) and text for text in texts):
            self._whole(error(400, "input must be a list of non-empty strings"))
        else:
            usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
            self._json(200, {"object": "list", "model": "fake", "data": vectors.rows(texts), "usage": usage})

    def _chat(self, request: Request) -> None:
        reply = self.server.fake.answer(request)
        self._sleep(reply.wait)
        if reply.raw is not None or reply.status != 200 or not request.body.get("stream"):
            self._whole(reply)
        else:
            self._stream(reply, request.body)

    def _whole(self, reply: Reply) -> None:
        raw = json.dumps(completion(reply), ensure_ascii=False).encode() if reply.raw is None else reply.raw
        self.send_response(reply.status)
        for name, value in {"Content-Type": reply.content_type, **reply.headers, "Content-Length": len(raw)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(raw)

    def _json(self, status: int, body: Json) -> None:
        self._whole(Reply(status=status, raw=json.dumps(body).encode()))

    def _stream(self, reply: Reply, asked: Json) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, event in enumerate(events(reply, include_usage=bool(asked.get("stream_options")))):
            if number == reply.drop_after:
                self._tear()
            if number == reply.cut_after:
                break
            self._sleep(reply.pause)
            data = BROKEN if number == reply.error_after else event
            self._piece(f"data: {data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)}\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _piece(self, text: str) -> None:
        raw = text.encode()
        try:
            self.wfile.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
            self.wfile.flush()
        except OSError:
            self._note_leave()

    def _tear(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        self.close_connection = True
        raise _Gone

    def _sleep(self, seconds: float) -> None:
        """Wait, and notice at once when the client closes the connection meanwhile."""
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            if self.server.fake.stopping.is_set():
                raise _Gone
            readable, _, _ = select.select([self.connection], [], [], min(left, 0.05))
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                self._note_leave()

    def _note_leave(self) -> None:
        self.server.fake.left_at.append(time.monotonic())
        self.close_connection = True
        raise _Gone


@pytest.fixture
def fake_llm() -> Iterator[FakeLLM]:
    """FAKE, running; set `script`, `refuses` and `vectors` on it."""
    with FakeLLM() as fake:
        yield fake
