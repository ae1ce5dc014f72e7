"""What OpenAPI says beyond the types: bodies that we read ourselves, examples, problems."""

from collections.abc import Mapping
from typing import TypedDict

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from service.domain import Question
from service.problems import MEDIA_TYPE, Problem
from service.shapes import IntakeJob, SearchRequest
from service.wire import Json

_REF = "#/components/schemas/{model}"
_BODIES: tuple[type[BaseModel], ...] = (Question, SearchRequest, Problem)
SAMPLE_QUESTION = "How can sparse networks be initialised so that orthogonality is exact?"


class Route(TypedDict, total=False):
    """Arguments of a route's decorator."""

    openapi_extra: dict[str, object]
    responses: dict[int | str, dict[str, object]]


def _problem(description: str) -> dict[str, object]:
    return {"description": description, "content": {MEDIA_TYPE: {"schema": {"$ref": _REF.format(model="Problem")}}}}


def _body(model: str, example: Json) -> dict[str, object]:
    schema = {"$ref": _REF.format(model=model)}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema, "example": example}}}}


PROBLEMS: dict[int | str, dict[str, object]] = {
    "4XX": _problem("The request can't be answered as it is; `detail` says why."),
    "5XX": _problem("The service can't answer now; `detail` says why."),
}
ASK = Route(
    openapi_extra=_body("Question", {"question": SAMPLE_QUESTION}),
    responses={
        200: {
            "description": "The answer; or, for a stream, the events hits, text, sentence, and last answer or error.",
            "content": {
                "text/event-stream": {
                    "schema": {"type": "string"},
                    "example": 'event: text\ndata: "Exact orthogonal initialisation "\n\n',
                }
            },
        }
    },
)
SEARCH = Route(openapi_extra=_body("SearchRequest", {"query": "sparse orthogonal initialisation", "top_k": 3}))
_FILE: Json = {"schema": {"type": "string", "format": "binary"}}
_PAPERS: Json = {
    "schema": {
        "type": "object",
        "required": ["papers"],
        "properties": {"papers": {"type": "array", "items": {"type": "object", "required": ["abstract"]}}},
    },
    "example": {"papers": [{"title": "A title", "abstract": "We show that …", "year": 2024, "doi": "10.1000/1"}]},
}
_FORM: Json = {
    "schema": {
        "type": "object",
        "properties": {
            "file": {"type": "array", "items": {"type": "string", "format": "binary"}},
            "collection": {"type": "string"},
            "format": {"type": "string"},
        },
    }
}
ADD = Route(
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": _PAPERS, "multipart/form-data": _FORM, "application/octet-stream": _FILE},
        }
    },
    responses={202: {"model": IntakeJob, "description": "Large input: a job goes on with it."}},
)


def with_bodies(schema: dict[str, Json]) -> dict[str, Json]:
    """The OpenAPI of the app with the models of the bodies that FastAPI does not see."""
    _, definitions = models_json_schema([(model, "validation") for model in _BODIES], ref_template=_REF)
    components = schema.setdefault("components", {})
    assert isinstance(components, dict)
    schemas = components.setdefault("schemas", {})
    assert isinstance(schemas, dict)
    found: Mapping[str, Json] = definitions.get("$defs", {})
    for name, definition in found.items():
        schemas.setdefault(name, definition)
    return schema
