"""Decisions of a regression: weights of the neighbours' targets, and the rule that makes a prediction of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from .._utils.invariants import LARGEST
from .._utils.sums import ordered_sum, weighted_sum
from ..forest.scaling import column_spread
from .ends import continued

_TIE = 1e-9


def target_weights(
    alpha: np.ndarray, kernel: np.ndarray, rarity: np.ndarray, blend: float, balance: float, sum_to_one: bool
) -> np.ndarray:
    """(n, M) weights of the targets: coefficients blended with the forest's kernel, then balanced.

    Parameters
    ----------
    alpha, kernel : (n, M) coefficients, and proximities with row sums of one.
    rarity : (n, M) larger where the target density is small.
    blend : share of the kernel.
    balance : positive weights are multiplied by ``rarity ** balance`` and negative ones, which extrapolate, fade
        out as it grows.
    """
    weights = (1.0 - blend) * alpha + blend * kernel
    if balance > 0.0:
        weights = np.maximum(weights, 0.0) * rarity**balance + (1.0 - balance) * np.minimum(weights, 0.0)
    if sum_to_one or balance > 0.0:
        total = ordered_sum(weights)[:, None]
        positive = np.maximum(weights, 0.0)
        # Balanced weights whose sum nearly vanishes cannot be normalised; their positive part can.
        poor = np.abs(total) < 0.1
        weights = np.where(poor, positive, weights)
        total = np.where(poor, ordered_sum(positive)[:, None], total)
        weights = weights / np.where(total == 0.0, 1.0, total)
    return weights


def weighted_mean(weights: np.ndarray, targets: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Weighted mean; it alone extrapolates beyond the targets seen.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_mean(np.array([[1.5, -0.5]]), np.array([[[2.0], [1.0]]]), np.empty((0, 1)))
    array([[2.5]])
    """
    return weighted_sum(weights, targets)


def weighted_median(weights: np.ndarray, targets: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Weighted median, under the positive weights; of targets that are equally good, the lower.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_median(np.array([[0.2, 0.5, 0.3]]), np.array([[[1.0], [9.0], [2.0]]]), np.empty((0, 1)))
    array([[2.]])
    """
    positive = np.maximum(weights, 0.0)
    half = (0.5 - _TIE) * ordered_sum(positive)
    out = np.empty((len(weights), targets.shape[2]))
    for a in range(targets.shape[2]):
        order = np.argsort(targets[:, :, a], axis=1, kind="stable")
        reached = np.cumsum(np.take_along_axis(positive, order, axis=1), axis=1) >= half[:, None]
        middle = np.take_along_axis(order, reached.argmax(axis=1)[:, None], axis=1)
        out[:, a] = np.take_along_axis(targets[:, :, a], middle, axis=1)[:, 0]
    return out


def nearest_seen(weights: np.ndarray, targets: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Weighted mean, moved to the nearest row of ``grid``; of rows that are equally near, the lower.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_seen(np.array([[0.6, 0.4]]), np.array([[[1.0], [2.0]]]), np.array([[1.0], [2.0]]))
    array([[1.]])
    """
    mean = weighted_sum(weights, targets)
    spread = column_spread(grid)
    lower = _TIE * np.arange(1, grid.shape[1] + 1)
    nearest = cKDTree(grid / spread).query(np.clip(mean / spread - lower, -LARGEST, LARGEST))[1]
    return np.asarray(grid[nearest])


def open_mean(weights: np.ndarray, targets: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Weighted mean, moved outward at the ends of the targets; see :mod:`dsna.prediction.ends`.

    Examples
    --------
    >>> import numpy as np
    >>> ends = np.array([[20.0, 10.0, 0.0, 0.8, 80.0, 90.0, 100.0, 0.8]]).T
    >>> open_mean(np.array([[0.5, 0.5]]), np.array([[[86.0], [94.0]]]), ends)
    array([[100.]])
    """
    return continued(weighted_mean(weights, targets, ends), ends)


class Decision(NamedTuple):
    """How a regression decides.

    Attributes
    ----------
    predict : function
        Of the weights (n, M) and targets (n, M, q) of the neighbours and of the distinct training targets (k, q),
        which are given only where ``needs_grid``, or the ends (8, q) where these are learned; its value is the
        prediction (n, q).
    words : str
        What plots call it.
    needs_grid : bool
        Whether it uses the distinct training targets; "auto" then tries it only where these are few.
    learns_ends : bool
        Whether it is the weighted mean with ends, which are learned once all else is chosen; "auto" does not try it.
    """

    predict: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    words: str
    needs_grid: bool = False
    learns_ends: bool = False


#: Decisions of a regression by name. One that is added here is a value of ``DSNARegressor(decision=...)``, is tried by
#: ``decision="auto"`` unless it learns ends, can be saved, and is explained.
DECISIONS: dict[str, Decision] = {
    "mean": Decision(weighted_mean, "weighted mean"),
    "median": Decision(weighted_median, "weighted median"),
    "grid": Decision(nearest_seen, "weighted mean, to the nearest target seen", needs_grid=True),
    "open": Decision(open_mean, "weighted mean, open at the ends", learns_ends=True),
}


def decide(weights: np.ndarray, targets: np.ndarray, decision: str, grid: np.ndarray) -> np.ndarray:
    """(n, q) prediction from weights (n, M) of targets (n, M, q); ``decision`` is a name in ``DECISIONS``.

    Examples
    --------
    >>> import numpy as np
    >>> decide(np.array([[0.5, 0.5]]), np.array([[[1.0], [2.0]]]), "mean", np.empty((0, 1)))
    array([[1.5]])
    """
    return DECISIONS[decision].predict(weights, targets, grid)


def candidates(decision: str, few_targets: bool) -> tuple[str, ...]:
    """The decisions that a value of ``DSNARegressor(decision=...)`` allows.

    Examples
    --------
    >>> candidates("auto", few_targets=False), candidates("paper", few_targets=True)
    (('mean', 'median'), ('mean',))
    """
    if decision == "auto":
        tried = {name: one for name, one in DECISIONS.items() if not one.learns_ends}
        return tuple(name for name, one in tried.items() if few_targets or not one.needs_grid)
    return ("mean" if decision == "paper" or DECISIONS[decision].learns_ends else decision,)
