"""The routes of /v1 over a real socket, with the real store and the built-in models."""

import json
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.live import PROTEINS, SPARSE, Live, serving, settings_in

QUESTION = "How can sparse networks be initialised so that orthogonality is exact?"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with serving(settings_in(tmp_path_factory.mktemp("store"))) as server:
        yield server


@pytest.fixture(scope="module")
def client(live: Live) -> Iterator[httpx.Client]:
    with live.client() as http:
        http.post("/v1/papers", json={"papers": [SPARSE, PROTEINS]}).raise_for_status()
        yield http


def detail(response: httpx.Response, status: int) -> str:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    return str(response.json()["detail"])


# --- questions ---


def test_an_answer_cites_the_words_that_carry_it(client: httpx.Client) -> None:
    answer = client.post("/v1/ask", json={"question": QUESTION}).raise_for_status().json()
    assert answer["status"] == "answered"
    citation = answer["citations"][0]
    assert citation["paper_id"] == SPARSE["paper_id"]
    stored = client.get(f"/v1/papers/{quote(citation['paper_id'], safe='')}").json()
    assert stored["abstract"][citation["start"] : citation["end"]] == citation["quote"]


def events(response: httpx.Response) -> list[tuple[str, dict[str, object]]]:
    blocks = [block for block in response.text.split("\n\n") if block.startswith("event: ")]
    pairs = [block.removeprefix("event: ").split("\ndata: ") for block in blocks]
    return [(name, json.loads(data)) for name, data in pairs]


@pytest.mark.parametrize("asked", [({"stream": True}, {}), ({}, {"Accept": "text/event-stream"})])
def test_the_last_event_is_what_the_plain_call_gives(
    client: httpx.Client, asked: tuple[dict[str, bool], dict[str, str]]
) -> None:
    plain = client.post("/v1/ask", json={"question": QUESTION}).json()
    response = client.post("/v1/ask", json={"question": QUESTION} | asked[0], headers=asked[1])
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["x-accel-buffering"] == "no"
    found = events(response)
    assert {"hits", "text", "answer"} <= {name for name, _ in found}
    last = found[-1][1]
    assert last.pop("timings_ms") is not None
    plain.pop("timings_ms")
    assert last == plain


def test_streams_fail_with_a_status_before_they_begin(client: httpx.Client) -> None:
    response = client.post("/v1/ask", json={"question": QUESTION, "collection": "none", "stream": True})
    assert "none" in detail(response, 404)


def test_search(client: httpx.Client) -> None:
    found = client.post("/v1/search", json={"query": "Givens rotations", "top_k": 1}).raise_for_status().json()
    assert [hit["paper_id"] for hit in found["hits"]] == [SPARSE["paper_id"]]
    for mode in ("hybrid", "dense", "lexical"):
        filters = {"year": {"lte": 2020}}
        found = client.post("/v1/search", json={"query": "proteins", "mode": mode, "filters": filters}).json()
        assert {hit["paper_id"] for hit in found["hits"]} <= {PROTEINS["paper_id"]}
    assert client.post("/v1/search", json={"query": "x", "filters": {"year": 1900}}).json() == {"hits": []}


# --- papers ---


def test_ids_of_any_spelling(client: httpx.Client) -> None:
    for wanted in (SPARSE, PROTEINS):
        path = f"/v1/papers/{quote(str(wanted['paper_id']), safe='')}"
        assert client.get(path).raise_for_status().json()["abstract"] == wanted["abstract"]


def test_papers_are_listed_page_by_page(client: httpx.Client) -> None:
    client.put("/v1/collections/pages").raise_for_status()
    sent = [{"paper_id": f"id/{n}", "abstract": f"The {n}th abstract of many tells of {n} things."} for n in range(7)]
    assert client.post("/v1/papers?collection=pages", json={"papers": sent}).json()["added"] == 7
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(4):
        params = {"collection": "pages", "limit": "2"} | ({"cursor": cursor} if cursor else {})
        page = client.get("/v1/papers", params=params).raise_for_status().json()
        assert page["total"] == 7
        seen += [paper["paper_id"] for paper in page["papers"]]
        cursor = page["next_cursor"]
    assert cursor is None
    assert sorted(seen) == sorted(paper["paper_id"] for paper in sent)


