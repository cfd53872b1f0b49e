"""Trends: cross-fitted ridge regressions of targets or thresholds on the inputs or radial functions of them."""

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

#: Grid of widths of the radial functions and penalties of the ridge regression, by kind of trend.
GRID: dict[str, tuple[tuple[float | None, ...], tuple[float, ...]]] = {
    "linear": ((None,), (0.1, 1.0, 10.0, 100.0)),
    "joint": ((0.1, 0.3, 1.0, 3.0), (0.01, 0.1, 1.0)),
    "kernel": ((0.1, 0.3, 1.0, 3.0), (0.01, 0.1, 1.0)),
    "ordinal": ((0.1, 0.2, 0.4, 0.8), (0.01, 0.03, 0.1, 0.3, 1.0)),
}
KINDS = tuple(GRID)
_MIN_ROWS = 50
#: Largest numbers of rows and landmarks in the grid search; thresholds need finer functions than targets.
_SEARCH_SIZE = {True: (2000, 400), False: (1000, 200)}
_TIE = 1e-9
_COST = 0.5  # rows are weighted by the inverse density of their target to this power
_SMALLEST = 1e-100
_TAIL = 0.1  # share of the targets on either side that counts as tail
_FADE = (0.02, 0.1, 0.9, 0.98)  # quantiles of the trend between which its pull fades out, on either side


def candidate_kinds(targets_repeat: bool) -> tuple[str, ...]:
    """Kinds that "auto" compares: thresholds only where targets repeat.

    Examples
    --------
    >>> candidate_kinds(targets_repeat=False)
    ('linear', 'joint')
    """
    return ("ordinal", "linear", "joint") if targets_repeat else ("linear", "joint")


class TrendColumns(NamedTuple):
    """Columns and responses of a ridge regression, for any rows."""

    basis: Basis
    columns: np.ndarray  # (functions, r) combinations of the functions
    thresholds: Thresholds | None

    def transform(self, X: np.ndarray) -> np.ndarray:
        """(n, r) columns at scaled rows."""
        return np.asarray(self.basis.functions(X) @ self.columns)

    def responses(self, target: np.ndarray) -> np.ndarray:
        """(n, k) targets, or indicators of the thresholds that they exceed."""
        return target if self.thresholds is None else self.thresholds.indicators(target)


class TrendRows(NamedTuple):
    """Training data of a trend; n rows."""

    X: np.ndarray  # (n, d) scaled inputs
    target: np.ndarray  # (n, q)
    weight: np.ndarray  # (n,) sample weights, larger for rare targets
    fold: np.ndarray  # (n,) held-out fold
    sums_of_all_rows: Callable[[TrendColumns], FoldSums] | None = None  # set where these rows are a sample

    def subset(self, rows: np.ndarray) -> TrendRows:
        """Data of the given rows (a mask or row numbers)."""
        return TrendRows(self.X[rows], self.target[rows], self.weight[rows], self.fold[rows])

    @property
    def can_cross_fit(self) -> bool:
        """Whether there are enough rows to leave out each fold and each pair of folds."""
        counts = np.bincount(self.fold, weights=self.weight > 0, minlength=N_FOLDS)
        return bool(counts.sum() >= _MIN_ROWS and counts.min() > 0 and np.all(np.ptp(self.target, axis=0) > 0))


