import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stores import opened, paper
from vectorstore.filters import condition, fold, fold_authors
from vectorstore.paper import Filters, Query
from vectorstore.store import Store

PAPERS = [
    paper(1, year=2019, venue="Università di Pisa Workshop", authors=("Łukasz Gniecki", "Ana María Núñez")),
    paper(2, year=2020, venue="ICML 2020", authors=("Wei Li", "Smith, John")),
    paper(3, year=2024, venue="NeurIPS", authors=("Jon Wei", "Bo Lie")),
    paper(4, year=None, venue=None, authors=()),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with opened(tmp_path_factory.mktemp("filters"), papers=PAPERS) as store:
        yield store


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), "1234"),
        (Filters(year_gte=2020), "23"),
        (Filters(year_lte=2020), "12"),
        (Filters(year_gte=2020, year_lte=2020), "2"),
        (Filters(year_gte=10**30), ""),
        (Filters(year_gte=-(10**30)), "123"),
        (Filters(venue="universita DI pisa"), "1"),
        (Filters(venue="icml"), "2"),
        (Filters(venue="%"), ""),
        (Filters(author="gniecki"), "1"),
        (Filters(author="NUNEZ ana"), "1"),
        (Filters(author="Lukasz Nunez"), ""),
        (Filters(author="Li"), "2"),
        (Filters(author="John Smith"), "2"),
        (Filters(author="Wei Lie"), ""),
        (Filters(author='"; DROP TABLE papers --'), ""),
        (Filters(paper_ids=("p1", "p4", "nobody", "\ud800")), "14"),
        (Filters(paper_ids=()), ""),
        (Filters(author="wei", year_gte=2021), "3"),
        (Filters(venue="\ud800"), ""),
    ],
)
def test_filters_let_through_exactly(store: Store, filters: Filters, expected: str) -> None:
    page = store.papers("default", filters)
    assert [each.paper_id for each in page.papers] == [f"p{number}" for number in expected]
    assert page.total == len(expected)
    # What a search gives is what the list gives.
    hits = store.search(Query("study data method points", 100, filters=filters))
    assert {hit.paper.paper_id for hit in hits} == {f"p{number}" for number in expected}


def test_thousands_of_ids_are_not_too_many_variables(store: Store) -> None:
    """traps.md 1: more than ~30,000 values are "too many SQL variables"."""
    ids = tuple(f"other{number}" for number in range(50_000))
    assert store.papers("default", Filters(paper_ids=(*ids, "p3"))).total == 1
    assert len(store.search(Query("data", filters=Filters(paper_ids=(*ids, "p3"))))) == 1


@given(st.text(max_size=20))
def test_folding_is_stable(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_filter_is_good_sql(venue: str, author: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE papers(venue_folded, authors_folded, year, paper_id)")
    connection.execute("INSERT INTO papers VALUES(?, ?, 2020, 'a')", (fold("ICML"), fold_authors(["A B"])))
    where, values = condition(Filters(venue=venue, author=author))
    connection.execute(f"SELECT * FROM papers WHERE {where}", values).fetchall()
    connection.close()
