"""By which names the service may be called: a page can point its own name at this machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.guards import _host_name
from tests.live import Live, is_problem, serving, settings_in


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with serving(settings_in(tmp_path_factory.mktemp("store"), server__allowed_hosts="papers.example")) as server:
        yield server


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example", "[", "10.0.0.7"]
)
@pytest.mark.parametrize("path", ["/", "/v1/papers", "/readyz"])
def test_a_foreign_name_is_refused_with_a_sentence(live: Live, host: str, path: str) -> None:
    with live.client() as http:
        assert "allowed_hosts" in is_problem(http.get(path, headers={"Host": host}), 421)["detail"]


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:9", "127.0.0.1", "127.0.0.1:8000", "[::1]:8000", "a.localhost", "papers.example:443", ""],
)
def test_names_of_this_machine_and_allowed_ones_are_taken(live: Live, host: str) -> None:
    with live.client() as http:
        assert http.get("/v1/papers", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "flags",
    [
        {"server__api_keys": "k"},
        {"server__allowed_hosts": "*"},
        {"server__host": "0.0.0.0", "server__allow_anonymous": True},
    ],
)
def test_where_a_key_or_a_wide_bind_is_meant_any_name_is_taken(tmp_path: Path, flags: dict[str, object]) -> None:
    with serving(settings_in(tmp_path, **flags)) as server, server.client() as http:
        assert http.get("/healthz", headers={"Host": "api:8000"}).status_code == 200


def test_our_own_command_line_is_let_in_by_its_token(live: Live) -> None:
    headers = {"Host": "loccit", "Authorization": f"Bearer {live.runtime.token}"}
    with live.client() as http:
        assert http.get("/v1/papers", headers=headers).status_code == 200


def test_questions_may_not_be_of_any_size(live: Live) -> None:
    with live.client() as http:
        body = b'{"question": "What is KIVI?", "history": []' + b" " * 9 * 2**20 + b"}"
        for content in (body, iter([body[: 2**20], body[2**20 :]])):
            response = http.post("/v1/ask", content=content, headers={"Content-Type": "application/json"})
            is_problem(response, 413)
        padded = b'{"question": "What is KIVI?"' + b" " * 2**20 + b"}"
        assert http.post("/v1/ask", content=padded, headers={"Content-Type": "application/json"}).status_code == 200


def test_a_host_header_that_is_none_is_no_name() -> None:
    assert (_host_name("["), _host_name(""), _host_name("A.b.:80")) == ("?", "", "a.b")


def test_without_any_setting_foreign_names_are_refused(tmp_path: Path) -> None:
    with serving(settings_in(tmp_path)) as server, server.client() as http:
        is_problem(http.get("/v1/papers", headers={"Host": "evil.example"}), 421)
        assert http.get("/v1/papers", headers={"Host": "localhost:8000"}).status_code == 200
