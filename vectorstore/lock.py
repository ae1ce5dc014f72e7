"""One process owns a data folder, and says where it serves."""

import fcntl
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from vectorstore.database import unusable
from vectorstore.errors import FolderInUse

LOCK_NAME = "lock"
ANNOUNCEMENT_NAME = "server.json"
# One who asks whether the folder is owned holds the lock for a moment; an owner who starts just then must not give up.
_PATIENCE_S = 0.5


@dataclass(frozen=True, slots=True)
class Announcement:
    """Who serves a data folder, and the token that its other processes talk to it with."""

    url: str
    token: str
    pid: int


class FolderLock:
    """The data folder, made where it is missing; held until `release` or the end of the process, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._descriptor = os.open(folder / LOCK_NAME, os.O_CREAT | os.O_RDWR, 0o600)
        except OSError as error:
            raise unusable(folder, error.strerror or str(error)) from error
        if not _locked(self._descriptor, fcntl.LOCK_EX, _PATIENCE_S):
            os.close(self._descriptor)
            owner = _read(folder)
            where = f"; it serves at {owner.url}" if owner else ""
            raise FolderInUse(
                f"another process owns the data folder {folder}{where}; use that one, or stop it first",
                owner.url if owner else None,
            )
        (folder / ANNOUNCEMENT_NAME).unlink(missing_ok=True)

    def announce(self, url: str, token: str) -> None:
        """Write where this process serves, readable by this user only."""
        announcement = Announcement(url, token, os.getpid())
        made = self._folder / f"{ANNOUNCEMENT_NAME}.new"
        made.unlink(missing_ok=True)
        descriptor = os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(announcement), file)
        made.rename(self._folder / ANNOUNCEMENT_NAME)

    def release(self) -> None:
        """Let the folder go."""
        (self._folder / ANNOUNCEMENT_NAME).unlink(missing_ok=True)
        os.close(self._descriptor)


def read_announcement(folder: Path) -> Announcement | None:
    """Who serves this folder, or None: nobody, or a process that is no more."""
    try:
        descriptor = os.open(folder / LOCK_NAME, os.O_RDONLY)
    except OSError:
        return None
    try:
        return None if _locked(descriptor, fcntl.LOCK_SH, 0.0) else _read(folder)
    finally:
        os.close(descriptor)


def _read(folder: Path) -> Announcement | None:
    try:
        fields = json.loads((folder / ANNOUNCEMENT_NAME).read_text(encoding="utf-8"))
        return Announcement(str(fields["url"]), str(fields["token"]), int(fields["pid"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _locked(descriptor: int, kind: int, patience: float) -> bool:
    give_up = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= give_up:
                return False
            time.sleep(0.02)
        else:
            return True
