"""Prediction intervals that cover rare targets too: residual quantiles by region of the true target.

The region of a new row is unknown, so its interval is the hull of all targets y whose residual ``y - prediction``
would be usual for the region of y. Residuals are in units of a spread, which says how much the targets around a
row differ. Quantiles are set on out-of-bag residuals, region by region, until the hull covers as many rows of each
region as asked. The outermost tenth of a long tail is a region of its own where 30 rows support it.
"""

from __future__ import annotations

import numpy as np

from .._utils.errors import warn_caller
from .._utils.invariants import FINITE, LARGEST, POSITIVE, Array, Checked, Number, require
from .._utils.sums import ordered_sum, weighted_sum

_MIN_ROWS = 50
_MIN_TENTH = 30
_MAX_REGIONS = 12
_SWEEPS = 8
_LEVELS = 256
_COMMON_SPREAD = 2.0
_FARTHEST = 1e120
_TIE = 1e-9  # in common spreads: an end that misses a target by less reaches it


def target_regions(y: np.ndarray) -> np.ndarray:
    """Inner bounds of target regions: equal widths, merged until each holds 50 rows; empty for few rows.

    Where an outermost region holds more than two tenths of the rows, as that of a long tail does, the outermost tenth
    is cut off if it holds 30 rows.

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
    held = 0
    for edge in edges:
        count = int(np.sum(y <= edge))  # a target on an edge lies below it
        if min(count - held, len(y) - count) >= _MIN_ROWS:
            bounds.append(_between(y, edge))
            held = count
    bounds = _tail_cut(y, bounds)
    return -np.array(_tail_cut(-y, [-bound for bound in reversed(bounds)]))[::-1]


def _tail_cut(y: np.ndarray, bounds: list[float]) -> list[float]:
    """The bounds with one more above the others where the last region is a long tail."""
    tenth = len(y) // 10
    tail = y[y > bounds[-1]] if bounds else y
    if tenth < _MIN_TENTH or len(tail) <= 2 * tenth:
        return bounds
    edge = np.partition(y, -tenth - 1)[-tenth - 1]
    above = int(np.sum(tail > edge))
    return [*bounds, _between(y, edge)] if min(above, len(tail) - above) >= _MIN_TENTH else bounds


def _between(y: np.ndarray, edge: float) -> float:
    """Middle of the targets below and above an edge."""
    return float(0.5 * (y[y <= edge].max() + y[y > edge].min()))


def target_spread(kernel: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """(n, q) standard deviation of targets (n, M, q) under weights (n, M) that sum to one.

    It is unbiased in the number of rows, so that out-of-bag rows, which have fewer neighbours, compare with new ones.

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
    """Residuals of one output by region of the true target, and intervals made of them.

    Parameters
    ----------
    y, prediction : (n,) targets and their out-of-bag predictions.
    spread : (n,) how much the targets around each row differ, in units of the target; None: equal everywhere.
    weight : (n,) how many rows each stands for; None: one.
    grid : (k,) distinct targets in rising order, where these are few; intervals then end at such targets.
    """

    FIELDS = {
        "bounds": Array("float64", "inner"),
        "y": Array("float64", "rows", -LARGEST, LARGEST),
        "prediction": Array("float64", "rows", -_FARTHEST, _FARTHEST),
        "weight": Array("float64", "rows", low=0.0),
        "grid": Array("float64", "points", -LARGEST, LARGEST, none=True),
        "common": Number(POSITIVE, _FARTHEST),
        "scale": Array("float64", "rows", POSITIVE, _FARTHEST),
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
        # Where neighbours agree by chance the residual is not zero: the mean spread is added to each.
        self.common = 1.0 if spread is None else _COMMON_SPREAD * float(np.average(spread, weights=self.weight))
        self.common = self.common if self.common > 0.0 else 1.0
        self.scale = self._scale(spread, len(y))
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(np.all(self.bounds[1:] > self.bounds[:-1]), "Regions.bounds do not rise")
        region = np.searchsorted(self.bounds, self.y)
        held = np.bincount(region, weights=self.weight, minlength=sizes["inner"] + 1)
        require(held.min() > 0 and held.sum() < FINITE, "Regions.weight leaves a region without weight")
        if self.grid is not None:
            rises = sizes["points"] > 0 and np.all(self.grid[1:] > self.grid[:-1])
            require(rises, "Regions.grid does not rise")
        with np.errstate(over="ignore"):
            off = np.abs((self.y - self.prediction) / self.scale).max()
        require(off <= _FARTHEST, "Regions.prediction lies too far from the targets")

    def _scale(self, spread: np.ndarray | None, n: int) -> np.ndarray:
        return np.full(n, self.common) if spread is None else spread + self.common

    def intervals(self, prediction: np.ndarray, coverage: float, spread: np.ndarray | None = None) -> np.ndarray:
        """(n, 2) lower and upper bounds."""
        self._warn_of_merged()
        bounds = self._hull(prediction, self._scale(spread, len(prediction)), *self._quantiles(coverage))
        if self.grid is None:
            return bounds
        slack = _TIE * self.common
        first = np.searchsorted(self.grid, bounds[:, 0] - slack)
        last = np.searchsorted(self.grid, bounds[:, 1] + slack, side="right") - 1
        ends = np.stack([self.grid[np.minimum(first, len(self.grid) - 1)], self.grid[last]], axis=1)
        return np.where((first <= last)[:, None], ends, bounds)

    def _warn_of_merged(self) -> None:
        ends = np.r_[self.y.min(), self.bounds, self.y.max()]
        merged = np.flatnonzero(np.diff(ends) > 1.5 * (ends[-1] - ends[0]) / _MAX_REGIONS)
        if len(merged):
            named = ", ".join(f"{ends[r]:.4g} to {ends[r + 1]:.4g}" for r in merged)
            warn_caller(
                f"Target regions of fewer than {_MIN_ROWS} rows were merged: intervals cover the targets from {named} "
                "as often as requested on average, not in every part. More rows of rare targets would help."
            )

    def _quantiles(self, coverage: float) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper residual of each region at which the hull covers the share asked of that region."""
        n = len(self.bounds) + 1
        region = np.searchsorted(self.bounds, self.y)
        members = [np.flatnonzero(region == r) for r in range(n)]
        residual = (self.y - self.prediction) / self.scale
        level = np.empty(n)
        lower, upper = np.empty(n), np.empty(n)

        def set_level(r: int, value: float) -> None:
            at = members[r]
            level[r] = value
            lower[r], upper[r] = _weighted_quantiles(residual[at], self.weight[at], 0.5 * (1.0 - value))

        def covered(r: int) -> bool:
            """Whether the rows of a region that the hull covers are as many as asked, to the nearest row."""
            at = members[r]
            hull = self._hull(self.prediction[at], self.scale[at], lower, upper)
            weight = self.weight[at]
            slack = _TIE * self.common
            hit = np.sum(weight * ((hull[:, 0] <= self.y[at] + slack) & (self.y[at] - slack <= hull[:, 1])))
            return bool(hit + 0.5 * weight.mean() >= (coverage - _TIE) * weight.sum())

        for r in range(n):
            set_level(r, coverage)
        for _ in range(_SWEEPS):
            before = level.copy()
            for r in range(n):
                # The smallest level that is enough; the hull grows with it.
                first, last = 0, _LEVELS
                while first < last:
                    middle = (first + last) // 2
                    set_level(r, middle / _LEVELS)
                    first, last = (first, middle) if covered(r) else (middle + 1, last)
                set_level(r, first / _LEVELS)
            if np.array_equal(before, level):
                break
        return lower, upper

    def _hull(self, prediction: np.ndarray, scale: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """(n, 2) smallest and largest of the prediction and the targets that the regions allow."""
        edges = np.r_[-np.inf, self.bounds, np.inf]
        start = np.maximum(prediction[:, None] + scale[:, None] * lower, edges[:-1])
        stop = np.minimum(prediction[:, None] + scale[:, None] * upper, edges[1:])
        filled = start <= stop
        low = np.where(filled, start, prediction[:, None]).min(axis=1)
        high = np.where(filled, stop, prediction[:, None]).max(axis=1)
        return np.stack([np.minimum(low, prediction), np.maximum(high, prediction)], axis=1)


def _weighted_quantiles(values: np.ndarray, weight: np.ndarray, tail: float) -> tuple[float, float]:
    """Values below and above which a share ``tail`` of the weight lies."""
    order = np.argsort(values)
    share = np.cumsum(weight[order]) - 0.5 * weight[order]
    low, high = np.interp([tail, 1.0 - tail], share / weight.sum(), values[order])
    return float(low), float(high)
