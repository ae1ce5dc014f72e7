"""Exceptions to problems: one table, nothing of the inside."""

import inspect

import pytest

from service import errors, wire
from service.problems import INTERNAL, PROBLEMS, kind_of, problem_of
from vectorstore import errors as store_errors

OURS = [
    found
    for module in (errors, store_errors)
    for _, found in inspect.getmembers(module, inspect.isclass)
    if found not in (errors.ServiceError, store_errors.VectorstoreError, errors.ConfigError)
]


@pytest.mark.parametrize("error", [*OURS, wire.BadJson])
def test_every_error_of_ours_has_its_own_answer(error: type[Exception]) -> None:
    kind = kind_of(error("A sentence."))
    assert kind is not INTERNAL
    problem = problem_of(error("A sentence."), "r")
    assert problem.status == kind.status
    assert problem.request_id == "r"
    assert problem.detail == ("A sentence." if not kind.quiet else problem.detail)


def test_the_table_has_no_row_that_another_hides() -> None:
    for place, (error, _) in enumerate(PROBLEMS):
        assert not any(issubclass(error, before) for before, _ in PROBLEMS[:place])


def test_what_nobody_foresaw_says_nothing() -> None:
    assert "hush" not in problem_of(RuntimeError("hush"), None).model_dump_json()
    assert "hush" not in problem_of(store_errors.FolderUnusable("in hush"), None).model_dump_json()
