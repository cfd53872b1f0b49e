"""Rows weighted by how rare their labels are."""

from __future__ import annotations

from typing import Any

from sklearn.base import RegressorMixin, clone

from ...forest.density import TargetDensity
from .wrapping import Wrapped


class DensityWeighted(RegressorMixin, Wrapped):
    """Regressor fitted with rows weighted by one over the density of their labels.

    Parameters
    ----------
    estimator : regressor
        One whose ``fit`` takes ``sample_weight``.

    Attributes
    ----------
    estimator_ : the fitted regressor

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from dsna.studies.baselines import DensityWeighted
    >>> X, y = load_diabetes(return_X_y=True)
    >>> DensityWeighted(Ridge()).fit(X, y).predict(X[:3]).shape
    (3,)
    """

    def __init__(self, estimator: Any):
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> DensityWeighted:
        """Fit a copy of the estimator with weights of mean one."""
        weight = 1.0 / TargetDensity(y).evaluate(y)
        self.estimator_ = clone(self.estimator).fit(X, y, sample_weight=weight / weight.mean())
        return self
