"""What a decision between classes can be chosen for: measures of predictions, by name, bound or scikit-learn scorer."""

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
    total = counts.sum(axis=1)
    return np.asarray(np.diag(counts)[total > 0] / total[total > 0])


def _f1_by_class(counts: np.ndarray) -> np.ndarray:
    """F1 of each class."""
    return np.asarray(2.0 * np.diag(counts) / np.maximum(counts.sum(axis=0) + counts.sum(axis=1), _TINY))


def _f1(counts: np.ndarray, rare: int) -> float:
    """F1 of the rarest of two classes, mean over more."""
    return float(_f1_by_class(counts)[rare]) if len(counts) == 2 else float(_f1_by_class(counts).mean())


def _mcc(counts: np.ndarray, rare: int) -> float:
    """Matthews' correlation, of any number of classes."""
    total, said, true = counts.sum(), counts.sum(axis=0), counts.sum(axis=1)
    size = np.sqrt(max(total**2 - said @ said, 0.0) * max(total**2 - true @ true, 0.0))
    return float((total * np.trace(counts) - said @ true) / size) if size > 0 else 0.0


#: Measures by name: functions of the weights of rows by class (first axis) and prediction, and of the rarest class.
MEASURES: dict[str, Callable[[np.ndarray, int], float]] = {
    "balanced": lambda counts, rare: float(_recalls(counts).mean()),
    "f1": _f1,
    "f1_macro": lambda counts, rare: float(_f1_by_class(counts).mean()),
    "mcc": _mcc,
    "gmean": lambda counts, rare: float(np.prod(_recalls(counts)) ** (1.0 / len(_recalls(counts)))),
}


class Measure(NamedTuple):
    """A measure of predictions; larger is better.

    Attributes
    ----------
    of_counts : function of the counts (n_classes, n_classes) by class and prediction and of the rarest class, or None.
    scorer : scikit-learn scorer, where there is no such function.
    bounded : what a bound holds, "recall" or "precision", with ``least``; the other one is the measure.
    """

    of_counts: Callable[[np.ndarray, int], float] | None
    scorer: Any = None
    bounded: str | None = None
    least: float = 0.0

    def reached(self, counts: np.ndarray, rare: int) -> float:
        """The measure, for choosing: where a bound is not met, less than any that meets it."""
        assert self.of_counts is not None
        value = self.of_counts(counts, rare)
        if self.bounded is None:
            return value
        held = of_rare(counts, rare)[self.bounded]
        return value if held >= self.least - 1e-9 else held - 1.0


def of_rare(counts: np.ndarray, rare: int) -> dict[str, float]:
    """Recall and precision of the rarest class; where it is never predicted, the precision is one."""
    hit = counts[rare, rare]
    return {
        "recall": float(hit / max(counts[rare].sum(), _TINY)),
        "precision": float(hit / counts[:, rare].sum()) if counts[:, rare].sum() > 0 else 1.0,
    }


def find_measure(decision: Any) -> Measure | None:
    """The measure that a value of ``DSNAClassifier(decision=...)`` is chosen for; None where nothing is chosen.

    Examples
    --------
    >>> find_measure("recall>=.9").least
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
    bound = _BOUND.match(decision)
    if bound:
        held, least = bound[1], float(bound[2])
        other = "precision" if held == "recall" else "recall"
        if not 0.0 < least <= 1.0:
            raise DSNAError(f"{setting('decision', decision)}: the bound is a share, above 0 and at most 1.")
        return Measure(lambda counts, rare: of_rare(counts, rare)[other], None, held, least)
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
        scored(measure.scorer, np.tile(classes, 2), np.repeat(classes, 2), classes, np.ones(2 * len(classes)))
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


class Predicted:
    """Stands for a classifier whose predictions are known, so that a scorer can be asked."""

    _estimator_type = "classifier"

    def __init__(self, predicted: np.ndarray, classes: np.ndarray):
        self.predicted = predicted
        self.classes_ = classes

    def __sklearn_tags__(self) -> Any:
        """Tags of a classifier."""
        from sklearn.dummy import DummyClassifier

        return DummyClassifier().__sklearn_tags__()

    def fit(self, X: Any, y: Any) -> Predicted:
        """Nothing to learn."""
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The predictions, whatever the rows."""
        return self.predicted


def scored(scorer: Any, truth: np.ndarray, predicted: np.ndarray, classes: np.ndarray, weight: np.ndarray) -> float:
    """The score of predictions."""
    return float(scorer(Predicted(predicted, classes), np.zeros((len(truth), 1)), truth, sample_weight=weight))
