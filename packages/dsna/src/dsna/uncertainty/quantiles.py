"""Quantiles of the target of a query: quantiles of its neighbours' targets, at levels calibrated out of bag.

The targets of the neighbours, carried over to the query and slightly smoothed, form a distribution. The rank of an
out-of-bag row is the position of its target in its distribution, from 0 to 1. If the distributions were exact, ranks
would be uniform. As they are not, the q-quantile of a query is its distribution's quantile at the q-quantile of the
ranks.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from .._utils.invariants import FINITE, LARGEST, POSITIVE, Array, Checked, Number, require
from .._utils.sums import ordered_sum

_N_POINTS = 6  # points in place of each target after smoothing; an even number, so that no point is the target itself
_WIDTH = 0.1  # of the smoothing, in spreads
_OFFSETS = _WIDTH * ndtri((np.arange(_N_POINTS) + 0.5) / _N_POINTS)
_TIE = 1e-9  # in spreads
_BATCH = 2000


class Ranks(Checked):
    """Ranks of the out-of-bag targets of one output among their neighbours' targets, which calibrate quantiles.

    Parameters
    ----------
    rank : (n,) ranks, from :func:`rank_among`.
    weight : (n,) number of training rows that each row represents.
    common : spread that is added to those of the rows.
    grid : (k,) distinct targets in ascending order, to which quantiles are rounded, or None.
    """

    FIELDS = {
        "rank": Array("float64", "rows", 0.0, 1.0),
        "weight": Array("float64", "rows", low=0.0),
        "common": Number(POSITIVE, LARGEST),
        "grid": Array("float64", "points", -LARGEST, LARGEST, none=True),
    }
    NOT_EMPTY = ("rows",)

    def __init__(self, rank: np.ndarray, weight: np.ndarray, common: float, grid: np.ndarray | None = None):
        order = np.argsort(rank, kind="stable")
        self.rank, self.weight = rank[order], weight[order]
        self.common = common
        self.grid = grid
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(np.all(self.rank[1:] >= self.rank[:-1]), "Ranks.rank is not in ascending order")
        require(0.0 < self.weight.sum() < FINITE, "Ranks.weight must have a finite sum above 0")
        if self.grid is not None:
            ascending = sizes["points"] > 0 and np.all(self.grid[1:] > self.grid[:-1])
            require(ascending, "Ranks.grid is empty or not in ascending order")

    def quantiles(self, weights: np.ndarray, targets: np.ndarray, spread: np.ndarray, levels: np.ndarray) -> np.ndarray:
        """(n, k) quantiles at k levels from weights and targets (n, M) of the neighbours; they rise with the level."""
        share = (np.cumsum(self.weight) - 0.5 * self.weight) / self.weight.sum()
        calibrated_levels = np.interp(levels, share, self.rank)
        quantiles = np.empty((len(weights), len(levels)))
        for start in range(0, len(weights), _BATCH):
            batch = slice(start, start + _BATCH)
            points, mass = _smooth(weights[batch], targets[batch], spread[batch] + self.common)
            order = np.argsort(points, axis=1, kind="stable")
            points, mass = (np.take_along_axis(values, order, axis=1) for values in (points, mass))
            points = np.minimum(points, np.where(mass > 0.0, points, -np.inf).max(axis=1, keepdims=True))
            cumulative = np.cumsum(mass, axis=1)
            point_levels = (cumulative - 0.5 * mass) / cumulative[:, -1:]
            for i, (row_levels, row_points) in enumerate(zip(point_levels, points, strict=True), start):
                quantiles[i] = np.interp(calibrated_levels, row_levels, row_points)
        return quantiles if self.grid is None else _nearest(self.grid, quantiles)


def common_spread(spread: np.ndarray, weight: np.ndarray) -> float:
    """Mean spread, which is added to every spread because neighbours may agree by chance; 1 if it is 0.

    Examples
    --------
    >>> import numpy as np
    >>> common_spread(np.array([0.0, 2.0]), np.ones(2)), common_spread(np.zeros(2), np.ones(2))
    (1.0, 1.0)
    """
    mean = float(np.average(spread, weights=weight))
    return mean if mean > 0.0 else 1.0


def rank_among(y: np.ndarray, weights: np.ndarray, targets: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """(n,) weighted share of the neighbours' smoothed targets that lie below y.

    Parameters
    ----------
    y : (n,) targets.
    weights, targets : (n, M) weights, not negative, and targets of the neighbours.
    scale : (n,) spread of the targets around each row, plus the common spread.

    Examples
    --------
    >>> import numpy as np
    >>> rank_among(np.array([2.0]), np.array([[0.2, 0.4, 0.4]]), np.array([[1.0, 2.0, 3.0]]), np.ones(1)).round(6)
    array([0.4])
    """
    points, mass = _smooth(weights, targets, scale)
    difference, tolerance = points - y[:, None], (_TIE * scale)[:, None]
    below = ordered_sum(mass * ((difference < -tolerance) + 0.5 * (np.abs(difference) <= tolerance)))
    return np.asarray(np.clip(below / ordered_sum(mass), 0.0, 1.0))


def _smooth(weights: np.ndarray, targets: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, M * _N_POINTS) points of the smoothed targets and their mass; points without mass are infinite."""
    points = targets[:, :, None] + (scale[:, None] * _OFFSETS)[:, None]
    points = np.where(weights[:, :, None] > 0.0, points, np.inf)
    return points.reshape(len(points), -1), np.repeat(weights, _N_POINTS, axis=1)


def positive_weights(weights: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """(n, M) weights with negative ones set to 0; rows without positive weights get the forest's kernel.

    Examples
    --------
    >>> import numpy as np
    >>> positive_weights(np.array([[1.2, -0.2], [-0.5, 0.0]]), np.array([[0.5, 0.5], [0.5, 0.5]]))
    array([[1.2, 0. ],
           [0.5, 0.5]])
    """
    positive = np.maximum(weights, 0.0)
    return np.where(ordered_sum(positive)[:, None] > 0.0, positive, kernel)


def _nearest(grid: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values rounded to the nearest point of an ascending grid."""
    return np.asarray(grid[np.searchsorted(0.5 * (grid[1:] + grid[:-1]), values)])