class Trend(Checked):
    """A smooth model of the targets.

    Attributes
    ----------
    kind : {"linear", "joint", "kernel", "ordinal"}
    basis : functions of the inputs in which the trend is linear.
    slopes, intercept : (functions, k), (k,) coefficients for the targets, or for the probabilities of exceeding
        thresholds.
    thresholds : thresholds of an ordinal trend; None for other kinds.
    bounds : (2, q) limits at which predictions are clipped: one range of the training targets beyond each end.
    reach : (2, q) smallest and largest prediction for a training row, learned with or without its fold.
    ends : (4, q) trend values between which the pull fades out, on the lower and on the upper side; None where it does
        not fade out, as for kinds that extrapolate.
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
        require(sizes["two"] == 2, "Trend.bounds must have two rows")
        require(self.ends is None or sizes["four"] == 4, "Trend.ends must have four rows")
        for name, values in (("bounds", self.bounds), ("reach", self.reach), ("ends", self.ends)):
            require(values is None or np.all(values[:-1] <= values[1:]), f"Trend.{name} is not in ascending order")
        require(sizes["functions"] == self.basis.n_functions, "Trend.slopes does not fit the basis")
        n_values = sizes["outputs"] if self.thresholds is None else len(self.thresholds.step)
        require(sizes["values"] == n_values, f"Trend.slopes must have {n_values} columns")

    def predict(self, X: np.ndarray) -> np.ndarray:
        """(n, q) trend at scaled rows."""
        prediction = self.basis.product(X, self.slopes) + self.intercept
        if self.thresholds is not None:
            prediction = self.thresholds.targets(prediction)
        return np.asarray(np.clip(prediction, *self.bounds))

    def extrapolation(self, X: np.ndarray) -> np.ndarray:
        """(n, q) distance of the trend from the range of its values at the training rows; 0 within."""
        return distance_outside(self.predict(X), self.reach)


class TrendSettings(NamedTuple):
    """Settings that a trend was fitted with."""

    kind: str
    width: float | None
    penalty: float
    landmark_rows: np.ndarray  # numbers of the rows that are landmarks


class CrossFitted(NamedTuple):
    """A trend, and predictions of the training rows by trends fitted without them."""

    trend: Any  # Trend or RegressorTrend
    out_of_fold: np.ndarray  # (n, q) trend at each row, learned without its fold
    out_of_two_folds: np.ndarray  # (N_FOLDS, n, q) trend at each row, learned without its fold and a second one
    tail_error: float  # error on the outermost targets, learned without them; in spreads of the target
    settings: TrendSettings | None = None  # None for a RegressorTrend


def fit_trend(kind: str, rows: TrendRows, rng: np.random.RandomState) -> CrossFitted:
    """Fit a trend, with the width and penalty of smallest cross-fitted error on a bounded sample of the rows."""
    thresholds = Thresholds(rows.target) if kind == "ordinal" else None
    max_rows, max_landmarks = _SEARCH_SIZE[kind == "ordinal"]
    sample = rows.subset(np.sort(rng.permutation(len(rows.X))[:max_rows]))
    spread = column_spread(rows.target)
    bounds = clip_bounds(rows.target)
    widths, penalties = GRID[kind]
    best_loss, best_width, best_penalty = np.inf, widths[0], penalties[0]
    landmark_rows = rng.permutation(len(sample.X))[:max_landmarks]
    for width in widths:
        ridge = _CrossFitRidge(sample, width, landmark_rows, kind, thresholds, bounds)
        for penalty in penalties:
            error = (np.abs(ridge.out_of_fold(penalty) - sample.target) / spread).mean(axis=1)
            loss = float(np.average(error, weights=sample.weight))
            if loss < best_loss - _TIE:
                best_loss, best_width, best_penalty = loss, width, penalty
    landmark_rows = rng.permutation(len(rows.X))[: n_landmarks(*rows.X.shape)]
    return _cross_fit_trend(TrendSettings(kind, best_width, best_penalty, landmark_rows), rows)


def refit_on_all_rows(fitted: CrossFitted, rows: TrendRows) -> CrossFitted:
    """Refit a trend with the same settings to all rows, where ``rows`` is a sample of them."""
    if fitted.settings is None or rows.sums_of_all_rows is None:
        return fitted
    refitted = _cross_fit_trend(fitted.settings, rows, rows.sums_of_all_rows)
    refitted.trend.ends = None if fitted.trend.ends is None else refitted.trend.ends
    return refitted


def _cross_fit_trend(
    settings: TrendSettings, rows: TrendRows, sums_of_all_rows: Callable[[TrendColumns], FoldSums] | None = None
) -> CrossFitted:
    """Fit a trend with given settings, from the rows or from sums over more rows, and cross-fit it at the rows."""
    kind, width, penalty, landmark_rows = settings
    thresholds = Thresholds(rows.target) if kind == "ordinal" else None
    ridge = _CrossFitRidge(rows, width, landmark_rows, kind, thresholds, clip_bounds(rows.target))
    if sums_of_all_rows is not None:
        ridge.sums = sums_of_all_rows(ridge.columns)
    out_of_fold, out_of_two_folds = cross_fit(rows.fold, ridge.fitter(penalty))
    tail_error = ridge.tail_error(penalty, column_spread(rows.target))
    trend = ridge.trend(kind, penalty, out_of_fold)
    return CrossFitted(trend, out_of_fold, out_of_two_folds, tail_error, settings)


def trend_weights(weight: np.ndarray, density: np.ndarray) -> np.ndarray:
    """(n,) weights of the rows in a trend, up to a factor: sample weights, larger for targets of small density.

    Examples
    --------
    >>> import numpy as np
    >>> trend_weights(np.ones(2), np.array([0.25, 0.01]))
    array([ 2., 10.])
    """
    return np.asarray(weight * density**-_COST)


def clip_bounds(target: np.ndarray) -> np.ndarray:
    """(2, q) limits of predictions: one range of the targets beyond the smallest and the largest."""
    low, high = target.min(axis=0), target.max(axis=0)
    return np.stack([2.0 * low - high, 2.0 * high - low])


def value_range(*values: np.ndarray) -> np.ndarray:
    """(2, q) smallest and largest of all values, by column."""
    stacked = np.concatenate(values)
    return np.stack([stacked.min(axis=0), stacked.max(axis=0)])


def _fade_ends(out_of_fold: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(4, q) quantiles of the trend at the training rows between which the pull fades out, on either side."""
    return np.asarray(np.quantile(out_of_fold[weight > 0], _FADE, axis=0))


