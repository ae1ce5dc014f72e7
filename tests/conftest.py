"""What every test may rely on: no network, none of the machine's settings, an empty working directory."""

import ipaddress
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.fake_llm import fake_llm

__all__ = ["fake_llm"]  # a fixture for every test

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"

# A key that is set on the machine must not make a test pass or pay, and tracing would send prompts away.
_FOREIGN = (
    "ALLOW_RESET",
    "ANONYMIZED_TELEMETRY",
    "CHROMA_",
    "FORCE_COLOR",
    "LANGCHAIN_",
    "LANGSMITH_",
    "LOCCIT_",
    "OPENAI_",
)
_PROXIES = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")

for _name in list(os.environ):
    if _name.startswith(_FOREIGN) or _name.upper() in _PROXIES:
        del os.environ[_name]

settings.register_profile("ci", derandomize=True, deadline=None, database=None, print_blob=True)
settings.register_profile("dev", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

_reached: list[str] = []


def _is_local(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name is None or name in {"", "localhost"}:
        return True
    try:
        address = ipaddress.ip_address(str(name).partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse every connection and look-up that leaves this machine; `_reached` tells which test tried."""
    if event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None
    elif event in {"socket.getaddrinfo", "socket.gethostbyname"}:
        host = arguments[0]
    else:
        return
    if not _is_local(host):
        _reached.append(f"{event} {host!r}")
        raise PermissionError(f"a test may reach loopback only, and tried {host!r}")


sys.addaudithook(_watch)


@pytest.fixture(autouse=True)
def _no_network() -> Iterator[None]:
    """Fail the test that tried to leave this machine, even where its code took the refusal in its stride."""
    _reached.clear()
    yield
    assert not _reached, f"reached for the network: {', '.join(_reached)}"


@pytest.fixture(scope="session", autouse=True)
def _empty_working_directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A loccit.toml, .env or .loccit of the developer's is not found by tests."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("cwd"))
    yield
    os.chdir(before)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The event loop that the service runs on."""
    return "asyncio"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real public data beside the checkout, for the tests that measure on it."""
    if not (SHARED / "data").is_dir():
        pytest.skip("the data folder ../shared is not here")
    return SHARED
