import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stores import opened
from vectorstore.errors import FolderInUse
from vectorstore.lock import ANNOUNCEMENT_NAME, Announcement, FolderLock, read_announcement
from vectorstore.store import Store

ROOT = Path(__file__).parents[1]
_HOLD = """
import sys, time
from pathlib import Path
from vectorstore.lock import FolderLock
lock = FolderLock(Path(sys.argv[1]))
lock.announce("http://127.0.0.1:8123", "secret")
print("held", flush=True)
time.sleep(60)
"""


def _holder(folder: Path) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen([sys.executable, "-c", _HOLD, str(folder)], cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    process.stdout.close()
    return process


def test_a_second_process_is_told_where_the_first_serves_until_that_is_killed(tmp_path: Path) -> None:
    process = _holder(tmp_path)
    try:
        with pytest.raises(FolderInUse, match=r"http://127\.0\.0\.1:8123") as caught:
            Store(tmp_path, None)  # type: ignore[arg-type]  # it does not come to the embedder
        assert caught.value.url == "http://127.0.0.1:8123"
        assert "secret" not in str(caught.value)
        assert read_announcement(tmp_path) == Announcement("http://127.0.0.1:8123", "secret", process.pid)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    # What the killed one announced is there still, and is not believed.
    assert (tmp_path / ANNOUNCEMENT_NAME).exists()
    assert read_announcement(tmp_path) is None
    opened(tmp_path).close()


def test_two_stores_of_one_process_are_two_too_many(tmp_path: Path) -> None:
    with opened(tmp_path), pytest.raises(FolderInUse) as caught:
        opened(tmp_path)
    assert caught.value.url is None
    opened(tmp_path).close()


def test_the_announcement_is_for_this_user_only_and_is_taken_back(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        assert read_announcement(tmp_path) is None
        store.announce("http://127.0.0.1:1", "one")
        store.announce("http://127.0.0.1:2", "two")
        path = tmp_path / ANNOUNCEMENT_NAME
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert json.loads(path.read_text())["pid"] == os.getpid()
        assert read_announcement(tmp_path) == Announcement("http://127.0.0.1:2", "two", os.getpid())
    assert read_announcement(tmp_path) is None
    assert not path.exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"url": "x"}', b"\xff\xfe", b"null"])
def test_an_announcement_that_makes_no_sense_is_none(tmp_path: Path, content: bytes) -> None:
    lock = FolderLock(tmp_path)
    (tmp_path / ANNOUNCEMENT_NAME).write_bytes(content)
    assert read_announcement(tmp_path) is None
    lock.release()


def test_nobody_is_there(tmp_path: Path) -> None:
    assert read_announcement(tmp_path / "nowhere") is None
    assert not (tmp_path / "nowhere").exists()


def test_a_new_folder_is_for_its_owner_only(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path / "a" / "b")
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    lock.release()
