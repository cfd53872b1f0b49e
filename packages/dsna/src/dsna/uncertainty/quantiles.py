"""Quantiles of the target at a query: those of its neighbours' targets, at levels that are right out of bag.

The targets of the neighbours, carried over to the query and slightly smoothed, are a distribution. Where the target of
an out-of-bag row lies in its own distribution is its rank, from 0 to 1. Ranks would be spread evenly if the
distributions were right; as they are not, the q-quantile of a query is read at the q-quantile of the ranks.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from .._utils.invariants import FINITE, LARGEST, POSITIVE, Array, Checked, Number, require
from .._utils.sums import ordered_sum

_POINTS = (
    6  # that stand for a neighbour's target once it is smoothed; an even number, so that none is the target itself
)
_WIDTH = 0.1  # of the smoothing, in spreads
_NOISE = _WIDTH * ndtri((np.arange(_POINTS) + 0.5) / _POINTS)
_TIE = 1e-9  # in spreads
_BATCH = 2000


class Ranks(Checked):
    """Ranks of the out-of-bag targets of one output among their neighbours' targets, and quantiles read by them.

    Parameters
    ----------
    rank : (n,) ranks, from :func:`rank_among`.
    weight : (n,) how many rows each stands for.
    common : spread that is added to those of the rows.
    grid : (k,) distinct targets in rising order, where these are few, or None; quantiles are then such targets.
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
        require(np.all(self.rank[1:] >= self.rank[:-1]), "Ranks.rank falls")
        require(0.0 < self.weight.sum() < FINITE, "Ranks.weight adds up to nothing")
        if self.grid is not None:
            require(sizes["points"] > 0 and np.all(self.grid[1:] > self.grid[:-1]), "Ranks.grid does not rise")

    def quantiles(self, weights: np.ndarray, targets: np.ndarray, spread: np.ndarray, levels: np.ndarray) -> np.ndarray:
        """(n, k) quantiles at k levels from weights and targets (n, M) of the neighbours; they rise with the level."""
        share = (np.cumsum(self.weight) - 0.5 * self.weight) / self.weight.sum()
        read_at = np.interp(levels, share, self.rank)
        out = np.empty((len(weights), len(levels)))
        for start in range(0, len(weights), _BATCH):
            some = slice(start, start + _BATCH)
            points, mass = _smooth(weights[some], targets[some], spread[some] + self.common)
            order = np.argsort(points, axis=1, kind="stable")
            points, mass = (np.take_along_axis(part, order, axis=1) for part in (points, mass))
            points = np.minimum(points, np.where(mass > 0.0, points, -np.inf).max(axis=1, keepdims=True))
            reached = np.cumsum(mass, axis=1)
            middle = (reached - 0.5 * mass) / reached[:, -1:]
            for i, (at, value) in enumerate(zip(middle, points, strict=True), start):
                out[i] = np.interp(read_at, at, value)
        return out if self.grid is None else _nearest(self.grid, out)


def common_spread(spread: np.ndarray, weight: np.ndarray) -> float:
    """What is added to all spreads, their mean: neighbours may agree by chance.

    Examples
    --------
    >>> import numpy as np
    >>> common_spread(np.array([0.0, 2.0]), np.ones(2)), common_spread(np.zeros(2), np.ones(2))
    (1.0, 1.0)
    """
    mean = float(np.average(spread, weights=weight))
    return mean if mean > 0.0 else 1.0


def rank_among(y: np.ndarray, weights: np.ndarray, targets: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """(n,) share of the smoothed targets (n, M) of the neighbours that lie below y, under weights (n, M).

    Parameters
    ----------
    y : (n,) targets.
    weights, targets : (n, M) of the neighbours; no weight is negative.
    scale : (n,) spread of the targets around each row and the common one.

    Examples
    --------
    >>> import numpy as np
    >>> rank_among(np.array([2.0]), np.array([[0.2, 0.4, 0.4]]), np.array([[1.0, 2.0, 3.0]]), np.ones(1)).round(6)
    array([0.4])
    """
    points, mass = _smooth(weights, targets, scale)
    away, slack = points - y[:, None], (_TIE * scale)[:, None]
    below = ordered_sum(mass * ((away < -slack) + 0.5 * (np.abs(away) <= slack)))
    return np.asarray(np.clip(below / ordered_sum(mass), 0.0, 1.0))


def _smooth(weights: np.ndarray, targets: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, M') points and their mass; those of no mass are infinite."""
    points = targets[:, :, None] + (scale[:, None] * _NOISE)[:, None]
    points = np.where(weights[:, :, None] > 0.0, points, np.inf)
    return points.reshape(len(points), -1), np.repeat(weights, _POINTS, axis=1)


def positive_weights(weights: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """(n, M) weights without the negative ones; where none is left, those of the forest.

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
    """The values, each moved to the nearest point of a rising grid."""
    return np.asarray(grid[np.searchsorted(0.5 * (grid[1:] + grid[:-1]), values)])
