"""The small model, started once for all its tests; skipped with a reason where it can't run."""

from collections.abc import Iterator

import pytest

from tests.model.serve import missing
from tests.model.small_model import small_model


@pytest.fixture(scope="session")
def llama() -> Iterator[str]:
    """The address of the running server."""
    if (reason := missing()) is not None:
        pytest.skip(reason)
    with small_model() as url:
        yield url
