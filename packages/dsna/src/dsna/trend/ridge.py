"""Ridge regressions that leave out folds, all solved from sums over the rows of each fold."""

from __future__ import annotations

from copy import copy

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..forest.held_out import N_FOLDS


class FoldSums:
    """Sums of products of columns F (n, f) and values T (n, k) over the rows of each fold.

    Examples
    --------
    >>> import numpy as np
    >>> F = np.arange(10.0)[:, None]
    >>> sums = FoldSums(F, 3.0 * F + 1.0, np.ones(10), np.arange(10) % 5)
    >>> slope, intercept = sums.solve((0,), penalty=1e-9)
    >>> slope.round(3).item(), intercept.round(3).item()
    (3.0, 1.0)
    """

    def __init__(self, F: np.ndarray, T: np.ndarray, weight: np.ndarray, fold: np.ndarray):
        self.folds: list[tuple[np.ndarray, ...]] = []
        for number in range(N_FOLDS):
            rows = fold == number
            weighted = F[rows] * weight[rows, None]
            total = weight[rows].sum()
            self.folds.append(
                (weighted.T @ F[rows], weighted.T @ T[rows], weighted.sum(axis=0), weight[rows] @ T[rows], total)
            )

    def plus(self, other: FoldSums) -> FoldSums:
        """Sums over the rows of both."""
        pairs = zip(self.folds, other.folds, strict=True)
        return self._with_folds([tuple(a + b for a, b in zip(*pair, strict=True)) for pair in pairs])

    def times(self, factor: float) -> FoldSums:
        """Sums with all weights multiplied by a factor."""
        return self._with_folds([tuple(factor * value for value in sums) for sums in self.folds])

    @property
    def total(self) -> float:
        """Total weight of the rows."""
        return float(sum(sums[-1] for sums in self.folds))

    def _with_folds(self, folds: list[tuple[np.ndarray, ...]]) -> FoldSums:
        new = copy(self)
        new.folds = folds
        return new

    def solve(self, held_out: tuple[int, ...], penalty: float) -> tuple[np.ndarray, np.ndarray]:
        """(f, k) slopes and (k,) intercepts of the ridge regression on the rows outside the held-out folds."""
        training = [sums for fold, sums in enumerate(self.folds) if fold not in held_out]
        FF, FT, F, T, total = (sum(sums) for sums in zip(*training, strict=True))
        scatter = FF - np.outer(F, F) / total
        scatter[np.diag_indices(len(scatter))] += penalty
        slopes = cho_solve(cho_factor(scatter, lower=True), FT - np.outer(F, T) / total)
        return slopes, (T - F @ slopes) / total
