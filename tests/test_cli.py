"""The `loccit` command: through a running server, and alone; what people read, and exit statuses."""

import json
import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from service import cli
from service.domain import Answer
from tests.live import PROTEINS, ROOT, SPARSE, Live, serving, settings_in

QUESTION = "How can sparse networks be initialised so that orthogonality is exact?"
SAMPLE = ROOT / "data" / "icml2024-sample.txt"


@dataclass
class Ran:
    """What a command gave."""

    status: int
    out: str
    err: str


Loccit = Callable[..., Ran]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("served")
    with serving(settings_in(folder, server__api_keys="only-the-command-line-may")) as server:
        server.runtime.store.announce(server.url, server.runtime.token)
        with server.client(headers={"X-API-Key": "only-the-command-line-may"}) as http:
            http.post("/v1/papers", json={"papers": [SPARSE, PROTEINS]}).raise_for_status()
        yield server


@pytest.fixture
def loccit(live: Live, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Loccit:
    """Run a command in the folder of the running server."""
    monkeypatch.chdir(live.runtime.settings.store.path.parent)
    return runner(monkeypatch, capsys)


def runner(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Loccit:
    def run(*words: str, **environ: str) -> Ran:
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["loccit", *words])
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            cli.main()
        streams = capsys.readouterr()
        return Ran(int(caught.value.code or 0), streams.out, streams.err)

    return run


def test_ask_shows_the_answer_and_its_quotes(loccit: Loccit) -> None:
    ran = loccit("ask", QUESTION)
    assert ran.status == 0, ran.err
    first, _, quotes = ran.out.partition("\n\n")
    assert "[1]" in first
    assert "Exact Orthogonal" in first
    assert quotes.startswith("[1] Sparser, Better, Deeper [and] Stronger, Aleksandra Nowak, Łukasz Gniecki, ICML, 2024")
    assert "“" in quotes


def test_ask_json_is_what_http_gives(loccit: Loccit, live: Live) -> None:
    answer = Answer.model_validate_json(loccit("ask", QUESTION, "--json").out)
    with live.client(headers={"X-API-Key": "only-the-command-line-may"}) as http:
        given = Answer.model_validate_json(http.post("/v1/ask", json={"question": QUESTION}).text)
    assert answer.model_copy(update={"timings_ms": given.timings_ms}) == given


def test_abstaining_is_no_failure(loccit: Loccit) -> None:
    ran = loccit("ask", "Which king ruled Bavaria when the first railway was built?")
    assert ran.status == 0
    assert ran.out.strip()


def test_filters_reach_the_search(loccit: Loccit) -> None:
    found = json.loads(loccit("search", "sparse proteins", "--json", "--year", "..2020").out)
    assert [hit["paper_id"] for hit in found["hits"]] == [PROTEINS["paper_id"]]
    assert json.loads(loccit("search", "sparse", "--json", "--venue", "Nowhere").out) == {"hits": []}
    assert loccit("search", "sparse", "--venue", "Nowhere").out == "Nothing found.\n"


def test_search_for_people(loccit: Loccit) -> None:
    ran = loccit("search", "orthogonal initialisation", "--mode", "lexical", "--top-k", "1")
    assert ran.out.startswith("1. Sparser, Better, Deeper [and] Stronger")


def test_papers(loccit: Loccit) -> None:
    odd = str(PROTEINS["paper_id"])
    for ran in (loccit("papers"), loccit("papers", "list")):
        assert odd in ran.out
    assert "1 more" in loccit("papers", "list", "--limit", "1").out
    assert json.loads(loccit("papers", "list", "--json", "--year", "2024").out)["total"] == 1
    shown = loccit("papers", "show", odd)
    assert str(PROTEINS["abstract"])[:40] in shown.out.replace("\n", " ")
    missing = loccit("papers", "show", "none")
    assert (missing.status, missing.out) == (1, "")
    assert missing.err.count("\n") == 1


def test_papers_delete(loccit: Loccit, tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(json.dumps({"id": "x", "doi": "10.5/X Y", "abstract": "A passing abstract about passing clouds."}))
    assert loccit("add", str(file)).out == "1 added, 0 updated, 0 unchanged, 0 skipped\n"
    listed = json.loads(loccit("papers", "list", "--json").out)["papers"]
    paper_id = next(paper["paper_id"] for paper in listed if "passing clouds" in paper["abstract"])
    assert loccit("papers", "delete", paper_id).status == 0
    assert loccit("papers", "delete", paper_id).status == 1


def test_add_counts_and_says_why(loccit: Loccit, tmp_path: Path) -> None:
    """An unreadable file, an empty file: a sentence each, and the others go on."""
    (tmp_path / "empty.bib").write_bytes(b"")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(300))
    (tmp_path / "no.jsonl").write_text('{"title": "No abstract here"}\n{"title": "Nor here"}\n')
    (tmp_path / ".hidden").write_bytes(b"\x00")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "sample.txt").write_bytes(SAMPLE.read_bytes())
    ran = loccit("add", str(tmp_path), str(tmp_path / "none.txt"), "--collection", "folder")
    assert ran.status == 0
    assert ran.out == "19 added, 0 updated, 0 unchanged, 2 skipped\n"
    lines = ran.err.splitlines()
    assert sum("empty.bib" in line for line in lines) == 1
    assert sum("picture.png" in line for line in lines) == 1
    assert sum("none.txt" in line for line in lines) == 1
    assert sum(line.startswith("skipped") for line in lines) == 2
    again = loccit("add", str(tmp_path / "sub"), "--collection", "folder")
    assert again.out == "0 added, 0 updated, 19 unchanged, 0 skipped\n"


