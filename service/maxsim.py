"""MaxSim: how well the word pieces of one text are matched by those of others (pure)."""

from collections.abc import Sequence

import numpy as np

from vectorstore.paper import Vectors


class Pieces:
    """The word pieces of several texts as one matrix, so that a comparison is one product and not one a text."""

    def __init__(self, texts: Sequence[Vectors]) -> None:
        self._sizes = [len(vectors) for vectors in texts]
        self._matrix = np.concatenate([*texts, np.empty((0, texts[0].shape[1]), np.float32)]) if texts else None

    def matches(self, said: Vectors) -> Vectors:
        """The best cosine of each piece of `said` (row) to one of each text (column); 0 where a text is empty."""
        found: Vectors = np.zeros((len(said), len(self._sizes)), np.float32)
        if self._matrix is None or not len(self._matrix) or not len(said):
            return found
        filled = [place for place, size in enumerate(self._sizes) if size]
        starts = np.cumsum([0, *(self._sizes[place] for place in filled[:-1])])
        found[:, filled] = np.maximum.reduceat(said @ self._matrix.T, starts, axis=1)
        return found

    def like(self, said: Vectors) -> list[float]:
        """For each text, the mean over the pieces of `said` of the best cosine to one of the text's; 0 where empty."""
        if not len(said):
            return [0.0] * len(self._sizes)
        return [float(value) for value in self.matches(said).mean(axis=0)]
