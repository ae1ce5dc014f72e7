"""The SQLite file under the catalogue: one writer, pooled readers, and errors a person can act on.

WAL with `synchronous=FULL`: what a transaction committed survives `kill -9` and a power cut.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vectorstore.errors import FolderUnusable

FORMAT = 1
FILE_NAME = "catalogue.sqlite3"

_TABLES = """
CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO facts VALUES('store', lower(hex(randomblob(6))));
CREATE TABLE collections(
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
    embedder TEXT, dimension INTEGER, splitter TEXT, revision INTEGER NOT NULL DEFAULT 0,
    index_generation INTEGER NOT NULL DEFAULT 0, index_number INTEGER NOT NULL DEFAULT 0,
    index_dirty INTEGER NOT NULL DEFAULT 0);
CREATE TABLE papers(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    collection INTEGER NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
    paper_id TEXT NOT NULL, abstract TEXT NOT NULL, title TEXT, authors TEXT NOT NULL, year INTEGER, venue TEXT,
    url TEXT, doi TEXT, arxiv_id TEXT, retracted INTEGER NOT NULL,
    venue_folded TEXT NOT NULL, authors_folded TEXT NOT NULL,
    UNIQUE(collection, paper_id));
CREATE INDEX papers_in_order ON papers(collection, number);
CREATE INDEX papers_by_year ON papers(collection, year);
CREATE TABLE keys(
    collection INTEGER NOT NULL, key TEXT NOT NULL,
    paper INTEGER NOT NULL REFERENCES papers(number) ON DELETE CASCADE,
    PRIMARY KEY(collection, key)) WITHOUT ROWID;
CREATE INDEX keys_of_paper ON keys(paper);
CREATE TABLE passages(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    collection INTEGER NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
    paper INTEGER NOT NULL REFERENCES papers(number) ON DELETE CASCADE,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL, vector BLOB NOT NULL);
CREATE INDEX passages_in_order ON passages(collection, number);
CREATE INDEX passages_of_paper ON passages(paper);
CREATE TABLE tombstones(
    collection INTEGER NOT NULL REFERENCES collections(id) ON DELETE CASCADE, number INTEGER NOT NULL,
    PRIMARY KEY(collection, number)) WITHOUT ROWID;
CREATE TABLE jobs(
    id TEXT PRIMARY KEY, serial INTEGER NOT NULL UNIQUE, collection TEXT NOT NULL, filename TEXT, format TEXT,
    state TEXT NOT NULL, added INTEGER NOT NULL DEFAULT 0, updated INTEGER NOT NULL DEFAULT 0,
    unchanged INTEGER NOT NULL DEFAULT 0, skipped INTEGER NOT NULL DEFAULT 0, error TEXT);
CREATE TABLE job_skips(
    job TEXT NOT NULL REFERENCES jobs(id) ON DELETE CASCADE, serial INTEGER NOT NULL,
    record TEXT NOT NULL, reason TEXT NOT NULL, PRIMARY KEY(job, serial)) WITHOUT ROWID;
"""

# What the machine says rather than our SQL: full disk, no right, damage, another program holding the file.
_OF_THE_FOLDER = {
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_AUTH,
}  # fmt: skip


class Database:
    """The connections of one data folder. Every method is thread-safe; `close` is idempotent."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / FILE_NAME
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._idle_lock = threading.Lock()
        self._closed = False
        with self._spoken():
            # Created here and not by SQLite, which would let every user of the machine read it.
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
            self._writer = self._connect()
        try:
            with self._spoken():
                self._prepare()
        except BaseException:
            self._writer.close()
            raise

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction on the only writing connection: all of it is stored, or none."""
        with self._lock, self._spoken():
            self._check_open()
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A snapshot: everything read within sees one state of the catalogue."""
        with self._spoken():
            connection = self._borrow()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                self._give_back(connection)

    def close(self) -> None:
        """Close every connection; a reader still at work closes its own when it is done."""
        with self._lock, self._idle_lock:
            if self._closed:
                return
            self._closed = True
            for connection in (*self._idle, self._writer):
                connection.close()
            self._idle.clear()

    def _borrow(self) -> sqlite3.Connection:
        with self._idle_lock:
            self._check_open()
            if self._idle:
                return self._idle.pop()
        connection = self._connect()
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._idle_lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def _check_open(self) -> None:
        if self._closed:
            raise FolderUnusable(f"the store in {self._folder} is closed; open it again")

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=10)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA cache_size = -32000")
        return connection

    def _prepare(self) -> None:
        writer = self._writer
        found = int(writer.execute("PRAGMA user_version").fetchone()[0])
        if found > FORMAT:
            raise FolderUnusable(
                f"the data folder {self._folder} was written by a newer loccit (format {found}, this one reads up to"
                f" {FORMAT}); update loccit or use another folder"
            )
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA synchronous = FULL")
        if found == 0:
            # One script, one transaction: a kill in between leaves an empty file, not half of the tables.
            writer.executescript(f"BEGIN IMMEDIATE;{_TABLES}PRAGMA user_version = {FORMAT};COMMIT;")

    @contextmanager
    def _spoken(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _OF_THE_FOLDER:
                raise
            raise unusable(self._folder, str(error)) from error
        except OSError as error:
            raise unusable(self._folder, error.strerror or str(error)) from error


def unusable(folder: Path, reason: str) -> FolderUnusable:
    """The sentence for a folder that this user can't work in."""
    try:
        owner = f"owned by user {folder.stat().st_uid}"
    except OSError:
        owner = "which can't be looked into"
    return FolderUnusable(f"user {os.geteuid()} can't use the data folder {folder}, {owner}: {reason}")