def test_add_of_nothing_readable_fails(loccit: Loccit, tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(300))
    assert loccit("add", str(tmp_path / "x.png")).status == 1
    assert loccit("add", str(tmp_path / "none")).status == 1
    (tmp_path / "y").mkdir()
    assert loccit("add", str(tmp_path / "y")).status == 1
    assert loccit("add", str(SAMPLE), "--format", "docx").status == 1


def test_add_shows_twenty_skips_or_all(loccit: Loccit, tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    file.write_text("".join(f'{{"title": "No abstract {n}"}}\n' for n in range(30)))
    ran = loccit("add", str(file))
    assert ran.err.count("skipped") == 21
    assert "10 more" in ran.err
    assert loccit("add", str(file), "--verbose").err.count("skipped") == 30


def test_add_in_batches(loccit: Loccit, tmp_path: Path) -> None:
    file = tmp_path / "batches.jsonl"
    file.write_text("".join(json.dumps({"abstract": f"On the {n}th moon of a far planet."}) + "\n" for n in range(230)))
    assert loccit("add", str(file), "--collection", "batches").out.startswith("230 added")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("ask", "x", "--year", "soon"), 1, '"soon" is not a year'),
        (("ask", "x", "--collection", "none"), 1, "default"),
        (("ask", "\udcff broken"), 1, ""),
        (("ask",), 2, "Missing argument"),
        (("asc", "x"), 2, "ask"),
        (("search", "x", "--mode", "magic"), 2, "magic"),
        (("ask", "x" * 5_000), 1, "question"),
        (("reindex", "--collection", "none"), 1, "none"),
    ],
)
def test_faults_are_a_sentence(loccit: Loccit, words: tuple[str, ...], status: int, said: str) -> None:
    ran = loccit(*words)
    assert ran.status == status
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_a_wrong_setting_is_a_sentence(loccit: Loccit) -> None:
    ran = loccit("config", LOCCIT_LLM__MODLE="x")
    assert ran.status == 2
    assert ran.err == "loccit: LOCCIT_LLM__MODLE is not a setting; did you mean LOCCIT_LLM__MODEL?\n"


def test_config_shows_what_is_in_force(loccit: Loccit) -> None:
    text = loccit("config", LOCCIT_LLM__API_KEY="hush", LOCCIT_RETRIEVAL__TOP_K="3").out
    assert "hush" not in text
    assert "environment: LOCCIT_RETRIEVAL__TOP_K" in text
    listed = {one["key"]: one for one in json.loads(loccit("config", "--json").out)}
    assert listed["retrieval.top_k"] == {
        "key": "retrieval.top_k",
        "value": 3,
        "origin": "environment",
        "name": "LOCCIT_RETRIEVAL__TOP_K",
    }


def test_help_names_every_command_and_the_exit_statuses(loccit: Loccit) -> None:
    text = loccit("--help").out
    for word in ("serve", "add", "ask", "search", "papers", "reindex", "config", "Exit status"):
        assert word in text


def test_without_colours_there_are_none(loccit: Loccit) -> None:
    assert "\x1b" not in loccit("ask", QUESTION, NO_COLOR="1").out


def test_reindex(loccit: Loccit) -> None:
    assert loccit("reindex").out == "reindexed\n"


def test_alone_it_opens_the_store_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    alone = runner(monkeypatch, capsys)
    # What a server that was killed leaves behind must not be believed.
    (tmp_path / ".loccit").mkdir()
    (tmp_path / ".loccit" / "server.json").write_text('{"url": "http://127.0.0.1:9", "token": "x", "pid": 1}')
    assert alone("add", str(SAMPLE)).out.startswith("19 added")
    assert "[1]" in alone("ask", QUESTION).out


def test_debug_logs_to_stderr(loccit: Loccit, live: Live) -> None:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        assert loccit("--debug", "papers").status == 0
        assert logging.getLogger("loccit").level == logging.INFO
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def test_standard_input(loccit: Loccit, monkeypatch: pytest.MonkeyPatch) -> None:
    with SAMPLE.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert loccit("add", "-", "--collection", "stdin").out.startswith("19 added")


def test_a_file_that_may_not_be_read_is_a_sentence(loccit: Loccit, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    ran = loccit("add", str(tmp_path / "loop"), "/proc/self/mem")
    assert ran.status == 1
    assert "can't be read" in ran.err
