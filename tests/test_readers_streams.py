"""Long, packed, odd and broken files: read piece by piece, bounded, the good part kept, the bad part named."""

import gzip
import io
import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.test_readers import ABSTRACT, records
from vectorstore.errors import Unreadable
from vectorstore.paper import Paper, Skip
from vectorstore.readers import json_records, opening, read
from vectorstore.readers.encoding import encoding_of

RECORD = json.dumps({"abstract": ABSTRACT})


class Watched(io.RawIOBase):
    """A file that counts what was taken from it."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self.taken = 0

    def read(self, size: int = -1, /) -> bytes:
        piece = next(self._pieces, b"")
        self.taken += len(piece)
        return piece


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sizes at which a file is long, made small."""
    monkeypatch.setattr(json_records, "_AT_ONCE", 100)
    monkeypatch.setattr(json_records, "_STEP", 64)


def test_lines_are_read_as_they_are_needed() -> None:
    lines = (f"{json.dumps({'id': number, 'abstract': ABSTRACT})}\n".encode() * 1_000 for number in range(1_000))
    file = Watched(lines)
    found = read(file)  # type: ignore[arg-type]  # of a file, only `read` is used
    assert isinstance(next(found), Paper)
    assert file.taken < 2_000_000


def test_the_file_is_left_open() -> None:
    data = io.BytesIO(f"{RECORD}\n{RECORD}".encode())
    assert len(list(read(data))) == 2
    assert not data.closed


@pytest.mark.usefixtures("short")
@given(st.lists(st.dictionaries(st.text(), st.text() | st.lists(st.integers())) | st.just({"abstract": ABSTRACT})))
def test_a_long_array_is_what_a_short_one_is(values: list[object]) -> None:
    text = json.dumps([{"abstract": ABSTRACT}, *values], indent=1)
    assert list(json_records.read_json(io.StringIO(text))) == [
        json_records._one(record, f"record {number}") for number, record in enumerate(json.loads(text), 1)
    ]


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    ("end", "says"),
    [
        ("", "in record 6; those before it are stored"),
        (', {"abstract": "cut', "Unterminated string starting in record 6"),
        (', {"abstract" "no colon"}, {}' + " " * 200 + "]", "delimiter in record 6"),
        ("] and more", "more behind the end of its list, after 5 records"),
        (", " + "[" * 200_000, "nested too deeply in record 6"),
    ],
)
def test_a_long_array_that_breaks_off_gives_what_stands_before(end: str, says: str) -> None:
    found = read(io.BytesIO(f"[{', '.join([RECORD] * 5)}{end}".encode()), "long.json")
    assert [isinstance(next(found), Paper) for _ in range(5)] == [True] * 5
    with pytest.raises(Unreadable, match=says):
        list(found)


def test_a_line_without_end_is_one_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_records, "LONGEST_LINE", 1_000)
    first, long, last = records(f"{RECORD}\n{'x' * 5_500}\n{RECORD}")
    assert isinstance(first, Paper)
    assert long == Skip("line 2", "longer than 1,000 characters")
    assert isinstance(last, Paper)


@pytest.mark.usefixtures("short")
def test_one_value_that_is_too_long_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_records, "LONGEST_VALUE", 1_000)
    with pytest.raises(Unreadable, match=r"record 2 has more than 1,000 characters"):
        records(f'[{RECORD}, "{"x" * 2_000}"]')
    with pytest.raises(Unreadable, match=r"one value of more than 1,000 characters; write a record a line"):
        records(json.dumps({"papers": [{"abstract": ABSTRACT}] * 100}))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"abstract": "cut', "not JSON: Unterminated string"),
        ("[" * 200_000, "not JSON: nested too deeply"),
        ('{"year": ' + "9" * 5_000 + "}", "not JSON: Exceeds the limit"),
        ("null", "not an object with fields"),
        ("{}", "no abstract"),
    ],
)
def test_a_bad_line_is_named_and_the_others_unharmed(line: str, says: str) -> None:
    """traps.md 7, noise: one record cleaned or skipped, the others unharmed."""
    odd = json.dumps({"abstract": ABSTRACT, "year": float("nan"), "title": "\ud83d"})
    found = records("\n".join([RECORD, odd, "", line, '{"year": 1e999, ' + RECORD[1:]]))
    assert [isinstance(one, Paper) for one in found] == [True, True, False, True]
    assert isinstance(found[2], Skip)
    assert found[2].record == "line 4"
    assert found[2].reason.startswith(says)


def test_a_bomb_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "MAX_BYTES", 1_000_000)
    packed = gzip.compress(f"{RECORD}\n".encode() * 100_000)
    assert len(packed) < 100_000
    with pytest.raises(Unreadable, match=r"bomb.gz holds more than 1,000,000 bytes; split it"):
        records(packed, "bomb.gz")


