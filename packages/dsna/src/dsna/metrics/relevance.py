"""How relevant a regression target is: 0 for targets that do not matter, 1 for those that matter most.

``DSNARegressor(relevance=...)``, ``sera_error(relevance=...)`` and ``--relevance`` of the benchmark share this meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.interpolate import PchipInterpolator

from .._utils.errors import DSNAError
from ..forest.density import TargetDensity, counted_quantiles, rarity_of

RELEVANCES = ("boxplot", "density", "high", "low")
#: What a relevance may be: a name, a function of targets, or control points.
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
        monotone cubic in between. A whisker that coincides with the median, as among targets that are mostly zero,
        moves out to the most extreme target of its side. "high" is the same above the median and 0 below it, "low" the
        reverse. "density": 1 - density / largest density, so that gaps between common targets are relevant too. A
        callable maps targets (n,) to numbers in [0, 1]. Pairs (target, relevance) are control points, two or more, with
        a monotone cubic between neighbouring ones; beyond the outermost the relevance stays as it is there.
    sample_weight : array of shape (n,), optional
        How many rows each stands for; "density" and the box plot count them.

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
            raise DSNAError(f"Relevance needs finite targets of shape (n,), one at least; got shape {y.shape}.")
        check_relevance(kind, RELEVANCES)
        self.kind = kind
        if isinstance(kind, str) and kind == "density":
            self.density = TargetDensity(y, sample_weight=sample_weight)
            self.most = float(self.density.evaluate(y).max())
        elif isinstance(kind, str):
            middle = _quartiles(y, sample_weight)[1]
            self.points = _box_points(y, sample_weight)
            self.counted = (middle if kind == "high" else -np.inf, middle if kind == "low" else np.inf)
        elif not callable(kind):
            self.points = _given_points(kind)
            self.counted = (-np.inf, np.inf)

    def evaluate(self, y: Any) -> np.ndarray:
        """Relevance, shape (n,), of the targets ``y``.

        Examples
        --------
        >>> TargetRelevance([0.0, 0.0, 0.0, 0.0, 9.0]).evaluate([0.0, 9.0])
        array([0., 1.])
        """
        y = np.asarray(y, dtype=np.float64)
        if callable(self.kind):
            return _called(self.kind, y)
        if isinstance(self.kind, str) and self.kind == "density":
            return np.clip(1.0 - self.density.evaluate(y) / self.most, 0.0, 1.0)
        at, value = self.points
        if len(at) < 2:
            return np.zeros(len(y))
        inside = np.clip(np.clip(y, *self.counted), at[0], at[-1])
        return np.asarray(np.clip(PchipInterpolator(at, value)(inside), 0.0, 1.0))


class RelevantDensity:
    """Density of targets in which those that do not matter count as the commonest one does.

    A target of density p and relevance r has the density p^r m^(1 - r), where m is that of the commonest target: it is
    as rare as it is where the relevance is 1, and common where it is 0.

    Parameters
    ----------
    density : TargetDensity
    y : array of shape (n, n_outputs)
        Training targets.
    relevance : "auto" or a kind of :class:`TargetRelevance`
        "auto": all targets matter, and densities stay as they are. Of several outputs, each is judged on its own, and a
        target is as relevant as the most relevant of its outputs.
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
        self.kinds: list[TargetRelevance] = []
        self.kind = density.kind
        if isinstance(relevance, str) and relevance == "auto":
            return
        targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        self.kinds = [TargetRelevance(column, relevance, sample_weight) for column in targets.T]
        self.kind = "relevant"  # no count of equal targets: nodes of a forest take the density as it is here
        self.most = float(density.evaluate(targets).max())

    def evaluate(self, y: Any) -> np.ndarray:
        """Shares, each in (0, 1], of the targets ``y``, shape (n, n_outputs)."""
        share = self.density.evaluate(y)
        if not self.kinds:
            return share
        columns = np.asarray(y, dtype=np.float64).reshape(len(y), -1).T
        relevance = np.max([one.evaluate(column) for one, column in zip(self.kinds, columns, strict=True)], axis=0)
        return np.asarray(share**relevance * self.most ** (1.0 - relevance))

    def rarity(self, y: Any) -> np.ndarray:
        """What the weights of rows with the targets ``y`` are multiplied by where all regions that matter do alike."""
        return rarity_of(self.evaluate(y))


def check_relevance(kind: Any, names: Sequence[str]) -> None:
    """Refuse what is neither one of the names nor a function nor control points.

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
        _given_points(kind)


def _given_points(pairs: Any) -> tuple[np.ndarray, np.ndarray]:
    """Targets, increasing, and their relevances, from pairs in any order."""
    try:
        points = np.asarray(pairs, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.ndim != 2 or points.shape[1:] != (2,) or len(points) < 2:
        raise DSNAError("Control points of a relevance must be two or more pairs (target, relevance) of numbers.")
    at, value = points[np.argsort(points[:, 0], kind="stable")].T
    sound = np.isfinite(points).all() and (at[1:] > at[:-1]).all() and (value >= 0.0).all() and (value <= 1.0).all()
    if not sound:
        raise DSNAError(
            "Control points of a relevance must have finite targets, no target twice, and relevances between 0 and 1."
        )
    return at, value


def _called(function: Callable[[Any], Any], y: np.ndarray) -> np.ndarray:
    """What a function says of targets, checked."""
    value = np.asarray(function(y), dtype=np.float64)
    if value.shape != y.shape or np.isnan(value).any():
        raise DSNAError(
            f"relevance must give one number, not NaN, for each of {len(y)} targets; got shape {value.shape}."
        )
    if (value < 0.0).any() or (value > 1.0).any():
        raise DSNAError("relevance must give numbers between 0 and 1.")
    return value


def _box_points(y: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
    """Targets, increasing, and their relevances: the whisker of each side that has one, and the median."""
    low, middle, high = _quartiles(y, sample_weight)
    reach = _FENCE * (high - low)
    lower, upper = y[y >= low - reach].min(), y[y <= high + reach].max()
    points = {middle: 0.0}
    for whisker, extreme in ((lower, y.min()), (upper, y.max())):
        end = whisker if (whisker - middle) * (extreme - middle) > 0 else extreme
        if end != middle:
            points[end] = 1.0
    at = np.array(sorted(points))
    return at, np.array([points[target] for target in at])


def _quartiles(y: np.ndarray, sample_weight: Any) -> np.ndarray:
    """Quartiles as ``np.quantile`` has them, of rows each repeated as its weight says, in units of the smallest."""
    if sample_weight is None:
        return np.asarray(np.quantile(y, [0.25, 0.5, 0.75]))
    weight = np.asarray(sample_weight, dtype=np.float64)
    return counted_quantiles(y, y, weight / weight.min(), [0.25, 0.5, 0.75])
