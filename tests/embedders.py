"""Embedding models for tests of the store: real in every respect but meaning, and fast."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from vectorstore.paper import Vectors


class HashingEmbedder:
    """Texts that share words are near to one another; the same text always has the same vector."""

    def __init__(self, name: str = "test:hashing", dimension: int = 64, max_tokens: int = 256) -> None:
        self.name = name
        self.dimension = dimension
        self.max_tokens = max_tokens
        self.texts: list[str] = []

    def count(self, text: str) -> int:
        return len(text.split()) + 2

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> Vectors:
        vector = np.zeros(self.dimension, np.float32)
        for word in re.findall(r"\w+", text.lower()) or [text]:
            vector += _direction(f"{self.name} {word}", self.dimension)
        return vector / np.float32(np.linalg.norm(vector) or 1.0)


_DIRECTIONS: dict[tuple[str, int], Vectors] = {}


def _direction(word: str, dimension: int) -> Vectors:
    if (word, dimension) not in _DIRECTIONS:
        seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "replace")).digest()[:8])
        _DIRECTIONS[word, dimension] = np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
    return _DIRECTIONS[word, dimension]
