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
_TRIMMED = 0.25  # share of the weight that a trimmed mean leaves out at either end


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
    columns = [_middle(weights, targets[:, :, a])[2] for a in range(targets.shape[2])]
    return np.stack(columns, axis=1)


def trimmed_mean(weights: np.ndarray, targets: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Mean of the middle half of the positive weights: a quarter of them is cut off at either end of the targets.

    It has nearly the absolute error of the median, and nearly the squared error of the mean.

    Examples
    --------
    >>> import numpy as np
    >>> trimmed_mean(np.array([[0.25, 0.25, 0.25, 0.25]]), np.array([[[1.0], [9.0], [2.0], [3.0]]]), np.empty((0, 1)))
    array([[2.5]])
    """
    columns = []
    for a in range(targets.shape[2]):
        values, share, median = _middle(weights, targets[:, :, a])
        end = share[:, -1:]
        inside = np.clip(share, _TRIMMED * end, (1.0 - _TRIMMED) * end)
        kept = np.diff(inside, axis=1, prepend=_TRIMMED * end)
        whole = np.where(end > 0.0, (1.0 - 2.0 * _TRIMMED) * end, 1.0)[:, 0]
        columns.append(median + ordered_sum(kept * (values - median[:, None])) / whole)
    return np.stack(columns, axis=1)


def _middle(weights: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(n, M) targets in rising order, the positive weight up to each, and (n,) the target in the middle of it."""
    order = np.argsort(targets, axis=1, kind="stable")
    values = np.take_along_axis(targets, order, axis=1)
    share = np.cumsum(np.take_along_axis(np.maximum(weights, 0.0), order, axis=1), axis=1)
    first = (share >= (0.5 - _TIE) * share[:, -1:]).argmax(axis=1)
    return values, share, np.take_along_axis(values, first[:, None], axis=1)[:, 0]


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
        Whether it is the weighted mean with ends, which are learned once all else is chosen.
    automatic : bool
        Whether "auto" tries it.
    """

    predict: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    words: str
    needs_grid: bool = False
    learns_ends: bool = False
    automatic: bool = True


#: Decisions of a regression by name. One that is added here is a value of ``DSNARegressor(decision=...)``, is tried by
#: ``decision="auto"`` unless it says otherwise, can be saved, and is explained. The median is not tried: it lowers the
#: absolute error by less than a hundredth against the trimmed mean, and raises the squared error by more.
DECISIONS: dict[str, Decision] = {
    "mean": Decision(weighted_mean, "weighted mean"),
    "trimmed": Decision(trimmed_mean, "weighted mean of the middle half"),
    "median": Decision(weighted_median, "weighted median", automatic=False),
    "grid": Decision(nearest_seen, "weighted mean, to the nearest target seen", needs_grid=True),
    "open": Decision(open_mean, "weighted mean, open at the ends", learns_ends=True, automatic=False),
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
    (('mean', 'trimmed'), ('mean',))
    """
    if decision == "auto":
        tried = {name: one for name, one in DECISIONS.items() if one.automatic}
        return tuple(name for name, one in tried.items() if few_targets or not one.needs_grid)
    return ("mean" if decision == "paper" or DECISIONS[decision].learns_ends else decision,)
