"""Decisions between classes after the fit: division by priors, and thresholds tuned on inner folds."""

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
_STEPS = 2.0 ** np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])  # steps of the factor of a class
_PASSES = 5
_MIN_GAIN = 1e-9
_EDGE = 1e-12
_FLAT = 1e-4  # probabilities of a fold within this range count as constant


def _counts(truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return the confusion matrix of classes numbered from 0."""
    n_classes = int(max(truth.max(), predicted.max())) + 1
    return np.bincount(truth * n_classes + predicted, minlength=n_classes * n_classes).reshape(n_classes, n_classes)


def _balanced_accuracy(truth: np.ndarray, predicted: np.ndarray) -> float:
    counts = _counts(truth, predicted)
    total = counts.sum(axis=1)
    return float(np.mean(np.diag(counts)[total > 0] / total[total > 0]))


def _f1_macro(truth: np.ndarray, predicted: np.ndarray) -> float:
    counts = _counts(truth, predicted)
    total = counts.sum(axis=0) + counts.sum(axis=1)
    return float(np.mean(2.0 * np.diag(counts)[total > 0] / total[total > 0]))


#: Scores for which thresholds are tuned, with scikit-learn's names and definitions; `predict` uses the first.  They are
#: a hundred times as fast as scikit-learn's, which matters because each of a hundred thresholds is scored.
MEASURES = {"balanced_accuracy": _balanced_accuracy, "f1_macro": _f1_macro}


class DecidedLater(ClassifierMixin, Wrapped):
    """Base class of classifiers that predict the class with the largest product of probability and class factor.

    Probabilities are those of the estimator.  Its fit does not depend on the decision, so :meth:`adopt` can share one
    fit among several decisions.

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
        """Use an estimator that was fitted on these rows, and choose the factors."""
        self.estimator_ = fitted
        self._choose(np.asarray(X), np.searchsorted(self.classes_, np.asarray(y)))
        return self

    @abstractmethod
    def _choose(self, X: np.ndarray, codes: np.ndarray) -> None:
        """Set `factors_`; ``codes`` are class numbers from 0."""

    def predict(self, X: Any) -> np.ndarray:
        """Predict the classes with the largest product of probability and factor."""
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
        Inverse class shares.

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

    def _choose(self, X: np.ndarray, codes: np.ndarray) -> None:
        self.factors_ = _inverse_shares(codes)


class TunedThresholds(DecidedLater):
    """Classifier with thresholds chosen on inner folds for balanced accuracy and for macro-F1.

    The estimator is fitted once on each of three inner folds, and both decisions are chosen on the same held-out
    probabilities.  For two classes, :class:`sklearn.model_selection.TunedThresholdClassifierCV` chooses a
    threshold.  For more, priors are divided out for balanced accuracy; for macro-F1, the factors are chosen by a search
    along one class at a time, from the best of no, half and full division by the priors.  If no threshold can be
    chosen, because one of two classes has a single row or the probabilities of a fold are constant, priors are divided
    out.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
    random_state : int, RandomState instance or None, default=None
        Seed of the inner folds; the estimator has its own.

    Attributes
    ----------
    estimator_ : the fitted classifier
    factors_ : array of shape (n_classes,)
        Factors for balanced accuracy.
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

    def _choose(self, X: np.ndarray, codes: np.ndarray) -> None:
        shares = _inverse_shares(codes)
        self.factors_of_ = dict.fromkeys(MEASURES, shares)
        if np.bincount(codes).min() > 1 or len(shares) > 2:
            splitter = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=self.random_state)
            folds = list(splitter.split(X, codes))
            inner = clone(self.estimator)
            proba = cross_val_predict(inner, X, codes, cv=folds, method="predict_proba")
            if len(shares) == 2:
                if all(np.ptp(proba[test_rows, 1]) > _FLAT for _, test_rows in folds):
                    self.factors_of_ = {
                        measure: _threshold_factors(proba, codes, folds, measure) for measure in MEASURES
                    }
            else:
                self.factors_of_["f1_macro"] = _search_factors(proba, codes, shares)
        self.factors_ = self.factors_of_["balanced_accuracy"]

    def with_decision(self, decision: str) -> TunedThresholds:
        """Return the same fit with the thresholds for another measure."""
        check_is_fitted(self, "factors_of_")
        if decision not in self.factors_of_:
            raise DSNAError(f"Thresholds are tuned for {' and '.join(self.factors_of_)}, not for {decision}.")
        view = copy(self)
        view.factors_ = self.factors_of_[decision]
        return view


def _inverse_shares(codes: np.ndarray) -> np.ndarray:
    return np.asarray(len(codes) / np.bincount(codes))


class _PrecomputedProbabilities(ClassifierMixin, BaseEstimator):
    """Classifier whose input rows are the probabilities themselves."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> _PrecomputedProbabilities:
        self.classes_ = np.arange(2)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return X

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(X.argmax(axis=1))


def _threshold_factors(proba: np.ndarray, codes: np.ndarray, folds: list[Any], measure: str) -> np.ndarray:
    """Return factors equivalent to scikit-learn's choice of a threshold on held-out probabilities."""
    scorer = make_scorer(MEASURES[measure])
    tuner = TunedThresholdClassifierCV(
        _PrecomputedProbabilities(), scoring=scorer, response_method="predict_proba", cv=folds
    )
    threshold = np.clip(tuner.fit(proba, codes).best_threshold_, _EDGE, 1.0 - _EDGE)
    return np.array([threshold, 1.0 - threshold])


def _search_factors(proba: np.ndarray, codes: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Search class factors for macro-F1, one class at a time, until the score stops improving."""

    def score(factors: np.ndarray) -> float:
        return _f1_macro(codes, (proba * factors).argmax(axis=1))

    best = max((shares**power for power in (0.0, 0.5, 1.0)), key=score)
    best_score = score(best)
    for _ in range(_PASSES):
        previous_score = best_score
        for class_code in range(len(shares)):
            for step in _STEPS:
                candidate = best.copy()
                candidate[class_code] *= step
                candidate_score = score(candidate)
                if candidate_score > best_score + _MIN_GAIN:
                    best, best_score = candidate, candidate_score
        if best_score <= previous_score + _MIN_GAIN:
            break
    return np.asarray(best)