def fade_factor(trend: np.ndarray, ends: np.ndarray | None) -> np.ndarray:
    """(n, q) factor of the pull: 1 for common values of the trend, falling to 0 at its outermost values.

    Radial functions vanish away from the training rows, so the trend falls short of the outermost targets. Without
    ``ends``, the factor is 1.

    Examples
    --------
    >>> import numpy as np
    >>> fade_factor(np.array([[0.0], [5.0], [8.5], [9.5]]), np.array([[0.0], [1.0], [8.0], [9.0]])).ravel()
    array([0. , 1. , 0.5, 0. ])
    """
    if ends is None:
        return np.ones_like(trend)
    low, inner_low, inner_high, high = ends
    rising = (trend - low) / np.maximum(inner_low - low, _SMALLEST)
    falling = (high - trend) / np.maximum(high - inner_high, _SMALLEST)
    return np.asarray(np.clip(np.minimum(rising, falling), 0.0, 1.0))


def distance_outside(values: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """(n, q) distance of values from the interval between the two rows of ``limits``; 0 within."""
    return np.asarray(np.maximum(0.0, np.maximum(limits[0] - values, values - limits[1])))


#: Function that fits a trend without some folds, and returns a function that predicts the rows of a mask.
Fitter: TypeAlias = Callable[[tuple[int, ...]], Callable[[np.ndarray], np.ndarray]]


def cross_fit(fold: np.ndarray, fit_without: Fitter) -> tuple[np.ndarray, np.ndarray]:
    """(n, q) trend at each row, learned without its fold; (N_FOLDS, n, q) the same, also without a second fold."""
    values: dict[tuple[int, int], np.ndarray] = {}
    for held_out in range(N_FOLDS):
        values[held_out, held_out] = fit_without((held_out,))(fold == held_out)
    for first, second in combinations(range(N_FOLDS), 2):
        predict = fit_without((first, second))
        values[first, second], values[second, first] = predict(fold == second), predict(fold == first)
    out_of_two_folds = np.empty((N_FOLDS, len(fold), values[0, 0].shape[1]))
    for (other, predicted), value in values.items():
        out_of_two_folds[other, fold == predicted] = value
    return out_of_two_folds[fold, np.arange(len(fold))], out_of_two_folds


class _CrossFitRidge:
    """Ridge regressions on one basis, each fitted without some folds."""

    def __init__(
        self,
        rows: TrendRows,
        width: float | None,
        landmark_rows: np.ndarray,
        kind: str,
        thresholds: Thresholds | None,
        bounds: np.ndarray,
    ):
        linear = kind in ("linear", "joint")
        self.rows, self.thresholds, self.bounds = rows, thresholds, bounds
        self.basis = Basis(rows.X, width, landmark_rows, linear)
        self.columns = TrendColumns(self.basis, self.basis.columns(rows.X, landmark_rows), thresholds)
        self.F, self.responses = self.columns.transform(rows.X), self.columns.responses(rows.target)
        self.sums = FoldSums(self.F, self.responses, rows.weight, rows.fold)

    def fitter(self, penalty: float) -> Fitter:
        """Function that fits the ridge regression without some folds."""

        def fit_without(folds: tuple[int, ...]) -> Callable[[np.ndarray], np.ndarray]:
            solution = self.sums.solve(folds, penalty)
            return lambda mask: self._predict(self.F[mask], *solution)

        return fit_without

    def _predict(self, F: np.ndarray, slopes: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        prediction = F @ slopes + intercept
        prediction = prediction if self.thresholds is None else self.thresholds.targets(prediction)
        return np.asarray(np.clip(prediction, *self.bounds))

    def out_of_fold(self, penalty: float) -> np.ndarray:
        """(n, q) trend at each row, learned without its fold."""
        prediction, fit_without = np.empty_like(self.rows.target), self.fitter(penalty)
        for fold in range(N_FOLDS):
            in_fold = self.rows.fold == fold
            prediction[in_fold] = fit_without((fold,))(in_fold)
        return prediction

    def tail_error(self, penalty: float, spread: np.ndarray) -> float:
        """Mean absolute error on the outermost fifth of the targets, learned from the others, output by output."""
        errors = []
        for output, target in enumerate(self.rows.target.T):
            low, high = np.quantile(target, [_TAIL, 1.0 - _TAIL])
            inner = (target >= low) & (target <= high)
            rows = self.rows.subset(inner)
            sums = FoldSums(self.F[inner], self.responses[inner], rows.weight, rows.fold)
            prediction = self._predict(self.F[~inner], *sums.solve((), penalty))[:, output]
            errors.append(np.abs(prediction - target[~inner]).mean() / spread[output] if not inner.all() else 0.0)
        return float(np.mean(errors))

    def trend(self, kind: str, penalty: float, out_of_fold: np.ndarray) -> Trend:
        """Trend of all rows."""
        slopes, intercept = self.sums.solve((), penalty)
        trend = Trend()
        trend.kind, trend.basis, trend.thresholds, trend.bounds = kind, self.basis, self.thresholds, self.bounds
        trend.reach = value_range(out_of_fold, self._predict(self.F, slopes, intercept))
        trend.ends = None if self.basis.linear else _fade_ends(out_of_fold, self.rows.weight)
        trend.slopes, trend.intercept = self.columns.columns @ slopes, intercept
        trend.check()
        return trend
