"""Bodies too large, too slow, or of a length that is a lie, over a real socket. Traps section 3."""

import http.client
import json
import socket
import time
from collections.abc import Iterator

import psutil
import pytest

from tests.live import Live, is_problem, serving, settings_in


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("store")
    with serving(settings_in(folder, server__max_body_bytes=2**21, server__read_timeout_s=1.5)) as server:
        yield server


def post_head(live: Live, headers: str) -> socket.socket:
    host, port = live.url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=20)
    connection.sendall(f"POST /v1/papers HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n\r\n".encode())
    return connection


def response_of(connection: socket.socket) -> tuple[int, bytes]:
    response = http.client.HTTPResponse(connection)
    response.begin()
    return response.status, response.read()


def test_300_mb_are_refused_before_they_are_read(live: Live) -> None:
    began = time.perf_counter()
    with post_head(live, f"Content-Length: {300 * 2**20}") as connection:
        status, body = response_of(connection)
    assert status == 413
    assert b"server.max_body_bytes" in body
    assert time.perf_counter() - began < 1


def test_300_mb_sent_all_the_same_cost_no_memory(live: Live) -> None:
    process = psutil.Process()
    before = process.memory_info().rss
    with live.client() as http:
        pieces = (b"x" * 2**20 for _ in range(300))
        response = http.post("/v1/papers", content=pieces, headers={"Content-Length": str(300 * 2**20)})
    is_problem(response, 413)
    assert process.memory_info().rss - before < 50 * 2**20


def test_chunked_bodies_are_counted(live: Live) -> None:
    with live.client() as http:
        response = http.post("/v1/papers", content=(b"x" * 2**16 for _ in range(64)))
    is_problem(response, 413)


def test_lying_lengths_are_refused(live: Live) -> None:
    for told in ("-1", "x", "9" * 30):
        with post_head(live, f"Content-Length: {told}") as connection:
            status, _ = response_of(connection)
        assert status in (400, 413)


def test_a_stalled_body_is_given_up(live: Live) -> None:
    """Traps section 3: no read timeout, 300 stalled bodies stay open."""
    began = time.perf_counter()
    with post_head(live, "Content-Length: 100\r\nContent-Type: application/json") as connection:
        connection.sendall(b'{"papers"')
        status, body = response_of(connection)
    assert status == 408
    assert json.loads(body)["title"] == "The body did not arrive in time"
    assert 1 < time.perf_counter() - began < 10
