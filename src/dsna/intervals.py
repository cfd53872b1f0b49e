"""Prediction intervals that hold for rare labels too: residual quantiles by region of the true label.

The region of a new row is unknown, so its interval is the hull of all labels y whose residual ``y - prediction``
would be usual for the region of y.  Quantiles are set on out-of-bag residuals, region by region, until the hull
covers as many rows of each region as asked.
"""

from __future__ import annotations

import warnings

import numpy as np

_MIN_ROWS = 50
_MAX_REGIONS = 12
_SWEEPS = 8


def label_regions(y: np.ndarray) -> np.ndarray:
    """Inner bounds of label regions: equal widths, merged until each holds 50 rows; empty for few rows.

    Examples
    --------
    >>> import numpy as np
    >>> label_regions(np.r_[np.zeros(60), np.ones(60)]).tolist()
    [0.5]
    """
    low, high = float(y.min()), float(y.max())
    if len(y) < 2 * _MIN_ROWS or high <= low:
        return np.empty(0)
    edges = np.linspace(low, high, _MAX_REGIONS + 1)[1:-1]
    counts = np.histogram(y, np.r_[low, edges, high])[0]
    bounds = []
    held = 0
    left = len(y)
    for count, edge in zip(counts, edges, strict=False):
        held += count
        left -= count
        if held >= _MIN_ROWS and left >= _MIN_ROWS:
            below, above = y[y <= edge].max(), y[y > edge].min()
            bounds.append(0.5 * (below + above))
            held = 0
    return np.array(bounds)


class Regions:
    """Residuals of one output by region of the true label, and intervals made of them.

    Parameters
    ----------
    y, prediction : (n,) labels and their out-of-bag predictions.
    """

    def __init__(self, y: np.ndarray, prediction: np.ndarray):
        self.bounds = label_regions(y)
        self.low, self.high = float(y.min()), float(y.max())
        self.y = y
        self.prediction = prediction
        if len(self.bounds) == 0 and len(y) < 2 * _MIN_ROWS:
            warnings.warn(
                f"{len(y)} rows are too few for intervals by label region (100 are needed); one region serves all.",
                UserWarning,
                stacklevel=3,
            )

    def intervals(self, prediction: np.ndarray, coverage: float) -> np.ndarray:
        """(n, 2) lower and upper bounds."""
        return self._hull(prediction, *self._quantiles(coverage))

    def _quantiles(self, coverage: float) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper residual of each region at which the hull covers the share asked of that region."""
        region = np.searchsorted(self.bounds, self.y)
        n = len(self.bounds) + 1
        residual = self.y - self.prediction
        ordered = [np.sort(residual[region == r]) for r in range(n)]
        level = np.full(n, min(1.0, coverage + 0.5 / max(1, min(len(o) for o in ordered))))
        lower, upper = np.empty(n), np.empty(n)

        def set_level(r: int, value: float) -> None:
            tail = 0.5 * (1.0 - value)
            lower[r], upper[r] = np.quantile(ordered[r], [tail, 1.0 - tail])

        for r in range(n):
            set_level(r, level[r])
        for _ in range(_SWEEPS):
            for r in range(n):
                inside = region == r
                grid = np.unique(np.r_[np.linspace(0.0, 1.0, 41), coverage])
                # The smallest level whose hull covers the region; the hull grows with it.
                first, last = 0, len(grid) - 1
                while first < last:
                    middle = (first + last) // 2
                    set_level(r, grid[middle])
                    hull = self._hull(self.prediction[inside], lower, upper)
                    hit = np.mean((hull[:, 0] <= self.y[inside]) & (self.y[inside] <= hull[:, 1]))
                    if hit >= coverage:
                        last = middle
                    else:
                        first = middle + 1
                set_level(r, grid[first])
        return lower, upper

    def _hull(self, prediction: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        edges = np.r_[-np.inf, self.bounds, np.inf]
        start = np.maximum(prediction[:, None] + lower, edges[:-1])
        stop = np.minimum(prediction[:, None] + upper, edges[1:])
        filled = start <= stop
        low = np.where(filled, start, np.inf).min(axis=1)
        high = np.where(filled, stop, -np.inf).max(axis=1)
        # No region claims the prediction: the one it lies in answers with its own residuals.
        own = np.searchsorted(self.bounds, prediction)
        empty = ~np.isfinite(low)
        low = np.where(empty, prediction + np.minimum(lower[own], 0.0), low)
        high = np.where(empty, prediction + np.maximum(upper[own], 0.0), high)
        return np.stack([low, high], axis=1)
