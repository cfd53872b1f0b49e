"""Evaluation on a table: cross-validation beside other methods, or a trained model on held-out rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from .._utils.choices import best_class
from .._utils.errors import DSNAError, DSNAWarning
from .._utils.parallel import bounded_threads
from .._utils.progress import tracked
from ..inspection.figures import Cases
from ..model_selection import StratifiedRareKFold, StratifiedTargetKFold
from ..prediction.class_decision import OutOfBagProba, learn_decision
from ..prediction.measures import find_measure
from ..tables import FileTable
from .columns import check_new_rows, encode_rows, known_rows_note
from .peers import OURS, Fitted, class_shares, peers
from .predict import is_classification
from .scores import Scores, class_scores, target_scores
from .target import Target, match_classes, rare_targets, read_known_target, training_labels
from .train import TrainingTable, TrainOptions, build, choose_rows

_INNER_FOLDS = 3  # on which peers' decisions are learned


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluation:
    """Scores on held-out rows.

    Parameters
    ----------
    scores : scores of all methods, on rows that none of them learned from.
    apart : scores of dsna with copies of rows in different folds; None unless ``scores`` keeps copies
        in one fold.
    target : the target of the scored rows.
    covered : share of the rows ("all", "rare") whose target is in the interval or set; None without intervals.
    notes : notes on the rows, such as corrections.
    """

    scores: Scores
    apart: Scores | None
    target: Target
    covered: dict[str, float | None] | None
    notes: list[str]


def cross_validate(table: FileTable, options: TrainOptions, folds: int = 5) -> Evaluation:
    """Cross-validate dsna, a random forest, gradient boosting and a linear model on a table.

    In each fold, all methods share an encoder fitted on the training rows. All classifiers use the same decision; for
    the other methods, it is tuned on inner folds of the training rows.

    Parameters
    ----------
    table : the table.
    options : as in :func:`dsna.app.train.train`.
    folds : number of folds, stratified by class or target; groups stay whole.
    """
    rows = choose_rows(table, options)
    y, classification = rows.target.values, rows.target.task == "classification"
    min_class_count = np.unique(y, return_counts=True)[1].min() if classification else len(y)
    if classification and min_class_count < 2:
        raise DSNAError(
            f"{table.name}: a class of the target column {options.target!r} has one row only, which cannot be both "
            "learned from and predicted. Remedy: add rows of it, or leave it out."
        )
    groups_with_copies = None if rows.groups is rows.user_groups else rows.groups
    folds = min(folds, len(y) if groups_with_copies is None else len(np.unique(groups_with_copies)))
    types = {name: kind.spec for name, kind in table.types.items()}
    ours = build(rows, options, types)
    peer_methods: dict[str, Any] = {
        **peers(rows.target.task, options.seed, options.jobs),
        "linear model": _linear_model(classification),
    }
    methods = {OURS: ours, **peer_methods}
    scores, copies_apart_scores = _cross_validate(rows, options, folds, methods), None
    if rows.groups is not rows.user_groups:
        copies_apart_scores = _cross_validate(replace(rows, groups=rows.user_groups), options, folds, {OURS: ours})
    return Evaluation(scores=scores, apart=copies_apart_scores, target=rows.target, covered=None, notes=rows.notes)


def _cross_validate(rows: TrainingTable, options: TrainOptions, folds: int, methods: dict[str, Any]) -> Scores:
    """Cross-validated scores of methods, dsna among them."""
    y, classification = rows.target.values, rows.target.task == "classification"
    splitter: Any = StratifiedRareKFold if classification else StratifiedTargetKFold
    answers = {name: np.empty(len(y), dtype=y.dtype) for name in methods}
    jobs = [(name, method, fold) for fold in range(folds) for name, method in methods.items()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes that a fold lacks: cases are counted
        splits = list(splitter(folds, shuffle=True, random_state=options.seed).split(y, y, rows.groups))
    with warnings.catch_warnings(), bounded_threads(options.jobs):
        warnings.simplefilter("ignore", DSNAWarning)  # cases are counted, and equal rows noted
        for name, method, fold in tracked(jobs, len(jobs), "fits"):
            train, test = splits[fold]
            answers[name][test] = _predict_test_rows(clone(method), clone(methods[OURS]), rows, train, test)
    cases = Cases.of(len(y), rows.weight, rows.groups)
    return (
        class_scores(y, answers, cases) if classification else target_scores(y, answers, cases, rare_targets(y, y), y)
    )


def _linear_model(classification: bool) -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000) if classification else Ridge())


def _predict_test_rows(
    method: Any, ours: Pipeline, rows: TrainingTable, train: np.ndarray, test: np.ndarray
) -> np.ndarray:
    """Fit a method to training rows and predict test rows; other methods share dsna's encoder and decision."""
    y = rows.target.values
    weight = None if rows.weight is None else rows.weight[train]
    groups = None if rows.groups is None else rows.groups[train]
    if isinstance(method, Pipeline) and method.steps[0][0] == ours.steps[0][0]:
        fit_params = {"model__sample_weight": weight, "model__groups": groups}
        method.fit(
            rows.frame[train], y[train], **{name: value for name, value in fit_params.items() if value is not None}
        )
        return np.asarray(method.predict(rows.frame[test]))
    encoder, model = (step for _, step in ours.steps)
    X = encoder.set_params(keep_rows=False).fit_transform(rows.frame[train])
    fit_params = {} if weight is None else {_weight_parameter(method): weight}
    X_test = encoder.transform(rows.frame[test])
    if rows.target.task == "regression":
        return np.asarray(clone(method).fit(X, y[train], **fit_params).predict(X_test))
    classes = np.unique(y[train])
    gain = _class_gain(method, X, y[train], weight, model)
    return np.asarray(
        classes[best_class(class_shares(method, Fitted(X, y[train]), X_test, classes, **fit_params), gain)]
    )


