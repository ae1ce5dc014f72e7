"""Every error as RFC 9457 problem+json: one table from exception to status, and nothing of the inside in it.

Refusal            an HTTP fault of ours, by name: BODY_TOO_LARGE, NO_KEY, …
PROBLEMS           our exceptions -> the same
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus

from pydantic import BaseModel, Field
from pydantic_core import ErrorDetails
from starlette.responses import Response
from starlette.types import Scope

from service import errors, wire
from vectorstore import errors as store_errors

MEDIA_TYPE = "application/problem+json"
_TYPE = "urn:loccit:problem:"


@dataclass(frozen=True, slots=True)
class Kind:
    """A sort of problem. Where `quiet`, the exception's message may name a path and is kept from the client."""

    status: int
    name: str
    title: str
    quiet: bool = False
    retry_after_s: int | None = None


BAD_JSON = Kind(422, "bad-json", "The JSON can't be read")
INVALID = Kind(422, "invalid", "The request has faults")
UNREADABLE = Kind(422, "unreadable", "The file can't be read")
BAD_NAME = Kind(422, "bad-collection-name", "Not a name for a collection")
BAD_CURSOR = Kind(422, "bad-cursor", "Not a cursor of ours")
BODY_TOO_LARGE = Kind(413, "body-too-large", "The body is too large")
BODY_STALLED = Kind(408, "body-stalled", "The body did not arrive in time")
NOT_JSON = Kind(415, "not-json", "The body must be JSON")
NO_KEY = Kind(401, "no-key", "A key is needed")
FOREIGN_ORIGIN = Kind(403, "foreign-origin", "A page of another site may not do this")
FOREIGN_HOST = Kind(421, "foreign-host", "The service does not go by this name")
TOO_MANY = Kind(429, "too-many-requests", "Too many requests")
BUSY = Kind(503, "busy", "Too many questions at once", retry_after_s=2)
STOPPING = Kind(503, "stopping", "The service is stopping", retry_after_s=5)
NOT_READY = Kind(503, "not-ready", "The service is not ready", retry_after_s=2)
UNKNOWN_PAPER = Kind(404, "unknown-paper", "No such paper")
UNKNOWN_JOB = Kind(404, "unknown-job", "No such job")
UNKNOWN_COLLECTION = Kind(404, "unknown-collection", "No such collection")
OTHER_EMBEDDER = Kind(409, "other-embedder", "The collection was built with another embedding model")
NO_FOLDER = Kind(503, "store-unusable", "The data folder can't be used", quiet=True)
NO_MODEL = Kind(502, "model-failed", "The language model did not answer")
NO_EMBEDDING = Kind(502, "embedding-failed", "The embedding model did not answer")
INTERNAL = Kind(500, "internal", "Something went wrong inside", quiet=True)

# The first row that fits wins: the special before the general.
PROBLEMS: Sequence[tuple[type[Exception], Kind]] = (
    (wire.BadJson, BAD_JSON),
    (store_errors.UnknownCollection, UNKNOWN_COLLECTION),
    (store_errors.BadCollectionName, BAD_NAME),
    (store_errors.BadCursor, BAD_CURSOR),
    (store_errors.EmbedderMismatch, OTHER_EMBEDDER),
    (store_errors.Unreadable, UNREADABLE),
    (store_errors.EmbedderFailed, NO_EMBEDDING),
    (store_errors.FolderInUse, NO_FOLDER),
    (store_errors.FolderUnusable, NO_FOLDER),
    (errors.QuestionTooLong, INVALID),
    (errors.ModelError, NO_MODEL),
    (errors.EmbeddingUnavailable, NO_EMBEDDING),
)
_SAID = {
    NO_FOLDER: "The store can't read or write its data folder; the log of the service says more.",
    INTERNAL: "The service failed; its log holds the cause under this request id.",
}


_MOST_FAULTS = 20


class Fault(BaseModel):
    """One field that is wrong."""

    field: str
    detail: str


class Problem(BaseModel):
    """An error as RFC 9457 has it."""

    type: str = Field(examples=["urn:loccit:problem:unknown-collection"])
    title: str = Field(examples=["No such collection"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=['There is no collection "biology"; there are: default.'])
    request_id: str | None = Field(default=None, examples=["5f0e8f4d0f3c4d1ba6a4a6f8f1d2c3b4"])
    errors: list[Fault] | None = None


class Refusal(Exception):
    """A request that we answer with a problem of this kind."""

    def __init__(
        self, kind: Kind, detail: str, faults: list[Fault] | None = None, retry_after_s: int | None = None
    ) -> None:
        super().__init__(detail)
        self.kind = kind if retry_after_s is None else replace(kind, retry_after_s=retry_after_s)
        self.faults = faults


def problem_of(error: Exception, request_id: str | None) -> Problem:
    """The problem that tells a client of `error`; an error that nobody foresaw tells only that."""
    faults = error.faults if isinstance(error, Refusal) else None
    kind = kind_of(error)
    detail = _SAID.get(kind, kind.title) if kind.quiet else str(error)
    return _problem(kind, detail, request_id, faults)


def kind_of(error: Exception) -> Kind:
    """The sort of problem that `error` is."""
    if isinstance(error, Refusal):
        return error.kind
    return next((kind for cause, kind in PROBLEMS if isinstance(error, cause)), INTERNAL)


def respond(error: Exception, scope: Scope) -> Response:
    """The answer to a request that failed with `error`."""
    kind = kind_of(error)
    headers = {} if kind.retry_after_s is None else {"Retry-After": str(kind.retry_after_s)}
    if kind.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="loccit"'
    return response(problem_of(error, request_id_of(scope)), headers)


def respond_status(status: int, scope: Scope, headers: Mapping[str, str] | None = None) -> Response:
    """The answer where the framework knows only a status: no such route, no such method."""
    phrase = HTTPStatus(status).phrase
    detail = {
        404: "There is nothing at this address; GET /openapi.json lists what there is.",
        405: "This address does not take that method; the Allow header lists those it takes.",
    }.get(status, f"{phrase}.")
    kind = Kind(status, phrase.lower().replace(" ", "-"), phrase)
    return response(_problem(kind, detail, request_id_of(scope)), headers)


def response(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """A problem as an HTTP response."""
    body = problem.model_dump_json(exclude_none=True).encode("utf-8", "replace")
    return Response(body, problem.status, dict(headers or {}), MEDIA_TYPE)


def faults_of(found: Sequence[ErrorDetails]) -> list[Fault]:
    """What pydantic found, without the values: they may hold anything, and may be secret."""
    return [
        Fault(field=".".join(str(part) for part in fault["loc"])[:200], detail=_plain(fault["msg"]))
        for fault in found[:_MOST_FAULTS]
    ]


def _sentence(text: str) -> str:
    """Messages come as a person would finish "loccit: …"; here they stand alone."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def _plain(message: str) -> str:
    text = message.removeprefix("Value error, ").replace("Input should be", "It should be")
    text = text.replace("Extra inputs are not permitted", "There is no such field")
    return _sentence(text)


def request_id_of(scope: Scope) -> str | None:
    """The id that this request goes by, in the log and in answers."""
    found = scope.get("state", {}).get("request_id")
    return found if isinstance(found, str) else None


def _problem(kind: Kind, detail: str, request_id: str | None, faults: list[Fault] | None = None) -> Problem:
    return Problem(
        type=_TYPE + kind.name,
        title=kind.title,
        status=kind.status,
        detail=_sentence(detail),
        request_id=request_id,
        errors=faults,
    )
