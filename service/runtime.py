"""Everything that a request needs, opened once: store, models, limits."""

import secrets
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import ParamSpec, TypeVar

import anyio

from service.ask import Answerer
from service.config import Settings
from service.metrics import Metrics
from service.models import chat_model, embeddings
from service.streams import Stopping, Turnstile
from vectorstore.paper import Embedder
from vectorstore.store import Store

P = ParamSpec("P")
T = TypeVar("T")

# The store is synchronous. Its reads and its writes have threads apart, so that no number of slow
# writes makes a look-up wait, and neither makes the event loop wait.
_READERS = 16
_WRITERS = 2
# Below the data folder: bodies on their way in, before the store takes them over.
INCOMING = "incoming"


@dataclass(frozen=True, slots=True)
class Runtime:
    """What is open while the service runs. `token` lets the local command line in, whatever keys are set."""

    settings: Settings
    store: Store
    embedder: Embedder
    answerer: Answerer
    metrics: Metrics
    token: str
    stopping: Stopping
    turnstile: Turnstile
    readers: anyio.CapacityLimiter
    writers: anyio.CapacityLimiter

    async def read(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a synchronous look-up off the event loop."""
        return await anyio.to_thread.run_sync(partial(call, *args, **kwargs), limiter=self.readers)

    async def write(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a synchronous change off the event loop. It runs to its end even if the client leaves."""
        return await anyio.to_thread.run_sync(partial(call, *args, **kwargs), limiter=self.writers)


@asynccontextmanager
async def opened(settings: Settings, metrics: Metrics, token: str) -> AsyncIterator[Runtime]:
    """Open store and models, and close them. Raises ServiceError or VectorstoreError, each one sentence."""
    runtime = await anyio.to_thread.run_sync(_open, settings, metrics, token)
    try:
        yield runtime
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(runtime.store.close)


def new_token() -> str:
    """A secret for this process."""
    return secrets.token_urlsafe(32)


def _open(settings: Settings, metrics: Metrics, token: str) -> Runtime:
    embedder = embeddings(settings.embeddings)
    model = chat_model(settings.llm, embedder)
    store = Store(settings.store.path, embedder, chroma_url=settings.store.chroma_url)
    # Uploads that a kill cut short. The folder is ours alone from here on, so nobody is writing there.
    shutil.rmtree(settings.store.path / INCOMING, ignore_errors=True)
    return Runtime(
        settings=settings,
        store=store,
        embedder=embedder,
        answerer=Answerer(settings, store, embedder, model),
        metrics=metrics,
        token=token,
        stopping=Stopping(),
        turnstile=Turnstile(settings.server.max_concurrent_answers),
        readers=anyio.CapacityLimiter(_READERS),
        writers=anyio.CapacityLimiter(_WRITERS),
    )
