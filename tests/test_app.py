"""The edge of the service over a real socket: problems, limits, keys, origins, docs."""

import json
import re
import threading
import time
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import httpx
import pytest

from tests.live import SPARSE, Live, is_problem, serving, settings_in

ORIGIN = "https://reader.example"
KEY = "a-long-key"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("store")
    with serving(settings_in(folder, server__max_body_bytes=2**21, server__cors_origins=ORIGIN)) as server:
        yield server


@pytest.fixture(scope="module")
def client(live: Live) -> Iterator[httpx.Client]:
    with live.client() as http:
        yield http


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("locked")
    with serving(settings_in(folder, server__api_keys=KEY, server__rate_limit=30)) as server:
        yield server


def test_alive_and_ready(client: httpx.Client) -> None:
    assert client.get("/healthz").json() == {"status": "alive"}
    ready = client.get("/readyz")
    assert ready.status_code == 200
    assert ready.json()["ready"] is True
    assert ready.json()["model"] == "offline:extractive"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing/here", 404),
        ("GET", "/v1", 404),
        ("GET", "/web/../config.py", 404),
        ("GET", "/web/..%2Fconfig.py", 404),
        ("GET", "/docs/nothing.js", 404),
        ("PUT", "/v1/ask", 405),
        ("DELETE", "/healthz", 405),
        ("GET", "/v1/jobs/none", 404),
        ("GET", "/v1/papers?limit=0", 422),
        ("GET", "/v1/papers?limit=x", 422),
        ("GET", "/v1/papers?yaer_gte=1", 422),
        ("GET", "/v1/papers?year_gte=99999999999999999999", 422),
        ("GET", "/v1/papers?collection=none", 404),
        ("GET", "/v1/papers?cursor=%00%FF", 422),
        ("GET", "/v1/papers/none", 404),
        ("DELETE", "/v1/papers/none", 404),
        ("DELETE", "/v1/collections/none", 404),
        ("PUT", "/v1/collections/%00%0A", 422),
        ("PUT", "/v1/collections/a%2Fb", 422),
        ("DELETE", "/v1/collections/a%2Fb", 404),
        ("GET", "/v1/papers?author=%2C%20.", 422),
        ("GET", "/v1/papers?venue=", 422),
    ],
)
def test_every_error_is_a_problem(client: httpx.Client, method: str, path: str, status: int) -> None:
    problem = is_problem(client.request(method, path), status)
    if status == 405:
        assert "Allow" in problem["detail"]


def test_head_is_get_without_the_body(client: httpx.Client) -> None:
    for path in ("/healthz", "/readyz", "/", "/v1/papers"):
        response = client.head(path)
        assert response.status_code == 200
        assert response.content == b""
        assert int(response.headers["content-length"]) > 0


def test_the_allow_header_is_there(client: httpx.Client) -> None:
    assert client.put("/v1/ask").headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("kind", "status"), [(None, 415), ("text/plain", 415), ("application/x-www-form-urlencoded", 415)]
)
def test_json_must_say_that_it_is(client: httpx.Client, kind: str | None, status: int) -> None:
    headers = {"content-type": kind} if kind else {}
    problem = is_problem(client.post("/v1/ask", content=b'{"question": "x"}', headers=headers), status)
    assert "Content-Type: application/json" in problem["detail"]


def test_faults_name_their_fields_and_not_their_values(client: httpx.Client) -> None:
    body = {"question": 3, "top_k": 0, "filtres": {"hush": "hush"}, "filters": {"year": {"gte": "hush"}}}
    response = client.post("/v1/ask", json=body)
    is_problem(response, 422)
    fields = {fault["field"] for fault in response.json()["errors"]}
    assert {"question", "top_k", "filtres"} <= fields
    assert any(field.startswith("filters.year") for field in fields)
    assert "hush" not in response.text