def test_gzip_of_several_members_is_one_file() -> None:
    member = gzip.compress(f"{RECORD}\n".encode())
    assert len(records(member * 3)) == 3


def test_gzip_that_breaks_off_says_so_after_what_it_gave() -> None:
    lines = "\n".join(json.dumps({"id": number, "abstract": f"{ABSTRACT} {number}"}) for number in range(50_000))
    found = read(io.BytesIO(gzip.compress(lines.encode())[:-1_000]), "cut.gz")
    assert isinstance(next(found), Paper)
    with pytest.raises(Unreadable, match="damaged gzip"):
        list(found)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("我们提出了一种新的方法，用于训练深度神经网络。实验结果表明该方法有效。", "gb18030"),
        ("我們提出了一種新的方法，用於訓練深度神經網路。實驗結果表明該方法有效。", "big5"),
        ("本論文では、新しい学習方法を提案する。実験の結果は良好である。", "cp932"),
        ("本論文では、新しい学習方法を提案する。実験の結果は良好である。", "euc_jp"),
        ("이 논문에서는 새로운 학습 방법을 제안한다. 실험 결과는 좋았다.", "cp949"),
        ("Für Ärzte: naïve Ansätze – „gut“ – genügen.", "cp1252"),
        ("Für Ärzte: naïve Ansätze – „gut“ – genügen.", "utf-8"),
        ("Für Ärzte genügen naïve Ansätze.", "utf-16-le"),
        ("Für Ärzte genügen naïve Ansätze.", "utf-16-be"),
    ],
)
def test_encodings_are_told_by_content(text: str, encoding: str) -> None:
    """traps.md 7, encodings: cp1252, Shift-JIS, GBK, UTF-16 without its mark."""
    (found,) = records(json.dumps({"abstract": text}, ensure_ascii=False).encode(encoding))
    assert isinstance(found, Paper)
    assert found.abstract == text


def test_one_odd_byte_does_not_decide_for_the_whole_file() -> None:
    lines = [json.dumps({"abstract": f"Ångström é {number}."}, ensure_ascii=False).encode() for number in range(20_000)]
    lines[15_000] = lines[15_000].replace("é".encode(), b"\xe9")
    found = records(b"\n".join(lines))
    assert [one.abstract for one in found if isinstance(one, Paper)] == [f"Ångström é {n}." for n in range(20_000)]


def test_a_letter_cut_by_the_look_ahead_is_no_odd_byte() -> None:
    for length in range(2**18 - 3, 2**18 + 2):
        content = b"a" * length + "é漢👩".encode()
        assert encoding_of(content[: 2**18]) == "utf-8"


def test_an_odd_end_of_utf_16_is_survived() -> None:
    (found,) = records("We show it. It works.".encode("utf-16") + b"x")
    assert isinstance(found, Paper)
    assert found.abstract.startswith("We show it.")


@pytest.mark.parametrize(
    ("text", "papers", "skips"),
    [
        ("A heading\n\nWe show it.\n \t\nIt works.\n", 2, 0),
        ("A heading alone", 0, 1),
        ("ICML 2024\n\n-----\n\nWe show it.\n\n* * *\n", 1, 0),
        ("----\n\n====", 0, 2),
        ("We show it.\n\n\n\n\n", 1, 0),
        ("No abstract available.\n\nWe show it.", 1, 1),
        ("A question is no heading?\n\nWe show it.", 2, 0),
    ],
)
def test_what_is_a_record_in_plain_text(text: str, papers: int, skips: int) -> None:
    found = records(text)
    assert sum(isinstance(one, Paper) for one in found) == papers
    assert sum(isinstance(one, Skip) for one in found) == skips


def test_an_endless_paragraph_is_one_skip() -> None:
    first, long = records("We show it.\n\n" + "word " * 100_000 + "\n" + "and more\n" * 20_000)
    assert isinstance(first, Paper)
    assert isinstance(long, Skip)
    assert "characters" in long.reason


def test_formulas_in_plain_text_are_left_alone() -> None:
    text = r"We get $\tilde{O}(\frac{1}{\varepsilon^2})$ for $a<b$ & {x}, \emph{always}; see \cite{knuth} and 50\%."
    (found,) = records(text)
    assert isinstance(found, Paper)
    assert found.abstract == text


@pytest.mark.parametrize("text", ["{'id': 1, 'abstract': 'no JSON'}", "[{abstract: 1}]"])
def test_almost_json_is_not_prose(text: str) -> None:
    with pytest.raises(Unreadable, match="is not json"):
        records(text)


@pytest.mark.parametrize("text", ["[1] says so, and we do too.", r"{\bf We} show it.", "[We] show it."])
def test_prose_in_brackets_is_not_json(text: str) -> None:
    (found,) = records(text)
    assert isinstance(found, Paper)
