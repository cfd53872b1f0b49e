"""What is recorded of a method on a fold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score, brier_score_loss, f1_score, roc_auc_score

from dsna import metrics
from dsna.extend.solver import RelevantDensity, TargetDensity

COVERAGE = 0.9
TIMES = ("fit_seconds", "predict_seconds")


class Classified(NamedTuple):
    """What a classifier says about the test rows of a fold."""

    truth: np.ndarray  # (n,) classes, numbers from 0
    predicted: np.ndarray  # (n,)
    for_f1: np.ndarray | None  # (n,) predictions of the same fit, decided for macro-F1, of a model that can
    opinion: np.ndarray  # (n, n_classes) probabilities, or the decision function of a model that has none
    labels: np.ndarray  # (n_classes,) the classes of these columns


class Regressed(NamedTuple):
    """What a regressor says about the test rows of a fold."""

    truth: np.ndarray  # (n,) targets
    predicted: np.ndarray  # (n,)
    train: np.ndarray  # (n_train,) training targets
    scale: float  # their standard deviation
    density: Callable[[np.ndarray], np.ndarray]  # how common targets were in training, if they matter
    relevance: str  # which targets matter
    bounds: np.ndarray | None  # (n, 2) prediction intervals of a model that has them


class Metric(NamedTuple):
    """A score or an error of the benchmark.

    Attributes
    ----------
    direction : int
        Whether higher is better (+1), lower (-1), or neither (0).
    value : function of a Classified or Regressed
    needs : str
        The method of a model without which it is not recorded.
    """

    direction: int
    value: Callable[[Any], float]
    needs: str = "predict"


def _auc(at: Classified) -> float:
    """Each class against the rest, averaged over the classes of the test rows."""
    present = np.unique(at.truth)
    found = [roc_auc_score(at.truth == one, at.opinion[:, one]) for one in present if len(present) > 1]
    return float(np.mean(found)) if found else np.nan


def _macro_f1(truth: np.ndarray, predicted: np.ndarray) -> float:
    return float(f1_score(truth, predicted, average="macro", zero_division=0))


def _balanced_mae(at: Regressed) -> float:
    edges = np.linspace(at.train.min(), at.train.max(), 11)
    return metrics.balanced_absolute_error(at.truth, at.predicted, edges) / at.scale


def _sera(at: Regressed) -> float:
    relevance = None if at.relevance == "auto" else at.relevance
    area = metrics.sera_error(at.truth, at.predicted, y_train=at.train, relevance=relevance, normalize=True)
    return area / at.scale**2


#: All metrics of a task by the name that results files and tables give them, in the order of the columns.
METRICS: dict[str, dict[str, Metric]] = {
    "classification": {
        "accuracy": Metric(1, lambda at: accuracy_score(at.truth, at.predicted)),
        "balanced_accuracy": Metric(1, lambda at: balanced_accuracy_score(at.truth, at.predicted)),
        "g_mean": Metric(1, lambda at: metrics.g_mean_score(at.truth, at.predicted)),
        "macro_f1": Metric(1, lambda at: _macro_f1(at.truth, at.predicted)),
        "macro_f1_tuned": Metric(1, lambda at: _macro_f1(at.truth, at.for_f1), "with_decision"),
        "minority_recall": Metric(1, lambda at: metrics.minority_recall_score(at.truth, at.predicted)),
        "minority_precision": Metric(1, lambda at: metrics.minority_precision_score(at.truth, at.predicted)),
        "auc": Metric(1, _auc),
        "brier": Metric(-1, lambda at: brier_score_loss(at.truth, at.opinion, labels=at.labels), "predict_proba"),
        "ece": Metric(
            -1, lambda at: metrics.expected_calibration_error(at.truth, at.opinion, labels=at.labels), "predict_proba"
        ),
    },
    "regression": {
        "mae": Metric(-1, lambda at: np.abs(at.truth - at.predicted).mean() / at.scale),
        "rmse": Metric(-1, lambda at: np.sqrt(np.mean((at.truth - at.predicted) ** 2)) / at.scale),
        "rare_mae": Metric(
            -1, lambda at: metrics.rare_target_absolute_error(at.truth, at.predicted, density=at.density) / at.scale
        ),
        "balanced_mae": Metric(-1, _balanced_mae),
        "sera": Metric(-1, _sera),
        "coverage": Metric(0, lambda at: metrics.interval_coverage_score(at.truth, at.bounds), "predict_interval"),
        "rare_coverage": Metric(
            0,
            lambda at: metrics.rare_target_coverage_score(at.truth, at.bounds, density=at.density),
            "predict_interval",
        ),
        "interval_width": Metric(
            0, lambda at: float((at.bounds[:, 1] - at.bounds[:, 0]).mean() / at.scale), "predict_interval"
        ),
    },
}
#: The direction of each metric.
DIRECTIONS = {task: {name: one.direction for name, one in found.items()} for task, found in METRICS.items()}
#: The metrics that methods are ranked and tested by.
MAIN: dict[str, tuple[str, ...]] = {
    "classification": ("balanced_accuracy", "g_mean", "macro_f1", "macro_f1_tuned", "auc", "brier"),
    "regression": ("mae", "rmse", "rare_mae", "balanced_mae", "sera"),
}


def classification_scores(model: Any, X: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Scores of a fitted classifier whose classes are numbers from 0.

    Parameters
    ----------
    model : fitted classifier
        One without ``predict_proba`` is ranked by ``decision_function``, and has no Brier score or calibration error;
        one with ``with_decision`` is asked again, with the decision for macro-F1.
    X, truth, predicted : test rows, their classes, and what the model says

    Returns
    -------
    dict
        The scores named in ``METRICS["classification"]``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import LinearSVC
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 0, 1])
    >>> model = LinearSVC().fit(X, y)
    >>> scores = classification_scores(model, X, y, y)
    >>> float(scores["auc"]), scores["g_mean"], "brier" in scores
    (1.0, 1.0, False)
    """
    n_classes = int(max(truth.max(), model.classes_.max())) + 1
    opinion = np.zeros((len(truth), n_classes))
    answer = np.asarray(model.predict_proba(X) if hasattr(model, "predict_proba") else model.decision_function(X))
    opinion[:, model.classes_] = answer if answer.ndim == 2 else np.stack([-answer, answer], axis=1)
    for_f1 = model.with_decision("f1_macro").predict(X) if hasattr(model, "with_decision") else None
    return _values("classification", model, Classified(truth, predicted, for_f1, opinion, np.arange(n_classes)))


