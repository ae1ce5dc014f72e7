"""Asking the model's endpoint, and what was observed. Errors are observations too: nothing here raises a ModelError."""

import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx

from service.config import Llm
from service.errors import ModelError
from service.messages import messages_of
from service.models import Draft, chat_model, draft, stream
from service.models.endpoint import OPENAI, is_local, normalise_base_url
from service.wire import BadJson, Json, loads
from vectorstore.paper import Embedder

Prompt = Sequence[tuple[str, str]]
_PATIENCE_S = 20.0
# Where servers say how long a prompt may be: vLLM, llama.cpp, LM Studio and others.
_WINDOW_FIELDS = (
    "max_model_len",
    "n_ctx",
    "loaded_context_length",
    "context_length",
    "context_window",
    "max_context_length",
)
SCHEMA: Json = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}, "count": {"type": "integer"}},
    "required": ["colour", "count"],
    "additionalProperties": False,
}


_NOTHING = Draft("")


@dataclass(frozen=True, slots=True)
class Said:
    """One reply as it was observed, with the seconds to its first piece and from there to its last."""

    draft: Draft = _NOTHING
    seconds: float = 0.0
    first_s: float = 0.0
    pieces: int = 0
    spread_s: float = 0.0
    error: ModelError | None = None


class Listed(NamedTuple):
    """What `GET /models` gave: the status (None: no connection), names, and the window that it states for ours."""

    status: int | None
    names: tuple[str, ...] = ()
    window: int | None = None


class Raw(NamedTuple):
    """A chat completion read without LangChain: status (None: no connection, or no completion) and content."""

    status: int | None
    text: str = ""
    finish_reason: str | None = None


class Endpoint:
    """The configured model, asked once a question: no retries. Raises ConfigError where it can't be set up."""

    def __init__(self, llm: Llm, embedder: Embedder) -> None:
        self.llm = llm
        self._embedder = embedder
        self._model = chat_model(llm, embedder)
        self._offered = self.options()

    def with_room(self, max_output_tokens: int) -> "Endpoint":
        """The same model, whose replies may have so many tokens."""
        return Endpoint(self.llm.model_copy(update={"max_output_tokens": max_output_tokens}), self._embedder)

    async def ask(self, prompt: Prompt) -> Said:
        """One whole reply."""
        began = time.monotonic()
        try:
            said = await draft(self._model, messages_of(prompt), self.llm.timeout_s, retries=0)
        except ModelError as error:
            return Said(seconds=time.monotonic() - began, error=error)
        seconds = time.monotonic() - began
        return Said(said, seconds=seconds, first_s=seconds, pieces=1)

    async def stream(self, prompt: Prompt) -> Said:
        """One reply in pieces."""
        began = time.monotonic()
        times: list[float] = []
        said = Draft("")
        error: ModelError | None = None
        try:
            async with aclosing(stream(self._model, messages_of(prompt), self.llm.timeout_s, retries=0)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Draft):
                        said = piece
                    else:
                        times.append(time.monotonic())
        except ModelError as raised:
            error = raised
        total = time.monotonic() - began
        first = times[0] - began if times else total
        return Said(said, total, first, len(times), times[-1] - times[0] if times else 0.0, error)

    def options(self) -> dict[str, object]:
        """The optional parameters that are sent, by the names of the settings or of the API."""
        sent = {name: getattr(self._model, name, None) for name in ("temperature", "seed", "stream_usage")}
        sent["max_tokens"] = (getattr(self._model, "extra_body", None) or {}).get("max_tokens")
        return {name: value for name, value in sent.items() if value is not None and value is not False}

    def refused(self) -> list[str]:
        """The parameters that the endpoint has refused so far; they are no longer sent."""
        return sorted(self._offered.keys() - self.options().keys())

    async def listed(self) -> Listed:
        """The models that the endpoint knows."""
        try:
            async with self._http() as http:
                reply = await http.get("models")
        except (httpx.HTTPError, UnicodeError):
            return Listed(None)
        try:
            return _read_list(reply.status_code, loads(reply.content), self.llm.model.partition(":")[2])
        except BadJson:
            return Listed(reply.status_code)

    async def in_json(self, question: str) -> Raw:
        """A reply that was asked to follow SCHEMA."""
        newer = _url(self.llm) == OPENAI or "max_tokens" in self.refused()
        shape: Json = {"name": "reply", "strict": True, "schema": SCHEMA}
        body: Json = {
            "model": self.llm.model.partition(":")[2],
            "messages": [{"role": "user", "content": question}],
            "response_format": {"type": "json_schema", "json_schema": shape},
            "max_completion_tokens" if newer else "max_tokens": self.llm.max_output_tokens,
        }
        try:
            async with self._http() as http:
                reply = await http.post("chat/completions", json=body)
        except (httpx.HTTPError, UnicodeError):
            return Raw(None)
        return _read_reply(reply)

    def _http(self) -> httpx.AsyncClient:
        url = _url(self.llm)
        key = self.llm.api_key.get_secret_value().strip() if self.llm.api_key else ""
        return httpx.AsyncClient(
            base_url=url + "/",
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(min(self.llm.timeout_s, 3 * _PATIENCE_S), connect=_PATIENCE_S),
            # As for the model itself: no proxy stands before a local server.
            trust_env=not is_local(urlsplit(url).hostname or ""),
        )


def _url(llm: Llm) -> str:
    return normalise_base_url(llm.base_url) if llm.base_url else OPENAI


def _read_list(status: int, body: Json, wanted: str) -> Listed:
    rows = body.get("data") if isinstance(body, dict) else body
    models = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    names = tuple(str(row["id"]) for row in models if row.get("id"))
    ours = [row for row in models if row.get("id") == wanted] or (models if len(models) == 1 else [])
    return Listed(status, names, _window(ours[0]) if ours else None)


def _window(model: dict[str, Json]) -> int | None:
    meta = model.get("meta")
    fields = model | (meta if isinstance(meta, dict) else {})
    stated = (fields.get(name) for name in _WINDOW_FIELDS)
    return next((size for size in stated if isinstance(size, int) and not isinstance(size, bool) and size > 0), None)


def _read_reply(reply: httpx.Response) -> Raw:
    if reply.status_code != 200:
        return Raw(reply.status_code)
    try:
        choice = reply.json()["choices"][0]
        return Raw(200, str(choice["message"]["content"] or ""), choice.get("finish_reason"))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return Raw(None)
