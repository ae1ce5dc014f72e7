"""Labelled sets as people write them: BEIR folders, JSON lines, CSV from a spreadsheet."""

import gzip
import json
from pathlib import Path

import pytest

from service.domain import Citation, QuestionFilters, YearRange
from service.errors import ServiceError
from service.evaluation import beir, labelled
from service.evaluation.filtering import kept
from service.evaluation.judging import cited, quotes, rank
from service.evaluation.labelled import Case, Unusable
from service.wire import Json
from vectorstore.paper import Paper


def lines(path: Path, *rows: Json) -> Path:
    text = "\n".join(json.dumps(row) for row in rows) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def beir_set(folder: Path, qrels: str = "qrels.tsv", judged: str = "q1\tp1\t1\nq1\tp3\t2\nq2\tp2\t0\n") -> Path:
    folder.mkdir(exist_ok=True)
    texts = ("Whales sing at night.", "", "Whales sing  at night.")
    rows: list[Json] = [{"_id": f"p{at}", "title": f"T{at}", "text": text} for at, text in enumerate(texts, 1)]
    lines(folder / "corpus.jsonl.gz", *rows)
    lines(folder / "queries.jsonl", {"_id": "q1", "text": "Do whales sing?"}, {"_id": "q2", "text": "Do they?"})
    (folder / qrels).parent.mkdir(exist_ok=True)
    (folder / qrels).write_text(f"query-id\tcorpus-id\tscore\n{judged}")
    return folder


def test_a_beir_folder(tmp_path: Path) -> None:
    """p3 has the abstract of p1: they are one paper (law 7), and the better grade is its grade. p2 is its title."""
    found = beir.load(beir_set(tmp_path / "whales"))
    assert [(paper.paper_id, paper.title, paper.abstract) for paper in found.papers] == [
        ("p1", "T1", "Whales sing at night."),
        ("p2", None, "T2"),
    ]
    assert found.queries == {"q1": "Do whales sing?"}
    assert found.judged == {"q1": {"p1": 2}}
    assert (found.name, found.twins) == ("whales", 1)


def test_splits(tmp_path: Path) -> None:
    folder = beir_set(tmp_path / "set", "qrels/dev.tsv")
    assert beir.load(folder).queries.keys() == {"q1"}
    beir_set(folder, "qrels/test.tsv", "q2 0 p2 1\n")  # the four columns of TREC
    with pytest.raises(ServiceError, match="several splits; choose one with --split: dev, test"):
        beir.load(folder)
    assert beir.load(folder, "test").judged == {"q2": {"p2": 1}}
    with pytest.raises(ServiceError, match="no split 'train'; there is dev, test"):
        beir.load(folder, "train")


@pytest.mark.parametrize(
    ("judged", "message"),
    [
        ("q1\tp1\t1\nq1\tp2\tgood\n", "qrels.tsv, line 3: 'good' is not a grade"),
        ("q1\t1\n", "line 2: query, paper and grade are needed"),
        ("other\tp1\t1\n", "No query of set has a relevant paper"),
    ],
)
def test_judgements_that_are_none(tmp_path: Path, judged: str, message: str) -> None:
    with pytest.raises(ServiceError, match=message):
        beir.load(beir_set(tmp_path / "set", judged=judged))


def test_a_beir_folder_that_lacks_a_file(tmp_path: Path) -> None:
    folder = beir_set(tmp_path / "set")
    (folder / "queries.jsonl").unlink()
    with pytest.raises(ServiceError, match=r"set has no queries\.jsonl"):
        beir.load(folder)
    (folder / "qrels.tsv").unlink()
    with pytest.raises(ServiceError, match="set has no judgements"):
        beir.load(folder)


def loaded(path: Path) -> list[Case | Unusable]:
    return list(labelled.load(path))


