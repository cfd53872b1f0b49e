"""Figures with the cases behind them: recall and precision of classes, errors of target ranges, on weighted cases.

Cases are rows whose answer was made without them. They may be a sample in which rare rows come first: each stands for
as many rows as its weight says, and every figure and its range take the weights into account.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .._utils.errors import DSNAError
from ..forest.density import TargetDensity

#: Cases that a figure needs; below, the report says "too few to say".
FEWEST = 10
_TIE = 1e-9
_MOST_TIES = 2.0  # ties at the edge of the rare targets, in units of their share
_NORMAL = 1.96  # half the width of a 95 % range, in standard errors


class Figure(NamedTuple):
    """A figure, its 95 % range and the number of cases behind it.

    Examples
    --------
    >>> Figure(0.5, 0.4, 0.6, 9).few
    True
    """

    value: float
    low: float
    high: float
    cases: int

    @property
    def few(self) -> bool:
        """Whether there are too few cases to say."""
        return self.cases < FEWEST or not np.isfinite(self.value)


class Cases(NamedTuple):
    """Weights of cases, and the groups (persons, days) that they come from; n cases."""

    weight: np.ndarray
    group: np.ndarray  # (n,) numbers of the groups; cases of one group are not independent

    @classmethod
    def of(cls, n: int, weight: Any = None, groups: Any = None) -> Cases:
        """Cases of given weights and groups; None stands for equal weights, and for cases on their own."""
        weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
        group = np.arange(n) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1].ravel()
        if weight.shape != (n,) or group.shape != (n,):
            raise DSNAError(f"Weights and groups are to be one for each of {n} cases; got {len(weight)}, {len(group)}.")
        return cls(weight, group)

    def part(self, some: np.ndarray) -> Cases:
        """Some of the cases."""
        return Cases(self.weight[some], self.group[some])

    def mean(self, values: np.ndarray) -> Figure:
        """Weighted mean, with a range of two standard errors over groups."""
        total = self.weight.sum()
        if not total > 0:
            return Figure(np.nan, np.nan, np.nan, len(values))
        mean = float(self.weight @ values / total)
        n = max(len(np.unique(self.group)), 2)
        half = _NORMAL * float(np.sqrt(self._variance(values, mean) * n / (n - 1)))
        return Figure(mean, mean - half, mean + half, len(values))

    def share(self, hit: np.ndarray) -> Figure:
        """Weighted share of the cases that are true, with Wilson's range for as many cases as weights and groups leave.

        Examples
        --------
        >>> import numpy as np
        >>> found = Cases.of(10).share(np.arange(10) < 8)
        >>> round(found.value, 3), round(found.low, 3), round(found.high, 3), found.cases
        (0.8, 0.49, 0.943, 10)
        """
        hit = np.asarray(hit, dtype=np.float64)
        total = self.weight.sum()
        if not total > 0:
            return Figure(np.nan, np.nan, np.nan, len(hit))
        p = float(np.clip(self.weight @ hit / total, 0.0, 1.0))
        by_weight = total**2 / np.sum(np.bincount(self.group, weights=self.weight) ** 2)
        variance = self._variance(hit, p)
        n = min(p * (1.0 - p) / variance, len(hit)) if variance > 0 else by_weight
        squared = _NORMAL**2 / float(n)
        middle = (p + 0.5 * squared) / (1.0 + squared)
        half = float(np.sqrt(squared * (p * (1.0 - p) + 0.25 * squared)) / (1.0 + squared))
        return Figure(p, max(middle - half, 0.0), min(middle + half, 1.0), len(hit))

    def _variance(self, values: np.ndarray, mean: float) -> float:
        parts = np.bincount(self.group, weights=self.weight * (values - mean))
        return float(np.sum(parts**2) / self.weight.sum() ** 2)


def rare_targets(y: np.ndarray, share: float = 0.1) -> np.ndarray:
    """(n,) whether a target is among the rarest: those of lowest density, about a tenth of the rows.

    Where very many rows tie at the edge, as where nearly all targets lie together and a few far out, those that tie are
    left out: then fewer are rare.

    Examples
    --------
    >>> import numpy as np
    >>> rare_targets(np.r_[np.linspace(0.0, 1.0, 90), np.linspace(50.0, 100.0, 5)]).sum()
    np.int64(5)
    """
    value = TargetDensity(y).evaluate(y[:, None])
    edge = np.partition(value, rank := int(np.ceil(share * len(y))) - 1)[rank]
    rare = value <= edge * (1.0 + _TIE)
    return np.asarray(value < edge * (1.0 - _TIE) if rare.mean() > _MOST_TIES * share else rare)


def written(value: float) -> str:
    """A figure as commands and pages write it: three digits behind the point, fewer of large ones.

    Examples
    --------
    >>> written(0.82649), written(44.7625), written(0.00012345)
    ('0.826', '44.8', '0.00012')
    """
    size = abs(value)
    if 0.0 < size < 0.001:
        return f"{value:.2g}"
    return f"{value:.3f}" if size < 10.0 else f"{value:.1f}" if size < 1000.0 else f"{value:.0f}"


def balanced_accuracy(code: np.ndarray, right: np.ndarray, cases: Cases) -> Figure:
    """Mean of the recalls: the share of the cases that are right, where all classes weigh the same.

    Examples
    --------
    >>> import numpy as np
    >>> round(
    ...     balanced_accuracy(np.repeat([0, 1], [90, 10]), np.repeat([True, False], [90, 10]), Cases.of(100)).value, 6
    ... )
    0.5
    """
    total = np.bincount(code, weights=cases.weight)
    return Cases(cases.weight / np.maximum(total, 1e-300)[code], cases.group).share(right)


def explained_variance(truth: np.ndarray, said: np.ndarray, cases: Cases) -> Figure:
    """R2, with the range of a ratio of two means.

    Examples
    --------
    >>> import numpy as np
    >>> round(explained_variance(np.array([0.0, 2.0]), np.array([0.0, 1.0]), Cases.of(2)).value, 6)
    0.5
    """
    off = (truth - said) ** 2
    spread = (truth - cases.mean(truth).value) ** 2
    variance = cases.mean(spread).value
    if not variance > 0:
        return Figure(np.nan, np.nan, np.nan, len(truth))
    left = cases.mean(off).value / variance
    ratio = cases.mean((off - left * spread) / variance)
    half = ratio.high - ratio.value
    return Figure(1.0 - left, 1.0 - left - half, 1.0 - left + half, len(truth))


class ClassFigures(NamedTuple):
    """How well one class is found."""

    name: Any
    rows: float  # weight of its cases: how many rows of the population at hand they stand for
    recall: Figure
    precision: Figure


class RangeFigures(NamedTuple):
    """How far off predictions are in one range of the target, from ``low`` to ``high``."""

    low: float
    high: float
    rows: float
    error: Figure  # mean absolute error
    bias: Figure  # mean of prediction - target


def class_figures(y_true: Any, y_pred: Any, classes: Sequence[Any], cases: Cases) -> list[ClassFigures]:
    """Recall and precision of each class.

    Examples
    --------
    >>> import numpy as np
    >>> y_true, y_pred = np.array(["a"] * 12 + ["b"] * 3), np.array(["a"] * 10 + ["b"] * 5)
    >>> [
    ...     (one.name, one.recall.few, round(one.recall.value, 2))
    ...     for one in class_figures(y_true, y_pred, ["a", "b"], Cases.of(15))
    ... ]
    [('a', False, 0.83), ('b', True, 1.0)]
    """
    truth, said = np.asarray(y_true), np.asarray(y_pred)
    right = truth == said
    found = []
    for name in classes:
        own, called = truth == name, said == name
        recall, precision = cases.part(own).share(right[own]), cases.part(called).share(right[called])
        found.append(ClassFigures(name, float(cases.weight[own].sum()), recall, precision))
    return found


def range_edges(y: np.ndarray, bins: int = 10) -> np.ndarray:
    """Edges of ranges of equal width over most targets; the outermost ranges reach to the outermost targets.

    A few targets far out would leave nearly all rows in one range: the inner edges span the middle 98 %.

    Examples
    --------
    >>> import numpy as np
    >>> range_edges(np.arange(101.0), 4).tolist()
    [0.0, 25.5, 50.0, 74.5, 100.0]
    """
    low, high = float(y.min()), float(y.max())
    first, last = np.quantile(y, [0.01, 0.99])
    inner = np.linspace(first, last, bins + 1)[1:-1]
    return np.asarray(np.r_[low, np.unique(inner[(inner > low) & (inner < high)]), high])


def range_figures(y_true: np.ndarray, y_pred: np.ndarray, edges: np.ndarray, cases: Cases) -> list[RangeFigures]:
    """Mean absolute error and bias in each range of the target.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.arange(20.0)
    >>> [
    ...     (one.low, one.high, one.error.value)
    ...     for one in range_figures(y, y + 1.0, np.array([0, 9.5, 19]), Cases.of(20))
    ... ]
    [(0.0, 9.5, 1.0), (9.5, 19.0, 1.0)]
    """
    which = np.searchsorted(edges[1:-1], y_true, side="right")
    off = y_pred - y_true
    found = []
    for r, (low, high) in enumerate(pairwise(edges)):
        own = which == r
        part = cases.part(own)
        error, bias = part.mean(np.abs(off[own])), part.mean(off[own])
        found.append(RangeFigures(float(low), float(high), float(part.weight.sum()), error, bias))
    return found
