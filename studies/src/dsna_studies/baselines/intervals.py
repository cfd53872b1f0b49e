"""Prediction intervals of other packages, with the interface of our regressor."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin, clone

from .wrapping import Wrapped


class QuantileIntervals(RegressorMixin, Wrapped):
    """A quantile regression forest with the interval between two quantiles.

    Parameters
    ----------
    estimator : quantile_forest.RandomForestQuantileRegressor or similar
        Its ``predict`` must take ``quantiles``.

    Attributes
    ----------
    estimator_ : the fitted forest

    Examples
    --------
    >>> from quantile_forest import RandomForestQuantileRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> from dsna_studies.baselines import QuantileIntervals
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = QuantileIntervals(RandomForestQuantileRegressor(20, random_state=0)).fit(X, y)
    >>> model.predict_interval(X[:3], coverage=0.8).shape
    (3, 2)
    """

    def __init__(self, estimator: Any):
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> QuantileIntervals:
        """Fit a copy of the forest."""
        self.estimator_ = clone(self.estimator).fit(X, y)
        return self

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Return (n, 2) lower and upper quantiles, with equal probability below and above."""
        tail = (1.0 - coverage) / 2.0
        return np.asarray(self.estimator_.predict(X, quantiles=[tail, 1.0 - tail]))


class ConformalForest(RegressorMixin, Wrapped):
    """A random forest with the conformal intervals of crepes, calibrated out of bag.

    Residuals are normalised by the disagreement of the trees, as crepes proposes for forests.

    Parameters
    ----------
    estimator : RandomForestRegressor with ``oob_score=True``

    Attributes
    ----------
    estimator_ : the fitted forest
    conformal_ : crepes.WrapRegressor

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from dsna_studies.baselines import ConformalForest
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ConformalForest(RandomForestRegressor(50, oob_score=True, random_state=0)).fit(X, y)
    >>> model.predict_interval(X[:3], coverage=0.8).shape
    (3, 2)
    """

    def __init__(self, estimator: Any):
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> ConformalForest:
        """Fit a copy of the forest on all rows, and calibrate it on their out-of-bag predictions."""
        from crepes import WrapRegressor
        from crepes.extras import DifficultyEstimator

        self.estimator_ = clone(self.estimator).fit(X, y)
        self.conformal_ = WrapRegressor(self.estimator_)
        difficulty = DifficultyEstimator().fit(X, learner=self.estimator_, scaler=True, oob=True)
        self.conformal_.calibrate(X, y, de=difficulty, oob=True)
        return self

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Return (n, 2) bounds."""
        return np.asarray(self.conformal_.predict_int(X, confidence=coverage))