def test_questions_in_json_lines(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "gold.jsonl.gz",
        {"qid": "a", "question": "A?", "paper_id": "p1", "gold_sentences": ["One."], "split": "dev"},
        {"question": "B?", "relevant": ["p1", "p2"], "partial": ["p3"]},
        {"question": "C?", "kind": "not_in_abstract", "paper_id": "p1"},
        {"question": "D?", "unanswerable": True, "kind": "absent topic"},
        {"question": "E?", "filters": {"year": {"gte": 2020}, "id": ["p1"]}, "relevant": ["p1"]},
        {"question": "F?", "filters": {"author": "X"}, "relevant": []},
        {"qid": "g", "question": "G?", "filters": {"title": "X", "url": "Y"}, "relevant": ["p1"]},
    )
    assert loaded(path) == [
        Case("a", "A?", "one paper", relevant=frozenset({"p1"}), gold=("One.",)),
        Case("gold-2", "B?", "several papers", relevant=frozenset({"p1", "p2"}), partial=frozenset({"p3"})),
        Case("gold-3", "C?", "not in abstract", answerable=False),
        Case("gold-4", "D?", "not in corpus", answerable=False),
        Case(
            "gold-5",
            "E?",
            "filtered",
            relevant=frozenset({"p1"}),
            filters=QuestionFilters(year=YearRange(gte=2020), paper_ids=("p1",)),
        ),
        Case("gold-6", "F?", "filtered, none fits", answerable=False, filters=QuestionFilters(author="X")),
        Unusable("g", "there is no filter by title, url"),
    ]


def test_a_conversation(tmp_path: Path) -> None:
    turns: list[Json] = [
        {"user": "A?", "paper_ids": ["p1"], "standalone": "A?"},
        {"user": "And B?", "paper_ids": ["p2"], "standalone": "Is A B?"},
        {"user": "And C?", "paper_ids": ["p2"], "standalone": "Is A C?", "answerable": False},
    ]
    path = lines(tmp_path / "chat.jsonl", {"qid": "e", "turns": turns})
    first, second, third = loaded(path)
    assert isinstance(second, Case)
    assert first == Case("e.1", "A?", "one paper", relevant=frozenset({"p1"}), conversation="e")
    assert (second.kind, second.standalone) == ("follow-up", "Is A B?")
    assert second.relevant == {"p2"}
    assert isinstance(third, Case)
    assert (third.kind, third.answerable) == ("follow-up, not in abstract", False)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_questions_in_a_table(tmp_path: Path, delimiter: str) -> None:
    table = [
        ("Question", "Sentence", "Paper ID", "Kind"),
        ("A?", '"One; two, three."', "", ""),
        ("A?", "Four.", "", ""),
        ("B?", "", "p2", ""),
        ("C?", "", "", "off domain"),
        ("D?", "", "", ""),
    ]
    path = tmp_path / "questions.csv"
    path.write_text("\r\n".join(delimiter.join(row) for row in table), encoding="utf-8-sig")
    assert loaded(path) == [
        Case("questions-1", "A?", "one paper", gold=("One; two, three.", "Four.")),
        Case("questions-2", "B?", "one paper", relevant=frozenset({"p2"})),
        Case("questions-3", "C?", "off domain", answerable=False),
        Case("questions-4", "D?", "unanswerable", answerable=False),
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b'{"question": "A?"}\n{"question": 3}\n', "a.jsonl, line 2: question: "),
        ("a.jsonl", b'{"paper_id": "p"}\n', "question 1: `question` is missing"),
        ("a.jsonl", b"\xff\xfe\n", "not UTF-8"),
        ("a.jsonl.gz", b"no gzip", "damaged or not gzip|Not a gzipped"),
        ("a.csv", b"frage,satz\nA?,B.\n", "the column `question` is missing"),
        ("a.csv", b"question\n\xff\n", "UTF-8"),
    ],
)
def test_files_that_are_none(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ServiceError, match=message):
        loaded(path)


