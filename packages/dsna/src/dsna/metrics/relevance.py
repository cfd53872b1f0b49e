"""Relevance of regression targets: 0 for targets that do not matter, 1 for those that matter most.

``DSNARegressor(relevance=...)``, ``sera_error(relevance=...)`` and ``--relevance`` of the benchmark share its values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.interpolate import PchipInterpolator

from .._utils.errors import DSNAError
from ..forest.density import TargetDensity, counted_quantiles, rarity_of

RELEVANCES = ("boxplot", "density", "high", "low")
#: A relevance: a name, a function of targets, or control points.
Relevance = str | Callable[[Any], Any] | Sequence[tuple[float, float]]
_FENCE = 1.5


class TargetRelevance:
    """Relevance, in [0, 1], of the targets of a regression problem.

    Parameters
    ----------
    y : array of shape (n,)
        Training targets.
    kind : {"boxplot", "density", "high", "low"}, callable or sequence of pairs, default="boxplot"
        "boxplot" (Ribeiro and Moniz, 2020): 0 at the median, 1 from the whiskers of a box plot outward, and a
        monotone cubic in between. If a whisker coincides with the median, as where most targets are zero, the most
        extreme target of that side takes its place. "high" is the same above the median and 0 below it, "low" the
        reverse. "density": 1 - density / largest density, so that gaps between common targets are relevant too. A
        callable maps targets (n,) to numbers in [0, 1]. Pairs (target, relevance) are control points, at least two,
        joined by a monotone cubic; beyond the outermost points, the relevance is constant.
    sample_weight : array of shape (n,), optional
        Number of rows that each row represents, used by "density" and the box plot.

    Examples
    --------
    >>> import numpy as np
    >>> relevance = TargetRelevance(np.arange(101.0))
    >>> relevance.evaluate(np.array([50.0, 0.0, 100.0, 200.0]))
    array([0., 1., 1., 1.])
    >>> TargetRelevance(np.arange(101.0), kind="high").evaluate(np.array([50.0, 0.0, 100.0, 200.0]))
    array([0., 0., 1., 1.])
    >>> TargetRelevance(np.arange(101.0), kind=[(60, 0), (80, 1)]).evaluate(np.array([50.0, 70.0, 90.0]))
    array([0. , 0.5, 1. ])
    >>> ages = np.array([20.0] * 8 + [60.0] * 2)
    >>> TargetRelevance(ages, kind="density").evaluate(np.array([20.0, 60.0]))
    array([0.  , 0.75])
    """

    def __init__(self, y: Any, kind: Relevance = "boxplot", sample_weight: Any = None):
        y = np.asarray(y, dtype=np.float64)
        if y.ndim != 1 or not len(y) or not np.isfinite(y).all():
            raise DSNAError(f"Relevance needs finite targets of shape (n,), at least one; got shape {y.shape}.")
        check_relevance(kind, RELEVANCES)
        self.kind = kind
        if isinstance(kind, str) and kind == "density":
            self.density = TargetDensity(y, sample_weight=sample_weight)
            self.max_density = float(self.density.evaluate(y).max())
        elif isinstance(kind, str):
            median = _quartiles(y, sample_weight)[1]
            self.points = _boxplot_points(y, sample_weight)
            self.clip_range = (median if kind == "high" else -np.inf, median if kind == "low" else np.inf)
        elif not callable(kind):
            self.points = _control_points(kind)
            self.clip_range = (-np.inf, np.inf)

    def evaluate(self, y: Any) -> np.ndarray:
        """Relevance, shape (n,), of the targets ``y``.

        Examples
        --------
        >>> TargetRelevance([0.0, 0.0, 0.0, 0.0, 9.0]).evaluate([0.0, 9.0])
        array([0., 1.])
        """
        y = np.asarray(y, dtype=np.float64)
        if callable(self.kind):
            return _checked_relevance(self.kind, y)
        if isinstance(self.kind, str) and self.kind == "density":
            return np.clip(1.0 - self.density.evaluate(y) / self.max_density, 0.0, 1.0)
        targets, relevances = self.points
        if len(targets) < 2:
            return np.zeros(len(y))
        clipped = np.clip(np.clip(y, *self.clip_range), targets[0], targets[-1])
        return np.asarray(np.clip(PchipInterpolator(targets, relevances)(clipped), 0.0, 1.0))


class RelevantDensity:
    """Density of targets in which irrelevant targets are as common as the commonest one.

    A target of density p and relevance r has the density p^r m^(1 - r), where m is the largest density: relevance 1
    keeps the density of a target, relevance 0 makes it common.

    Parameters
    ----------
    density : TargetDensity
    y : array of shape (n, n_outputs)
        Training targets.
    relevance : "auto" or a kind of :class:`TargetRelevance`
        "auto": all targets matter, and densities do not change. With several outputs, relevance is evaluated for each,
        and the largest one counts.
    sample_weight : array of shape (n,), optional

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([1.0, 2.0, 3.0], [20, 160, 20])[:, None]
    >>> density = TargetDensity(y)
    >>> RelevantDensity(density, y, [(2, 0), (3, 1)]).evaluate(np.array([[1.0], [2.0], [3.0]]))
    array([0.8, 0.8, 0.1])
    """

    def __init__(self, density: TargetDensity, y: Any, relevance: Any = "auto", sample_weight: Any = None):
        self.density = density
        self.relevances: list[TargetRelevance] = []  # one for each output
        self.kind = density.kind
        if isinstance(relevance, str) and relevance == "auto":
            return
        targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        self.relevances = [TargetRelevance(column, relevance, sample_weight) for column in targets.T]
        self.kind = "relevant"  # a kind of its own: nodes of a forest evaluate this density
        self.max_density = float(density.evaluate(targets).max())

    def evaluate(self, y: Any) -> np.ndarray:
        """Densities, each in (0, 1], of the targets ``y`` of shape (n, n_outputs)."""
        density = self.density.evaluate(y)
        if not self.relevances:
            return density
        columns = np.asarray(y, dtype=np.float64).reshape(len(y), -1).T
        pairs = zip(self.relevances, columns, strict=True)
        relevance = np.max([output.evaluate(column) for output, column in pairs], axis=0)
        return np.asarray(density**relevance * self.max_density ** (1.0 - relevance))

    def rarity(self, y: Any) -> np.ndarray:
        """Factors of the weights of rows with the targets ``y`` that give all relevant regions the same weight."""
        return rarity_of(self.evaluate(y))


def check_relevance(kind: Any, names: Sequence[str]) -> None:
    """Raise an error unless ``kind`` is one of the names, a function or control points.

    Examples
    --------
    >>> check_relevance([(1, 0), (2, 1)], ("high", "low"))
    """
    if isinstance(kind, str):
        if kind not in names:
            raise DSNAError(
                f"relevance={kind!r} is unknown: use one of {tuple(names)}, a function of the targets, or a list of "
                "(target, relevance) pairs."
            )
    elif not callable(kind):
        _control_points(kind)


def _control_points(pairs: Any) -> tuple[np.ndarray, np.ndarray]:
    """Targets in ascending order and their relevances, from pairs in any order."""
    try:
        points = np.asarray(pairs, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.ndim != 2 or points.shape[1:] != (2,) or len(points) < 2:
        raise DSNAError("Control points of a relevance must be at least two pairs (target, relevance) of numbers.")
    targets, relevances = points[np.argsort(points[:, 0], kind="stable")].T
    distinct = (targets[1:] > targets[:-1]).all()
    if not (np.isfinite(points).all() and distinct and (relevances >= 0.0).all() and (relevances <= 1.0).all()):
        raise DSNAError(
            "Control points of a relevance must have distinct finite targets, and relevances between 0 and 1."
        )
    return targets, relevances


def _checked_relevance(function: Callable[[Any], Any], y: np.ndarray) -> np.ndarray:
    """Checked values of a relevance function."""
    relevances = np.asarray(function(y), dtype=np.float64)
    if relevances.shape != y.shape or np.isnan(relevances).any():
        raise DSNAError(
            f"relevance must return one number, not NaN, for each of {len(y)} targets; got shape {relevances.shape}."
        )
    if (relevances < 0.0).any() or (relevances > 1.0).any():
        raise DSNAError("relevance must return numbers between 0 and 1.")
    return relevances


def _boxplot_points(y: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
    """Targets in ascending order and their relevances: the median, and on each side the whisker or outermost target."""
    low, median, high = _quartiles(y, sample_weight)
    whisker_length = _FENCE * (high - low)
    lower, upper = y[y >= low - whisker_length].min(), y[y <= high + whisker_length].max()
    points = {median: 0.0}
    for whisker, extreme in ((lower, y.min()), (upper, y.max())):
        end = whisker if (whisker - median) * (extreme - median) > 0 else extreme
        if end != median:
            points[end] = 1.0
    targets = np.array(sorted(points))
    return targets, np.array([points[target] for target in targets])


def _quartiles(y: np.ndarray, sample_weight: Any) -> np.ndarray:
    """Quartiles by ``np.quantile`` of rows that are repeated by their weights; the smallest weight counts as one."""
    if sample_weight is None:
        return np.asarray(np.quantile(y, [0.25, 0.5, 0.75]))
    weight = np.asarray(sample_weight, dtype=np.float64)
    return counted_quantiles(y, y, weight / weight.min(), [0.25, 0.5, 0.75])