def test_a_deleted_paper_is_found_no_more(client: httpx.Client) -> None:
    body = {
        "papers": [{"paper_id": "gone/1", "abstract": "Zyxomma dragonflies hunt at dusk over still ponds in Java."}]
    }
    client.post("/v1/papers", json=body).raise_for_status()
    assert client.post("/v1/search", json={"query": "Zyxomma dragonflies", "top_k": 1}).json()["hits"]
    assert client.delete("/v1/papers/gone%2F1").status_code == 204
    assert detail(client.delete("/v1/papers/gone%2F1"), 404)
    found = client.post("/v1/search", json={"query": "Zyxomma dragonflies"}).json()["hits"]
    assert "gone/1" not in {hit["paper_id"] for hit in found}


def test_adding_twice_changes_nothing(client: httpx.Client) -> None:
    again = client.post("/v1/papers", json={"papers": [SPARSE, PROTEINS]}).json()
    assert (again["added"], again["updated"], again["unchanged"]) == (0, 0, 2)


# --- collections ---


def test_collections_come_and_go(client: httpx.Client) -> None:
    assert client.put("/v1/collections/mine").raise_for_status().json()["name"] == "mine"
    assert client.put("/v1/collections/mine").raise_for_status().json()["papers"] == 0
    names = {one["name"] for one in client.get("/v1/collections").json()["collections"]}
    assert {"default", "mine"} <= names
    assert client.delete("/v1/collections/mine").status_code == 204
    assert detail(client.delete("/v1/collections/mine"), 404)
    assert "default" in {one["name"] for one in client.get("/v1/collections").json()["collections"]}


def test_reindex(client: httpx.Client) -> None:
    assert client.post("/v1/reindex").status_code == 200
    assert detail(client.post("/v1/reindex?collection=none"), 404)


# --- fuzz: never a 5xx ---

VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = (
    "question", "query", "top_k", "mode", "filters", "collection", "history", "verify", "stream", "year", "papers"
)  # fmt: skip
YEARS = st.fixed_dictionaries({}, optional={"gte": st.integers() | VALUE, "lte": st.integers() | VALUE})
FILTERS = st.fixed_dictionaries(
    {},
    optional={"year": YEARS | VALUE, "venue": VALUE, "author": VALUE, "paper_ids": st.lists(st.text()) | VALUE},
)
LIKELY = st.fixed_dictionaries(
    {"question": st.text(min_size=1, max_size=60), "query": st.text(min_size=1, max_size=60)},
    optional={
        "top_k": st.integers(1, 100),
        "filters": FILTERS,
        "mode": st.sampled_from(["hybrid", "dense", "lexical", "x"]),
        "collection": st.sampled_from(["default", "none", ""]),
        "verify": st.sampled_from(["annotate", "strict", "off", None]),
        "history": st.lists(st.fixed_dictionaries({"role": st.just("user"), "content": st.text()}), max_size=3),
    },
)


@pytest.mark.parametrize(("path", "other"), [("/v1/ask", "query"), ("/v1/search", "question")])
@given(body=LIKELY | st.dictionaries(st.sampled_from(FIELDS), VALUE) | VALUE)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_json_makes_a_5xx(client: httpx.Client, path: str, other: str, body: object) -> None:
    if isinstance(body, dict):
        body.pop(other, None)
        if path == "/v1/search":
            for name in ("history", "verify", "stream"):
                body.pop(name, None)
        else:
            body.pop("mode", None)
    sent = json.dumps(body).encode("utf-8", "surrogatepass")
    response = client.post(path, content=sent, headers={"Content-Type": "application/json"})
    assert response.status_code < 500, (response.text, sent)
