"""`loccit doctor` on embedding models: the built-in one, and remote ones with every fault."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from service.doctor import Finding
from service.doctor.vectors import of_embedder, of_vectors
from service.minilm import MiniLM
from service.models import embeddings
from tests.embedders import HashingEmbedder
from tests.fake_llm import FakeLLM
from tests.fake_replies import UNAUTHORIZED
from tests.live import settings_in
from vectorstore.paper import Vectors


def test_the_built_in_embedder_is_well() -> None:
    found = list(of_embedder(MiniLM()))
    assert [finding.mark for finding in found] == ["ok", "ok"]
    assert "384 dimensions, in order" in found[0].found
    assert found[1].found == "reads texts of 256 tokens whole"


def remote(tmp_path: Path, fake: FakeLLM) -> list[Finding]:
    named = {"embeddings__model": "openai:fake", "embeddings__base_url": fake.url, "embeddings__max_tokens": 200}
    return list(of_embedder(embeddings(settings_in(tmp_path, **named).embeddings)))


def test_a_remote_embedder_is_asked(tmp_path: Path, fake_llm: FakeLLM) -> None:
    """Traps section 4: rows out of order, rows left out."""
    assert [finding.mark for finding in remote(tmp_path, fake_llm)] == ["ok", "ok"]
    fake_llm.vectors.reverse = True
    assert [finding.mark for finding in remote(tmp_path, fake_llm)] == ["ok", "ok"]
    fake_llm.vectors.drop = 1
    (finding,) = remote(tmp_path, fake_llm)
    assert finding.mark == "fault"
    assert "gave 3 vectors for 4 texts" in finding.found
    fake_llm.vectors.drop = 0
    fake_llm.vectors.replies = [UNAUTHORIZED]
    assert "refused the key" in remote(tmp_path, fake_llm)[0].found


class Deaf(HashingEmbedder):
    """Reads the first thirty words only; refuses nothing."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        return super().embed([" ".join(text.split()[:30]) for text in texts])


def test_an_end_that_is_not_read_is_a_fault() -> None:
    found = list(of_embedder(Deaf()))
    assert [finding.mark for finding in found] == ["ok", "fault"]
    assert "the end of a text" in found[1].found


def test_a_text_that_is_refused_for_its_length_is_a_fault(tmp_path: Path, fake_llm: FakeLLM) -> None:
    fake_llm.vectors.replies = []
    named = {"embeddings__model": "openai:fake", "embeddings__base_url": fake_llm.url}
    embedder = embeddings(settings_in(tmp_path, **named).embeddings)
    ask: Callable[[Sequence[str]], Vectors] = embedder.embed

    class Refusing(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            if max(map(len, texts)) > 400:
                fake_llm.vectors.replies = [UNAUTHORIZED]
                return ask(texts)
            return super().embed(texts)

    found = list(of_embedder(Refusing()))
    assert [finding.check for finding in found] == ["vectors", "length"]
    assert found[1].mark == "fault"
    assert found[1].change == "set embeddings.max_tokens to what the model reads"


def test_vectors_in_another_order_and_vectors_at_random() -> None:
    rows = np.eye(4, dtype=np.float32)
    assert "in another order" in of_vectors("e", rows[::-1].copy(), rows, "").found
    assert "other vectors" in of_vectors("e", rows, (rows + 1) / np.float32(3), "").found
    assert "other vectors" in of_vectors("e", rows, rows[:, :3].copy(), "").found
