"""Base URLs in every spelling, and what stands between us and a model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import ConfigError
from service.models import normalise_base_url
from service.models.endpoint import is_local, openai_clients, shown


@pytest.mark.parametrize(
    ("spelling", "url"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080//v1//", "http://127.0.0.1:8080/v1"),
        ("  http://127.0.0.1:8080/v1\n", "http://127.0.0.1:8080/v1"),
        ('"http://127.0.0.1:8080/v1"', "http://127.0.0.1:8080/v1"),
        ("'http://127.0.0.1:8080/v1/ '", "http://127.0.0.1:8080/v1"),
        ("<http://127.0.0.1:8080/v1>", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/api/v1", "http://127.0.0.1:8080/api/v1"),
        ("http://127.0.0.1:8080/api/v1/", "http://127.0.0.1:8080/api/v1"),
        ("http://127.0.0.1:8080/v1/chat/completions", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/v1/embeddings/", "http://127.0.0.1:8080/v1"),
        ("HTTP://LocalHost:8080/v1", "http://localhost:8080/v1"),
        ("localhost:11434", "http://localhost:11434/v1"),
        ("127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
        ("[::1]:8080", "http://[::1]:8080/v1"),
        ("ollama:11434", "http://ollama:11434/v1"),
        ("models.example.org", "https://models.example.org/v1"),
        ("models.example.org/openai/v1", "https://models.example.org/openai/v1"),
        ("https://models.example.org/v1beta/openai/", "https://models.example.org/v1beta/openai"),
    ],
)
def test_base_url_spellings(spelling: str, url: str) -> None:
    assert normalise_base_url(spelling) == url
    assert normalise_base_url(url) == url


@pytest.mark.parametrize(
    "wrong",
    ["", " ", "http://", "http:///v1", "ftp://host/v1", "http://a b/v1", "http://host:port/v1", "http://host:99999/v1",
     "http://[::1/v1", "https://host/v1?key=sk-secret", "https://host/v1#x", "http://host\\v1", "/v1"],
)  # fmt: skip
def test_a_base_url_that_is_none_is_one_sentence(wrong: str) -> None:
    with pytest.raises(ConfigError, match="base URL of a model") as caught:
        normalise_base_url(wrong)
    assert "secret" not in str(caught.value)
    assert str(caught.value).endswith(".")


@given(st.text(max_size=40))
def test_any_text_is_refused_or_gets_a_spelling_that_stays(text: str) -> None:
    try:
        url = normalise_base_url(text)
    except ConfigError:
        return
    assert url.startswith(("http://", "https://"))
    assert not url.endswith("/")
    assert normalise_base_url(url) == url


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("::1", True), ("[::1]", True), ("10.1.2.3", True), ("192.168.1.7", True),
     ("172.20.0.2", True), ("localhost", True), ("chroma", True), ("gpu.local", True), ("host.docker.internal", True),
     ("8.8.8.8", False), ("models.example.org", False), ("localhost.example.org", False)],
)  # fmt: skip
def test_which_hosts_no_proxy_stands_before(host: str, local: bool) -> None:
    assert is_local(host) is local


def test_errors_say_which_proxy_a_call_went_through(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("https_proxy", "http://user:password@proxy.example.org:3128")
    monkeypatch.setenv("no_proxy", "direct.example.org")
    assert shown("https://user:key@models.example.org/v1") == (
        "models.example.org (through the proxy proxy.example.org:3128)"
    )
    assert shown("https://direct.example.org/v1") == "direct.example.org"
    assert shown("https://10.0.0.1:8000/v1") == "10.0.0.1:8000"


def test_the_environments_proxy_serves_public_hosts_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    assert openai_clients("https://models.example.org/v1", 5)["http_client"].trust_env  # type: ignore[attr-defined]  # httpx
    assert not openai_clients("http://127.0.0.1/v1", 5)["http_async_client"].trust_env  # type: ignore[attr-defined]  # httpx
