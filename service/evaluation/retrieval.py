"""The three retrievers on a labelled set: by meaning, by words, and both."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from service.evaluation import measures
from service.evaluation.beir import RetrievalSet
from service.evaluation.estimates import Estimate, difference, mean
from service.evaluation.tables import Cell, Outcome, Table
from service.wire import Json
from vectorstore.paper import Embedder, Mode, Query
from vectorstore.search import MOST_HITS
from vectorstore.store import Store

MODES: tuple[Mode, ...] = ("dense", "lexical", "hybrid")
Scorer = Callable[[list[str], measures.Judged], float]
MEASURES: dict[str, Scorer] = {
    "nDCG@10": lambda ranking, judged: measures.ndcg(ranking, judged, 10),
    "recall@10": lambda ranking, judged: measures.recall(ranking, judged, 10),
    "recall@100": lambda ranking, judged: measures.recall(ranking, judged, 100),
    "MRR@10": lambda ranking, judged: measures.reciprocal_rank(ranking, judged, 10),
}
FIRST = "nDCG@10"


@dataclass(frozen=True, slots=True)
class Run:
    """One set's scores: mode -> measure -> a value for each query, in the order of `queries`."""

    name: str
    papers: int
    twins: int
    queries: tuple[str, ...]
    scores: dict[Mode, dict[str, list[float]]]


class Compared(NamedTuple):
    """The hybrid against the better leg of its set."""

    leg: Mode
    gain: Estimate


def run(store: Store, collection: str, embedder: Embedder, labelled: RetrievalSet, tick: Callable[[], None]) -> Run:
    """Ask every query of every retriever. `tick` is called once a query. Raises VectorstoreError."""
    scores: dict[Mode, dict[str, list[float]]] = {mode: {name: [] for name in MEASURES} for mode in MODES}
    for query_id, text in labelled.queries.items():
        vector = embedder.embed([text])
        for mode in MODES:
            hits = store.search(Query(text, MOST_HITS, mode, collection=collection), vector)
            ranking = [hit.paper.paper_id for hit in hits]
            for name, scorer in MEASURES.items():
                scores[mode][name].append(scorer(ranking, labelled.judged[query_id]))
        tick()
    return Run(labelled.name, len(labelled.papers), labelled.twins, tuple(labelled.queries), scores)


def compared(one: Run) -> Compared:
    """Paired: both answer the same queries, so their difference is told more surely than each alone."""
    leg = max(MODES[:2], key=lambda mode: sum(one.scores[mode][FIRST]))
    gain = difference(one.scores["hybrid"][FIRST], one.scores[leg][FIRST])
    assert gain is not None  # a set has at least one query
    return Compared(leg, gain)


def outcome(runs: list[Run]) -> Outcome:
    """A table a set, one of the gains, and the means over sets."""
    tables = [_of_set(one) for one in runs]
    gains = [(one.name, compared(one)) for one in runs]
    rows = tuple((name, (each.leg, each.gain)) for name, each in gains)
    tables.append(Table(f"Hybrid against the better leg, {FIRST}", ("better leg", "gain"), rows))
    if len(runs) > 1:
        tables.append(_means(runs))
    notes = tuple(
        f"{one.name}: {one.twins} papers share the abstract of another and count as that one."
        for one in runs
        if one.twins
    )
    return Outcome(tuple(tables), notes, details=[_details(one) for one in runs])


def _of_set(one: Run) -> Table:
    rows = tuple((mode, tuple(mean(values) for values in one.scores[mode].values())) for mode in MODES)
    return Table(f"{one.name}: {one.papers} papers, {len(one.queries)} queries", tuple(MEASURES), rows)


def _means(runs: list[Run]) -> Table:
    def over_sets(mode: Mode, name: str) -> str:
        means = [sum(one.scores[mode][name]) / len(one.queries) for one in runs]
        return f"{sum(means) / len(means):.3f}"

    rows: tuple[tuple[str, tuple[Cell, ...]], ...] = tuple(
        (mode, tuple(over_sets(mode, name) for name in MEASURES)) for mode in MODES
    )
    return Table(f"Mean of {len(runs)} sets", tuple(MEASURES), rows)


def _details(one: Run) -> Json:
    queries: dict[str, Json] = {
        query: {mode: {name: values[at] for name, values in one.scores[mode].items()} for mode in MODES}
        for at, query in enumerate(one.queries)
    }
    return {"set": one.name, "queries": queries}
