"""What the error of an endpoint means, in one sentence of ours, without its keys and paths."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from langchain_core.exceptions import ContextOverflowError, ModelAPIError, ModelConnectionError
from langchain_core.exceptions import ModelError as LangChainModelError

from service.errors import EvidenceTooLong, ModelError, ModelRefused, ModelUnreachable

# OpenAI, vLLM, llama.cpp, LM Studio, Ollama, Anthropic, TGI, Mistral, Gemini, Groq.
_TOO_LONG = re.compile(
    r"context[ _](?:length|size|window)|maximum model length|prompt is too long|prompt too long|reduce the length"
    r"|input tokens? (?:count )?.{0,40}exceeds?|`?inputs`? tokens|exceeds? the maximum number of tokens|exceed_context",
    re.IGNORECASE,
)
_SECRET = re.compile(r"\b(?:sk|pk|gsk|hf|key|AIza)[-_][\w*.-]{6,}|\bAIza[\w-]{10,}|(?<=Bearer )\S+", re.IGNORECASE)
_PATH = re.compile(r"(?<![\w:/])(?:[A-Za-z]:\\|/)(?:[\w.@+-]+[\\/])+[\w.@+-]*")
_TAG = re.compile(r"<[^<>]{1,200}>")
_LOST = frozenset({"TransportError", "APIConnectionError"})
_MASK = "********"


def translate(
    error: Exception, endpoint: str = "The model endpoint", *, model: str = "", secret: str = ""
) -> ModelError:
    """`error` of a model call as one of ours. `secret` never appears in it."""
    text = masked(_by_endpoint(error), secret)
    said = f" It said: {text}" if text else ""
    status = status_of(error)
    if is_too_long(error):
        return EvidenceTooLong(
            f"The prompt does not fit the window of {endpoint}: set llm.context_window to its size.{said}"
        )
    if status is not None:
        return ModelRefused(_by_status(status, endpoint, model) + said)
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return ModelUnreachable(f"{endpoint} did not answer in time: see llm.timeout_s.")
    if is_lost(error):
        return ModelUnreachable(f"{endpoint} can't be reached, or closed the connection before its reply was whole.")
    return ModelRefused(f"{endpoint} gave a reply that can't be used.{said}")


def _by_status(status: int, endpoint: str, model: str) -> str:
    named = f" {model}" if model else ""
    reasons = {
        401: f"{endpoint} refused the key: set llm.api_key.",
        403: f"{endpoint} does not allow this key to use the model{named}.",
        404: f"{endpoint} knows no model{named}, or has no such API at this base URL.",
        407: f"{endpoint}: the proxy asks for a password.",
        429: f"{endpoint} limits the rate, or the quota is used up: try again later.",
    }
    if status >= 500:
        return f"{endpoint} failed with status {status}: look at its log, or try again later."
    return reasons.get(status, f"{endpoint} refused the request with status {status}.")


def status_of(error: Exception) -> int | None:
    """The HTTP status that the endpoint answered with, if it did."""
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    return status if isinstance(status, int) and 400 <= status < 600 else None


def message_of(error: Exception) -> str:
    """What the endpoint said, or else what its library made of it."""
    return _by_endpoint(error) or str(getattr(error, "message", "") or error)


def _by_endpoint(error: Exception) -> str:
    body = getattr(error, "body", None)
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        text = inner.get("message") if isinstance(inner, Mapping) else inner
        return " ".join(str(part) for part in (text, body.get("type"), body.get("code")) if part)
    return body if isinstance(body, str) else ""


def is_too_long(error: Exception) -> bool:
    """Whether the endpoint says that the prompt does not fit its window, in any of the known wordings."""
    if isinstance(error, ContextOverflowError):
        return True
    return status_of(error) in {None, 400, 413, 422, 500} and _TOO_LONG.search(message_of(error)) is not None


def is_lost(error: Exception) -> bool:
    """Whether the connection failed. Providers bring HTTP libraries of their own, alike in names only."""
    names = {base.__name__ for base in type(error).__mro__}
    return isinstance(error, (ModelConnectionError, OSError)) or not names.isdisjoint(_LOST)


def is_passing(error: Exception) -> bool:
    """Whether the same call may go well in a moment."""
    if is_too_long(error) or "insufficient_quota" in message_of(error):
        return False
    status = status_of(error)
    if status is not None:
        return status in {408, 409, 429} or status >= 500
    return (
        is_lost(error)
        or isinstance(error, ModelAPIError)
        or (isinstance(error, LangChainModelError) and error.is_retryable)
    )


def asked_pause(error: Exception) -> float | None:
    """Seconds that the endpoint asks to wait (`Retry-After`), if it does."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    value = str(headers.get("retry-after", "")).strip() if headers is not None else ""
    if re.fullmatch(r"\d+(?:\.\d+)?", value):
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


def masked(text: str, secret: str = "") -> str:
    """`text` in one short line, with keys, paths and tags taken out."""
    if secret:
        text = text.replace(secret, _MASK)
    text = _PATH.sub("…", _SECRET.sub(_MASK, _TAG.sub(" ", text)))
    return " ".join(text.split())[:200]