def test_a_sentence_names_its_paper() -> None:
    """Somebody who writes a table copies a sentence, not an id; copies lose mark-up and capitals."""
    papers = [Paper("p1", "Whales\n*sing* at night. They sleep."), Paper("p2", "Cats sleep.")]
    by_sentence = Case("a", "A?", "one paper", gold=("whales sing at night",))
    unknown = Case("b", "B?", "one paper", gold=("Dogs bark.",))
    wrong_id = Case("c", "C?", "one paper", relevant=frozenset({"seed-01"}), gold=("Cats sleep.",))
    some = Case("d", "D?", "several papers", relevant=frozenset({"p1", "gone"}))
    none = Case("e", "E?", "one paper", relevant=frozenset({"gone"}))
    silent = Case("f", "F?", "off domain", answerable=False)
    found = labelled.resolved([by_sentence, unknown, wrong_id, some, none, silent], papers)
    assert [each.relevant if isinstance(each, Case) else each.reason for each in found] == [
        {"p1"},
        "no abstract of the collection holds its sentence",
        {"p2"},
        {"p1"},
        "the collection has no paper gone",
        frozenset(),
    ]


def citation(paper_id: str, quote: str) -> Citation:
    return Citation(
        number=1, paper_id=paper_id, title=None, authors=(), year=None, venue=None, url=None,
        quote=quote, start=0, end=len(quote), passage_id="p",
    )  # fmt: skip


def test_citations_are_judged_by_what_is_known() -> None:
    gold = ("We show that whales sing at night.", "They stop at dawn.")
    citations = [
        citation("p1", "Furthermore, we show that whales *sing* at night."),
        citation("p1", "Whales are large."),
        citation("p2", "We show that whales sing at night."),
        citation("p3", "Others sing too."),
    ]
    found = cited(citations, {"p1"}, {"p3"}, gold)
    assert (found.right, found.half, found.wrong, found.unknown) == (1, 1, 1, 1)
    assert found.precision == pytest.approx(1.5 / 3)
    assert found.precision_at_worst == pytest.approx(1.5 / 4)
    assert found.recall == 0.5
    assert found.papers == {"p1", "p2", "p3"}


def test_without_gold_sentences_the_paper_decides() -> None:
    found = cited([citation("p1", "Anything."), citation("p2", "Else.")], {"p1"}, (), ())
    assert (found.precision, found.precision_at_worst, found.recall) == (1.0, 0.5, None)
    nothing = cited([], {"p1"}, (), ())
    assert (nothing.precision, nothing.precision_at_worst) == (None, None)


def test_quotes() -> None:
    assert quotes("sing at night", "We show that whales sing at night.")
    assert not quotes("We show that cats sleep all day.", "We show that whales sing at night.")
    assert not quotes("", "")


def test_rank() -> None:
    assert rank(["a", "b", "c"], {"c", "b"}) == 2
    assert rank(["a"], {"c"}) is None


PAPER = Paper("p1", "…", authors=("José Núñez", "Hao Zhang"), year=2024, venue="ICML")


@pytest.mark.parametrize(
    ("filters", "passes"),
    [
        ({}, True),
        ({"author": "jose nunez"}, True),
        ({"author": "Hao Núñez"}, False),
        ({"year": 2024}, True),
        ({"year": 2023}, False),
        ({"year": {"gte": 2023, "lte": 2024}}, True),
        ({"year": {"lte": 2023}}, False),
        ({"venue": "icml"}, True),
        ({"venue": "NeurIPS"}, False),
        ({"paper_ids": ["p2"]}, False),
        ({"paper_ids": ["p1", "p2"], "venue": "ICML"}, True),
    ],
)
def test_filters(filters: dict[str, object], passes: bool) -> None:
    assert kept(PAPER, QuestionFilters.model_validate(filters)) is passes


def test_a_paper_without_a_year_is_in_no_range() -> None:
    assert not kept(Paper("p", "…"), QuestionFilters(year=YearRange(lte=2030)))
