"""How good a method is on a table: cross-validation beside other methods, or a trained model on held-out rows."""

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
from .columns import check_new_rows, encoded_rows, known_rows
from .peers import OURS, Fitted, class_shares, peers
from .predict import is_classification
from .scores import Scores, class_scores, target_scores
from .target import Target, known_labels, known_target, rare_targets, same_classes
from .train import Rows, TrainOptions, build, choose_rows

_INNER = 3  # folds on which peers' decisions are learned


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluation:
    """Scores, what the rows are, and what was noted of them.

    Parameters
    ----------
    scores : of all methods, on rows that none of them learned from.
    apart : of ours, if copies of rows were not kept in one fold; None where they are not.
    target : the target of these rows.
    covered : share of the rows ("all", "rare") whose target the interval or set holds; None where there are none.
    notes : what was mended.
    """

    scores: Scores
    apart: Scores | None
    target: Target
    covered: dict[str, float | None] | None
    notes: list[str]


def cross_validate(table: FileTable, options: TrainOptions, folds: int = 5) -> Evaluation:
    """Predict each row by models that never saw it: ours, a random forest, gradient boosting and a linear model.

    Columns are encoded by what the training rows of each fold show, for all methods alike. Classifiers decide alike:
    what a decision needs to learn, others learn on inner folds of the training rows.

    Parameters
    ----------
    table : the table.
    options : as in :func:`dsna.app.train.train`.
    folds : number of folds, evenly along classes or targets; groups stay whole.
    """
    rows = choose_rows(table, options)
    y, classes = rows.target.values, rows.target.task == "classification"
    least = np.unique(y, return_counts=True)[1].min() if classes else len(y)
    if classes and least < 2:
        raise DSNAError(
            f"{table.name}: a class of the target column {options.target!r} has one row only, which cannot be both "
            "learned from and predicted. Remedy: add rows of it, or leave it out."
        )
    copies = None if rows.groups is rows.asked_groups else rows.groups
    folds = min(folds, len(y) if copies is None else len(np.unique(copies)))
    types = {name: kind.spec for name, kind in table.types.items()}
    ours = build(rows, options, types)
    others: dict[str, Any] = {**peers(rows.target.task, options.seed, options.jobs), "linear model": _linear(classes)}
    methods = {OURS: ours, **others}
    scores, apart = _cross_validated(rows, options, folds, methods), None
    if rows.groups is not rows.asked_groups:
        apart = _cross_validated(replace(rows, groups=rows.asked_groups), options, folds, {OURS: ours})
    return Evaluation(scores=scores, apart=apart, target=rows.target, covered=None, notes=rows.notes)


def _cross_validated(rows: Rows, options: TrainOptions, folds: int, methods: dict[str, Any]) -> Scores:
    """Scores of predictions of each fold by methods, ours among them, that learned from the other folds."""
    y, classes = rows.target.values, rows.target.task == "classification"
    splitter: Any = StratifiedRareKFold if classes else StratifiedTargetKFold
    answers = {name: np.empty(len(y), dtype=y.dtype) for name in methods}
    work = [(name, method, side) for side in range(folds) for name, method in methods.items()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes that a fold lacks: cases are counted
        dealt = list(splitter(folds, shuffle=True, random_state=options.seed).split(y, y, rows.groups))
    with warnings.catch_warnings(), bounded_threads(options.jobs):
        warnings.simplefilter("ignore", DSNAWarning)  # cases are counted, and equal rows noted
        for name, method, side in tracked(work, len(work), "fits"):
            train, test = dealt[side]
            answers[name][test] = _answers(clone(method), clone(methods[OURS]), rows, train, test)
    cases = Cases.of(len(y), rows.weight, rows.groups)
    return class_scores(y, answers, cases) if classes else target_scores(y, answers, cases, rare_targets(y, y), y)


def _linear(classes: bool) -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000) if classes else Ridge())


