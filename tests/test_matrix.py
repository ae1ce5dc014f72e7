from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stores import opened, paper
from vectorstore import catalogue, passages
from vectorstore.database import Database
from vectorstore.matrix import Matrices, Matrix
from vectorstore.store import Store


@given(st.integers(1, 40), st.integers(1, 50), st.lists(st.integers(0, 39), unique=True), st.integers(0, 2**16))
def test_nearest_is_what_sorting_everything_gives(size: int, limit: int, chosen: list[int], seed: int) -> None:
    rows = np.random.default_rng(seed).standard_normal((size, 5)).astype(np.float32)
    numbers = np.arange(size, dtype=np.int64) * 3 + 1
    allowed = numbers[sorted(at for at in chosen if at < size)]
    for only in (None, allowed):
        cosines = rows @ rows[0]
        order = sorted(range(size), key=lambda at: (-cosines[at], numbers[at]))
        expected = [int(numbers[at]) for at in order if only is None or numbers[at] in only][:limit]
        found = Matrix(1, numbers, rows).nearest(rows[0], limit, only)
        assert [number for number, _ in found] == expected


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with opened(tmp_path_factory.mktemp("matrix")) as store:
        yield store


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(["add", "delete", "look"]), st.integers(0, 5)), max_size=12))
def test_a_mended_matrix_is_the_one_read_anew(store: Store, steps: list[tuple[str, int]]) -> None:
    database: Database = store._database
    kept = Matrices()
    for step, number in steps:
        if step == "add":
            store.add([paper(number, version=len(steps))])
        elif step == "delete":
            store.delete("default", f"p{number}")
        else:
            with database.read() as connection:
                collection = catalogue.collection(connection, "default")
                mended = kept.get(connection, collection.id, collection.revision)
                numbers = passages.numbers(connection, collection.id)
                _, rows = passages.vectors(connection, numbers)
            assert mended.numbers.tolist() == numbers.tolist()
            assert np.array_equal(mended.rows, rows) or not len(numbers)


def test_only_so_many_collections_are_held(store: Store) -> None:
    kept = Matrices()
    store.add([paper(1)])
    for number in range(20):
        store.create_collection(f"c{number}")
    with store._database.read() as connection:
        every = catalogue.collections(connection)
        for collection in every:
            kept.get(connection, collection.id, collection.revision)
    assert len(kept._kept) <= 8 < len(every)
    kept.forget(every[-1].id)
    assert every[-1].id not in kept._kept
