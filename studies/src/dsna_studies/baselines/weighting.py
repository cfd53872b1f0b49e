"""Weights of rows by the rarity of their classes or labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.utils.class_weight import compute_sample_weight

from dsna.extend.solver import TargetDensity

from .wrapping import Wrapped


class DensityWeighted(RegressorMixin, Wrapped):
    """Regressor fitted with rows weighted by the inverse density of their labels.

    Parameters
    ----------
    estimator : regressor
        Its ``fit`` must take ``sample_weight``.

    Attributes
    ----------
    estimator_ : the fitted regressor

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from dsna_studies.baselines import DensityWeighted
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


class Coded(ClassifierMixin, Wrapped):
    """Classifier fitted on classes coded as numbers from 0.

    XGBoost refuses other classes, and CatBoost predicts a column of them; neither has scikit-learn's `class_weight`.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
    class_weight : dict, "balanced" or None, default=None
        As in scikit-learn; passed to the estimator as weights of rows.

    Attributes
    ----------
    estimator_ : the fitted classifier
    classes_ : array of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from dsna_studies.baselines import Coded
    >>> X, y = load_iris(return_X_y=True)
    >>> Coded(GaussianNB(), class_weight="balanced").fit(X, 10 * y + 5).predict(X[:2])
    array([5, 5])
    """

    def __init__(self, estimator: Any, class_weight: Any = None):
        self.estimator = estimator
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any) -> Coded:
        """Fit a copy of the estimator on coded classes."""
        self._classes, code = np.unique(np.asarray(y), return_inverse=True)
        weight = None if self.class_weight is None else compute_sample_weight(self.class_weight, y)
        self.estimator_ = clone(self.estimator).fit(X, code, sample_weight=weight)
        return self

    @property
    def classes_(self) -> np.ndarray:
        """Original classes."""
        return self._classes

    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable class of each row."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
