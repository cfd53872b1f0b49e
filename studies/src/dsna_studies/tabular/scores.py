"""Scores that are recorded for a method on a fold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score, brier_score_loss, f1_score, roc_auc_score

from dsna import metrics
from dsna.extend.solver import RelevantDensity, TargetDensity

COVERAGE = 0.9
TIMES = ("fit_seconds", "predict_seconds")


class ClassPredictions(NamedTuple):
    """Predictions of a classifier for the test rows of a fold."""

    truth: np.ndarray  # (n,) classes, numbers from 0
    predicted: np.ndarray  # (n,)
    f1_predicted: np.ndarray | None  # (n,) predictions of the same fit with the decision for macro-F1
    class_scores: np.ndarray  # (n, n_classes) probabilities or decision function
    labels: np.ndarray  # (n_classes,) classes of these columns


class TargetPredictions(NamedTuple):
    """Predictions of a regressor for the test rows of a fold."""

    truth: np.ndarray  # (n,) targets
    predicted: np.ndarray  # (n,)
    train: np.ndarray  # (n_train,) training targets
    scale: float  # their standard deviation
    density: Callable[[np.ndarray], np.ndarray]  # density of relevant targets in training
    relevance: str  # which targets matter
    bounds: np.ndarray | None  # (n, 2) prediction intervals, if the model has them


class Metric(NamedTuple):
    """A score or an error of the benchmark.

    Attributes
    ----------
    direction : int
        Whether higher is better (+1), lower (-1), or neither (0).
    value : function of ClassPredictions or TargetPredictions
    needs : str
        Method that a model must have for the score to be recorded.
    """

    direction: int
    value: Callable[[Any], float]
    needs: str = "predict"


def _auc(predictions: ClassPredictions) -> float:
    """Return the AUC of each class against the rest, averaged over the classes of the test rows."""
    present = np.unique(predictions.truth)
    areas = [
        roc_auc_score(predictions.truth == label, predictions.class_scores[:, label])
        for label in present
        if len(present) > 1
    ]
    return float(np.mean(areas)) if areas else np.nan


def _macro_f1(truth: np.ndarray, predicted: np.ndarray) -> float:
    return float(f1_score(truth, predicted, average="macro", zero_division=0))


def _balanced_mae(predictions: TargetPredictions) -> float:
    edges = np.linspace(predictions.train.min(), predictions.train.max(), 11)
    return metrics.balanced_absolute_error(predictions.truth, predictions.predicted, edges) / predictions.scale


def _sera(predictions: TargetPredictions) -> float:
    relevance = None if predictions.relevance == "auto" else predictions.relevance
    area = metrics.sera_error(
        predictions.truth, predictions.predicted, y_train=predictions.train, relevance=relevance, normalize=True
    )
    return area / predictions.scale**2


#: All metrics of a task by their names in results files and tables, in the order of the columns.
METRICS: dict[str, dict[str, Metric]] = {
    "classification": {
        "accuracy": Metric(1, lambda pred: accuracy_score(pred.truth, pred.predicted)),
        "balanced_accuracy": Metric(1, lambda pred: balanced_accuracy_score(pred.truth, pred.predicted)),
        "g_mean": Metric(1, lambda pred: metrics.g_mean_score(pred.truth, pred.predicted)),
        "macro_f1": Metric(1, lambda pred: _macro_f1(pred.truth, pred.predicted)),
        "macro_f1_tuned": Metric(1, lambda pred: _macro_f1(pred.truth, pred.f1_predicted), "with_decision"),
        "minority_recall": Metric(1, lambda pred: metrics.minority_recall_score(pred.truth, pred.predicted)),
        "minority_precision": Metric(1, lambda pred: metrics.minority_precision_score(pred.truth, pred.predicted)),
        "auc": Metric(1, _auc),
        "brier": Metric(
            -1, lambda pred: brier_score_loss(pred.truth, pred.class_scores, labels=pred.labels), "predict_proba"
        ),
        "ece": Metric(
            -1,
            lambda pred: metrics.expected_calibration_error(pred.truth, pred.class_scores, labels=pred.labels),
            "predict_proba",
        ),
    },
    "regression": {
        "mae": Metric(-1, lambda pred: np.abs(pred.truth - pred.predicted).mean() / pred.scale),
        "rmse": Metric(-1, lambda pred: np.sqrt(np.mean((pred.truth - pred.predicted) ** 2)) / pred.scale),
        "rare_mae": Metric(
            -1,
            lambda pred: (
                metrics.rare_target_absolute_error(pred.truth, pred.predicted, density=pred.density) / pred.scale
            ),
        ),
        "balanced_mae": Metric(-1, _balanced_mae),
        "sera": Metric(-1, _sera),
        "coverage": Metric(
            0, lambda pred: metrics.interval_coverage_score(pred.truth, pred.bounds), "predict_interval"
        ),
        "rare_coverage": Metric(
            0,
            lambda pred: metrics.rare_target_coverage_score(pred.truth, pred.bounds, density=pred.density),
            "predict_interval",
        ),
        "interval_width": Metric(
            0, lambda pred: float((pred.bounds[:, 1] - pred.bounds[:, 0]).mean() / pred.scale), "predict_interval"
        ),
    },
}
#: The direction of each metric.
DIRECTIONS = {
    task: {name: metric.direction for name, metric in task_metrics.items()} for task, task_metrics in METRICS.items()
}
#: The metrics that methods are ranked and tested by.
MAIN: dict[str, tuple[str, ...]] = {
    "classification": ("balanced_accuracy", "g_mean", "macro_f1", "macro_f1_tuned", "auc", "brier"),
    "regression": ("mae", "rmse", "rare_mae", "balanced_mae", "sera"),
}


def classification_scores(model: Any, X: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Score a fitted classifier whose classes are numbers from 0.

    Parameters
    ----------
    model : fitted classifier
        Without ``predict_proba``, AUC uses ``decision_function``, and Brier score and calibration error are left out;
        with ``with_decision``, it also predicts with the decision for macro-F1.
    X, truth, predicted : test rows, their classes and predictions

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
    class_scores = np.zeros((len(truth), n_classes))
    model_scores = np.asarray(model.predict_proba(X) if hasattr(model, "predict_proba") else model.decision_function(X))
    class_scores[:, model.classes_] = (
        model_scores if model_scores.ndim == 2 else np.stack([-model_scores, model_scores], axis=1)
    )
    f1_predicted = model.with_decision("f1_macro").predict(X) if hasattr(model, "with_decision") else None
    predictions = ClassPredictions(truth, predicted, f1_predicted, class_scores, np.arange(n_classes))
    return _values("classification", model, predictions)


def regression_scores(
    model: Any, X: np.ndarray, truth: np.ndarray, predicted: np.ndarray, train: np.ndarray, relevance: str = "auto"
) -> dict[str, float]:
    """Score a fitted regressor.

    Parameters
    ----------
    model : fitted regressor
        Coverages are scored if it has ``predict_interval``.
    X, truth, predicted : test rows, their targets and predictions
    train : training targets
        Errors are in units of their standard deviation (SERA: mean over rows, in units of their variance); they also
        define which targets are rare.
    relevance : {"auto", "high", "low"}, default="auto"
        Which targets matter to SERA and may count as rare; "auto": both ends for SERA, any for rare targets.

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
    predictions = TargetPredictions(truth, predicted, train, float(train.std()), density, relevance, bounds)
    return _values("regression", model, predictions)


def _values(task: str, model: Any, predictions: ClassPredictions | TargetPredictions) -> dict[str, float]:
    return {name: metric.value(predictions) for name, metric in METRICS[task].items() if hasattr(model, metric.needs)}
