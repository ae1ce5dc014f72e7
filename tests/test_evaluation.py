"""`loccit eval` from files to tables, JSON and plots, with the built-in model on the sample."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import anyio
import pytest

from service.config import Settings
from service.evaluation import answers, labelled, plots, retrieval
from service.evaluation.asking import Asked, Desk
from service.evaluation.corpus import collected, in_file
from service.evaluation.failures import failures
from service.evaluation.labelled import Case
from service.models import embeddings
from tests.conftest import ROOT
from tests.embedders import HashingEmbedder
from tests.stores import paper
from tests.test_cli import Loccit, runner
from tests.test_evaluation_labels import beir_set, lines
from vectorstore.paper import Embedder, Report
from vectorstore.store import Store

SAMPLE = ROOT / "data" / "icml2024-sample.txt"
MORTON = (
    "In light of surface point clouds' sparsity and disorder properties, we first partition them into patches and"
    " obtain the sequential arrangement via the Morton curve."
)


@pytest.fixture
def loccit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Loccit:
    monkeypatch.chdir(tmp_path)
    return runner(monkeypatch, capsys)


def test_retrieval(loccit: Loccit, tmp_path: Path) -> None:
    beir_set(tmp_path / "whales")
    beir_set(tmp_path / "twins")
    ran = loccit("eval", "retrieval", "whales", "twins", "--json", "out.json", "--plot", "out.svg")
    assert ran.status == 0, ran.err
    assert "whales: 2 papers, 1 queries" in ran.out
    found = json.loads((tmp_path / "out.json").read_text())
    hybrid = next(row for row in found["tables"][0]["rows"] if row["label"] == "hybrid")
    assert hybrid["nDCG@10"] == {"value": 1.0, "low": 1.0, "high": 1.0, "n": 1}
    assert found["tables"][-1]["title"] == "Mean of 2 sets"
    assert found["made"]["embedder"].startswith("builtin:")
    assert "whales: 1 papers share the abstract of another and count as that one." in found["notes"]
    assert "nDCG@10" in "".join(ET.parse(tmp_path / "out.svg").getroot().itertext())


def test_faults_are_one_sentence_and_come_first(loccit: Loccit, tmp_path: Path) -> None:
    beir_set(tmp_path / "whales")
    ran = loccit("eval", "retrieval", "whales", "--plot", "out.png")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == "loccit: A plot is drawn as SVG: name it out.svg. Any browser opens it.\n"
    assert not (tmp_path / ".loccit").exists()
    ran = loccit("eval", "retrieval", "whales", "--json", "no/such.json")
    assert ran.status == 1
    assert "no/such.json can't be written" in ran.err


def test_answers_from_a_table_of_ones_own(loccit: Loccit, tmp_path: Path) -> None:
    """What README promises: a spreadsheet, the papers, one command."""
    (tmp_path / "questions.csv").write_text(
        "question,sentence,kind\n"
        f'How are point clouds of molecular surfaces turned into a sequence?,"{MORTON}",\n'
        "What is the weather in Vienna tomorrow?,,off domain\n"
        "Which dogs bark?,Dogs bark.,\n"
    )
    ran = loccit("eval", "answers", "questions.csv", "--papers", str(SAMPLE), "--json", "out.json", "--plot", "out.svg")
    assert ran.status == 0, ran.err
    assert "Left out: questions-3, for no abstract of the collection holds its sentence." in ran.out
    found = json.loads((tmp_path / "out.json").read_text())
    tables = {table["title"]: table["rows"] for table in found["tables"]}
    assert tables["Finding the right paper"][0]["right paper first"]["value"] == 1.0
    assert tables["Citing the sentences that answer (gold sentences)"][0]["recall"]["value"] == 1.0
    assert tables["Saying no where the abstracts do not say"][0]["abstained"]["value"] == 1.0
    assert [question["qid"] for question in found["questions"]] == ["questions-1", "questions-2"]
    assert found["made"]["risk_by_coverage"] == [[0.5, 0.0], [1.0, 0.5]]
    assert "coverage" in "".join(ET.parse(tmp_path / "out.svg").getroot().itertext())


def test_answers_over_the_collection_that_is_there(loccit: Loccit, tmp_path: Path) -> None:
    lines(tmp_path / "gold.jsonl", {"question": "What is the weather in Vienna?", "kind": "off_domain"})
    assert loccit("add", str(SAMPLE)).status == 0
    ran = loccit("eval", "answers", "gold.jsonl")
    assert ran.status == 0, ran.err
    assert "off domain" in ran.out
    with Store(tmp_path / ".loccit", HashingEmbedder()):
        ran = loccit("eval", "answers", "gold.jsonl")
    assert ran.status == 1
    assert "--papers" in ran.err


def test_nothing_to_ask(loccit: Loccit, tmp_path: Path) -> None:
    lines(tmp_path / "gold.jsonl", {"qid": "x", "question": "A?", "paper_id": "gone"})
    ran = loccit("eval", "answers", "gold.jsonl")
    assert ran.status == 1
    assert "No question can be asked. Left out: x, for the collection has no paper gone." in ran.err


def test_a_collection_is_made_once(tmp_path: Path) -> None:
    embedder = HashingEmbedder()
    papers = [paper(number) for number in range(5)]
    reports: list[Report] = []
    names = []
    for _ in range(2):
        with collected(tmp_path, embedder, "My set!", papers, reports.append) as (store, name):
            assert store.collection(name).papers == 5
            names.append(name)
    assert names[0] == names[1]
    assert names[0].startswith("My-set-")
    assert len(embedder.texts) == 5
    with collected(tmp_path, embedder, "My set!", papers[:4], reports.append) as (store, name):
        assert (store.collection(name).papers, name in names) == (4, False)


def test_a_collection_that_was_cut_short_is_gone_on_with(tmp_path: Path) -> None:
    embedder = HashingEmbedder()
    papers = [paper(number) for number in range(5)]
    with collected(tmp_path, embedder, "set", papers, lambda _: None) as (store, name):
        store.delete(name, papers[0].paper_id)
    with collected(tmp_path, embedder, "set", papers, lambda _: None) as (store, name):
        assert store.collection(name).papers == 5
    assert len(embedder.texts) == 6


OPENING = "How are point clouds of molecular surfaces turned into a sequence?"
BEAVERS = "How do beavers brew tea from rooibos leaves?"


async def _asked(settings: Settings, store: Store, embedder: Embedder, name: str, cases: list[Case]) -> list[Asked]:
    return [each async for each in Desk(settings, store, embedder, name).ask_all(cases)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Asked]:
    """Questions of every sort, asked once of the sample."""
    settings = Settings()
    embedder = embeddings(settings.embeddings)
    papers = in_file(SAMPLE)
    right = frozenset({next(each for each in papers if MORTON in each.abstract).paper_id})
    cases = [
        Case("a.1", OPENING, "one paper", relevant=right, gold=(MORTON,), conversation="a"),
        Case("a.2", "Which curve does it use?", "follow-up", relevant=right, conversation="a", standalone=OPENING),
        Case("b.1", "Which curve does it use?", "one paper", relevant=right, conversation="b"),
        Case("greeting", "Hello!", "off domain", answerable=False),
        Case("beavers", BEAVERS, "not in corpus", answerable=False),
        Case("elsewhere", OPENING, "one paper", relevant=right, gold=("Whales sing at night.",)),
        Case("other", OPENING, "one paper", relevant=frozenset({"gone"})),
        Case("silent", BEAVERS, "one paper", relevant=frozenset({papers[0].paper_id})),
        Case("bold", OPENING, "not in corpus", answerable=False),
    ]
    with collected(tmp_path_factory.mktemp("made"), embedder, "sample", papers, lambda _: None) as (store, name):
        asked = anyio.run(_asked, settings, store, embedder, name, cases)
    return {each.case.qid: each for each in asked}


def test_a_follow_up_hears_what_was_said_and_a_new_conversation_does_not(run: dict[str, Asked]) -> None:
    second, third = run["a.2"].answer, run["b.1"].answer
    assert second is not None
    assert third is not None
    assert OPENING in second.standalone_question
    assert third.standalone_question == "Which curve does it use?"
    assert run["a.2"].alone == run["a.1"].found


def test_confidence_is_told_of_every_question(run: dict[str, Asked]) -> None:
    assert (run["greeting"].confidence, run["greeting"].hits, run["greeting"].abstained) == (0.0, (), True)
    assert run["beavers"].abstained
    assert run["beavers"].unrefused is not None
    assert run["beavers"].confidence < run["a.1"].confidence


def test_tables_hold_what_the_questions_give_something_to(run: dict[str, Asked]) -> None:
    made = answers.tables(list(run.values()))
    titles = [table.title for table in made]
    assert "Follow-up questions" in titles
    assert "Filters" not in titles
    finding = dict(made[0].rows)
    assert finding["one paper"][0] == 5
    points, here = answers.curve(list(run.values()))
    assert here is not None
    assert points[-1][0] >= here[0]


def test_failures_say_what_went_wrong(run: dict[str, Asked]) -> None:
    found = {failure.question_id: failure.what for failure in failures(list(run.values()))}
    assert "a.1" not in found
    assert found["elsewhere"] == "quoted other sentences of the right paper"
    assert found["other"] == "no right paper found"
    assert found["bold"] == "answered"
    assert "silent" in found


def test_plots_are_drawn_for_any_figures() -> None:
    one = retrieval.Run(
        "<&>", 3, 0, ("q",), {mode: {name: [0.5] for name in retrieval.MEASURES} for mode in retrieval.MODES}
    )
    drawn = ET.fromstring(plots.bars([one]))
    assert "<&>" in "".join(drawn.itertext())
    assert ET.fromstring(plots.risk([], None)) is not None
    assert "as answered: 25% of 50%" in "".join(ET.fromstring(plots.risk([(0.5, 0.25)], (0.5, 0.25))).itertext())


def test_shared_gold_is_read_whole(shared: Path) -> None:
    """Every layout of the labelled questions that are at hand."""
    gold = shared / "data" / "gold"
    kinds: dict[str, int] = {}
    for path in sorted(gold.glob("*.jsonl")):
        for case in labelled.load(path):
            kind = case.kind if isinstance(case, Case) else "left out"
            kinds[kind] = kinds.get(kind, 0) + 1
    assert kinds["one paper"] >= 59
    assert kinds["follow-up"] >= 25
    assert kinds["left out"] <= 3
