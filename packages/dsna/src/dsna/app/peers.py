"""Random forest and gradient boosting, scored on the held-out rows of a fitted model and with its decision."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier

from .._utils.parallel import bounded_threads
from .._utils.progress import tracked
from .._utils.sampling import stratified_sample
from ..inspection.figures import Cases
from ..prediction.class_decision import OutOfBagProba, learn_decision
from .scores import Scores, class_scores, target_scores
from .target import rare_targets

OURS = "dsna"
MAX_ROWS = 30_000  # that a peer learns from
_MIN_PARALLEL_ROWS = 5_000  # below, gradient boosting is slower with threads than without


def peers(task: str, seed: int, jobs: int | None) -> dict[str, Any]:
    """scikit-learn estimators with default parameters, by name.

    Examples
    --------
    >>> list(peers("regression", 0, 1))
    ['random forest', 'gradient boosting']
    """
    from sklearn import ensemble

    kind = "Classifier" if task == "classification" else "Regressor"
    return {
        "random forest": getattr(ensemble, f"RandomForest{kind}")(random_state=seed, n_jobs=jobs),
        "gradient boosting": getattr(ensemble, f"HistGradientBoosting{kind}")(random_state=seed),
    }


class Fitted(NamedTuple):
    """Training data of a model; weight and groups are optional."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None = None
    groups: np.ndarray | None = None


def out_of_bag_scores(model: Any, training: Fitted, seed: int = 0, *, with_peers: bool = True) -> Scores:
    """Out-of-bag scores of a fitted model and, ``with_peers``, of other methods on the same rows.

    A random forest is scored out of bag, other methods (and the forest, if there are groups) by cross-validation.

    The rows are a sample of at most about 3,000, rare ones first, each weighted by the rows that it represents. All
    classifiers use the model's ``decision``, tuned on their own held-out probabilities.

    Parameters
    ----------
    model : fitted DSNAClassifier or DSNARegressor
    training : the data that it was fitted on, in the same order.
    seed : random seed of the peers.
    with_peers : whether peers are scored, too.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
    >>> X, y = make_classification(300, weights=[0.9], random_state=0)
    >>> model = DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0).fit(X, y)
    >>> list(out_of_bag_scores(model, Fitted(X, y)).overall)
    ['dsna', 'random forest', 'gradient boosting']
    """
    y, oob_rows = training.y, model.oob_rows_
    groups = None if training.groups is None else training.groups[oob_rows]
    cases = Cases.of(len(oob_rows), model._oob_weight, groups)
    classification = is_classifier(model)
    answers: dict[str, np.ndarray] = {OURS: model.oob_prediction_}
    methods = peers("classification" if classification else "regression", seed, model.n_jobs) if with_peers else {}
    for name, method in methods.items():
        with bounded_threads(model.n_jobs if len(y) > _MIN_PARALLEL_ROWS else 1):
            predictions = _forest_oob_predictions(method, model, training) if hasattr(method, "oob_score") else None
            predictions = (
                _cross_validated_predictions(name, method, model, training) if predictions is None else predictions
            )
        answers[name] = _decide(model, predictions, y) if classification else predictions
    if classification:
        counts = model._class_weight
        rare = model.classes_[int(np.argmin(np.where(counts > 0, counts, np.inf)))]
        return class_scores(y[oob_rows], answers, cases, rare)
    return target_scores(y[oob_rows], answers, cases, rare_targets(y[oob_rows], y), y)


def _forest_oob_predictions(forest: Any, model: Any, training: Fitted) -> np.ndarray | None:
    """Out-of-bag predictions of a random forest, from a single fit; None if there are groups or too many rows."""
    if training.groups is not None or len(training.y) > MAX_ROWS:
        return None
    fitted = clone(forest).set_params(oob_score=True).fit(training.X, training.y, sample_weight=training.weight)
    if not is_classifier(model):
        return np.asarray(fitted.oob_prediction_[model.oob_rows_])
    shares = fitted.oob_decision_function_[model.oob_rows_]
    return np.asarray(np.where(np.isnan(shares), model.class_prior_, shares))  # rows that every tree drew