def _weight_parameter(method: Any) -> str:
    """Name of the ``fit`` parameter for sample weights."""
    return f"{method.steps[-1][0]}__sample_weight" if isinstance(method, Pipeline) else "sample_weight"


def _class_gain(method: Any, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None, model: Any) -> np.ndarray:
    """Gain of predicting each class under dsna's decision; a decision that needs tuning is tuned on inner folds."""
    classes, code = np.unique(y, return_inverse=True)
    weight = np.ones(len(y)) if weight is None else weight
    prior = np.bincount(code, weights=weight) / weight.sum()
    decision = "balanced" if isinstance(model.decision, str) and model.decision == "paper" else model.decision
    proba, indices = np.empty((0, len(classes))), slice(0, 0)
    if find_measure(decision) is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # classes of fewer rows than folds
            proba = cross_val_predict(method, X, y, cv=_INNER_FOLDS, method="predict_proba")
        indices = slice(None)
    held_out = OutOfBagProba(proba, code[indices], weight[indices], np.zeros(len(code), dtype=np.int64)[indices])
    return learn_decision(decision, float(model.balance), held_out, classes, prior, None).gain


def evaluate_model(
    model: Pipeline, table: FileTable, target: str | None = None, *, allow_unreadable: bool = False
) -> Evaluation:
    """Score a trained pipeline on held-out rows.

    Parameters
    ----------
    model : fitted pipeline of a TableEncoder and a DSNA estimator.
    table : the held-out rows.
    target : name of the target column; None: as in training.
    allow_unreadable : whether unreadable columns are noted instead of raising an error.

    Examples
    --------
    >>> import polars
    >>> from sklearn.pipeline import make_pipeline
    >>> from dsna import CostSensitiveForestRegressor, DSNARegressor
    >>> from dsna.tables import FileTable, TableEncoder
    >>> frame = polars.DataFrame({"size": range(80), "cost": [0.5 * i for i in range(80)]})
    >>> model = make_pipeline(
    ...     TableEncoder(target="cost"), DSNARegressor(CostSensitiveForestRegressor(5), random_state=0)
    ... )
    >>> model = model.fit(frame[::2], frame["cost"].to_numpy()[::2])
    >>> held_out = FileTable(name="t.csv", frame=frame[1::2], types={}, notes=[])
    >>> list(evaluate_model(model, held_out).scores.overall["dsna"])
    ['mean absolute error', 'of rare targets', 'R2']
    """
    encoder, estimator = (step for _, step in model.steps)
    classification = is_classification(model)
    held_out = read_known_target(table, target or encoder.target, "classification" if classification else "regression")
    check_new_rows(encoder, table)
    X, notes = encode_rows(encoder, table, held_out.rows, allow_unreadable)
    known_note = known_rows_note(encoder, table.frame[held_out.rows])
    if known_note:
        notes = [*notes, f"{known_note}: scores of rows that it learned from are too good"]
    y = held_out.values
    if classification:
        y = match_classes(y, estimator.classes_, held_out.name, labels=training_labels(encoder))
        proba = estimator.predict_proba(X)
        predicted = (
            estimator.predict(X) if estimator._by_votes else estimator.classes_[best_class(proba, estimator._gain)]
        )
        is_covered = estimator.in_set(proba)[np.arange(len(y)), np.searchsorted(estimator.classes_, y)]
        rarest = estimator.classes_[
            int(np.argmin(np.where(estimator.class_prior_ > 0, estimator.class_prior_, np.inf)))
        ]
        scores = class_scores(y, {OURS: predicted}, Cases.of(len(y)), rarest)
        is_rare = y == rarest
    else:
        training = estimator._index.label[:, 0]
        is_rare = rare_targets(y, training)
        scores = target_scores(y, {OURS: estimator.predict(X)}, Cases.of(len(y)), is_rare, training)
        is_covered = np.zeros(0, dtype=bool)
        if estimator._regions:
            low, high = estimator.predict_interval(X).T
            is_covered = (low <= y) & (y <= high)
    covered = {"all": float(is_covered.mean()), "rare": float(is_covered[is_rare].mean()) if is_rare.any() else None}
    return Evaluation(
        scores=scores,
        apart=None,
        target=held_out,
        covered=covered if len(is_covered) else None,
        notes=[*held_out.notes, *notes],
    )
