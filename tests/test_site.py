"""The page and the docs: served whole, from this machine alone."""

import re
from collections.abc import Iterator

import httpx
import pytest

from tests.live import serving, settings_in


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with serving(settings_in(tmp_path_factory.mktemp("store"))) as live, live.client() as opened:
        yield opened


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_a_page_and_all_it_refers_to_come_from_here(client: httpx.Client, path: str) -> None:
    page = client.get(path)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'self'" in page.headers["content-security-policy"]
    referred = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(referred) >= 3
    for address in referred:
        assert not re.match(r"https?:|//", address)
        if not address.startswith("data:"):
            assert client.get(f"/{address}").status_code == 200, address


def test_the_page_puts_text_in_as_text(client: httpx.Client) -> None:
    script = client.get("/web/app.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script.text)


@pytest.mark.parametrize("name", ["..%2Fcli.py", "nothing.js", "%2e%2e/config.py"])
def test_nothing_else_is_served_as_an_asset(client: httpx.Client, name: str) -> None:
    assert client.get(f"/web/{name}").status_code == 404
