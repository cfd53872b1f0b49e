"""Figures of merit with confidence intervals: recall and precision of classes, errors by target range.

Cases are rows that were predicted without having been learned from. They may be a sample that favours rare rows: the
weight of a case is the number of rows that it represents, and all figures and intervals take the weights into account.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .._utils.errors import DSNAError
from ..forest.density import TargetDensity

#: Minimum number of cases of a figure; with fewer, reports say "too few to say".
FEWEST = 10
_TIE = 1e-9
_MAX_TIES = 2.0  # ties at the edge of the rare targets, in units of their share
_NORMAL = 1.96  # half the width of a 95 % range, in standard errors


class Figure(NamedTuple):
    """Value, 95 % confidence interval and number of cases of a figure.

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
        """Whether there are too few cases for a reliable value."""
        return self.cases < FEWEST or not np.isfinite(self.value)


class Cases(NamedTuple):
    """Weights and groups (persons, days) of n cases."""

    weight: np.ndarray
    group: np.ndarray  # (n,) group numbers; cases of one group are not independent

    @classmethod
    def of(cls, n: int, weight: Any = None, groups: Any = None) -> Cases:
        """Cases with given weights and groups; None stands for equal weights and for independent cases."""
        weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
        group = np.arange(n) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1].ravel()
        if weight.shape != (n,) or group.shape != (n,):
            raise DSNAError(f"Weights and groups must have length {n}; got {len(weight)} and {len(group)}.")
        return cls(weight, group)

    def part(self, mask: np.ndarray) -> Cases:
        """Cases selected by a mask or by indices."""
        return Cases(self.weight[mask], self.group[mask])

    def mean(self, values: np.ndarray) -> Figure:
        """Weighted mean with its 95 % interval, from the standard error over groups."""
        total = self.weight.sum()
        if not total > 0:
            return Figure(np.nan, np.nan, np.nan, len(values))
        mean = float(self.weight @ values / total)
        n_groups = max(len(np.unique(self.group)), 2)
        half_width = _NORMAL * float(np.sqrt(self._variance(values, mean) * n_groups / (n_groups - 1)))
        return Figure(mean, mean - half_width, mean + half_width, len(values))

    def share(self, correct: np.ndarray) -> Figure:
        """Weighted share of true cases with its Wilson interval, for the effective number of cases.

        Examples
        --------
        >>> import numpy as np
        >>> figure = Cases.of(10).share(np.arange(10) < 8)
        >>> round(figure.value, 3), round(figure.low, 3), round(figure.high, 3), figure.cases
        (0.8, 0.49, 0.943, 10)
        """
        correct = np.asarray(correct, dtype=np.float64)
        total = self.weight.sum()
        if not total > 0:
            return Figure(np.nan, np.nan, np.nan, len(correct))
        p = float(np.clip(self.weight @ correct / total, 0.0, 1.0))
        effective_n = total**2 / np.sum(np.bincount(self.group, weights=self.weight) ** 2)
        variance = self._variance(correct, p)
        n = min(p * (1.0 - p) / variance, len(correct)) if variance > 0 else effective_n
        squared = _NORMAL**2 / float(n)
        center = (p + 0.5 * squared) / (1.0 + squared)
        half_width = float(np.sqrt(squared * (p * (1.0 - p) + 0.25 * squared)) / (1.0 + squared))
        return Figure(p, max(center - half_width, 0.0), min(center + half_width, 1.0), len(correct))

    def _variance(self, values: np.ndarray, mean: float) -> float:
        group_sums = np.bincount(self.group, weights=self.weight * (values - mean))
        return float(np.sum(group_sums**2) / self.weight.sum() ** 2)


def rare_targets(y: np.ndarray, share: float = 0.1) -> np.ndarray:
    """(n,) whether a target is rare: one of those with the lowest density, by default a tenth of the rows.

    If very many rows tie at the limit, as when nearly all targets are close together, these are not rare, so that there
    are fewer rare rows.

    Examples
    --------
    >>> import numpy as np
    >>> rare_targets(np.r_[np.linspace(0.0, 1.0, 90), np.linspace(50.0, 100.0, 5)]).sum()
    np.int64(5)
    """
    density = TargetDensity(y).evaluate(y[:, None])
    limit = np.partition(density, rank := int(np.ceil(share * len(y))) - 1)[rank]
    rare = density <= limit * (1.0 + _TIE)
    return np.asarray(density < limit * (1.0 - _TIE) if rare.mean() > _MAX_TIES * share else rare)


