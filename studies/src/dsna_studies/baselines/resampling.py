"""Oversampling of rare rows before fitting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from dsna.extend.solver import TargetRelevance

from .wrapping import Wrapped

Sampler = Callable[[np.ndarray, np.ndarray, np.random.RandomState], tuple[np.ndarray, np.ndarray]]
_SMOTE_NEIGHBORS = 5


class Resampled(Wrapped):
    """Classifier or regressor fitted on resampled rows.

    Parameters
    ----------
    estimator : classifier or regressor
    resample : callable (X, y, random) -> (X, y)
        :func:`smote`, :func:`oversample_rare`, :func:`dsna_studies.baselines.smogn` or your own.
    random_state : int, RandomState instance or None, default=None
        Seed of the resampling; the estimator has its own.

    Attributes
    ----------
    estimator_ : the fitted estimator
    classes_ : its classes, for classifiers

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from dsna_studies.baselines import Resampled, oversample_rare
    >>> X, y = load_diabetes(return_X_y=True)
    >>> Resampled(Ridge(), oversample_rare, random_state=0).fit(X, y).predict(X[:3]).shape
    (3,)
    """

    def __init__(self, estimator: Any, resample: Sampler, random_state: Any = None):
        self.estimator = estimator
        self.resample = resample
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Resampled:
        """Resample the rows and fit a copy of the estimator on them."""
        resampled = self.resample(np.asarray(X, dtype=np.float64), np.asarray(y), check_random_state(self.random_state))
        self.estimator_ = clone(self.estimator).fit(*resampled)
        return self


def smote(X: np.ndarray, y: np.ndarray, random: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Apply imbalanced-learn's SMOTE to every class but the largest, also to classes with few rows.

    Parameters
    ----------
    X : array of shape (n, n_features)
    y : array of shape (n,) or (n, n_outputs)
        Classes, or discrete labels such as ages or angles, each of which is treated as a class.
    random : RandomState instance

    Returns
    -------
    X, y
        With equal numbers of rows per class.  Rows are interpolated with the five nearest of their class, or with all
        of them if there are fewer; a class with a single row is repeated.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_studies.baselines import smote
    >>> X, y = np.arange(12.0)[:, None], np.array([0] * 8 + [1] * 3 + [2])
    >>> np.unique(smote(X, y, np.random.RandomState(0))[1], return_counts=True)[1]
    array([8, 8, 8])
    """
    from imblearn.over_sampling import SMOTE, RandomOverSampler

    labels, codes, counts = np.unique(y, return_inverse=True, return_counts=True, axis=None if y.ndim == 1 else 0)
    codes = codes.ravel()
    # One class at a time, because SMOTE uses one k for all classes, which the rarest would limit.
    for class_code, count in enumerate(counts):
        if count < counts.max():
            settings = {"sampling_strategy": {class_code: counts.max()}, "random_state": random.randint(2**31 - 1)}
            repeat_sampler = RandomOverSampler(**settings)
            sampler = repeat_sampler if count == 1 else SMOTE(k_neighbors=min(_SMOTE_NEIGHBORS, count - 1), **settings)
            X, codes = sampler.fit_resample(X, codes)
    return X, labels[codes]


def oversample_rare(
    X: np.ndarray, y: np.ndarray, random: np.random.RandomState, *, threshold: float = 0.5
) -> tuple[np.ndarray, np.ndarray]:
    """Repeat rows with rare labels until they are as many as the others.

    Parameters
    ----------
    X, y : arrays of shape (n, n_features) and (n,)
    random : RandomState instance
    threshold : float, default=0.5
        Relevance, by label density (:class:`dsna.metrics.relevance.TargetRelevance`), from which a label is rare.

    Returns
    -------
    X, y
        The original rows, then the repeated ones.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_studies.baselines import oversample_rare
    >>> y = np.array([1.0] * 8 + [5.0] * 2)
    >>> oversample_rare(np.zeros((10, 1)), y, np.random.RandomState(0))[1][10:]
    array([5., 5., 5., 5., 5., 5.])
    """
    rare = np.flatnonzero(TargetRelevance(y, "density").evaluate(y) >= threshold)
    n_missing = len(y) - 2 * len(rare)
    if not len(rare) or n_missing <= 0:
        return X, y
    rows = np.concatenate([np.arange(len(y)), random.choice(rare, n_missing)])
    return X[rows], y[rows]
