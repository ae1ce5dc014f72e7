"""MaxSim against its definition."""

import numpy as np
import pytest

from service.maxsim import Pieces
from vectorstore.paper import Vectors


def rows(*values: tuple[float, float]) -> Vectors:
    return np.array(values, np.float32).reshape(-1, 2)


def test_each_piece_finds_its_best_in_each_text() -> None:
    pieces = Pieces([rows((1, 0), (0, 1)), rows(), rows((0.6, 0.8))])
    said = rows((1, 0), (0, -1))
    assert pieces.matches(said).tolist() == [pytest.approx([1.0, 0.0, 0.6]), pytest.approx([0.0, 0.0, -0.8])]
    assert pieces.like(said) == pytest.approx([0.5, 0.0, -0.1])


def test_nothing_is_like_nothing() -> None:
    assert Pieces([]).like(rows((1, 0))) == []
    assert Pieces([rows(), rows()]).like(rows((1, 0))) == [0.0, 0.0]
    assert Pieces([rows((1, 0))]).like(rows()) == [0.0]
