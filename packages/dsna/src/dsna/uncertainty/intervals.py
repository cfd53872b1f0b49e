"""Prediction intervals that cover rare targets too: residual quantiles by region of the true target.

The region of a new row is unknown, so its interval is the hull of all targets y whose residual ``y - prediction`` lies
between the residual quantiles of the region of y. Residuals are in units of a spread, the standard deviation of the
targets around a row. Quantiles are set on out-of-bag residuals, region by region, until the hull covers the requested
share of the rows of each region. The outermost tenth of a long tail is a separate region if it has at least 30 rows.
"""

from __future__ import annotations

import numpy as np

from .._utils.errors import warn_caller
from .._utils.invariants import FINITE, LARGEST, POSITIVE, Array, Checked, Number, require
from .._utils.sums import ordered_sum, weighted_sum

_MIN_ROWS = 50
_MIN_TAIL_ROWS = 30
_MAX_REGIONS = 12
_MAX_SWEEPS = 8
_N_LEVELS = 256
_COMMON_SPREAD = 2.0
_MAX_DISTANCE = 1e120
_TIE = 1e-9  # in common spreads; bounds cover targets that are closer than this


def target_regions(y: np.ndarray) -> np.ndarray:
    """Inner bounds of target regions: equal widths, merged until each has 50 rows; empty for few rows.

    If an outermost region has more than two tenths of the rows, as at a long tail, the outermost tenth becomes a
    region of its own if it has 30 rows.

    Examples
    --------
    >>> import numpy as np
    >>> target_regions(np.r_[np.zeros(60), np.ones(60)]).tolist()
    [0.5]
    """
    low, high = float(y.min()), float(y.max())
    if high <= low:
        return np.empty(0)
    edges = np.linspace(low, high, _MAX_REGIONS + 1)[1:-1]
    bounds: list[float] = []
    n_assigned = 0
    for edge in edges:
        n_below = int(np.sum(y <= edge))  # a target on an edge counts as below
        if min(n_below - n_assigned, len(y) - n_below) >= _MIN_ROWS:
            bounds.append(_midpoint(y, edge))
            n_assigned = n_below
    bounds = _split_upper_tail(y, bounds)
    return -np.array(_split_upper_tail(-y, [-bound for bound in reversed(bounds)]))[::-1]


def _split_upper_tail(y: np.ndarray, bounds: list[float]) -> list[float]:
    """The bounds, with one more above them if the last region is a long tail."""
    tenth = len(y) // 10
    last_region = y[y > bounds[-1]] if bounds else y
    if tenth < _MIN_TAIL_ROWS or len(last_region) <= 2 * tenth:
        return bounds
    edge = np.partition(y, -tenth - 1)[-tenth - 1]
    n_above = int(np.sum(last_region > edge))
    return [*bounds, _midpoint(y, edge)] if min(n_above, len(last_region) - n_above) >= _MIN_TAIL_ROWS else bounds


def _midpoint(y: np.ndarray, edge: float) -> float:
    """Midpoint between the nearest targets below and above an edge."""
    return float(0.5 * (y[y <= edge].max() + y[y > edge].min()))


