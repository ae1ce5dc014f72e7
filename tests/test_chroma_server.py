"""The dense index on a Chroma server by URL: the same store, whatever becomes of the server."""

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.embedders import HashingEmbedder
from tests.stores import eventually, found, indexed, paper
from vectorstore.store import Store

PAPERS = [paper(number) for number in range(250)]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@contextlib.contextmanager
def _server(folder: Path, port: int) -> Iterator[None]:
    chroma = Path(sys.executable).with_name("chroma")
    command = [str(chroma), "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        eventually(lambda: _listens(port), 60)
        yield
        process.kill()


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def _papers_found(store: Store) -> bool:
    return all(found(store, PAPERS[number].abstract)[0] == f"p{number}" for number in (0, 7, 249))


def test_a_server_that_comes_late_dies_and_comes_back(tmp_path: Path) -> None:
    """traps.md 2: refused connections, `kill -9`; the store answers throughout, and says what it does."""
    port = _free_port()
    with Store(tmp_path / "store", HashingEmbedder(), chroma_url=f"http://127.0.0.1:{port}") as store:
        store.add(PAPERS[:200])
        eventually(lambda: any("not available" in sentence for sentence in store.state().degraded))
        assert found(store, PAPERS[7].abstract)[0] == "p7"
        with _server(tmp_path / "chroma", port):
            indexed(store, 90)
            assert store.state().degraded == ()
        store.add(PAPERS[200:])
        assert _papers_found(store)
        eventually(lambda: store.state().degraded != ())
        with _server(tmp_path / "chroma", port):
            indexed(store, 90)
            assert _papers_found(store)
    assert not (tmp_path / "store" / "chroma").exists()


def test_two_stores_share_a_server_without_seeing_each_other(tmp_path: Path) -> None:
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    with (
        _server(tmp_path / "chroma", port),
        Store(tmp_path / "a", HashingEmbedder(), chroma_url=url) as one,
        Store(tmp_path / "b", HashingEmbedder(), chroma_url=url) as other,
    ):
        one.add(PAPERS[:50])
        other.add(PAPERS[50:100])
        assert found(indexed(one), PAPERS[7].abstract)[0] == "p7"
        assert found(indexed(other), PAPERS[57].abstract)[0] == "p57"
        assert len(one._index.names()) == 2
        other.delete_collection("default")
        indexed(other)
        indexed(one)
        assert found(one, PAPERS[7].abstract)[0] == "p7"
