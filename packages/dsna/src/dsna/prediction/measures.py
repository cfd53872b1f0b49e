"""Measures that a decision between classes is chosen to maximise: named, bounded, or scikit-learn scorers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import get_scorer, get_scorer_names

from .._utils.errors import DSNAError, setting

_TINY = 1e-300
_ADVICE = (
    "use balanced, f1, mcc, gmean, 'recall>=.9', 'precision>=.5', or a scorer of predicted classes such as accuracy"
)
_OTHER_TASKS = {  # modules of scikit-learn
    "sklearn.metrics._regression": "it scores numbers",
    "sklearn.metrics.cluster": "it compares groups, whatever they are called",
}
_BOUND = re.compile(r"(recall|precision)\s*>=\s*([0-9]*\.?[0-9]+)\Z")


def _recalls(counts: np.ndarray) -> np.ndarray:
    """Recall of each class that has rows."""
    class_counts = counts.sum(axis=1)
    return np.asarray(np.diag(counts)[class_counts > 0] / class_counts[class_counts > 0])


def _f1_by_class(counts: np.ndarray) -> np.ndarray:
    """F1 of each class."""
    return np.asarray(2.0 * np.diag(counts) / np.maximum(counts.sum(axis=0) + counts.sum(axis=1), _TINY))


def _f1(counts: np.ndarray, rare_class: int) -> float:
    """F1 of the rarer of two classes, or mean F1 of more classes."""
    return float(_f1_by_class(counts)[rare_class]) if len(counts) == 2 else float(_f1_by_class(counts).mean())


def _mcc(counts: np.ndarray, rare_class: int) -> float:
    """Matthews correlation coefficient of any number of classes."""
    total, predicted, true = counts.sum(), counts.sum(axis=0), counts.sum(axis=1)
    scale = np.sqrt(max(total**2 - predicted @ predicted, 0.0) * max(total**2 - true @ true, 0.0))
    return float((total * np.trace(counts) - predicted @ true) / scale) if scale > 0 else 0.0


#: Measures by name: functions of a weighted confusion matrix (rows: true classes) and the number of the rarest class.
MEASURES: dict[str, Callable[[np.ndarray, int], float]] = {
    "balanced": lambda counts, rare_class: float(_recalls(counts).mean()),
    "f1": _f1,
    "f1_macro": lambda counts, rare_class: float(_f1_by_class(counts).mean()),
    "mcc": _mcc,
    "gmean": lambda counts, rare_class: float(np.prod(_recalls(counts)) ** (1.0 / len(_recalls(counts)))),
}


class Measure(NamedTuple):
    """A measure of predictions; larger is better.

    Attributes
    ----------
    of_counts : function of a confusion matrix (n_classes, n_classes) and of the rarest class; None for a scorer.
    scorer : scikit-learn scorer, or None.
    bounded : "recall" or "precision" where it must be at least ``bound``; the other one is then the measure.
    bound : smallest recall or precision of the rarest class.
    """

    of_counts: Callable[[np.ndarray, int], float] | None
    scorer: Any = None
    bounded: str | None = None
    bound: float = 0.0

    def objective(self, counts: np.ndarray, rare_class: int) -> float:
        """The measure where the bound is met; elsewhere a negative number, larger if closer to the bound."""
        assert self.of_counts is not None
        value = self.of_counts(counts, rare_class)
        if self.bounded is None:
            return value
        bounded_value = rare_class_scores(counts, rare_class)[self.bounded]
        return value if bounded_value >= self.bound - 1e-9 else bounded_value - 1.0


def rare_class_scores(counts: np.ndarray, rare_class: int) -> dict[str, float]:
    """Recall and precision of the rarest class; the precision is 1 if the class is never predicted."""
    hits = counts[rare_class, rare_class]
    return {
        "recall": float(hits / max(counts[rare_class].sum(), _TINY)),
        "precision": float(hits / counts[:, rare_class].sum()) if counts[:, rare_class].sum() > 0 else 1.0,
    }


def find_measure(decision: Any) -> Measure | None:
    """Measure that a value of ``DSNAClassifier(decision=...)`` maximises; None if there is none.

    Examples
    --------
    >>> find_measure("recall>=.9").bound
    0.9
    >>> find_measure("balanced") is None
    True
    """
    if callable(getattr(decision, "_score_func", None)):
        return Measure(None, decision)
    if not isinstance(decision, str) or decision in ("balanced", "paper"):
        return None
    if decision in MEASURES:
        return Measure(MEASURES[decision])
    match = _BOUND.match(decision)
    if match:
        bounded, bound = match[1], float(match[2])
        free = "precision" if bounded == "recall" else "recall"
        if not 0.0 < bound <= 1.0:
            raise DSNAError(f"{setting('decision', decision)}: the bound must be above 0 and at most 1.")
        return Measure(lambda counts, rare_class: rare_class_scores(counts, rare_class)[free], None, bounded, bound)
    if decision in get_scorer_names():
        return Measure(None, get_scorer(decision))
    raise DSNAError(
        f"{setting('decision', decision)} is unknown: pass {', '.join(repr(name) for name in MEASURES)}, 'recall>=.9', "
        "'precision>=.5', 'paper', the name of a scikit-learn scorer, a scorer, a cost matrix or a cost function."
    )


def check_measure(decision: Any, classes: np.ndarray) -> None:
    """Refuse a value of ``DSNAClassifier(decision=...)`` that cannot score predictions of these classes, by a trial.

    Examples
    --------
    >>> check_measure("accuracy", np.array(["no", "yes"]))
    >>> check_measure("r2", np.array(["no", "yes"]))
    Traceback (most recent call last):
    dsna._utils.errors.DSNAError: decision='r2' cannot decide between these classes: it scores numbers. Remedy: ...
    """
    measure = find_measure(decision)
    if measure is None or measure.scorer is None:
        return
    try:
        score_predictions(
            measure.scorer, np.tile(classes, 2), np.repeat(classes, 2), classes, np.ones(2 * len(classes))
        )
    except Exception as error:  # whatever a scorer raises
        reason = _objection(measure.scorer, error)
        raise DSNAError(
            f"{setting('decision', decision)} cannot decide between these classes: {reason}. Remedy: {_ADVICE}."
        ) from error


def _objection(scorer: Any, error: Exception) -> str:
    """Why a scorer does not go with classes, in a clause."""
    if getattr(scorer, "_response_method", "predict") != "predict":
        return "it scores probabilities, which no decision changes"
    module = getattr(scorer._score_func, "__module__", "")
    own = " ".join(str(error).split()).partition(". ")[0].rstrip(".") or type(error).__name__
    return next((reason for task, reason in _OTHER_TASKS.items() if module.startswith(task)), own)


class FixedPredictions:
    """Classifier that returns given predictions, to be passed to a scorer."""

    _estimator_type = "classifier"

    def __init__(self, predicted: np.ndarray, classes: np.ndarray):
        self.predicted = predicted
        self.classes_ = classes

    def __sklearn_tags__(self) -> Any:
        """Tags of a classifier."""
        from sklearn.dummy import DummyClassifier

        return DummyClassifier().__sklearn_tags__()

    def fit(self, X: Any, y: Any) -> FixedPredictions:
        """Return the classifier; there is nothing to learn."""
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the given predictions for any rows."""
        return self.predicted


def score_predictions(
    scorer: Any, truth: np.ndarray, predicted: np.ndarray, classes: np.ndarray, weight: np.ndarray
) -> float:
    """Score of predictions."""
    return float(scorer(FixedPredictions(predicted, classes), np.zeros((len(truth), 1)), truth, sample_weight=weight))