def target_spread(kernel: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """(n, q) standard deviation of targets (n, M, q) under weights (n, M) that sum to one.

    It is corrected for the number of neighbours, so out-of-bag rows, which have fewer, are comparable to new rows.

    Examples
    --------
    >>> import numpy as np
    >>> target_spread(np.array([[0.5, 0.5, 0.0]]), np.array([[[1.0], [3.0], [9.0]]])).round(3)
    array([[1.414]])
    """
    mean = weighted_sum(kernel, targets)
    variance = ordered_sum(kernel[:, :, None] * (targets - mean[:, None]) ** 2)
    return np.sqrt(variance / np.maximum(1.0 - ordered_sum(kernel**2), 1e-3)[:, None])


class Regions(Checked):
    """Residuals of one output by region of the true target, and prediction intervals from them.

    Parameters
    ----------
    y, prediction : (n,) targets and their out-of-bag predictions.
    spread : (n,) standard deviation of the targets around each row; None: the same for all rows.
    weight : (n,) number of training rows that each row represents; None: 1.
    grid : (k,) distinct targets in ascending order, at which intervals end, or None.
    """

    FIELDS = {
        "bounds": Array("float64", "inner"),
        "y": Array("float64", "rows", -LARGEST, LARGEST),
        "prediction": Array("float64", "rows", -_MAX_DISTANCE, _MAX_DISTANCE),
        "weight": Array("float64", "rows", low=0.0),
        "grid": Array("float64", "points", -LARGEST, LARGEST, none=True),
        "common": Number(POSITIVE, _MAX_DISTANCE),
        "scale": Array("float64", "rows", POSITIVE, _MAX_DISTANCE),
    }
    NOT_EMPTY = ("rows",)

    def __init__(
        self,
        y: np.ndarray,
        prediction: np.ndarray,
        spread: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        grid: np.ndarray | None = None,
    ):
        self.bounds = target_regions(y)
        self.y = y
        self.prediction = prediction
        self.weight = np.ones(len(y)) if weight is None else weight
        self.grid = grid
        # The mean spread is added to each spread: where neighbours agree by chance, the residual is not zero.
        self.common = 1.0 if spread is None else _COMMON_SPREAD * float(np.average(spread, weights=self.weight))
        self.common = self.common if self.common > 0.0 else 1.0
        self.scale = self._scale(spread, len(y))
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(np.all(self.bounds[1:] > self.bounds[:-1]), "Regions.bounds is not in ascending order")
        region = np.searchsorted(self.bounds, self.y)
        region_weight = np.bincount(region, weights=self.weight, minlength=sizes["inner"] + 1)
        has_weight = region_weight.min() > 0 and region_weight.sum() < FINITE
        require(has_weight, "Regions.weight leaves a region without weight")
        if self.grid is not None:
            ascending = sizes["points"] > 0 and np.all(self.grid[1:] > self.grid[:-1])
            require(ascending, "Regions.grid is empty or not in ascending order")
        with np.errstate(over="ignore"):
            max_residual = np.abs((self.y - self.prediction) / self.scale).max()
        require(max_residual <= _MAX_DISTANCE, "Regions.prediction is too far from the targets")

    def _scale(self, spread: np.ndarray | None, n: int) -> np.ndarray:
        return np.full(n, self.common) if spread is None else spread + self.common

    def intervals(self, prediction: np.ndarray, coverage: float, spread: np.ndarray | None = None) -> np.ndarray:
        """(n, 2) lower and upper bounds."""
        self._warn_about_merged_regions()
        bounds = self._hull(prediction, self._scale(spread, len(prediction)), *self._quantiles(coverage))
        if self.grid is None:
            return bounds
        tolerance = _TIE * self.common
        first = np.searchsorted(self.grid, bounds[:, 0] - tolerance)
        last = np.searchsorted(self.grid, bounds[:, 1] + tolerance, side="right") - 1
        grid_bounds = np.stack([self.grid[np.minimum(first, len(self.grid) - 1)], self.grid[last]], axis=1)
        return np.where((first <= last)[:, None], grid_bounds, bounds)

    def _warn_about_merged_regions(self) -> None:
        edges = np.r_[self.y.min(), self.bounds, self.y.max()]
        merged = np.flatnonzero(np.diff(edges) > 1.5 * (edges[-1] - edges[0]) / _MAX_REGIONS)
        if len(merged):
            ranges = ", ".join(f"{edges[region]:.4g} to {edges[region + 1]:.4g}" for region in merged)
            warn_caller(
                f"Target regions of fewer than {_MIN_ROWS} rows were merged: for targets from {ranges}, intervals have "
                "the requested coverage on average, but not everywhere. More rows of rare targets would help."
            )

    def _quantiles(self, coverage: float) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper residual quantile of each region, such that the hull has the requested coverage there."""
        n_regions = len(self.bounds) + 1
        region_of_row = np.searchsorted(self.bounds, self.y)
        region_rows = [np.flatnonzero(region_of_row == region) for region in range(n_regions)]
        residual = (self.y - self.prediction) / self.scale
        level = np.empty(n_regions)
        lower, upper = np.empty(n_regions), np.empty(n_regions)

        def set_level(region: int, new_level: float) -> None:
            rows = region_rows[region]
            level[region] = new_level
            tail = 0.5 * (1.0 - new_level)
            lower[region], upper[region] = _weighted_quantiles(residual[rows], self.weight[rows], tail)

        def is_covered(region: int) -> bool:
            """Whether the hull covers the requested share of the rows of a region, to the nearest row."""
            rows = region_rows[region]
            hull = self._hull(self.prediction[rows], self.scale[rows], lower, upper)
            y, weight = self.y[rows], self.weight[rows]
            tolerance = _TIE * self.common
            covered_weight = np.sum(weight * ((hull[:, 0] <= y + tolerance) & (y - tolerance <= hull[:, 1])))
            return bool(covered_weight + 0.5 * weight.mean() >= (coverage - _TIE) * weight.sum())

        for region in range(n_regions):
            set_level(region, coverage)
        for _ in range(_MAX_SWEEPS):
            previous_level = level.copy()
            for region in range(n_regions):
                # Bisection: the hull grows with the level.
                low, high = 0, _N_LEVELS
                while low < high:
                    middle = (low + high) // 2
                    set_level(region, middle / _N_LEVELS)
                    low, high = (low, middle) if is_covered(region) else (middle + 1, high)
                set_level(region, low / _N_LEVELS)
            if np.array_equal(previous_level, level):
                break
        return lower, upper

    def _hull(self, prediction: np.ndarray, scale: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """(n, 2) smallest and largest value among the prediction and the targets that the regions allow."""
        edges = np.r_[-np.inf, self.bounds, np.inf]
        start = np.maximum(prediction[:, None] + scale[:, None] * lower, edges[:-1])
        stop = np.minimum(prediction[:, None] + scale[:, None] * upper, edges[1:])
        not_empty = start <= stop
        low = np.where(not_empty, start, prediction[:, None]).min(axis=1)
        high = np.where(not_empty, stop, prediction[:, None]).max(axis=1)
        return np.stack([np.minimum(low, prediction), np.maximum(high, prediction)], axis=1)


def _weighted_quantiles(values: np.ndarray, weight: np.ndarray, tail: float) -> tuple[float, float]:
    """Weighted quantiles at the levels ``tail`` and ``1 - tail``."""
    order = np.argsort(values)
    share = np.cumsum(weight[order]) - 0.5 * weight[order]
    low, high = np.interp([tail, 1.0 - tail], share / weight.sum(), values[order])
    return float(low), float(high)
