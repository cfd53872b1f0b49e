"""Decisions of a regression: weights of the neighbours' targets, and functions that turn them into a prediction."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from .._utils.invariants import LARGEST
from .._utils.sums import ordered_sum, weighted_sum
from ..forest.scaling import column_spread
from .ends import move_outward

_TIE = 1e-9
_TRIM = 0.25  # share of the weight that a trimmed mean leaves out at either end


def target_weights(
    alpha: np.ndarray, kernel: np.ndarray, rarity: np.ndarray, blend: float, balance: float, sum_to_one: bool
) -> np.ndarray:
    """(n, M) weights of the targets: coefficients blended with the forest's kernel, then balanced.

    Parameters
    ----------
    alpha, kernel : (n, M) coefficients, and proximities with row sums of one.
    rarity : (n, M) factors of the neighbours, larger for targets of small density.
    blend : share of the kernel.
    balance : positive weights are multiplied by ``rarity ** balance``; negative ones, which extrapolate, shrink as it
        grows.
    sum_to_one : whether weights add up to one; with a balance above 0 they always do.
    """
    weights = (1.0 - blend) * alpha + blend * kernel
    if balance > 0.0:
        weights = np.maximum(weights, 0.0) * rarity**balance + (1.0 - balance) * np.minimum(weights, 0.0)
    if sum_to_one or balance > 0.0:
        total = ordered_sum(weights)[:, None]
        positive = np.maximum(weights, 0.0)
        # Weights whose sum is close to zero cannot be normalised; their positive part can.
        unstable = np.abs(total) < 0.1
        weights = np.where(unstable, positive, weights)
        total = np.where(unstable, ordered_sum(positive)[:, None], total)
        weights = weights / np.where(total == 0.0, 1.0, total)
    return weights


def weighted_mean(weights: np.ndarray, targets: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Weighted mean; with negative weights, it extrapolates beyond the neighbours' targets.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_mean(np.array([[1.5, -0.5]]), np.array([[[2.0], [1.0]]]), np.empty((0, 1)))
    array([[2.5]])
    """
    return weighted_sum(weights, targets)


