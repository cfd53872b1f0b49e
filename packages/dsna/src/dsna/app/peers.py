"""A random forest and gradient boosting on the same held-out rows as a fitted model, and deciding as it does."""

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
MOST_ROWS = 30_000  # that a peer learns from
_FEW_ROWS = 5_000  # up to which threads of gradient boosting wait for each other longer than they work


def peers(task: str, seed: int, jobs: int | None) -> dict[str, Any]:
    """Estimators of scikit-learn, as they come, by name.

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
    """Rows that a model was fitted on: weights and groups are None where there were none."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None = None
    groups: np.ndarray | None = None


def out_of_bag_scores(model: Any, training: Fitted, seed: int = 0, *, others: bool = True) -> Scores:
    """Out-of-bag scores of a fitted model, beside those of its peers where ``others`` are wanted.

    A random forest answers out of bag, too, and others learn from the other folds; with groups both do.

    All answer the same rows, at most about 3,000 with rare ones first, each weighted by the rows that it stands for.
    Classifiers decide alike: by the model's ``decision``, chosen on the held-out probabilities of each.

    Parameters
    ----------
    model : fitted DSNAClassifier or DSNARegressor
    training : the rows that it was fitted on, in their order.
    seed : of the peers.
    others : whether peers are scored, too.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
    >>> X, y = make_classification(300, weights=[0.9], random_state=0)
    >>> model = DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0).fit(X, y)
    >>> list(out_of_bag_scores(model, Fitted(X, y)).overall)
    ['dsna', 'random forest', 'gradient boosting']
    """
    y, rows = training.y, model.oob_rows_
    groups = None if training.groups is None else training.groups[rows]
    cases = Cases.of(len(rows), model._oob_weight, groups)
    classes = is_classifier(model)
    answers: dict[str, np.ndarray] = {OURS: model.oob_prediction_}
    beside = peers("classification" if classes else "regression", seed, model.n_jobs) if others else {}
    for name, one in beside.items():
        with bounded_threads(model.n_jobs if len(y) > _FEW_ROWS else 1):
            held = _own_out_of_bag(one, model, training) if hasattr(one, "oob_score") else None
            held = _outside_folds(name, one, model, training) if held is None else held
        answers[name] = _decided(model, held, y) if classes else held
    if classes:
        counts = model._class_weight
        rare = model.classes_[int(np.argmin(np.where(counts > 0, counts, np.inf)))]
        return class_scores(y[rows], answers, cases, rare)
    return target_scores(y[rows], answers, cases, rare_targets(y[rows], y), y)


def _own_out_of_bag(forest: Any, model: Any, training: Fitted) -> np.ndarray | None:
    """What a forest says of the rows by trees that did not draw them, as ours does, which takes one fit.

    None where groups are to be held out together, or where there are too many rows.
    """
    if training.groups is not None or len(training.y) > MOST_ROWS:
        return None
    fitted = clone(forest).set_params(oob_score=True).fit(training.X, training.y, sample_weight=training.weight)
    if not is_classifier(model):
        return np.asarray(fitted.oob_prediction_[model.oob_rows_])
    shares = fitted.oob_decision_function_[model.oob_rows_]
    return np.asarray(np.where(np.isnan(shares), model.class_prior_, shares))  # rows that every tree drew


def _outside_folds(name: str, method: Any, model: Any, training: Fitted) -> np.ndarray:
    """What a method says of the rows, learned from the other folds: probabilities or targets."""
    X, y, rows = training.X, training.y, model.oob_rows_
    weight = np.ones(len(y)) if training.weight is None else training.weight
    classes = is_classifier(model)
    fold = model._index.fold[: len(y)]
    folds = np.unique(fold[rows])
    found = np.zeros((len(rows), len(model.fitted_classes_)) if classes else len(rows))
    for held_out in tracked(folds, len(folds), f"folds of {name}"):
        some = fold[rows] == held_out
        known, times = _bounded(y, np.flatnonzero((fold != held_out) & (weight > 0)), classes)
        times = times * weight[known]
        plain = bool(np.ptp(times) == 0.0)  # boosting without weights takes a quarter of the time
        weighted = {} if plain else {"sample_weight": times}
        if classes:
            some_of = Fitted(X[known], y[known])
            found[some] = class_shares(method, some_of, X[rows[some]], model.fitted_classes_, **weighted)
        else:
            found[some] = clone(method).fit(X[known], y[known], **weighted).predict(X[rows[some]])
    return found


def class_shares(method: Any, known: Fitted, new: np.ndarray, classes: np.ndarray, **weighted: Any) -> np.ndarray:
    """(n, n_classes) probabilities of new rows by a classifier that learns from known ones.

    Classes that the known rows lack have none. A single class is certain: there, methods of scikit-learn refuse to
    learn, or answer with a column for a class that is not there.

    Parameters
    ----------
    method : classifier that is not fitted.
    known : the rows to learn from.
    new : (n, n_features)
    classes : all classes, sorted.
    **weighted : weights of the rows, by their name in ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> known = Fitted(np.zeros((3, 1)), np.array(["no", "no", "no"]))
    >>> class_shares(HistGradientBoostingClassifier(), known, np.zeros((1, 1)), np.array(["no", "yes"])).tolist()
    [[1.0, 0.0]]
    """
    found = np.zeros((len(new), len(classes)))
    there = np.unique(known.y)
    at = np.searchsorted(classes, there)
    if len(there) == 1:
        found[:, at] = 1.0
    else:
        found[:, at] = clone(method).fit(known.X, known.y, **weighted).predict_proba(new)
    return found


def _bounded(y: np.ndarray, rows: np.ndarray, classes: bool) -> tuple[np.ndarray, np.ndarray]:
    """At most so many rows, rare classes first, and how many rows each stands for."""
    strata = y[rows] if classes else np.zeros(len(rows))
    some, stands_for = stratified_sample(strata, min(MOST_ROWS, len(rows)), np.random.RandomState(0))
    return rows[some], stands_for


def _decided(model: Any, proba: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Classes that a model's decision makes of the probabilities of another, chosen without the fold at hand."""
    classes, rows = model.fitted_classes_, model.oob_rows_
    code = np.searchsorted(classes, y[rows])
    held = OutOfBagProba(proba, code, model._oob_weight, model._index.fold[rows])
    prior = model.class_prior_[np.searchsorted(model.classes_, classes)]
    decision = "balanced" if isinstance(model.decision, str) and model.decision == "paper" else model.decision
    return np.asarray(classes[learn_decision(decision, float(model.balance), held, classes, prior, None).predicted])
