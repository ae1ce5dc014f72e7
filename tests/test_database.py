import os
import sqlite3
import stat
import tempfile
import threading
from pathlib import Path

import pytest

from vectorstore.database import FILE_NAME, FORMAT, Database
from vectorstore.errors import FolderUnusable
from vectorstore.lock import FolderLock


def test_a_transaction_that_raises_leaves_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path)
    with pytest.raises(sqlite3.IntegrityError), database.write() as connection:
        connection.executemany("INSERT INTO facts VALUES(?, 'b')", [("a",), ("a",)])
    with database.read() as connection:
        assert connection.execute("SELECT count(*) FROM facts WHERE name = 'a'").fetchone() == (0,)
    database.close()


def test_a_reader_sees_one_state_while_a_writer_writes(tmp_path: Path) -> None:
    database = Database(tmp_path)
    with database.read() as reader:
        before = reader.execute("SELECT count(*) FROM facts").fetchone()
        with database.write() as writer:
            writer.execute("INSERT INTO facts VALUES('a', 'b')")
        assert reader.execute("SELECT count(*) FROM facts").fetchone() == before
    with database.read() as reader:
        assert reader.execute("SELECT count(*) FROM facts").fetchone() != before
    database.close()


def test_what_is_committed_is_synced_to_the_disk(tmp_path: Path) -> None:
    """Law 9: WAL alone may lose the last transactions of a power cut; FULL may not."""
    database = Database(tmp_path)
    with database.write() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA foreign_keys").fetchone() == (1,)
    database.close()


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    database = Database(tmp_path)
    with database.write() as connection:
        connection.execute("INSERT INTO facts VALUES('a', 'b')")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert set(modes.values()) == {0o600}, modes
    assert len(modes) >= 2
    database.close()


def test_a_newer_format_is_refused_by_name(tmp_path: Path) -> None:
    Database(tmp_path).close()
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    connection.close()
    with pytest.raises(FolderUnusable, match="newer loccit"):
        Database(tmp_path)


def test_a_file_that_is_no_database_is_said_to_be_that(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"not a database, just words" * 100)
    with pytest.raises(FolderUnusable, match=r"not a database"):
        Database(tmp_path)


def test_a_full_disk_is_said_in_one_sentence_and_loses_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path)
    with database.write() as connection:
        connection.execute("INSERT INTO facts VALUES('kept', 'x')")
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(FolderUnusable, match="full") as caught, database.write() as connection:
        connection.execute("INSERT INTO facts VALUES('large', ?)", ("x" * 100_000,))
    assert str(tmp_path) in str(caught.value)
    assert f"user {os.geteuid()}" in str(caught.value)
    with database.read() as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM facts")}
    assert names == {"store", "kept"}
    database.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_folder_of_another_user_names_both() -> None:
    """A volume that belongs to root, and a service that does not run as root."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        os.seteuid(65534)
        try:
            with pytest.raises(FolderUnusable) as caught:
                FolderLock(folder)
            with pytest.raises(FolderUnusable) as below:
                FolderLock(folder / "new")
        finally:
            os.seteuid(0)
    assert str(caught.value) == f"user 65534 can't use the data folder {folder}, owned by user 0: Permission denied"
    assert "user 65534" in str(below.value)


def test_closing_twice_is_no_error_and_later_use_says_closed(tmp_path: Path) -> None:
    database = Database(tmp_path)
    database.close()
    database.close()
    with pytest.raises(FolderUnusable, match="closed"), database.read():
        pass
    with pytest.raises(FolderUnusable, match="closed"), database.write():
        pass


def test_a_reader_at_work_outlives_the_close(tmp_path: Path) -> None:
    database = Database(tmp_path)
    entered, leave = threading.Event(), threading.Event()
    seen: list[int] = []

    def read() -> None:
        with database.read() as connection:
            entered.set()
            leave.wait(5)
            seen.append(connection.execute("SELECT count(*) FROM facts").fetchone()[0])

    thread = threading.Thread(target=read)
    thread.start()
    entered.wait(5)
    database.close()
    leave.set()
    thread.join()
    assert seen == [1]
