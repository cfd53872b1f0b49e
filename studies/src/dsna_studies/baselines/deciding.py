"""Decisions between classes that are made after the fit: priors divided out, thresholds tuned on inner folds."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV, cross_val_predict
from sklearn.utils.validation import check_is_fitted

from dsna import DSNAError

from .wrapping import Wrapped

INNER_FOLDS = 3
_STEPS = 2.0 ** np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])  # tried on the factor of a class
_PASSES = 5
_BETTER = 1e-9
_EDGE = 1e-12
_FLAT = 1e-4  # probabilities of a fold that differ by less are alike


def _counts(truth: np.ndarray, said: np.ndarray) -> np.ndarray:
    """Rows by class and by prediction, of classes from 0."""
    k = int(max(truth.max(), said.max())) + 1
    return np.bincount(truth * k + said, minlength=k * k).reshape(k, k)


def _balanced_accuracy(truth: np.ndarray, said: np.ndarray) -> float:
    counts = _counts(truth, said)
    total = counts.sum(axis=1)
    return float(np.mean(np.diag(counts)[total > 0] / total[total > 0]))


def _f1_macro(truth: np.ndarray, said: np.ndarray) -> float:
    counts = _counts(truth, said)
    total = counts.sum(axis=0) + counts.sum(axis=1)
    return float(np.mean(2.0 * np.diag(counts)[total > 0] / total[total > 0]))


#: What thresholds are tuned for, as scikit-learn calls and defines it; the first is what `predict` follows.  These
#: functions are a hundred times as fast as scikit-learn's, which are asked at each of a hundred thresholds.
MEASURES = {"balanced_accuracy": _balanced_accuracy, "f1_macro": _f1_macro}


class DecidedLater(ClassifierMixin, Wrapped):
    """Base of classifiers that predict the class whose probability, times a factor of the class, is largest.

    Probabilities stay those of the estimator.  The fit is that of the estimator alone, so that :meth:`adopt` can share
    one fit among several decisions.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from dsna_studies.baselines import PriorsDivided, TunedThresholds
    >>> X, y = make_classification(300, weights=[0.9], random_state=0)
    >>> fitted = LogisticRegression().fit(X, y)
    >>> for model in (PriorsDivided(LogisticRegression()), TunedThresholds(LogisticRegression(), random_state=0)):
    ...     bool(model.adopt(fitted, X, y).predict(X).sum() > fitted.predict(X).sum())
    True
    True
    """

    factors_: np.ndarray

    def fit(self, X: Any, y: Any) -> DecidedLater:
        """Fit a copy of the estimator, then choose the factors."""
        return self.adopt(clone(self.estimator).fit(X, y), X, y)

    def adopt(self, fitted: Any, X: Any, y: Any) -> DecidedLater:
        """Take over an estimator that was fitted on these rows, and choose the factors."""
        self.estimator_ = fitted
        self._choose(np.asarray(X), np.searchsorted(self.classes_, np.asarray(y)))
        return self

    @abstractmethod
    def _choose(self, X: np.ndarray, code: np.ndarray) -> None:
        """Set `factors_`; classes are given as numbers from 0."""

    def predict(self, X: Any) -> np.ndarray:
        """Classes of largest probability times factor."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.classes_[(self.predict_proba(X) * self.factors_).argmax(axis=1)])


class PriorsDivided(DecidedLater):
    """Classifier whose probabilities are divided by the class shares of the training rows before it decides.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``

    Attributes
    ----------
    estimator_ : the fitted classifier
    factors_ : array of shape (n_classes,)
        One over the class shares.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from dsna_studies.baselines import PriorsDivided
    >>> PriorsDivided(GaussianNB()).fit(np.arange(8.0)[:, None], [0] * 6 + [1] * 2).factors_.round(2)
    array([1.33, 4.  ])
    """

    def __init__(self, estimator: Any):
        self.estimator = estimator

    def _choose(self, X: np.ndarray, code: np.ndarray) -> None:
        self.factors_ = _over_shares(code)