def _answers(method: Any, ours: Pipeline, rows: Rows, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Predictions of a method for test rows, learned from training rows; others encode and decide as ours."""
    y = rows.target.values
    weight = None if rows.weight is None else rows.weight[train]
    groups = None if rows.groups is None else rows.groups[train]
    if isinstance(method, Pipeline) and method.steps[0][0] == ours.steps[0][0]:
        given = {"model__sample_weight": weight, "model__groups": groups}
        method.fit(rows.frame[train], y[train], **{name: one for name, one in given.items() if one is not None})
        return np.asarray(method.predict(rows.frame[test]))
    encoder, model = (step for _, step in ours.steps)
    X = encoder.set_params(keep_rows=False).fit_transform(rows.frame[train])
    weighted = {} if weight is None else {_weight_of(method): weight}
    new = encoder.transform(rows.frame[test])
    if rows.target.task == "regression":
        return np.asarray(clone(method).fit(X, y[train], **weighted).predict(new))
    classes = np.unique(y[train])
    gain = _gain(method, X, y[train], weight, model)
    return np.asarray(classes[best_class(class_shares(method, Fitted(X, y[train]), new, classes, **weighted), gain)])


def _weight_of(method: Any) -> str:
    """Name of the weights of rows in ``fit``."""
    return f"{method.steps[-1][0]}__sample_weight" if isinstance(method, Pipeline) else "sample_weight"


def _gain(method: Any, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None, model: Any) -> np.ndarray:
    """What it gains a method to predict a class, as ours decides; what is to be chosen is chosen on inner folds."""
    classes, code = np.unique(y, return_inverse=True)
    weight = np.ones(len(y)) if weight is None else weight
    prior = np.bincount(code, weights=weight) / weight.sum()
    decision = "balanced" if isinstance(model.decision, str) and model.decision == "paper" else model.decision
    proba, some = np.empty((0, len(classes))), slice(0, 0)
    if find_measure(decision) is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # classes of fewer rows than folds
            proba = cross_val_predict(method, X, y, cv=_INNER, method="predict_proba")
        some = slice(None)
    held = OutOfBagProba(proba, code[some], weight[some], np.zeros(len(code), dtype=np.int64)[some])
    return learn_decision(decision, float(model.balance), held, classes, prior, None).gain


def evaluate_model(
    model: Pipeline, table: FileTable, target: str | None = None, *, allow_unreadable: bool = False
) -> Evaluation:
    """Scores of a trained pipeline on rows that it has not seen, whose target is known.

    Parameters
    ----------
    model : fitted pipeline of a TableEncoder and a DSNA estimator.
    table : the held-out rows.
    target : name of the target column; None: the one of training.
    allow_unreadable : whether columns that cannot be read are only noted.

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
    encoder, last = (step for _, step in model.steps)
    classes = is_classification(model)
    found = known_target(table, target or encoder.target, "classification" if classes else "regression")
    check_new_rows(encoder, table)
    X, notes = encoded_rows(encoder, table, found.rows, allow_unreadable)
    again = known_rows(encoder, table.frame[found.rows])
    if again:
        notes = [*notes, f"{again}: scores of rows that it learned from are too good"]
    y = found.values
    if classes:
        y = same_classes(y, last.classes_, found.name, labels=known_labels(encoder))
        proba = last.predict_proba(X)
        predicted = last.predict(X) if last._by_votes else last.classes_[best_class(proba, last._gain)]
        inside = last.in_set(proba)[np.arange(len(y)), np.searchsorted(last.classes_, y)]
        rarest = last.classes_[int(np.argmin(np.where(last.class_prior_ > 0, last.class_prior_, np.inf)))]
        scores = class_scores(y, {OURS: predicted}, Cases.of(len(y)), rarest)
        part = y == rarest
    else:
        training = last._index.label[:, 0]
        part = rare_targets(y, training)
        scores = target_scores(y, {OURS: last.predict(X)}, Cases.of(len(y)), part, training)
        inside = np.zeros(0, dtype=bool)
        if last._regions:
            low, high = last.predict_interval(X).T
            inside = (low <= y) & (y <= high)
    covered = {"all": float(inside.mean()), "rare": float(inside[part].mean()) if part.any() else None}
    return Evaluation(
        scores=scores, apart=None, target=found, covered=covered if len(inside) else None, notes=[*found.notes, *notes]
    )
