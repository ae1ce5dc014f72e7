"""The data folder: who owns it, whether it can be written, what is in it, and whether this embedder made it."""

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import httpx

from service.config import Settings
from service.doctor.findings import Finding, Mark
from service.errors import ConfigError
from vectorstore.errors import FolderInUse, VectorstoreError
from vectorstore.paper import Embedder
from vectorstore.store import Announcement, CollectionInfo, Store, StoreState, read_announcement

_LEAST_FREE = 200 * 2**20
_PATIENCE_S = 10.0
_OTHER_FOLDER = "set store.path to a folder that can be written"


def of_folder(settings: Settings, embedder: Embedder | None) -> Iterator[Finding]:
    """Everything about the store. A folder that another process owns is asked about at its address."""
    path = settings.store.path
    if not path.exists():
        yield _of_absence(path)
        return
    yield from _of_room(path)
    served = read_announcement(path)
    if served is not None:
        yield from of_server(served)
    elif embedder is not None:
        yield from _of_store(settings, embedder)


def of_server(served: Announcement) -> Iterator[Finding]:
    """What the server that owns the folder says of itself."""
    try:
        with httpx.Client(trust_env=False, timeout=10) as http:
            said = http.get(f"{served.url}/readyz", headers={"Authorization": f"Bearer {served.token}"}).json()
        ready, degraded = bool(said["ready"]), [str(sentence) for sentence in said["degraded"]]
        serves = f"owned by the server at {served.url}, which asks {said['model']} and embeds by {said['embedder']}"
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        found = f"owned by a server at {served.url} (process {served.pid}) that does not answer"
        yield Finding("store", "owner", "fault", found, "end that process, and start it again")
        return
    yield Finding("store", "owner", "ok" if ready else "fault", serves if ready else f"{serves}: not ready")
    for sentence in degraded:
        yield _of_sentence(sentence)


def of_state(state: StoreState, collections: Sequence[CollectionInfo]) -> Iterator[Finding]:
    """What an open store says of its catalogue and its index."""
    if not state.ready:
        for sentence in state.degraded:
            yield Finding("store", "catalogue", "fault", sentence, _OTHER_FOLDER)
        return
    counts = ", ".join(f"{each.name} {each.papers:,}" for each in collections)
    yield _of_catalogue(state, counts)
    behind = [each for each in state.indexes if each.state != "current"]
    for each in behind:
        waits = f"the index of {each.collection} is {each.state}, {each.waiting:,} passages wait"
        yield Finding("store", "index", "note", f"{waits}; exact search answers meanwhile")
    if not behind:
        yield Finding("store", "index", "ok", "current")
    for sentence in state.degraded:
        yield _of_sentence(sentence)


def _of_catalogue(state: StoreState, counts: str) -> Finding:
    found = f"readable: {state.papers:,} papers, {state.passages:,} passages ({counts})"
    if state.papers:
        return Finding("store", "catalogue", "ok", found)
    return Finding("store", "catalogue", "note", "readable, and empty: add papers with `loccit add FILE`")


def _of_sentence(sentence: str) -> Finding:
    """One of the store's own sentences: they name the way out themselves."""
    foreign = "loccit reindex" in sentence
    mark: Mark = "fault" if foreign else "warning"
    change = "set embeddings.model to the one it was built with, or run `loccit reindex`" if foreign else None
    return Finding("store", "collections" if foreign else "index", mark, sentence, change)


def _of_absence(path: Path) -> Finding:
    there = next(parent for parent in path.parents if parent.exists())
    if os.access(there, os.W_OK | os.X_OK):
        return Finding("store", "folder", "note", f"{path.name} is not there yet: `loccit add` makes it")
    return Finding(
        "store", "folder", "fault", f"{path.name} can't be made: {there.name or there} is read-only", _OTHER_FOLDER
    )


def _of_room(path: Path) -> Iterator[Finding]:
    if not path.is_dir() or not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        yield Finding("store", "folder", "fault", f"{path.name} can't be read and written", _OTHER_FOLDER)
        return
    free = shutil.disk_usage(path).free
    room = f"{path.name} is writable, {free / 2**30:.1f} GB free"
    if free < _LEAST_FREE:
        yield Finding("store", "folder", "warning", room, "set store.path to a disk with more room")
    else:
        yield Finding("store", "folder", "ok", room)


def _of_store(settings: Settings, embedder: Embedder) -> Iterator[Finding]:
    try:
        with Store(settings.store.path, embedder, chroma_url=settings.store.chroma_url) as store:
            yield Finding("store", "owner", "ok", "no other process has it")
            _settled(store.state)
            yield from of_state(store.state(), store.collections())
    except FolderInUse as error:
        yield Finding("store", "owner", "fault", str(error), "stop the other process, or wait for it")
    except (VectorstoreError, ConfigError) as error:
        yield Finding("store", "catalogue", "fault", str(error), _OTHER_FOLDER)


def _settled(state: Callable[[], StoreState]) -> None:
    """Wait a while for an index that is only starting."""
    give_up = time.monotonic() + _PATIENCE_S
    while time.monotonic() < give_up and any(each.state != "current" for each in state().indexes):
        time.sleep(0.1)
