"""How much loccit adds to a model's time to first token: `python -m tests.overhead FOLDER`, a data folder.

The model is a scripted one that answers at once, so all that is measured is ours: retrieval, prompt, transport, filter.
"""

import json
import statistics
import sys
import time
from pathlib import Path

import httpx

from service.config import Settings
from tests.conftest import SHARED
from tests.fake_llm import FakeLLM
from tests.live import serving

WARM_UP = 5


def first_token_ms(client: httpx.Client, question: str) -> float | None:
    """Milliseconds from the question to the first piece of text; None where no model was asked."""
    began = time.perf_counter()
    with client.stream("POST", "/v1/ask", json={"question": question, "stream": True}) as reply:
        for line in reply.iter_lines():
            if line == "event: text":
                return (time.perf_counter() - began) * 1000
    return None


def main(folder: Path) -> None:
    """Print how long the first token took, over the dev questions."""
    gold = (SHARED / "data" / "gold" / "icml_answerable.jsonl", SHARED / "data" / "gold" / "icml_multi.jsonl")
    questions = [json.loads(line)["question"] for path in gold for line in path.read_text().splitlines()]
    with FakeLLM("It is so [1].") as fake:
        flags = {"llm.model": "openai:fake", "llm.base_url": fake.url, "store.path": str(folder)}
        with serving(Settings.load(flags=flags, environ={}, cwd=folder)) as live, live.client() as client:
            papers = live.runtime.store.state().papers
            for question in questions[:WARM_UP]:
                first_token_ms(client, question)
            times = [ms for question in questions if (ms := first_token_ms(client, question)) is not None]
    percentiles = statistics.quantiles(times, n=20)
    sys.stdout.write(
        f"{papers} papers, {len(times)} questions: p50 {percentiles[9]:.0f} ms, p95 {percentiles[18]:.0f} ms\n"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
