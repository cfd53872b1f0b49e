"""Trends: ridge regressions on the inputs or on radial functions of them, of targets or of thresholds, cross-fitted."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._utils.invariants import LARGEST, STEEPEST, Array, Checked, Choice, Part, require
from ..forest.held_out import N_FOLDS
from ..forest.scaling import column_spread
from .features import Basis, n_landmarks
from .ridge import FoldSums
from .thresholds import Thresholds

#: Widths of radial functions and penalties of the ridge that are compared, by kind.
GRID: dict[str, tuple[tuple[float | None, ...], tuple[float, ...]]] = {
    "linear": ((None,), (0.1, 1.0, 10.0, 100.0)),
    "joint": ((0.1, 0.3, 1.0, 3.0), (0.01, 0.1, 1.0)),
    "kernel": ((0.1, 0.3, 1.0, 3.0), (0.01, 0.1, 1.0)),
    "ordinal": ((0.1, 0.2, 0.4, 0.8), (0.01, 0.03, 0.1, 0.3, 1.0)),
}
KINDS = tuple(GRID)
_FEWEST_ROWS = 50
#: Rows and landmarks that widths and penalties are compared on: thresholds need finer functions than targets.
_CHOICE = {True: (2000, 400), False: (1000, 200)}
_TIE = 1e-9
_COST = 0.5  # power of the inverse density that rows weigh
_SMALLEST = 1e-100
_OUTERMOST = 0.1  # share of the targets on either side
_FADE = (0.02, 0.1, 0.9, 0.98)  # shares of the rows, by their trend, between which its own value loses its say


def trends_to_try(targets_repeat: bool) -> tuple[str, ...]:
    """The kinds among which "auto" chooses: thresholds only where targets repeat.

    Examples
    --------
    >>> trends_to_try(targets_repeat=False)
    ('linear', 'joint')
    """
    return ("ordinal", "linear", "joint") if targets_repeat else ("linear", "joint")


class TrendColumns(NamedTuple):
    """What a ridge is learned on and what it predicts, at any rows."""

    basis: Basis
    columns: np.ndarray  # (functions, r) combinations of the functions
    thresholds: Thresholds | None

    def at(self, X: np.ndarray) -> np.ndarray:
        """(n, r) at rows on the common scale."""
        return np.asarray(self.basis.functions(X) @ self.columns)

    def values(self, target: np.ndarray) -> np.ndarray:
        """(n, k) targets, or whether they exceed thresholds."""
        return target if self.thresholds is None else self.thresholds.indicators(target)


class TrendRows(NamedTuple):
    """What a trend is learned from; n rows."""

    X: np.ndarray  # (n, d) on the common scale
    target: np.ndarray  # (n, q)
    weight: np.ndarray  # (n,) sample weights, larger where targets are rare
    fold: np.ndarray  # (n,) held-out fold
    sums_of_all: Callable[[TrendColumns], FoldSums] | None = None  # where these rows stand for more, elsewhere

    def part(self, some: np.ndarray) -> TrendRows:
        """Some of the rows."""
        return TrendRows(self.X[some], self.target[some], self.weight[some], self.fold[some])

    @property
    def enough(self) -> bool:
        """Whether every fold can be left out, and every pair of them."""
        held = np.bincount(self.fold, weights=self.weight > 0, minlength=N_FOLDS)
        return bool(held.sum() >= _FEWEST_ROWS and held.min() > 0 and np.all(np.ptp(self.target, axis=0) > 0))


class Trend(Checked):
    """A smooth model of the targets.

    Attributes
    ----------
    kind : {"linear", "kernel", "ordinal"}
    basis : the functions that it is linear in.
    slopes, intercept : (functions, k), (k,) of the targets, or of the shares that exceed thresholds.
    thresholds : of an ordinal trend; None of the others.
    bounds : (2, q) predictions beyond these are cut off: one range of the training targets on either side.
    reach : (2, q) lowest and highest value at a training row, learned with or without the row's fold.
    ends : (4, q) values between which the pull of the trend fades out, on either side; None where it does not, as of
        kinds that continue past the rows.
    """

    FIELDS = {
        "kind": Choice(KINDS),
        "basis": Part("Basis", "features"),
        "slopes": Array("float64", "functions, values", -STEEPEST, STEEPEST),
        "intercept": Array("float64", "values", -STEEPEST, STEEPEST),
        "thresholds": Part("Thresholds", "outputs", none=True),
        "bounds": Array("float64", "two, outputs", -LARGEST, LARGEST),
        "reach": Array("float64", "two, outputs", -LARGEST, LARGEST),
        "ends": Array("float64", "four, outputs", -LARGEST, LARGEST, none=True),
    }

    kind: str
    basis: Basis
    slopes: np.ndarray
    intercept: np.ndarray
    thresholds: Thresholds | None
    bounds: np.ndarray
    reach: np.ndarray
    ends: np.ndarray | None

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(sizes["two"] == 2, "Trend.bounds is no pair")
        require(self.ends is None or sizes["four"] == 4, "Trend.ends are not four")
        for name, steps in (("bounds", self.bounds), ("reach", self.reach), ("ends", self.ends)):
            require(steps is None or np.all(steps[:-1] <= steps[1:]), f"Trend.{name} does not rise")
        require(sizes["functions"] == self.basis.n_functions, "Trend.slopes does not fit the basis")
        expected = sizes["outputs"] if self.thresholds is None else len(self.thresholds.step)
        require(sizes["values"] == expected, "Trend.slopes has another number of values")

    def predict(self, X: np.ndarray) -> np.ndarray:
        """(n, q) trend at rows on the common scale."""
        value = self.basis.product(X, self.slopes) + self.intercept
        if self.thresholds is not None:
            value = self.thresholds.targets(value)
        return np.asarray(np.clip(value, *self.bounds))

    def past(self, X: np.ndarray) -> np.ndarray:
        """(n, q) how far the trend at rows on the common scale lies past its values at the training rows; mostly 0."""
        return how_far_past(self.predict(X), self.reach)


class How(NamedTuple):
    """How a trend was fitted."""

    kind: str
    width: float | None
    penalty: float
    picked: np.ndarray  # numbers of the landmarks among the rows


class CrossFitted(NamedTuple):
    """A trend, and what it says of the training rows without having seen them."""

    trend: Any  # a Trend, or what stands in for it
    own: np.ndarray  # (n, q) trend at each row, learned without its fold
    outside: np.ndarray  # (N_FOLDS, n, q) at each row, learned without its fold and another
    beyond: float  # error on the outermost targets, learned without them; in spreads of the target
    how: How | None = None  # None of what stands in for a Trend


def fit_trend(kind: str, rows: TrendRows, rng: np.random.RandomState) -> CrossFitted:
    """Learn a trend; width and penalty are those of smallest cross-fitted error on a bounded sample of the rows."""
    thresholds = Thresholds(rows.target) if kind == "ordinal" else None
    most_rows, most_landmarks = _CHOICE[kind == "ordinal"]
    some = np.sort(rng.permutation(len(rows.X))[:most_rows])
    few = rows.part(some)
    spread = column_spread(rows.target)
    bounds = bounds_of(rows.target)
    best, chosen = np.inf, (GRID[kind][0][0], GRID[kind][1][0])
    picked = rng.permutation(len(few.X))[:most_landmarks]
    for width in GRID[kind][0]:
        fitted = _Fits(few, width, picked, kind, thresholds, bounds)
        for penalty in GRID[kind][1]:
            error = (np.abs(fitted.own(penalty) - few.target) / spread).mean(axis=1)
            loss = float(np.average(error, weights=few.weight))
            if loss < best - _TIE:
                best, chosen = loss, (width, penalty)
    return _cross_fitted(How(kind, *chosen, rng.permutation(len(rows.X))[: n_landmarks(*rows.X.shape)]), rows)


def from_all_rows(fitted: CrossFitted, rows: TrendRows) -> CrossFitted:
    """The same trend, with slopes from the sums over all rows that ``rows`` stand for."""
    if fitted.how is None or rows.sums_of_all is None:
        return fitted
    again = _cross_fitted(fitted.how, rows, rows.sums_of_all)
    again.trend.ends = None if fitted.trend.ends is None else again.trend.ends
    return again


def _cross_fitted(how: How, rows: TrendRows, sums_of: Callable[[TrendColumns], FoldSums] | None = None) -> CrossFitted:
    """A trend, and what it says of the rows without having seen them; from sums of more rows, where there are any."""
    thresholds = Thresholds(rows.target) if how.kind == "ordinal" else None
    fits = _Fits(rows, how.width, how.picked, how.kind, thresholds, bounds_of(rows.target))
    if sums_of is not None:
        fits.sums = sums_of(fits.columns)
    own, outside = cross_fit(rows.fold, fits.learner(how.penalty))
    beyond = fits.beyond(how.penalty, column_spread(rows.target))
    return CrossFitted(fits.trend(how.kind, how.penalty, own), own, outside, beyond, how)


def trend_weights(weight: np.ndarray, share: np.ndarray) -> np.ndarray:
    """(n,) what rows weigh in a trend, up to a factor, given the shares of their targets: rare ones more.

    Examples
    --------
    >>> import numpy as np
    >>> trend_weights(np.ones(2), np.array([0.25, 0.01]))
    array([ 2., 10.])
    """
    return np.asarray(weight * share**-_COST)


def bounds_of(target: np.ndarray) -> np.ndarray:
    """(2, q) one range of the targets past the outermost, on either side."""
    low, high = target.min(axis=0), target.max(axis=0)
    return np.stack([2.0 * low - high, 2.0 * high - low])


def reach_of(*known: np.ndarray) -> np.ndarray:
    """(2, q) lowest and highest of the values known."""
    every = np.concatenate(known)
    return np.stack([every.min(axis=0), every.max(axis=0)])


def _ends_of(own: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(4, q) outermost fiftieth and tenth of the trend at the training rows, on either side."""
    return np.asarray(np.quantile(own[weight > 0], _FADE, axis=0))


