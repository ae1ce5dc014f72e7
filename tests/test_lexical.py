import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectorstore import lexical


@pytest.fixture(scope="module")
def words() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    lexical.create(connection, 1)
    lexical.create(connection, 2)
    lexical.insert(
        connection,
        1,
        [
            (1, "Sparse networks", "Pruning makes networks small."),
            (2, "Small models", "Networks that are sparse train faster with pruned weights."),
            (3, "Cafés of Kraków", "Naïve coffee for pruning."),
            (4, "", "The who and the what of it."),
        ],
    )
    lexical.insert(connection, 2, [(1, "", "sparse sparse sparse")])
    yield connection
    connection.close()


def _found(connection: sqlite3.Connection, question: str, **options: list[int]) -> list[int]:
    match = lexical.expression(connection, 1, question)
    return [number for number, _ in lexical.find(connection, 1, match, 10, **options)[0]]


def test_the_title_weighs_more_and_words_are_stemmed(words: sqlite3.Connection) -> None:
    assert _found(words, "sparse network") == [1, 2]
    assert _found(words, "networking prune")[0] == 1


def test_accents_and_case_do_not_matter(words: sqlite3.Connection) -> None:
    assert _found(words, "KRAKOW cafe") == [3]
    assert _found(words, "nai\u0308ve") == [3]


def test_stop_words_count_only_where_nothing_else_is_asked(words: sqlite3.Connection) -> None:
    assert _found(words, "what is the sparse network") == [1, 2]
    assert _found(words, "the who") == [4]


def test_only_allowed_passages_are_found(words: sqlite3.Connection) -> None:
    assert _found(words, "pruning", allowed=[2, 3]) == [3, 2]
    assert _found(words, "pruning", allowed=[]) == []


def test_candidates_of_the_other_leg_get_their_figure_too(words: sqlite3.Connection) -> None:
    match = lexical.expression(words, 1, "pruning")
    every, _ = lexical.find(words, 1, match, 10)
    best, others = lexical.find(words, 1, match, 1, also=[2, 4])
    assert best == every[:1]
    assert others == {2: dict(every)[2]}


def test_collections_do_not_share_their_statistics(words: sqlite3.Connection) -> None:
    assert lexical.frequencies(words, 1, ["sparse", "Networking", "zebra", "", "?", "state-of-the-art"]) == [
        2,
        2,
        0,
        0,
        0,
        0,
    ]
    assert lexical.frequencies(words, 2, ["sparse"]) == [1]


@pytest.mark.parametrize(
    "question",
    ["", " ", '"', "a AND", "NOT", "NEAR(a b)", "title:x", "x*", "^x", "(", "{a}: b", "\x00", "a\x00b", "😀", "\ud800",
     "--", "'; DROP", "word " * 10_000, " ".join(f"w{n}" for n in range(10_000)), "x" * 100_000, "C++ & p<0.05",
     "日本語 テスト"],
)  # fmt: skip
def test_no_question_is_bad_syntax(words: sqlite3.Connection, question: str) -> None:
    _found(words, question)
    lexical.frequencies(words, 1, [question])


@given(st.text())
def test_any_text_is_a_question(words: sqlite3.Connection, question: str) -> None:
    _found(words, question)


def test_of_many_words_the_rarest_decide(words: sqlite3.Connection) -> None:
    many = " ".join(f"unknown{number}" for number in range(200))
    assert _found(words, f"{many} pruning coffee")[0] == 3


def test_in_a_large_collection_only_telling_words_are_scored(
    words: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred thousand passages that share "network" are not scored one by one for it."""
    monkeypatch.setattr(lexical, "MOST_SCORED", 2)
    match = lexical.expression(words, 1, "coffee networks pruning")
    assert match == lexical.Match('"coffee" OR "networks" OR "pruning"', '"coffee"')
    every, _ = lexical.find(words, 1, lexical.Match(match.words, ""), 10)
    best, near = lexical.find(words, 1, match, 10, also=[1])
    # Scores are those of all words; what only shares a common one is found by the other leg or not at all.
    assert best == [row for row in every if row[0] in {1, 3}]
    assert near == {1: dict(every)[1]}
    assert lexical.find(words, 1, match, 10, allowed=[2])[0] == [row for row in every if row[0] == 2]
    assert lexical.find(words, 1, match, 10, allowed=[1, 2, 3])[0] == [row for row in every if row[0] == 3]


def test_a_passage_taken_out_is_not_found() -> None:
    connection = sqlite3.connect(":memory:")
    lexical.create(connection, 1)
    lexical.insert(connection, 1, [(7, "", "one zebra"), (8, "", "two zebras")])
    lexical.delete(connection, 1, [7])
    assert _found(connection, "zebra") == [8]
    assert lexical.frequencies(connection, 1, ["zebra"]) == [1]
    lexical.drop(connection, 1)
    lexical.create(connection, 1)
    assert _found(connection, "zebra") == []
    connection.close()
