"""Finding: the dense and the lexical leg, their fusion, one hit a paper.

Every figure comes from the catalogue's snapshot. The index only proposes candidates, and only where it is known to hold
exactly that snapshot: so a hit can be neither stale nor torn, and the same question gives the same hits whether Chroma
or exact search proposed them.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from vectorstore import lexical, passages
from vectorstore.catalogue import Collection
from vectorstore.matrix import Matrices
from vectorstore.paper import Hit, Query, Vectors

# Candidates of each leg. Their union is scored by both.
CANDIDATES = 200
# The share of the dense leg in a hybrid score; measured flat between .5 and .6.
DENSE_WEIGHT = 0.55
MOST_HITS = 100

# Proposes candidates as (number, cosine), or None where exact search must.
Propose = Callable[[Vectors, int], list[tuple[int, float]] | None]


@dataclass(frozen=True, slots=True)
class Scores:
    """Candidates (passage numbers) with what each leg says of them."""

    cosines: Mapping[int, float]
    bm25s: Mapping[int, float]
    dense_ranks: Mapping[int, int]
    lexical_ranks: Mapping[int, int]


def search(
    connection: sqlite3.Connection,
    collection: Collection,
    query: Query,
    vector: Vectors | None,
    propose: Propose,
    matrices: Matrices,
) -> list[Hit]:
    """The best passage of each of the best `top_k` papers, best first. `vector` is needed for all but lexical mode.

    `connection` is a snapshot, `collection` as seen in it.
    """
    allowed = passages.allowed(connection, collection.id, query.filters) if query.filters else None
    if allowed is not None and not len(allowed):
        return []
    dense: list[tuple[int, float]] = []
    if vector is not None and query.mode != "lexical":
        proposed = propose(vector, CANDIDATES) if allowed is None else None
        if proposed is None:
            proposed = matrices.get(connection, collection.id, collection.revision).nearest(vector, CANDIDATES, allowed)
        dense = proposed
    words: list[tuple[int, float]] = []
    bm25s: dict[int, float] = {}
    if query.mode != "dense":
        match = lexical.expression(connection, collection.id, query.text)
        only = None if allowed is None else allowed.tolist()
        near = [number for number, _ in dense]
        words, bm25s = lexical.find(connection, collection.id, match, CANDIDATES, only, near)
    scores = _scores(connection, vector if query.mode != "lexical" else None, dense, words, bm25s)
    ranking = scores.bm25s if query.mode == "lexical" else scores.cosines
    if query.mode == "hybrid" and vector is not None and scores.cosines:
        usual = float(matrices.centre(connection, collection.id, collection.revision) @ vector)
        ranking = fuse(scores.cosines, scores.bm25s, usual)
    return _hits(connection, scores, ranking, query.top_k)


def _scores(
    connection: sqlite3.Connection,
    vector: Vectors | None,
    dense: Sequence[tuple[int, float]],
    words: Sequence[tuple[int, float]],
    bm25s: Mapping[int, float],
) -> Scores:
    """Both figures for the candidates of either leg."""
    cosines: dict[int, float] = {}
    if vector is not None:
        # Reckoned from the stored vectors also where the index gave one: its arithmetic differs in the last digits.
        numbers, rows = passages.vectors(connection, sorted({number for number, _ in (*dense, *words)}))
        if len(numbers):
            cosines = dict(zip(numbers.tolist(), (rows @ vector).tolist(), strict=True))
    near = sorted((number for number, _ in dense if number in cosines), key=lambda number: (-cosines[number], number))
    return Scores(
        cosines,
        dict(words) | dict(bm25s),
        {number: rank for rank, number in enumerate(near, 1)},
        {number: rank for rank, (number, _) in enumerate(words, 1)},
    )


def fuse(
    cosines: Mapping[int, float], bm25s: Mapping[int, float], usual: float, weight: float = DENSE_WEIGHT
) -> dict[int, float]:
    """`(1 - w) * bm25 / max + w * (cosine - usual) / (max - usual)` of each candidate, between 0 and 1.

    `usual` is what the question's cosine to this collection is on average. The lowest cosine among the candidates would
    do as well on paper, but it hangs on where each leg's list happens to end.
    """
    best_bm25 = max(bm25s.values(), default=0.0) or 1.0
    spread = max(cosines.values(), default=0.0) - usual
    near = {number: max(0.0, cosine - usual) / spread if spread > 0 else 0.0 for number, cosine in cosines.items()}
    return {
        number: (1 - weight) * bm25s.get(number, 0.0) / best_bm25 + weight * nearness
        for number, nearness in near.items()
    }


def _hits(connection: sqlite3.Connection, scores: Scores, ranking: Mapping[int, float], top_k: int) -> list[Hit]:
    spans = passages.spans(connection, list(ranking))
    # Ties go by the passage's id, which is the same whatever the order of arrival was.
    order = sorted(spans, key=lambda number: (-ranking[number], *spans[number]))
    best: dict[str, int] = {}
    for number in order:
        best.setdefault(spans[number][0], number)
        if len(best) == top_k:
            break
    stored = {each.number: each for each in passages.load(connection, list(best.values()))}
    return [
        Hit(
            stored[number].passage,
            stored[number].paper,
            ranking[number],
            scores.cosines.get(number),
            scores.bm25s.get(number),
            scores.dense_ranks.get(number),
            scores.lexical_ranks.get(number),
        )
        for number in best.values()
    ]