def weighted_median(weights: np.ndarray, targets: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Weighted median under the positive weights; of two middle targets, the lower.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_median(np.array([[0.2, 0.5, 0.3]]), np.array([[[1.0], [9.0], [2.0]]]), np.empty((0, 1)))
    array([[2.]])
    """
    medians = [_sorted_with_median(weights, targets[:, :, output])[2] for output in range(targets.shape[2])]
    return np.stack(medians, axis=1)


def trimmed_mean(weights: np.ndarray, targets: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Mean of the middle half of the positive weights: a quarter is cut off at either end of the targets.

    Its absolute error is nearly that of the median, its squared error nearly that of the mean.

    Examples
    --------
    >>> import numpy as np
    >>> trimmed_mean(np.array([[0.25, 0.25, 0.25, 0.25]]), np.array([[[1.0], [9.0], [2.0], [3.0]]]), np.empty((0, 1)))
    array([[2.5]])
    """
    means = []
    for output in range(targets.shape[2]):
        values, cumulative, median = _sorted_with_median(weights, targets[:, :, output])
        total = cumulative[:, -1:]
        trimmed = np.clip(cumulative, _TRIM * total, (1.0 - _TRIM) * total)
        trimmed_weights = np.diff(trimmed, axis=1, prepend=_TRIM * total)
        trimmed_total = np.where(total > 0.0, (1.0 - 2.0 * _TRIM) * total, 1.0)[:, 0]
        means.append(median + ordered_sum(trimmed_weights * (values - median[:, None])) / trimmed_total)
    return np.stack(means, axis=1)


def _sorted_with_median(weights: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(n, M) targets in ascending order, their cumulative positive weights, and (n,) their weighted median."""
    order = np.argsort(targets, axis=1, kind="stable")
    values = np.take_along_axis(targets, order, axis=1)
    cumulative = np.cumsum(np.take_along_axis(np.maximum(weights, 0.0), order, axis=1), axis=1)
    middle = (cumulative >= (0.5 - _TIE) * cumulative[:, -1:]).argmax(axis=1)
    return values, cumulative, np.take_along_axis(values, middle[:, None], axis=1)[:, 0]


def mean_on_grid(weights: np.ndarray, targets: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Weighted mean, rounded to the nearest row of ``grid``; of two equally near rows, the lower.

    Examples
    --------
    >>> import numpy as np
    >>> mean_on_grid(np.array([[0.6, 0.4]]), np.array([[[1.0], [2.0]]]), np.array([[1.0], [2.0]]))
    array([[1.]])
    """
    mean = weighted_sum(weights, targets)
    spread = column_spread(grid)
    shift = _TIE * np.arange(1, grid.shape[1] + 1)  # breaks ties in favour of lower targets
    nearest = cKDTree(grid / spread).query(np.clip(mean / spread - shift, -LARGEST, LARGEST))[1]
    return np.asarray(grid[nearest])


def open_mean(weights: np.ndarray, targets: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Weighted mean, moved outward near the outermost targets; see :mod:`dsna.prediction.ends`.

    Examples
    --------
    >>> import numpy as np
    >>> ends = np.array([[20.0, 10.0, 0.0, 0.8, 80.0, 90.0, 100.0, 0.8]]).T
    >>> open_mean(np.array([[0.5, 0.5]]), np.array([[[86.0], [94.0]]]), ends)
    array([[100.]])
    """
    return move_outward(weighted_mean(weights, targets, ends), ends)


class TargetDecision(NamedTuple):
    """Function that turns the weights and targets of the neighbours into a prediction.

    Attributes
    ----------
    predict : function
        Takes the weights (n, M) and targets (n, M, q) of the neighbours, and the distinct training targets (k, q) if
        ``needs_grid``, or the ends (8, q) if ``learns_ends``. Returns the prediction (n, q).
    label : str
        Description in plots.
    needs_grid : bool
        Whether it uses the distinct training targets; "auto" then tries it only where these are few.
    learns_ends : bool
        Whether it moves the weighted mean outward by ends, which are learned after all other choices.
    automatic : bool
        Whether "auto" tries it.
    """

    predict: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    label: str
    needs_grid: bool = False
    learns_ends: bool = False
    automatic: bool = True


#: Decisions of a regression by name. A decision added here becomes a value of ``DSNARegressor(decision=...)``, can be
#: saved and explained, and is tried by ``decision="auto"`` unless ``automatic=False``. The median is not tried: its
#: absolute error is less than one percent below that of the trimmed mean, and its squared error is higher by more.
DECISIONS: dict[str, TargetDecision] = {
    "mean": TargetDecision(weighted_mean, "weighted mean"),
    "trimmed": TargetDecision(trimmed_mean, "weighted mean of the middle half"),
    "median": TargetDecision(weighted_median, "weighted median", automatic=False),
    "grid": TargetDecision(mean_on_grid, "weighted mean, rounded to a training target", needs_grid=True),
    "open": TargetDecision(open_mean, "weighted mean, open at the ends", learns_ends=True, automatic=False),
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


def allowed_decisions(decision: str, few_targets: bool) -> tuple[str, ...]:
    """Decisions among which a value of ``DSNARegressor(decision=...)`` lets ``fit`` choose.

    Examples
    --------
    >>> allowed_decisions("auto", few_targets=False), allowed_decisions("paper", few_targets=True)
    (('mean', 'trimmed'), ('mean',))
    """
    if decision == "auto":
        automatic = {name: entry for name, entry in DECISIONS.items() if entry.automatic}
        return tuple(name for name, entry in automatic.items() if few_targets or not entry.needs_grid)
    return ("mean" if decision == "paper" or DECISIONS[decision].learns_ends else decision,)
