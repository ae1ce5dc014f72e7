"""What FAKE can say: good replies, and the errors of every known server in its own words."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


@dataclass(frozen=True)
class Request:
    """One recorded request. Header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    at: float

    @property
    def body(self) -> Json:
        body: Json = json.loads(self.raw)
        return body


@dataclass(frozen=True)
class Reply:
    """What is answered to one chat call, and everything that goes wrong with it."""

    text: str | None = "An answer [1]."
    finish: str | None = "stop"
    usage: Mapping[str, int] | None = field(default_factory=lambda: USAGE)
    pieces: Sequence[str | None] | None = None  # of the stream; by default the words. None: a null delta
    empty_choices: frozenset[Literal["first", "middle", "last"]] = frozenset()  # chunks with `choices: []`
    think: str = ""  # goes before the text
    reasoning: str = ""  # in `reasoning_content`, beside the text
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None  # this body as it is, whatever was asked
    content_type: str = "application/json"
    wait: float = 0.0  # before the first byte
    pause: float = 0.0  # before each piece
    cut_after: int | None = None  # pieces after which the body ends cleanly, without finish_reason and [DONE]
    drop_after: int | None = None  # pieces after which the connection is torn
    error_after: int | None = None  # pieces after which an error comes in the stream
    done: bool = True  # [DONE] at the end


Script = str | Reply | Callable[[Request], str | Reply]


def error(status: int, message: str, *, kind: str = "invalid_request_error", code: str | int | None = None) -> Reply:
    """An error as OpenAI and those who follow it write it."""
    body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return Reply(status=status, raw=json.dumps(body).encode())


TOO_LONG = {
    "openai": error(
        400,
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. "
        "Please reduce the length of the messages.",
        code="context_length_exceeded",
    ),
    "openai-newer": error(
        400, "Input tokens exceed the configured limit of 272000 tokens.", code="context_length_exceeded"
    ),
    "llama.cpp": Reply(
        status=400,
        raw=b'{"error":{"code":400,"message":"request (5211 tokens) exceeds the available context size (4096 tokens), '
        b'try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5211,"n_ctx":4096}}',
    ),
    "llama.cpp-older": error(
        500,
        "the request exceeds the available context size. try increasing the context size or enable context shift",
        kind="server_error",
        code=500,
    ),
    "vllm": Reply(
        status=400,
        raw=b'{"object":"error","message":"This model\'s maximum context length is 4096 tokens. However, you requested '
        b'5200 tokens (4688 in the messages, 512 to complete).","type":"BadRequestError","param":null,"code":400}',
    ),
    "vllm-newer": error(
        400,
        "'max_tokens' or 'max_completion_tokens' is too large: 512. This model's maximum context length is 4096 "
        "tokens and your request has 4000 input tokens (512 > 4096 - 4000).",
        kind="BadRequestError",
        code=400,
    ),
    "lm-studio": Reply(
        status=400,
        raw=b'{"error":"Trying to keep the first 5200 tokens when context the overflows. However, the model is loaded '
        b'with context length of only 4096 tokens, which is not enough."}',
    ),
    "ollama": error(400, "input length exceeds maximum context length", kind="api_error"),
}
UNAUTHORIZED = error(401, "Incorrect API key provided: sk-very-secret-0123456789abcdef.", code="invalid_api_key")
FORBIDDEN = error(403, "Project does not have access to model.", code="model_not_found")
NOT_FOUND = error(404, "The model `nothing` does not exist.", code="model_not_found")
SERVER_ERROR = error(500, "Failed at /home/someone/models/secret-model.gguf while it computed.", kind="server_error")
LOADING = error(503, "Loading model", kind="unavailable_error", code=503)
NO_QUOTA = error(429, "You exceeded your current quota.", kind="insufficient_quota", code="insufficient_quota")
BROKEN = {"error": {"message": "the model fell over", "type": "server_error", "code": 500}}
NOT_JSON = Reply(raw=b'{"choices": [')
HTML = Reply(raw=b"<html><body>Welcome</body></html>", content_type="text/html")
NULL_CHOICES = Reply(raw=b'{"id":"1","object":"chat.completion","created":1,"model":"m","choices":null}')
NO_CHOICES = Reply(raw=b'{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[]}')


def rate_limited(retry_after: str | None = None) -> Reply:
    """429, with `Retry-After` if given."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    plain = error(429, "Rate limit reached.", kind="requests", code="rate_limit_exceeded")
    return Reply(status=429, raw=plain.raw, headers=headers)


def completion(reply: Reply) -> Json:
    content = None if reply.text is None else reply.think + reply.text
    message: Json = {"role": "assistant", "content": content}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    body: Json = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "fake"}
    body["choices"] = [{"index": 0, "message": message, "finish_reason": reply.finish}]
    return body | ({"usage": reply.usage} if reply.usage else {})


def events(reply: Reply, *, include_usage: bool) -> Iterator[Json | str]:
    pieces = list(reply.pieces if reply.pieces is not None else _words(reply.think + (reply.text or "")))
    if "first" in reply.empty_choices:
        yield _chunk([])
    if reply.reasoning:
        yield _chunk([_delta({"role": "assistant", "content": None, "reasoning_content": reply.reasoning})])
    for number, piece in enumerate(pieces):
        if "middle" in reply.empty_choices and number == len(pieces) // 2:
            yield _chunk([])
        yield _chunk([_delta({"content": piece} | ({"role": "assistant"} if number == 0 else {}))])
    yield from _end(reply, include_usage=include_usage)


def _end(reply: Reply, *, include_usage: bool) -> Iterator[Json | str]:
    if reply.finish:
        yield _chunk([_delta({}, reply.finish)])
    if reply.usage and include_usage:
        yield _chunk([]) | {"usage": reply.usage}
    if "last" in reply.empty_choices:
        yield _chunk([])
    if reply.done:
        yield "[DONE]"


def _words(text: str) -> list[str]:
    words = text.split(" ")
    return [word if place == 0 else " " + word for place, word in enumerate(words)]


def _chunk(choices: list[Json]) -> Json:
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "fake", "choices": choices}


def _delta(delta: Json, finish: str | None = None) -> Json:
    return {"index": 0, "delta": delta, "finish_reason": finish}
