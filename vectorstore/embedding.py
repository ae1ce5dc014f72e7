"""What the store demands of an embedding model: whole batches, one size, unit length, and one model a collection."""

import sqlite3
from collections.abc import Sequence

import numpy as np

from vectorstore import catalogue
from vectorstore.catalogue import Collection
from vectorstore.errors import EmbedderFailed, EmbedderMismatch
from vectorstore.paper import Embedder, Vectors
from vectorstore.split import SPLITTER_VERSION

# Passages go to the model in portions: a hosted one refuses more than a few thousand texts, or tokens.
PORTION = 64


def embed(embedder: Embedder, texts: Sequence[str], dimension: int | None) -> Vectors:
    """One unit-length row a text. A row that the model made useless (NaN, zero) is all NaN.

    EmbedderFailed where it raised, or gave another number or size of rows than asked (`dimension`, if not None).
    """
    if not texts:
        return np.zeros((0, dimension or 0), np.float32)
    portions = [texts[at : at + PORTION] for at in range(0, len(texts), PORTION)]
    rows = [_portion(embedder, portion, dimension) for portion in portions]
    if len({portion.shape[1] for portion in rows}) > 1:
        raise EmbedderFailed(f"the embedding model {embedder.name} gave vectors of different sizes")
    vectors = np.concatenate(rows)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[~(np.isfinite(lengths) & (lengths > 1e-6))] = np.nan
    unit: Vectors = vectors / lengths
    return unit


def embed_question(embedder: Embedder, text: str, dimension: int | None) -> Vectors:
    """The unit-length vector of a question; shape (dimension,)."""
    vector: Vectors = embed(embedder, [text.encode("utf-8", "replace").decode("utf-8")], dimension)[0]
    if not np.isfinite(vector).all():
        raise EmbedderFailed(f"the embedding model {embedder.name} gave no usable vector for the question")
    return vector


def check_manifest(connection: sqlite3.Connection, collection: Collection, embedder: Embedder) -> None:
    """EmbedderMismatch where the collection's vectors were made otherwise than this embedder makes them."""
    if (collection.embedder, collection.splitter) == (embedder.name, SPLITTER_VERSION):
        return
    if catalogue.is_empty(connection, collection.id):
        return
    if collection.embedder != embedder.name:
        made, now = f"by {collection.embedder}", f"the configured one is {embedder.name}"
    else:
        made, now = f"with passages cut by {collection.splitter}", f"this version cuts by {SPLITTER_VERSION}"
    raise EmbedderMismatch(
        f"collection {collection.name!r} was embedded {made}, but {now}; run `loccit reindex` to embed it anew,"
        " or configure the model it was built with"
    )


def manifest(embedder: Embedder, dimension: int) -> tuple[str, int, str]:
    """What a collection remembers of how its vectors were made."""
    return embedder.name, dimension, SPLITTER_VERSION


def _portion(embedder: Embedder, texts: Sequence[str], dimension: int | None) -> Vectors:
    try:
        vectors = np.asarray(embedder.embed(texts), np.float32)
    except Exception as error:
        raise EmbedderFailed(f"the embedding model {embedder.name} failed: {error}") from error
    if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1]:
        raise EmbedderFailed(
            f"the embedding model {embedder.name} gave an array of {vectors.shape} for {len(texts)} texts"
        )
    if dimension is not None and vectors.shape[1] != dimension:
        raise EmbedderFailed(
            f"the embedding model {embedder.name} gave vectors of {vectors.shape[1]} numbers where the collection has"
            f" {dimension}; run `loccit reindex` if the model behind that name has changed"
        )
    return vectors