class TunedThresholds(DecidedLater):
    """Classifier with thresholds chosen on inner folds, for balanced accuracy and for macro-F1.

    The estimator is fitted once on each of three inner folds, and both decisions are chosen on the same held-out
    probabilities.  Between two classes, :class:`sklearn.model_selection.TunedThresholdClassifierCV` chooses a
    threshold.  Between more, priors are divided out for balanced accuracy; for macro-F1 a factor of each class is
    chosen by a search along one class at a time, from the best of no, half and full division by the priors.  Where
    there is nothing to choose on, because one of two classes has a single row or the probabilities of a fold are all
    alike, priors are divided out.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
    random_state : int, RandomState instance or None, default=None
        Of the inner folds; the estimator has its own.

    Attributes
    ----------
    estimator_ : the fitted classifier
    factors_ : array of shape (n_classes,)
        For balanced accuracy.
    factors_of_ : dict from "balanced_accuracy" and "f1_macro" to such arrays

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from dsna_studies.baselines import TunedThresholds
    >>> X, y = make_classification(300, weights=[0.9], flip_y=0.1, random_state=0)
    >>> model = TunedThresholds(LogisticRegression(), random_state=0).fit(X, y)
    >>> bool(model.predict(X).sum() > model.with_decision("f1_macro").predict(X).sum())
    True
    """

    def __init__(self, estimator: Any, random_state: Any = None):
        self.estimator = estimator
        self.random_state = random_state

    def _choose(self, X: np.ndarray, code: np.ndarray) -> None:
        shares = _over_shares(code)
        self.factors_of_ = dict.fromkeys(MEASURES, shares)
        if np.bincount(code).min() > 1 or len(shares) > 2:
            splitter = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=self.random_state)
            folds = list(splitter.split(X, code))
            inner = clone(self.estimator)
            proba = cross_val_predict(inner, X, code, cv=folds, method="predict_proba")
            if len(shares) == 2:
                if all(np.ptp(proba[held, 1]) > _FLAT for _, held in folds):
                    self.factors_of_ = {measure: _threshold(proba, code, folds, measure) for measure in MEASURES}
            else:
                self.factors_of_["f1_macro"] = _search(proba, code, shares)
        self.factors_ = self.factors_of_["balanced_accuracy"]

    def with_decision(self, decision: str) -> TunedThresholds:
        """The same fit with the thresholds for another measure."""
        check_is_fitted(self, "factors_of_")
        if decision not in self.factors_of_:
            raise DSNAError(f"Thresholds are tuned for {' and '.join(self.factors_of_)}, not for {decision}.")
        view = copy(self)
        view.factors_ = self.factors_of_[decision]
        return view


def _over_shares(code: np.ndarray) -> np.ndarray:
    return np.asarray(len(code) / np.bincount(code))


class _Known(ClassifierMixin, BaseEstimator):
    """Stands for a classifier whose probabilities are known: rows are the probabilities themselves."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> _Known:
        self.classes_ = np.arange(2)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return X

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(X.argmax(axis=1))


def _threshold(proba: np.ndarray, code: np.ndarray, folds: list[Any], measure: str) -> np.ndarray:
    """Factors that stand for scikit-learn's choice of a threshold on held-out probabilities."""
    scorer = make_scorer(MEASURES[measure])
    tuner = TunedThresholdClassifierCV(_Known(), scoring=scorer, response_method="predict_proba", cv=folds)
    at = np.clip(tuner.fit(proba, code).best_threshold_, _EDGE, 1.0 - _EDGE)
    return np.array([at, 1.0 - at])


def _search(proba: np.ndarray, code: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Factors of classes for macro-F1, one class at a time, while they get better."""

    def score(factors: np.ndarray) -> float:
        return _f1_macro(code, (proba * factors).argmax(axis=1))

    best = max((shares**power for power in (0.0, 0.5, 1.0)), key=score)
    reached = score(best)
    for _ in range(_PASSES):
        before = reached
        for c in range(len(shares)):
            for step in _STEPS:
                tried = best.copy()
                tried[c] *= step
                found = score(tried)
                if found > reached + _BETTER:
                    best, reached = tried, found
        if reached <= before + _BETTER:
            break
    return np.asarray(best)
