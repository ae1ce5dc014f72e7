"""What becomes of a small model's drafts: `python -m tests.model.measure FOLDER [--answers 100] [--minutes 15]`.

Asks SmolLM2 the dev questions over the 2,610 ICML 2024 papers, every second one streamed, and holds each Answer to the
laws. FOLDER keeps the collection for the next time. Prints a table in Markdown.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import anyio

from service.ask import Answerer
from service.config import Settings
from service.domain import Answer, Question, QuestionFilters
from service.errors import ServiceError
from service.evaluation.corpus import collected, in_file
from service.minilm import MiniLM
from service.models import chat_model
from service.reply import EXTRACTED, SAID_NOTHING
from tests.conftest import SHARED
from tests.laws import assert_lawful
from tests.model.serve import missing
from tests.model.small_model import WINDOW, flags, small_model
from vectorstore.store import Store

DATA = SHARED / "data"
PAPERS = DATA / "corpora" / "icml2024.jsonl.gz"
TOP_K = 2


def questions(collection: str) -> Iterator[Question]:
    """The dev questions: of one paper, of several, filtered, follow-ups in their standalone form, unanswerable."""
    for name in ("answerable", "multi", "filters", "chat", "unanswerable"):
        for line in (DATA / "gold" / f"icml_{name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            asked = [turn["standalone"] for turn in row["turns"]] if "turns" in row else [row["question"]]
            filters = QuestionFilters.model_validate(row.get("filters", {}))
            for text in asked:
                yield Question(question=text, collection=collection, top_k=TOP_K, filters=filters)


class Tally:
    """Counts of everything that an Answer can hold."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add(self, answer: Answer, store: Store) -> None:
        """One answer of the model."""
        self.counts["answers of the model"] += 1
        self.counts[f"status: {answer.status}"] += 1
        instead = answer.reason in {EXTRACTED, SAID_NOTHING}
        self.counts["the abstracts' own sentences instead"] += instead
        if not instead:
            self.counts.update(f"sentence: {sentence.verdict}" for sentence in answer.sentences)
        self.counts["citation repaired"] += answer.repaired
        for dropped in answer.dropped:
            mark = dropped.why == "no passage of that number was sent"
            self.counts["dropped: mark of a passage that was not sent" if mark else "dropped: sentence"] += 1
        self.counts["citations"] += len(answer.citations)
        self.counts["cut at the length limit"] += answer.truncated
        self.counts["unlawful"] += not _is_lawful(answer, store)


def _is_lawful(answer: Answer, store: Store) -> bool:
    try:
        assert_lawful(answer, store)
    except AssertionError as error:
        sys.stderr.write(f"{answer.question}: {error}\n{answer.model_dump_json()}\n")
        return False
    return True


async def _asked(answerer: Answerer, question: Question, *, streamed: bool) -> Answer | None:
    if not streamed:
        return await answerer.answer(question)
    last: Answer | None = None
    async with aclosing(answerer.events(question)) as events:
        async for event in events:
            if isinstance(event.data, Answer):
                last = event.data
    return last


async def _measured(answerer: Answerer, store: Store, collection: str, wanted: int, seconds: float) -> Tally:
    tally = Tally()
    ends = time.monotonic() + seconds
    for number, question in enumerate(questions(collection)):
        if tally.counts["answers of the model"] >= wanted or time.monotonic() > ends:
            break
        try:
            answer = await _asked(answerer, question, streamed=number % 2 == 1)
        except ServiceError as error:
            tally.counts[f"failed: {error}"] += 1
            continue
        if answer is None or not answer.usage.completion_tokens:
            tally.counts["abstained without asking the model"] += 1
        else:
            tally.add(answer, store)
        sys.stderr.write(".")
        sys.stderr.flush()
    return tally


def main() -> None:
    """Run, and print what was counted."""
    words = argparse.ArgumentParser(prog="python -m tests.model.measure")
    words.add_argument("folder", type=Path)
    words.add_argument("--answers", type=int, default=100)
    words.add_argument("--minutes", type=float, default=15)
    given = words.parse_args()
    if (reason := missing()) is not None:
        raise SystemExit(f"Not measured: {reason}.")
    minilm = MiniLM()
    with (
        small_model(WINDOW) as url,
        collected(given.folder.resolve(), minilm, "icml2024", in_file(PAPERS), lambda _: None) as (store, collection),
    ):
        settings = Settings.load(flags=flags(url, WINDOW), environ={}, cwd=given.folder)
        answerer = Answerer(settings, store, minilm, chat_model(settings.llm, minilm))
        began = time.monotonic()
        tally = anyio.run(_measured, answerer, store, collection, given.answers, given.minutes * 60)
        minutes = (time.monotonic() - began) / 60
    sys.stdout.write(f"\nIn {minutes:.1f} minutes, {TOP_K} papers a question:\n\n| | |\n|---|---|\n")
    sys.stdout.writelines(f"| {name} | {count} |\n" for name, count in sorted(tally.counts.items()))


if __name__ == "__main__":
    main()
