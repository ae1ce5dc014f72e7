"""Any LangChain `Embeddings` as the store's Embedder: strings in, checked unit vectors out."""

import math
import time
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from langchain_core.embeddings import Embeddings

from service import tokens
from service.errors import EmbeddingUnavailable, EvidenceTooLong
from service.models import faults
from vectorstore.paper import Vectors

# Word pieces of BERT-like models for one token of cl100k_base: 1.08 on average over ICML abstracts, 1.22 at most.
_PIECES_A_TOKEN = 1.25
_BATCH = 64
_LONGEST_PAUSE_S = 10.0


class RemoteEmbedder:
    """Asks `inner` in batches, and believes nothing: count, size and values of the vectors are checked. Thread-safe.

    `name` is what a collection remembers. Raises EmbeddingUnavailable.
    """

    def __init__(self, name: str, inner: Embeddings, max_tokens: int, *, endpoint: str, secret: str = "") -> None:
        self.name = name
        self.max_tokens = max_tokens
        self._inner = inner
        self._endpoint = endpoint
        self._secret = secret
        self._dimension: int | None = None

    def count(self, text: str) -> int:
        """Tokens of `text`, two special ones included: on the safe side, for the model's own tokenizer is not known."""
        return math.ceil(_PIECES_A_TOKEN * tokens.count(text)) + 2

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit-length row a text, in order. Raises EmbeddingUnavailable."""
        # Endpoints refuse an empty text; a space is embedded as one.
        asked = [text if text.strip() else " " for text in texts]
        rows = [self._batch(asked[place : place + _BATCH]) for place in range(0, len(asked), _BATCH)]
        return np.concatenate(rows) if rows else np.empty((0, self._dimension or 0), np.float32)

    def _batch(self, texts: list[str]) -> Vectors:
        try:
            rows = np.asarray(self._asked(texts), np.float32)
        except (TypeError, ValueError) as error:
            raise EmbeddingUnavailable(f"{self._endpoint} gave vectors of unlike sizes, or no numbers.") from error
        if rows.ndim != 2 or len(rows) != len(texts):
            raise EmbeddingUnavailable(f"{self._endpoint} gave {len(rows)} vectors for {len(texts)} texts.")
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(rows).all() and lengths.all()):
            raise EmbeddingUnavailable(f"{self._endpoint} gave a vector that is zero or not finite.")
        self._check_dimension(rows.shape[1])
        unit: Vectors = rows / lengths
        return unit

    def _check_dimension(self, dimension: int) -> None:
        if self._dimension not in {None, dimension}:
            raise EmbeddingUnavailable(
                f"{self._endpoint} gave vectors of {dimension} numbers after {self._dimension}: another model?"
            )
        self._dimension = dimension

    def _asked(self, texts: list[str], tries: int = 3) -> list[list[float]]:
        for left in reversed(range(tries)):
            try:
                return self._inner.embed_documents(texts)
            except Exception as error:
                pause = faults.asked_pause(error)
                pause = 0.5 * 2 ** (tries - 1 - left) if pause is None else pause
                if not (left and faults.is_passing(error) and pause <= _LONGEST_PAUSE_S):
                    raise EmbeddingUnavailable(self._meaning(error)) from error
            time.sleep(pause)
        raise AssertionError("the last try returns or raises")

    def _meaning(self, error: Exception) -> str:
        meaning = faults.translate(error, self._endpoint, model=self.name, secret=self._secret)
        if isinstance(meaning, EvidenceTooLong):
            return f"A text is too long for {self.name}: set embeddings.max_tokens to what it reads."
        return str(meaning)


class _Row(Protocol):
    """One vector of a reply of the embeddings API."""

    index: int


class _Rows(Protocol):
    """A reply of the embeddings API."""

    data: list[_Row]


class _Endpoint(Protocol):
    """The embeddings API of the openai library."""

    def create(self, **request: object) -> _Rows:
        """Ask for vectors."""
        ...


class Ordered:
    """The embeddings API with its rows put in order: LangChain takes them as they come, and some servers reorder."""

    def __init__(self, inner: _Endpoint) -> None:
        self._inner = inner

    def create(self, **request: object) -> _Rows:
        """Ask for vectors."""
        reply = self._inner.create(**request)
        reply.data = sorted(reply.data or [], key=lambda row: row.index)
        return reply
