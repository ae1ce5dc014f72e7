"""Papers coming in over HTTP: JSON, files, forms; small and large; what is wrong with them."""

import gzip
import json
import time
from collections.abc import Iterator

import httpx
import pytest

from service.runtime import INCOMING
from tests.live import PROTEINS, ROOT, SPARSE, Live, serving, settings_in

RECORD = b"""{"id": "a1", "title": "A title", "year": 2021,
 "abstract": "We study how the tides of small moons bend the light of distant and very faint stars."}"""


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


def test_each_skip_has_its_reason(client: httpx.Client) -> None:
    body = {"papers": [3, None, {"title": "No abstract"}, {"abstract": ""}, {"abstract": 7}, SPARSE]}
    report = client.post("/v1/papers", json=body).raise_for_status().json()
    assert report["added"] + report["updated"] + report["unchanged"] == 1
    assert len(report["skipped"]) == 5
    assert all(skip["record"] and skip["reason"] for skip in report["skipped"])


@pytest.mark.parametrize("body", [b"[]", b'{"papers": []}'])
def test_no_papers_are_no_failure_or_a_sentence(client: httpx.Client, body: bytes) -> None:
    response = client.post("/v1/papers", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code in (200, 422)
    assert response.json()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", None),
        (b"", "application/json"),
        (b"\x00\x01\x02\xff" * 50, "application/octet-stream"),
        (b"\x89PNG\r\n\x1a\n" + bytes(200), "image/png"),
        (b'{"papers": 3}', "application/json"),
        (rb'{"papers": [{"abstract": "\ud800"}]}', "application/json"),
        (b'{"papers": [NaN]}', "application/json"),
        (b'{"papers": [' + b"[" * 5_000, "application/json"),
        (b"--x\r\nbroken", "multipart/form-data; boundary=x"),
        (b"x", "multipart/form-data"),
        (b"--x--\r\n", "multipart/form-data; boundary=x"),
    ],
)
def test_bad_input_is_one_sentence(client: httpx.Client, body: bytes, kind: str | None) -> None:
    response = client.post("/v1/papers", content=body, headers={"Content-Type": kind} if kind else {})
    assert response.status_code in (400, 422)
    assert detail(response, response.status_code)


def test_an_unknown_collection_or_format_is_one_sentence(client: httpx.Client) -> None:
    assert "default" in detail(client.post("/v1/papers?collection=none", json={"papers": [SPARSE]}), 404)
    assert "docx" in detail(client.post("/v1/papers?format=docx", content=RECORD), 422)
    for path in ("/v1/ask", "/v1/search"):
        body = {"question" if path.endswith("ask") else "query": "x y z", "collection": "none"}
        assert "default" in detail(client.post(path, json=body), 404)


def test_files_as_the_body_and_as_a_form(client: httpx.Client) -> None:
    client.put("/v1/collections/files")
    path = "/v1/papers?collection=files"
    assert client.post(path, content=RECORD).raise_for_status().json()["added"] == 1
    assert client.post(path, content=gzip.compress(RECORD)).json()["unchanged"] == 1
    assert client.post(path, files={"file": ("a.json", RECORD)}).json()["unchanged"] == 1
    two = [("file", ("a.json", RECORD)), ("file", ("b.txt", (ROOT / "data" / "icml2024-sample.txt").read_bytes()))]
    report = client.post(path, files=two).json()
    assert (report["added"], report["unchanged"]) == (19, 1)
    form = client.post("/v1/papers", files={"file": ("a.json", RECORD)}, data={"collection": "files"})
    assert form.json()["unchanged"] == 1


def finished(client: httpx.Client, response: httpx.Response) -> dict[str, object]:
    assert response.status_code == 202
    assert response.headers["location"] == f"/v1/jobs/{response.json()['id']}"
    deadline = time.monotonic() + 50
    while True:
        job: dict[str, object] = client.get(response.headers["location"]).raise_for_status().json()
        if job["state"] in ("done", "failed"):
            return job
        assert time.monotonic() < deadline
        time.sleep(0.1)


def large() -> bytes:
    filler = " ".join(["stellar"] * 8_000)
    return b"\n".join(
        json.dumps({"title": f"T{n}", "abstract": f"Abstract {n} on a {n}-metre telescope.", "notes": filler}).encode()
        for n in range(20)
    )


def test_large_input_becomes_a_job(client: httpx.Client) -> None:
    client.put("/v1/collections/large")
    body = large()
    assert len(body) > 2**20
    done = finished(client, client.post("/v1/papers?collection=large&filename=x.jsonl", content=body))
    assert done["state"] == "done", done
    report = done["report"]
    assert isinstance(report, dict)
    assert report["added"] == 20
    again = finished(client, client.post("/v1/papers?collection=large", files={"file": ("x.jsonl", body)}))
    assert isinstance(again["report"], dict)
    assert again["report"]["unchanged"] == 20


def test_many_papers_as_json_become_a_job_too(client: httpx.Client) -> None:
    client.put("/v1/collections/many")
    papers = [{"abstract": f"Abstract {n} on comets.", "notes": "Tail. " * 8_000} for n in range(24)]
    done = finished(client, client.post("/v1/papers?collection=many", json={"papers": [*papers, {"title": "x"}]}))
    assert isinstance(done["report"], dict)
    assert done["report"]["added"] == 24, done
    assert len(done["report"]["skipped"]) == 1


def test_small_input_becomes_a_job_if_the_client_prefers(client: httpx.Client) -> None:
    done = finished(client, client.post("/v1/papers", content=RECORD, headers={"Prefer": "respond-async"}))
    assert done["state"] == "done"


def test_a_job_that_can_not_read_its_file_says_why(client: httpx.Client) -> None:
    done = finished(client, client.post("/v1/papers", content=b"\x89PNG\r\n\x1a\n" + bytes(2**21)))
    assert done["state"] == "failed"
    assert done["error"]


def test_no_file_stays_behind_where_there_is_no_job(client: httpx.Client, live: Live) -> None:
    incoming = live.runtime.settings.store.path / INCOMING
    assert "none" in detail(client.post("/v1/papers?collection=none", content=large()), 404)
    form = client.post("/v1/papers?collection=none", files={"file": ("x.jsonl", large())})
    assert "none" in detail(form, 404)
    assert list(incoming.iterdir()) == []


@pytest.mark.parametrize("filler", ["", "Tail. " * 200_000])
def test_a_collection_in_the_body_is_not_passed_over(client: httpx.Client, filler: str) -> None:
    paper = {"abstract": "Comets are dusty snowballs that grow a tail near the sun.", "notes": filler}
    for body in ({"papers": [paper], "collection": "c"}, {"collection": "c", "papers": [paper]}):
        assert "?collection=NAME" in detail(client.post("/v1/papers", json=body), 422)


def test_a_form_that_can_not_be_read_says_why(client: httpx.Client) -> None:
    files = [("file", (f"{n}.txt", b"x")) for n in range(101)]
    assert "100" in detail(client.post("/v1/papers", files=files), 422)
