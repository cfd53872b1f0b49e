"""What is recorded of a method on a fold."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score, brier_score_loss, f1_score, roc_auc_score

from ... import metrics
from ...forest.density import TargetDensity

COVERAGE = 0.9
TIMES = ("fit_seconds", "predict_seconds")
#: Scores of each task, and whether higher is better (+1), lower (-1), or neither (0).
METRICS: dict[str, dict[str, int]] = {
    "classification": {
        "accuracy": 1,
        "balanced_accuracy": 1,
        "g_mean": 1,
        "macro_f1": 1,
        "minority_recall": 1,
        "minority_precision": 1,
        "auc": 1,
        "brier": -1,
        "ece": -1,
    },
    "regression": {
        "mae": -1,
        "rmse": -1,
        "rare_mae": -1,
        "balanced_mae": -1,
        "sera": -1,
        "coverage": 0,
        "rare_coverage": 0,
    },
}
#: The scores that methods are ranked and tested by.
MAIN: dict[str, tuple[str, ...]] = {
    "classification": ("balanced_accuracy", "g_mean", "macro_f1", "auc"),
    "regression": ("mae", "rare_mae", "balanced_mae", "sera"),
}


def classification_scores(model: Any, X: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Scores of a fitted classifier whose classes are numbers from 0.

    Parameters
    ----------
    model : fitted classifier
        One without ``predict_proba`` is ranked by ``decision_function``, and has no Brier score or calibration error.
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
    has_proba = hasattr(model, "predict_proba")
    answer = np.asarray(model.predict_proba(X) if has_proba else model.decision_function(X))
    opinion[:, model.classes_] = answer if answer.ndim == 2 else np.stack([-answer, answer], axis=1)
    present = np.unique(truth)
    auc = [roc_auc_score(truth == label, opinion[:, label]) for label in present if len(present) > 1]
    scores = {
        "accuracy": accuracy_score(truth, predicted),
        "balanced_accuracy": balanced_accuracy_score(truth, predicted),
        "g_mean": metrics.g_mean_score(truth, predicted),
        "macro_f1": f1_score(truth, predicted, average="macro", zero_division=0),
        "minority_recall": metrics.minority_recall_score(truth, predicted),
        "minority_precision": metrics.minority_precision_score(truth, predicted),
        "auc": np.mean(auc) if auc else np.nan,
    }
    if has_proba:
        labels = np.arange(n_classes)
        scores["brier"] = brier_score_loss(truth, opinion, labels=labels)
        scores["ece"] = metrics.expected_calibration_error(truth, opinion, labels=labels)
    return scores


def regression_scores(
    model: Any, X: np.ndarray, truth: np.ndarray, predicted: np.ndarray, train: np.ndarray
) -> dict[str, float]:
    """Scores of a fitted regressor.

    Parameters
    ----------
    model : fitted regressor
        Coverages are scored where it has ``predict_interval``.
    X, truth, predicted : test rows, their labels, and what the model says
    train : training labels
        Errors are in units of their standard deviation (SERA: mean over rows, in units of their variance); they also
        say which labels are rare.

    Returns
    -------
    dict of the scores named in ``METRICS["regression"]``

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0.0, 0.0, 2.0, 2.0])
    >>> scores = regression_scores(None, y[:, None], y, y + 1, train=y)
    >>> float(scores["mae"]), float(scores["rmse"]), "coverage" in scores
    (1.0, 1.0, False)
    """
    scale, edges, density = train.std(), np.linspace(train.min(), train.max(), 11), TargetDensity(train)
    error = truth - predicted
    scores = {
        "mae": np.abs(error).mean() / scale,
        "rmse": np.sqrt(np.mean(error**2)) / scale,
        "rare_mae": metrics.rare_target_absolute_error(truth, predicted, density=density) / scale,
        "balanced_mae": metrics.balanced_absolute_error(truth, predicted, edges) / scale,
        "sera": metrics.sera_error(truth, predicted, y_train=train, normalize=True) / scale**2,
    }
    if hasattr(model, "predict_interval"):
        bounds = model.predict_interval(X, COVERAGE)
        scores["coverage"] = metrics.interval_coverage_score(truth, bounds)
        scores["rare_coverage"] = metrics.rare_target_coverage_score(truth, bounds, density=density)
    return scores