def regression_scores(
    model: Any, X: np.ndarray, truth: np.ndarray, predicted: np.ndarray, train: np.ndarray, relevance: str = "auto"
) -> dict[str, float]:
    """Scores of a fitted regressor.

    Parameters
    ----------
    model : fitted regressor
        Coverages are scored where it has ``predict_interval``.
    X, truth, predicted : test rows, their targets, and what the model says
    train : training targets
        Errors are in units of their standard deviation (SERA: mean over rows, in units of their variance); they also
        say which targets are rare.
    relevance : {"auto", "high", "low"}, default="auto"
        Which targets matter to SERA and may count as rare; "auto": those at both ends to SERA, all as rare.

    Returns
    -------
    dict
        The scores named in ``METRICS["regression"]``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyRegressor
    >>> y = np.array([0.0, 0.0, 2.0, 2.0])
    >>> scores = regression_scores(DummyRegressor().fit(y[:, None], y), y[:, None], y, y + 1, train=y)
    >>> float(scores["mae"]), float(scores["rmse"]), "coverage" in scores
    (1.0, 1.0, False)
    """
    bounds = model.predict_interval(X, COVERAGE) if hasattr(model, "predict_interval") else None
    density = RelevantDensity(TargetDensity(train), train, relevance).evaluate
    at = Regressed(truth, predicted, train, float(train.std()), density, relevance, bounds)
    return _values("regression", model, at)


def _values(task: str, model: Any, at: Classified | Regressed) -> dict[str, float]:
    return {name: one.value(at) for name, one in METRICS[task].items() if hasattr(model, one.needs)}
