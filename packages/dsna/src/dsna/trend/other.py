"""Any scikit-learn regressor as a trend, cross-fitted by refits without each fold and each pair of folds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from .._utils.errors import DSNAError
from .trend import CrossFitted, TrendRows, clip_bounds, cross_fit, distance_outside, value_range


class RegressorTrend:
    """A fitted scikit-learn regressor with the interface of ``Trend``.

    Attributes
    ----------
    kind : name of the regressor's class.
    model : the regressor, fitted on scaled rows.
    bounds, reach : (2, q) as in ``Trend``.
    ends : None, because it is not known how the regressor extrapolates.
    """

    def __init__(self, model: Any, bounds: np.ndarray):
        self.kind = type(model).__name__
        self.model = model
        self.bounds = bounds
        self.reach = bounds
        self.ends = None

    def predict(self, X: np.ndarray) -> np.ndarray:
        """(n, q) trend at scaled rows."""
        prediction = np.asarray(self.model.predict(X), dtype=np.float64).reshape(len(X), -1)
        if prediction.shape[1] != self.bounds.shape[1] or not np.all(np.isfinite(prediction)):
            raise DSNAError(
                f"trend={self.model!r} must predict {self.bounds.shape[1]} finite values for each row; got "
                f"{prediction.shape[1]} values, or values that are not finite. Pass a regressor for these targets, or "
                "trend='auto'."
            )
        return np.asarray(np.clip(prediction, *self.bounds))

    def extrapolation(self, X: np.ndarray) -> np.ndarray:
        """(n, q) distance of the trend from the range of its values at the training rows; 0 within."""
        return distance_outside(self.predict(X), self.reach)


def fit_regressor_trend(estimator: Any, rows: TrendRows) -> CrossFitted:
    """Fit clones of an estimator on all rows, without each fold, and without each pair of folds: 16 fits."""
    bounds = clip_bounds(rows.target)

    def fit(mask: np.ndarray) -> RegressorTrend:
        training = rows.subset(mask & (rows.weight > 0))
        fit_params = {"sample_weight": training.weight} if has_fit_parameter(estimator, "sample_weight") else {}
        target = training.target[:, 0] if training.target.shape[1] == 1 else training.target
        return RegressorTrend(clone(estimator).fit(training.X, target, **fit_params), bounds)

    def fit_without(folds: tuple[int, ...]) -> Callable[[np.ndarray], np.ndarray]:
        trend = fit(~np.isin(rows.fold, folds))
        return lambda mask: trend.predict(rows.X[mask])

    out_of_fold, out_of_two_folds = cross_fit(rows.fold, fit_without)
    trend = fit(np.ones(len(rows.fold), dtype=bool))
    trend.reach = value_range(out_of_fold, trend.predict(rows.X))
    return CrossFitted(trend, out_of_fold, out_of_two_folds, tail_error=0.0)
