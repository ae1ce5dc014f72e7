"""The embedding model: whether its vectors have one size, come in order, and read as much as is set."""

import time
from collections.abc import Iterator

import numpy as np

from service.doctor.findings import Finding
from service.errors import EmbeddingUnavailable
from vectorstore.paper import Embedder, Vectors

_TEXTS = (
    "Sparse networks are initialised by composing random rotations.",
    "The patients were treated with aspirin for two weeks.",
    "A survey of 240 galaxies finds no trace of dark matter.",
    "Which languages mark the subject of a sentence twice?",
)
_SAME = 0.999
# Between a text and the same with other last words; what an endpoint's rounding leaves between equal ones.
_UNREAD = 0.999999


def of_embedder(embedder: Embedder) -> Iterator[Finding]:
    """Ask for a few vectors, together and one by one, and for a long text's."""
    began = time.monotonic()
    try:
        together = embedder.embed(_TEXTS)
        apart = np.concatenate([embedder.embed([text]) for text in _TEXTS])
    except EmbeddingUnavailable as error:
        yield Finding("embedding", "vectors", "fault", str(error), _at_fault(embedder))
        return
    speed = f"{1000 * (time.monotonic() - began) / (2 * len(_TEXTS)):.0f} ms a short text"
    yield of_vectors(embedder.name, together, apart, speed)
    yield from _of_length(embedder)


def of_vectors(name: str, together: Vectors, apart: Vectors, speed: str) -> Finding:
    """Whether the vectors of the same texts, asked for together and one by one, are the same in the same order."""
    if together.shape == apart.shape and bool((np.sum(together * apart, axis=1) > _SAME).all()):
        return Finding("embedding", "vectors", "ok", f"{name}: {together.shape[1]} dimensions, in order, {speed}")
    if together.shape == apart.shape and bool((np.max(together @ apart.T, axis=1) > _SAME).all()):
        return Finding(
            "embedding",
            "vectors",
            "fault",
            f"{name} gives vectors in another order than asked",
            "set embeddings.model to another",
        )
    return Finding(
        "embedding",
        "vectors",
        "fault",
        f"{name} gives other vectors for the same text each time",
        "set embeddings.model to another",
    )


def _of_length(embedder: Embedder) -> Iterator[Finding]:
    """A text as long as is set, and the same with another end: equal vectors mean that the end is not read."""
    text = _as_long_as(embedder)
    try:
        one, other = embedder.embed([text, f"{text.rsplit(' ', 12)[0]} quarks decay into leptons"])
    except EmbeddingUnavailable as error:
        yield Finding("embedding", "length", "fault", str(error), "set embeddings.max_tokens to what the model reads")
        return
    if float(one @ other) > _UNREAD:
        found = f"the end of a text of {embedder.max_tokens} tokens is not read"
        yield Finding(
            "embedding",
            "length",
            "fault",
            found,
            "set embeddings.max_tokens to what it reads, then run `loccit reindex`",
        )
    else:
        yield Finding("embedding", "length", "ok", f"reads texts of {embedder.max_tokens} tokens whole")


def _as_long_as(embedder: Embedder) -> str:
    words = " ".join(_TEXTS).split()
    text = " ".join(words)
    while embedder.count(f"{text} {' '.join(words)}") <= embedder.max_tokens:
        text = f"{text} {' '.join(words)}"
    return text


def _at_fault(embedder: Embedder) -> str | None:
    return (
        None
        if embedder.name.startswith("builtin")
        else "see embeddings.model, embeddings.base_url and embeddings.api_key"
    )
