"""Ridge regressions that leave out folds of rows, all from sums kept for each fold."""

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
        for b in range(N_FOLDS):
            some = fold == b
            weighted = F[some] * weight[some, None]
            total = weight[some].sum()
            self.folds.append(
                (weighted.T @ F[some], weighted.T @ T[some], weighted.sum(axis=0), weight[some] @ T[some], total)
            )

    def plus(self, other: FoldSums) -> FoldSums:
        """The sums over the rows of both."""
        return self._with(
            [tuple(a + b for a, b in zip(*both, strict=True)) for both in zip(self.folds, other.folds, strict=True)]
        )

    def times(self, factor: float) -> FoldSums:
        """The sums with weights multiplied by a factor."""
        return self._with([tuple(factor * a for a in sums) for sums in self.folds])

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(sum(sums[-1] for sums in self.folds))

    def _with(self, folds: list[tuple[np.ndarray, ...]]) -> FoldSums:
        new = copy(self)
        new.folds = folds
        return new

    def solve(self, left_out: tuple[int, ...], penalty: float) -> tuple[np.ndarray, np.ndarray]:
        """(f, k) slopes and (k,) intercepts of the ridge on the rows of all folds but some."""
        kept = [sums for b, sums in enumerate(self.folds) if b not in left_out]
        FF, FT, F, T, total = (sum(parts) for parts in zip(*kept, strict=True))
        scatter = FF - np.outer(F, F) / total
        scatter[np.diag_indices(len(scatter))] += penalty
        slopes = cho_solve(cho_factor(scatter, lower=True), FT - np.outer(F, T) / total)
        return slopes, (T - F @ slopes) / total