def test_request_ids_are_taken_if_sane(client: httpx.Client) -> None:
    assert client.get("/healthz", headers={"X-Request-ID": "mine-1"}).headers["x-request-id"] == "mine-1"
    for odd in ("x" * 200, "a b", "<script>", ""):
        assert re.fullmatch(r"[0-9a-f]{32}", client.get("/nope", headers={"X-Request-ID": odd}).headers["x-request-id"])


def test_letters_are_not_escaped(client: httpx.Client) -> None:
    client.post("/v1/papers", json={"papers": [SPARSE]})
    text = client.get("/v1/papers/doi%3A10.1000%2Feoi").text
    assert "Łukasz" in text
    assert "\\u" not in text


def test_security_headers(client: httpx.Client) -> None:
    for path in ("/healthz", "/nope", "/docs"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


# --- keys, limits, origins ---


def test_keys_are_asked_for_where_they_matter(locked: Live) -> None:
    with locked.client() as http:
        for path in ("/v1/papers", "/v1/collections", "/metrics", "/v1/none"):
            response = http.get(path)
            is_problem(response, 401)
            assert response.headers["www-authenticate"].startswith("Bearer")
        for path in ("/healthz", "/readyz", "/", "/docs", "/openapi.json"):
            assert http.get(path).status_code == 200
        assert http.get("/%76%31/papers").status_code == 401
        is_problem(http.get("/v1/papers", headers={"Authorization": "Bearer wrong"}), 401)
        is_problem(http.get("/v1/papers", headers={b"X-API-Key": b"\xff\xfe"}), 401)
        is_problem(http.get("/v1/papers", headers={"Authorization": f"Basic {KEY}"}), 401)
        assert http.get("/v1/papers", headers={"Authorization": f"Bearer {KEY}"}).status_code == 200
        assert http.get("/v1/papers", headers={"Authorization": f"bearer  {KEY}"}).status_code == 200
        assert http.get("/metrics", headers={"X-API-Key": KEY}).status_code == 200


def test_so_many_requests_a_minute_and_no_more(locked: Live) -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    with locked.client(headers=headers) as http:
        statuses = [http.get("/v1/collections").status_code for _ in range(40)]
        assert statuses[0] == 200
        assert statuses[-1] == 429
        refused = http.get("/v1/collections")
        is_problem(refused, 429)
        assert int(refused.headers["retry-after"]) >= 1
        assert http.get("/healthz").status_code == 200
    with locked.client(headers={"Authorization": f"Bearer {locked.runtime.token}"}) as http:
        assert {http.get("/v1/collections").status_code for _ in range(40)} == {200}


def test_pages_can_read_errors_and_send_keys(client: httpx.Client) -> None:
    """Traps section 3: CORS headers missing on errors hide the real error; preflight must allow Authorization."""
    asked = {
        "Origin": ORIGIN,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "Authorization",
    }
    preflight = client.options("/v1/ask", headers=asked)
    assert preflight.status_code == 200
    assert "authorization" in preflight.headers["access-control-allow-headers"].lower()
    for response in (
        client.post("/v1/ask", content=b"{", headers={"Origin": ORIGIN, "Content-Type": "application/json"}),
        client.get("/nope", headers={"Origin": ORIGIN}),
        client.post("/v1/papers", content=b"x" * 2**22, headers={"Origin": ORIGIN}),
        client.post("/v1/ask", json={"question": "hello", "stream": True}, headers={"Origin": ORIGIN}),
    ):
        assert response.headers["access-control-allow-origin"] == ORIGIN
    strange = client.get("/healthz", headers={"Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in strange.headers


def test_a_page_of_another_site_can_not_write_to_a_service_without_keys(live: Live, client: httpx.Client) -> None:
    foreign = client.post("/v1/papers", content=b"x", headers={"Origin": "https://evil.example"})
    is_problem(foreign, 403)
    is_problem(client.delete("/v1/papers/x", headers={"Origin": "null"}), 403)
    own = client.post("/v1/search", json={"query": "x"}, headers={"Origin": live.url})
    assert own.status_code == 200


# --- docs, page, metrics ---


def test_openapi_tells_all(client: httpx.Client) -> None:
    schema = client.get("/openapi.json").json()
    ask = schema["paths"]["/v1/ask"]["post"]
    assert ask["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith("/Question")
    assert "application/problem+json" in ask["responses"]["4XX"]["content"]
    assert "text/event-stream" in ask["responses"]["200"]["content"]
    text = json.dumps(schema)
    for reference in set(re.findall(r'"#/components/schemas/(\w+)"', text)):
        assert reference in schema["components"]["schemas"]
    assert "HTTPValidationError" not in text


def test_docs_and_page_fetch_nothing_from_elsewhere(client: httpx.Client) -> None:
    for path in ("/docs", "/"):
        page = client.get(path)
        assert page.status_code == 200
        assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", page.text)
        for asset in re.findall(r"""(?:src|href)=["']([^"'#]+)""", page.text):
            assert asset.startswith("data:") or client.get("/" + asset.lstrip("/")).status_code == 200, asset


def test_the_web_page_is_served_where_there_is_one(client: httpx.Client) -> None:
    folder = resources.files("service") / "web"
    names = [file.name for file in folder.iterdir()] if folder.is_dir() else []
    for name in names:
        served = client.get(f"/web/{name}")
        assert served.status_code == 200
        assert served.headers["cache-control"] == "no-cache"


def test_metrics_count(client: httpx.Client) -> None:
    client.get("/nope")
    text = client.get("/metrics").text
    assert 'loccit_http_requests_total{method="GET",route="unmatched",status="404"}' in text
    assert re.search(r'loccit_papers\{collection="default"\} \d', text)


def test_health_answers_while_slow_writes_go_on(live: Live) -> None:
    """Traps section 3: blocking calls freeze /healthz."""
    papers = [
        {"abstract": f"Paper {n} tells of the {n}th way to measure the heat of stars and of stones. " * 8}
        for n in range(50)
    ]
    done: list[int] = []

    def add() -> None:
        with live.client() as http:
            done.append(http.post("/v1/papers", json={"papers": papers}).status_code)

    writer = threading.Thread(target=add)
    writer.start()
    slowest, calls = 0.0, 0
    with live.client() as http:
        while writer.is_alive() or not calls:
            began = time.perf_counter()
            assert http.get("/healthz").status_code == 200
            slowest = max(slowest, time.perf_counter() - began)
            calls += 1
            time.sleep(0.02)
    writer.join()
    assert done == [200]
    assert slowest < 0.5


def test_the_log_tells_the_request_and_not_its_body(client: httpx.Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="loccit.access")
    client.post(
        "/v1/ask", json={"question": "hush hush"}, headers={"Authorization": "Bearer hush", "X-Request-ID": "r1"}
    )
    deadline = time.monotonic() + 5
    while not caplog.records and time.monotonic() < deadline:
        time.sleep(0.01)
    record = next(record for record in caplog.records if record.name == "loccit.access")
    assert record.__dict__["fields"]["route"] == "/v1/ask"
    assert "hush" not in str(record.__dict__)


def test_a_service_that_stops_says_so(tmp_path: Path) -> None:
    with serving(settings_in(tmp_path)) as live, live.client() as http:
        assert http.get("/readyz").json()["degraded"] == []
        live.runtime.stopping.tell()
        ready = http.get("/readyz")
        assert ready.status_code == 503
        assert ready.json()["degraded"] == ["The service is stopping."]


def test_two_apps_in_one_process_share_nothing(tmp_path: Path, live: Live) -> None:
    with serving(settings_in(tmp_path)) as other:
        assert other.runtime.metrics.registry is not live.runtime.metrics.registry
        assert other.runtime.token != live.runtime.token