def hold(value: np.ndarray, ends: np.ndarray | None) -> np.ndarray:
    """(n, q) from 1, where a trend lies amid its values at the training rows, down to 0 at the outermost of them.

    Radial functions end where the rows end, and fall short of the targets there. Without ``ends``, all is 1.

    Examples
    --------
    >>> import numpy as np
    >>> hold(np.array([[0.0], [5.0], [8.5], [9.5]]), np.array([[0.0], [1.0], [8.0], [9.0]])).ravel()
    array([0. , 1. , 0.5, 0. ])
    """
    if ends is None:
        return np.ones_like(value)
    low, inner_low, inner_high, high = ends
    rising = (value - low) / np.maximum(inner_low - low, _SMALLEST)
    falling = (high - value) / np.maximum(high - inner_high, _SMALLEST)
    return np.asarray(np.clip(np.minimum(rising, falling), 0.0, 1.0))


def how_far_past(value: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """(n, q) distance of values from the range between the two rows of ``reach``; 0 within."""
    return np.asarray(np.maximum(0.0, np.maximum(reach[0] - value, value - reach[1])))


#: Given folds to leave out, a function that gives the trend at the rows that a mask picks.
Learner: TypeAlias = Callable[[tuple[int, ...]], Callable[[np.ndarray], np.ndarray]]


def cross_fit(fold: np.ndarray, learn_without: Learner) -> tuple[np.ndarray, np.ndarray]:
    """(n, q) trend at each row, learned without its fold; (N_FOLDS, n, q) the same, each also without one more fold."""
    values: dict[tuple[int, int], np.ndarray] = {}
    for b in range(N_FOLDS):
        values[b, b] = learn_without((b,))(fold == b)
    for b, c in combinations(range(N_FOLDS), 2):
        trend = learn_without((b, c))
        values[b, c], values[c, b] = trend(fold == c), trend(fold == b)
    outside = np.empty((N_FOLDS, len(fold), values[0, 0].shape[1]))
    for (b, c), value in values.items():
        outside[b, fold == c] = value
    return outside[fold, np.arange(len(fold))], outside


class _Fits:
    """Ridge regressions on one basis that leave out folds."""

    def __init__(
        self,
        rows: TrendRows,
        width: float | None,
        picked: np.ndarray,
        kind: str,
        thresholds: Thresholds | None,
        bounds: np.ndarray,
    ):
        linear = kind in ("linear", "joint")
        self.rows, self.thresholds, self.bounds = rows, thresholds, bounds
        self.basis = Basis(rows.X, width, picked, linear)
        self.columns = TrendColumns(self.basis, self.basis.columns(rows.X, picked), thresholds)
        self.F, self.values = self.columns.at(rows.X), self.columns.values(rows.target)
        self.sums = FoldSums(self.F, self.values, rows.weight, rows.fold)

    def learner(self, penalty: float) -> Learner:
        """Trends that leave out folds."""

        def without(left_out: tuple[int, ...]) -> Callable[[np.ndarray], np.ndarray]:
            solution = self.sums.solve(left_out, penalty)
            return lambda some: self._targets(self.F[some], *solution)

        return without

    def _targets(self, F: np.ndarray, slopes: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        value = F @ slopes + intercept
        value = value if self.thresholds is None else self.thresholds.targets(value)
        return np.asarray(np.clip(value, *self.bounds))

    def own(self, penalty: float) -> np.ndarray:
        """(n, q) trend at each row, learned without its fold."""
        out, learn_without = np.empty_like(self.rows.target), self.learner(penalty)
        for b in range(N_FOLDS):
            out[self.rows.fold == b] = learn_without((b,))(self.rows.fold == b)
        return out

    def beyond(self, penalty: float, spread: np.ndarray) -> float:
        """Mean absolute error on the outermost fifth of the targets, learned from the others, output by output."""
        errors = []
        for a, target in enumerate(self.rows.target.T):
            low, high = np.quantile(target, [_OUTERMOST, 1.0 - _OUTERMOST])
            inner = (target >= low) & (target <= high)
            rows = self.rows.part(inner)
            sums = FoldSums(self.F[inner], self.values[inner], rows.weight, rows.fold)
            value = self._targets(self.F[~inner], *sums.solve((), penalty))
            errors.append(np.abs(value[:, a] - target[~inner]).mean() / spread[a] if not inner.all() else 0.0)
        return float(np.mean(errors))

    def trend(self, kind: str, penalty: float, own: np.ndarray) -> Trend:
        slopes, intercept = self.sums.solve((), penalty)
        trend = Trend()
        trend.kind, trend.basis, trend.thresholds, trend.bounds = kind, self.basis, self.thresholds, self.bounds
        trend.reach = reach_of(own, self._targets(self.F, slopes, intercept))
        trend.ends = None if self.basis.linear else _ends_of(own, self.rows.weight)
        trend.slopes, trend.intercept = self.columns.columns @ slopes, intercept
        trend.check()
        return trend
