"""Any scikit-learn regressor as a trend: cross-fitted by fitting it again without each fold and each pair of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from .._utils.errors import DSNAError
from .trend import CrossFitted, TrendRows, bounds_of, cross_fit, how_far_past, reach_of


class OtherTrend:
    """A fitted regressor in place of a ``Trend``.

    Attributes
    ----------
    kind : name of the regressor's class.
    model : the regressor, fitted on rows on the common scale.
    bounds, reach : (2, q) as in ``Trend``.
    ends : None, since nothing is known of how it continues.
    """

    def __init__(self, model: Any, bounds: np.ndarray):
        self.kind = type(model).__name__
        self.model = model
        self.bounds = bounds
        self.reach = bounds
        self.ends = None

    def predict(self, X: np.ndarray) -> np.ndarray:
        """(n, q) trend at rows on the common scale."""
        value = np.asarray(self.model.predict(X), dtype=np.float64).reshape(len(X), -1)
        if value.shape[1] != self.bounds.shape[1] or not np.all(np.isfinite(value)):
            raise DSNAError(
                f"trend={self.model!r} predicts {value.shape[1]} values for each row, or values that are not finite; "
                f"{self.bounds.shape[1]} finite ones are needed: pass a regressor for these targets, or trend='auto'."
            )
        return np.asarray(np.clip(value, *self.bounds))

    def past(self, X: np.ndarray) -> np.ndarray:
        """(n, q) how far the trend lies past its values at the training rows; mostly 0."""
        return how_far_past(self.predict(X), self.reach)


def fit_other(estimator: Any, rows: TrendRows) -> CrossFitted:
    """Fit clones of an estimator on all rows, without each fold, and without each pair of folds: 16 fits."""
    bounds = bounds_of(rows.target)

    def fitted(kept: np.ndarray) -> OtherTrend:
        some = rows.part(kept & (rows.weight > 0))
        weight = {"sample_weight": some.weight} if has_fit_parameter(estimator, "sample_weight") else {}
        target = some.target[:, 0] if some.target.shape[1] == 1 else some.target
        return OtherTrend(clone(estimator).fit(some.X, target, **weight), bounds)

    def without(left_out: tuple[int, ...]) -> Callable[[np.ndarray], np.ndarray]:
        trend = fitted(~np.isin(rows.fold, left_out))
        return lambda some: trend.predict(rows.X[some])

    own, outside = cross_fit(rows.fold, without)
    trend = fitted(np.ones(len(rows.fold), dtype=bool))
    trend.reach = reach_of(own, trend.predict(rows.X))
    return CrossFitted(trend, own, outside, beyond=0.0)