def _cross_validated_predictions(name: str, method: Any, model: Any, training: Fitted) -> np.ndarray:
    """Cross-validated predictions of a method: probabilities or targets."""
    X, y, rows = training.X, training.y, model.oob_rows_
    weight = np.ones(len(y)) if training.weight is None else training.weight
    classification = is_classifier(model)
    fold = model._index.fold[: len(y)]
    folds = np.unique(fold[rows])
    predictions = np.zeros((len(rows), len(model.fitted_classes_)) if classification else len(rows))
    for held_out_fold in tracked(folds, len(folds), f"folds of {name}"):
        in_fold = fold[rows] == held_out_fold
        train_rows, sample_weight = _bounded_sample(
            y, np.flatnonzero((fold != held_out_fold) & (weight > 0)), classification
        )
        sample_weight = sample_weight * weight[train_rows]
        is_unweighted = bool(np.ptp(sample_weight) == 0.0)  # boosting without weights takes a quarter of the time
        fit_params = {} if is_unweighted else {"sample_weight": sample_weight}
        if classification:
            train_data = Fitted(X[train_rows], y[train_rows])
            predictions[in_fold] = class_shares(
                method, train_data, X[rows[in_fold]], model.fitted_classes_, **fit_params
            )
        else:
            predictions[in_fold] = (
                clone(method).fit(X[train_rows], y[train_rows], **fit_params).predict(X[rows[in_fold]])
            )
    return predictions


def class_shares(method: Any, training: Fitted, X: np.ndarray, classes: np.ndarray, **fit_params: Any) -> np.ndarray:
    """(n, n_classes) probabilities by a classifier fitted to training data.

    Classes without training rows have probability 0. A single class has probability 1, because scikit-learn's
    classifiers then raise an error or return a column for a class that does not exist.

    Parameters
    ----------
    method : unfitted classifier.
    training : data to fit it to.
    X : (n, n_features) rows to predict.
    classes : all classes, sorted.
    **fit_params : sample weights, by their name in ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> training = Fitted(np.zeros((3, 1)), np.array(["no", "no", "no"]))
    >>> class_shares(HistGradientBoostingClassifier(), training, np.zeros((1, 1)), np.array(["no", "yes"])).tolist()
    [[1.0, 0.0]]
    """
    proba = np.zeros((len(X), len(classes)))
    known_classes = np.unique(training.y)
    columns = np.searchsorted(classes, known_classes)
    if len(known_classes) == 1:
        proba[:, columns] = 1.0
    else:
        proba[:, columns] = clone(method).fit(training.X, training.y, **fit_params).predict_proba(X)
    return proba


def _bounded_sample(y: np.ndarray, rows: np.ndarray, classification: bool) -> tuple[np.ndarray, np.ndarray]:
    """A sample of at most MAX_ROWS rows, rare classes first, and how many rows each represents."""
    strata = y[rows] if classification else np.zeros(len(rows))
    indices, stands_for = stratified_sample(strata, min(MAX_ROWS, len(rows)), np.random.RandomState(0))
    return rows[indices], stands_for


def _decide(model: Any, proba: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Classes chosen by a model's decision from another method's probabilities, tuned without each row's fold."""
    classes, rows = model.fitted_classes_, model.oob_rows_
    code = np.searchsorted(classes, y[rows])
    held_out = OutOfBagProba(proba, code, model._oob_weight, model._index.fold[rows])
    prior = model.class_prior_[np.searchsorted(model.classes_, classes)]
    decision = "balanced" if isinstance(model.decision, str) and model.decision == "paper" else model.decision
    return np.asarray(classes[learn_decision(decision, float(model.balance), held_out, classes, prior, None).predicted])
