"""What went wrong with which question, the worst first (pure)."""

from collections.abc import Iterator, Sequence

from service.evaluation.answers import judged, place
from service.evaluation.asking import Asked
from service.evaluation.filtering import kept
from service.evaluation.tables import Failure
from service.wire import Json


def failures(run: Sequence[Asked]) -> tuple[Failure, ...]:
    """At most one for each question."""
    return tuple(
        Failure(asked.case.kind, what, asked.case.qid, asked.case.question, detail)
        for asked in run
        for what, detail in [next(_faults(asked), ("", ""))]
        if what
    )


def _faults(asked: Asked) -> Iterator[tuple[str, str]]:
    if asked.error is not None:
        yield "the model failed", asked.error
    if not all(kept(paper, asked.case.filters) for paper in asked.hits):
        yield "a filter let through what it should not", ""
    yield from _of_answerable(asked) if asked.case.answerable else _of_unanswerable(asked)


def _of_answerable(asked: Asked) -> Iterator[tuple[str, str]]:
    found, counts = place(asked), judged(asked)
    wanted = ", ".join(sorted(asked.case.relevant))
    if found is None:
        yield "no right paper found", f"wanted {wanted}; {_sure(asked)}"
    if asked.abstained:
        yield "abstained", f"{_sure(asked)}; the right paper was number {found}"
    if not counts.papers & asked.case.relevant:
        yield "cited no paper known to be right", f"wanted {wanted}, found as number {found}; {_quoted(asked)}"
    if asked.case.gold and not counts.right:
        yield "quoted other sentences of the right paper", f"{_quoted(asked)}; wanted: {asked.case.gold[0]}"
    if found != 1:
        yield "cited a right paper that was not found first", f"number {found}"


def _of_unanswerable(asked: Asked) -> Iterator[tuple[str, str]]:
    if not asked.abstained:
        yield "answered", f"{_sure(asked)}; {_quoted(asked)}"


def _sure(asked: Asked) -> str:
    return f"confidence {asked.confidence:.2f}"


def _quoted(asked: Asked) -> str:
    citations = asked.answer.citations if asked.answer is not None else ()
    return "quoted: " + " | ".join(f"{citation.quote} ({citation.paper_id})" for citation in citations[:2])


def details(run: Sequence[Asked]) -> list[Json]:
    """A record for each question, for whoever wants other figures."""
    return [_detail(asked) for asked in run]


def _detail(asked: Asked) -> Json:
    counts = judged(asked)
    answer = asked.answer
    return {
        "qid": asked.case.qid,
        "kind": asked.case.kind,
        "question": asked.case.question,
        "standalone": answer.standalone_question if answer else None,
        "answerable": asked.case.answerable,
        "status": answer.status if answer else "failed",
        "confidence": round(asked.confidence, 4),
        "rank": place(asked),
        "found": list(asked.found),
        "citations": {"right": counts.right, "half": counts.half, "wrong": counts.wrong, "unknown": counts.unknown},
        "recall": counts.recall,
        "answer": answer.answer if answer else None,
        "timings_ms": answer.timings_ms.model_dump() if answer else None,
    }
