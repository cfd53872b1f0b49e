"""Rare classes and labels count more: priors divided out, and weights by label density."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.ensemble import RandomForestClassifier

from ...forest.density import TargetDensity
from .wrapping import Wrapped


class PriorCorrectedForest(RandomForestClassifier):
    """RandomForest whose probabilities are divided by the class shares of the training rows.

    Takes the parameters of :class:`sklearn.ensemble.RandomForestClassifier`.

    Attributes
    ----------
    priors_ : array of shape (n_classes,)
        Class shares of the training rows.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from dsna.studies.baselines import PriorCorrectedForest
    >>> X, y = make_classification(200, weights=[0.9], random_state=0)
    >>> model = PriorCorrectedForest(n_estimators=10, random_state=0).fit(X, y)
    >>> model.predict_proba(X[:2]).sum(axis=1)
    array([1., 1.])
    """

    def fit(self, X: Any, y: Any) -> PriorCorrectedForest:
        """Fit the forest and note the class shares."""
        self.priors_ = np.unique(y, return_counts=True)[1] / len(y)
        super().fit(X, y)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n, n_classes) probabilities as if all classes were equally common."""
        proba = super().predict_proba(X) / self.priors_
        return np.asarray(proba / proba.sum(axis=1, keepdims=True))


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