def written(value: float) -> str:
    """Format a figure for commands and pages: three decimal places, fewer for large values.

    Examples
    --------
    >>> written(0.82649), written(44.7625), written(0.00012345)
    ('0.826', '44.8', '0.00012')
    """
    size = abs(value)
    if 0.0 < size < 0.001:
        return f"{value:.2g}"
    return f"{value:.3f}" if size < 10.0 else f"{value:.1f}" if size < 1000.0 else f"{value:.0f}"


def balanced_accuracy(code: np.ndarray, correct: np.ndarray, cases: Cases) -> Figure:
    """Balanced accuracy: share of correct cases if all classes have the same weight.

    Examples
    --------
    >>> import numpy as np
    >>> round(
    ...     balanced_accuracy(np.repeat([0, 1], [90, 10]), np.repeat([True, False], [90, 10]), Cases.of(100)).value, 6
    ... )
    0.5
    """
    total = np.bincount(code, weights=cases.weight)
    return Cases(cases.weight / np.maximum(total, 1e-300)[code], cases.group).share(correct)


def explained_variance(truth: np.ndarray, predicted: np.ndarray, cases: Cases) -> Figure:
    """R2 with the confidence interval of a ratio of two means.

    Examples
    --------
    >>> import numpy as np
    >>> round(explained_variance(np.array([0.0, 2.0]), np.array([0.0, 1.0]), Cases.of(2)).value, 6)
    0.5
    """
    squared_error = (truth - predicted) ** 2
    squared_deviation = (truth - cases.mean(truth).value) ** 2
    variance = cases.mean(squared_deviation).value
    if not variance > 0:
        return Figure(np.nan, np.nan, np.nan, len(truth))
    unexplained = cases.mean(squared_error).value / variance
    ratio = cases.mean((squared_error - unexplained * squared_deviation) / variance)
    half_width = ratio.high - ratio.value
    return Figure(1.0 - unexplained, 1.0 - unexplained - half_width, 1.0 - unexplained + half_width, len(truth))


class ClassFigures(NamedTuple):
    """Recall and precision of one class."""

    name: Any
    rows: float  # total weight of its cases: the number of rows that they represent
    recall: Figure
    precision: Figure


class RangeFigures(NamedTuple):
    """Errors in one range of the target, from ``low`` to ``high``."""

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
    ...     (figures.name, figures.recall.few, round(figures.recall.value, 2))
    ...     for figures in class_figures(y_true, y_pred, ["a", "b"], Cases.of(15))
    ... ]
    [('a', False, 0.83), ('b', True, 1.0)]
    """
    truth, predicted = np.asarray(y_true), np.asarray(y_pred)
    correct = truth == predicted
    figures = []
    for name in classes:
        is_class, is_predicted = truth == name, predicted == name
        recall = cases.part(is_class).share(correct[is_class])
        precision = cases.part(is_predicted).share(correct[is_predicted])
        figures.append(ClassFigures(name, float(cases.weight[is_class].sum()), recall, precision))
    return figures


def range_edges(y: np.ndarray, bins: int = 10) -> np.ndarray:
    """Edges of target ranges of equal width; the first and last range extend to the extreme targets.

    The inner edges span the middle 98 %, so that a few outliers do not leave nearly all rows in one range.

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
    ...     (figures.low, figures.high, figures.error.value)
    ...     for figures in range_figures(y, y + 1.0, np.array([0, 9.5, 19]), Cases.of(20))
    ... ]
    [(0.0, 9.5, 1.0), (9.5, 19.0, 1.0)]
    """
    range_number = np.searchsorted(edges[1:-1], y_true, side="right")
    error = y_pred - y_true
    figures = []
    for r, (low, high) in enumerate(pairwise(edges)):
        in_range = range_number == r
        range_cases = cases.part(in_range)
        absolute, bias = range_cases.mean(np.abs(error[in_range])), range_cases.mean(error[in_range])
        figures.append(RangeFigures(float(low), float(high), float(range_cases.weight.sum()), absolute, bias))
    return figures
