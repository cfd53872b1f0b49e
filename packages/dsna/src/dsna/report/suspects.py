"""Rows and regions to check: doubtful labels, rows that decide many cases, parts of the table without support."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from ..inspection.columns import as_numbers, is_missing
from ..inspection.figures import FEWEST
from ..inspection.out_of_bag import training_values
from ..inspection.pipeline import split_pipeline
from ..uncertainty.intervals import target_spread
from .answers import OutOfBagAnswers
from .cases import CaseScores, class_doubt, scaled_errors
from .data import Decider, Doubt, FurtherDoubt, Region, SuspectSection
from .table import column_names, kind_of
from .text import clean, estimate, percent, rounded

_MAX_DOUBTS = 30
_MAX_ROWS = 50_000  # training rows whose labels are compared with their neighbours
_TREE_VISITS = 7_500_000  # maximum of rows times trees, which takes a few seconds
_MAX_ROWS_NEAREST = 5_000  # if neighbours are not found by trees
_MAX_DECIDERS = 15
_MIN_DOUBT = 0.8
_MIN_SCALED_ERROR = 2.0  # in regression, of errors relative to the spread around the case
_MIN_WEIGHT = 0.1  # share of the weight of a case
_MIN_DECIDED = 3
_MAX_LEAVES = 5
_MIN_REGION = 30
_MIN_DISTANCE = 1.5
_MAX_VALUES = 5


class LookedAt(NamedTuple):
    """Labels of training rows compared with out-of-fold predictions.

    Attributes
    ----------
    rows : (n,) numbers of the compared rows, sorted.
    n_rows : number of training rows.
    label, predicted : (n,) class numbers, or targets; in classification the most probable other class.
    share : (n,) probability of ``predicted``; NaN in regression.
    doubt : (n,) as in ``CaseScores``.
    worst : positions in ``rows`` of doubtful labels, most doubtful first.
    """

    rows: np.ndarray
    n_rows: int
    label: np.ndarray
    predicted: np.ndarray
    share: np.ndarray
    doubt: np.ndarray
    worst: np.ndarray

    @property
    def scope(self) -> str:
        """Description of the compared rows."""
        if len(self.rows) == self.n_rows:
            return f"all {self.n_rows:,} rows"
        return f"{len(self.rows):,} of {self.n_rows:,} rows"

    def says(self, position: int, names: Sequence[str]) -> str:
        """Label that the neighbours of a row suggest, given the names of the classes."""
        if not len(names):
            return f"about {self.predicted[position]:.4g}"
        return f"{names[int(self.predicted[position])]} ({percent(self.share[position])})"


def look_at_rows(model: Any, X: Any) -> LookedAt:
    """Compare the labels of training rows with predictions by trees and rows of other folds.

    At most 50,000 rows are compared, fewer if there are many trees; larger tables are sampled at random. Out-of-bag
    predictions are used if available; for other rows, the contents of the leaves, which are close to these.

    Parameters
    ----------
    model : fitted DSNAClassifier or DSNARegressor (one output), or Pipeline that ends in one.
    X : rows given to ``fit``, in the same order; for a pipeline, the inputs of its first step.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> y[3] = 2
    >>> looked = look_at_rows(DSNAClassifier(CostSensitiveForestClassifier(20), random_state=0).fit(X, y), X)
    >>> looked.scope, int(looked.rows[looked.worst[0]])
    ('all 178 rows', 3)
    """
    last = split_pipeline(getattr(model, "best_estimator_", model))[1]
    index, n_rows = last._index, len(X)
    fold = index.fold[:n_rows]
    rows = np.flatnonzero(np.isin(fold, fold[last.oob_rows_]))
    max_rows = min(_MAX_ROWS, _TREE_VISITS // index.trees.n_trees) if index.trees is not None else _MAX_ROWS_NEAREST
    if len(rows) > max_rows:
        rows = np.sort(np.random.RandomState(0).choice(rows, max_rows, replace=False))
    scaled, Q = index.scale_and_map(training_values(model, X, rows))
    neighborhoods = index.neighbors(scaled, Q, fold=fold[rows], n_jobs=last.n_jobs)
    order = np.argsort(last.oob_rows_)
    position = order[np.minimum(np.searchsorted(last.oob_rows_, rows, sorter=order), len(order) - 1)]
    has_prediction = last.oob_rows_[position] == rows
    label, share = index.label[rows, 0], np.full(len(rows), np.nan)
    if hasattr(last, "classes_"):
        label = label.astype(np.int64)
        proba = _padded(neighborhoods.vote, last)
        proba[has_prediction] = _padded(last.oob_decision_function_[position[has_prediction]], last)
        doubt = class_doubt(proba, label, last.class_prior_)
        proba[np.arange(len(rows)), label] = -1.0
        predicted, share = proba.argmax(axis=1), proba.max(axis=1)
    else:
        predicted = np.where(has_prediction, last.oob_prediction_[position], neighborhoods.vote[:, 0])
        kernel = neighborhoods.proximity / np.maximum(neighborhoods.proximity.sum(axis=1, keepdims=True), 1e-300)
        spread = target_spread(kernel, index.label[neighborhoods.rows])[:, 0]
        scaled_error = scaled_errors(np.abs(predicted - label), spread, np.ones(len(rows)))
        doubt = scaled_error / (1.0 + scaled_error)
    return LookedAt(rows, n_rows, label, predicted, share, doubt, _most_doubtful(doubt, hasattr(last, "classes_")))


def _padded(shares: np.ndarray, last: Any) -> np.ndarray:
    """Shares of all classes, given shares of all classes or of those known when the model was fitted."""
    if shares.shape[1] == len(last.classes_):
        return shares.copy()
    proba = np.zeros((len(shares), len(last.classes_)))
    proba[:, np.searchsorted(last.classes_, last.fitted_classes_)] = shares
    return proba


def _most_doubtful(doubt: np.ndarray, classification: bool) -> np.ndarray:
    """Indices of doubtful labels, most doubtful first."""
    min_doubt = _MIN_DOUBT if classification else _MIN_SCALED_ERROR / (1.0 + _MIN_SCALED_ERROR)
    order = np.argsort(-doubt, kind="stable")
    return np.asarray(order[doubt[order] >= min_doubt])


def doubtful_cases(answers: OutOfBagAnswers, scores: CaseScores) -> np.ndarray:
    """Cases whose neighbours disagree with their label, most doubtful first."""
    return _most_doubtful(scores.doubt, answers.is_classification)


def deciders(answers: OutOfBagAnswers, doubts: np.ndarray) -> list[tuple[int, int, float, bool]]:
    """Training rows with a tenth or more of the weight in each of several cases.

    Returns
    -------
    list of (training row, number of cases that it decides, share of all weight, whether its label is doubtful)
    """
    magnitude = np.abs(answers.explanation.weight)
    weight_share = magnitude / np.maximum(magnitude.sum(axis=1, keepdims=True), 1e-300)
    n_rows = len(answers.label)
    share = np.bincount(
        answers.explanation.rows.ravel(),
        weights=(weight_share * answers.cases.weight[:, None]).ravel(),
        minlength=n_rows,
    )
    n_decided = np.bincount(answers.explanation.rows[weight_share >= _MIN_WEIGHT], minlength=n_rows)
    order = np.lexsort((-share[:n_rows], -n_decided[:n_rows]))[:_MAX_DECIDERS]
    order = order[n_decided[order] >= _MIN_DECIDED]
    doubtful_rows = set(answers.rows[doubts].tolist())
    total = answers.cases.weight.sum()
    return [(int(row), int(n_decided[row]), float(share[row] / total), int(row) in doubtful_rows) for row in order]


def neighbor_distance(answers: OutOfBagAnswers) -> np.ndarray:
    """(n,) mean distance of the neighbours of each case, weighted by the forest, relative to the median case."""
    index = answers.model._index
    kernel, distances = answers.kernel, np.empty(len(answers.rows))
    for i, row in enumerate(answers.rows):
        offsets = index.mapped_rows(answers.explanation.rows[i]) - index.mapped_rows(np.array([row]))
        distances[i] = kernel[i] @ np.sqrt(np.einsum("md,md->m", offsets, offsets))
    median = np.median(distances)
    return distances / median if median > 0 else np.ones_like(distances)


def regions(answers: OutOfBagAnswers) -> tuple[Region, ...]:
    """Regions of the table, described by the user's columns, where neighbours are far from the cases."""
    inputs, names = _readable_inputs(answers)
    if inputs.shape[1] == 0 or len(inputs) < 2 * _MIN_REGION:
        return ()
    distance = neighbor_distance(answers)
    tree = DecisionTreeRegressor(max_leaf_nodes=_MAX_LEAVES, min_samples_leaf=_MIN_REGION, random_state=0)
    tree.fit(inputs, np.log(np.maximum(distance, 1e-6)), sample_weight=answers.cases.weight)
    leaves = tree.apply(inputs)
    predicted, truth, cases = answers.predicted, answers.truth, answers.cases
    error = (predicted != truth).astype(np.float64) if answers.is_classification else np.abs(predicted - truth)
    distant = []
    for leaf in np.unique(leaves):
        is_inside = leaves == leaf
        logarithms = np.log(np.maximum(distance[is_inside], 1e-6))
        mean_distance = float(np.exp(np.average(logarithms, weights=cases.weight[is_inside])))
        if mean_distance < _MIN_DISTANCE:
            continue
        region_cases, other_cases = cases.part(is_inside), cases.part(~is_inside)
        measure = "share" if answers.is_classification else "mean"
        distant.append(
            Region(
                conditions=_path(tree, int(leaf), names),
                share=rounded(region_cases.weight.sum() / cases.weight.sum()),
                distance=rounded(mean_distance, 3),
                error=estimate(getattr(region_cases, measure)(error[is_inside])),
                elsewhere=estimate(getattr(other_cases, measure)(error[~is_inside])),
            )
        )
    return tuple(sorted(distant, key=lambda region: -region.distance))


def _readable_inputs(answers: OutOfBagAnswers) -> tuple[np.ndarray, list[tuple[str, str | None]]]:
    """Numeric columns and indicators of frequent values of other columns; names, and values of the indicators."""
    columns: list[np.ndarray] = []
    names: list[tuple[str, str | None]] = []
    for name, values in zip(column_names(answers.table), answers.table.values, strict=True):
        cases, kind = values[answers.rows], kind_of(values)
        numbers = as_numbers(cases) if kind == "number" else None
        if numbers is not None:
            finite = numbers[np.isfinite(numbers)]
            columns.append(np.where(np.isfinite(numbers), numbers, np.median(finite) if len(finite) else 0.0))
            names.append((name, None))
        elif kind in ("text", "yes/no"):
            texts = np.array(["" if is_missing(value) else str(value) for value in cases.tolist()], dtype=object)
            distinct, counts = np.unique(texts, return_counts=True)
            for value in distinct[np.argsort(-counts, kind="stable")[:_MAX_VALUES]]:
                columns.append((texts == value).astype(np.float64))
                names.append((name, clean(value, 40) or "missing"))
    inputs = np.stack(columns, axis=1) if columns else np.empty((len(answers.rows), 0))
    return np.clip(inputs, -1e30, 1e30), names


def _path(tree: DecisionTreeRegressor, leaf: int, names: Sequence[tuple[str, str | None]]) -> str:
    """Describe the conditions that lead to a leaf."""
    nodes = tree.tree_
    branches = {"left": nodes.children_left, "right": nodes.children_right}
    parent = {
        int(child): (node, branch) for branch, children in branches.items() for node, child in enumerate(children)
    }
    conditions: list[str] = []
    bounds: dict[str, list[float]] = {}
    while leaf in parent:
        leaf, branch = parent[leaf]
        name, value = names[nodes.feature[leaf]]
        if value is not None:
            conditions.append(f"{name} is {'not ' if branch == 'left' else ''}{value}")
            continue
        low, high = bounds.setdefault(name, [-np.inf, np.inf])
        threshold = float(nodes.threshold[leaf])
        bounds[name] = [low, min(high, threshold)] if branch == "left" else [max(low, threshold), high]
    for name, (low, high) in bounds.items():
        if np.isfinite(low) and np.isfinite(high):
            conditions.append(f"{name} between {low:.4g} and {high:.4g}")
        else:
            conditions.append(f"{name} above {low:.4g}" if np.isfinite(low) else f"{name} at most {high:.4g}")
    return " and ".join(conditions)


def suspect_section(
    answers: OutOfBagAnswers,
    scores: CaseScores,
    looked: LookedAt,
    case_numbers: np.ndarray,
    rows: np.ndarray,
    names: tuple[str, ...],
) -> SuspectSection:
    """Suspects among the cases ``case_numbers`` and the training rows ``rows`` on the page, both sorted."""
    doubts = doubtful_cases(answers, scores)
    further = looked.worst[~np.isin(looked.rows[looked.worst], answers.rows)]
    listed_cases = doubts[np.isin(doubts, case_numbers)][:_MAX_DOUBTS]
    positions = np.searchsorted(case_numbers, listed_cases).tolist()
    listed_doubts = [
        Doubt(case=position, suggested=_neighbor_label(answers, i, names), strength=rounded(scores.doubt[i], 3))
        for position, i in zip(positions, listed_cases.tolist(), strict=True)
    ]
    influential = [
        Decider(row=int(np.searchsorted(rows, row)), cases=cases, share=rounded(share, 3), doubted=doubted)
        for row, cases, share, doubted in deciders(answers, doubts)
    ]
    return SuspectSection(
        n_doubts=len(doubts),
        doubts=tuple(listed_doubts),
        looked_at=looked.scope,
        n_further=len(further),
        further=tuple(_further_doubt(answers, looked, int(position), names) for position in further[:_MAX_DOUBTS]),
        deciders=tuple(influential),
        regions=regions(answers),
        thin=_sparse_parts(answers, names),
    )


def _further_doubt(answers: OutOfBagAnswers, looked: LookedAt, position: int, names: tuple[str, ...]) -> FurtherDoubt:
    """A doubtful row that is not among the cases."""
    row, label = int(looked.rows[position]), looked.label[position]
    return FurtherDoubt(
        id=clean(answers.table.id[row], 120) if answers.table.id is not None else f"row {row}",
        label=names[int(label)] if names else f"{label:.4g}",
        suggested=looked.says(position, names),
    )


def _neighbor_label(answers: OutOfBagAnswers, i: int, names: tuple[str, ...]) -> str:
    """Label that the neighbours of a doubtful case suggest."""
    if not answers.is_classification:
        return f"about {answers.predicted[i]:.4g}"
    proba = answers.proba[i].copy()
    proba[answers.truth[i]] = -1.0
    alternative = int(proba.argmax())
    return f"{names[alternative]} ({percent(proba[alternative])})"


def _sparse_parts(answers: OutOfBagAnswers, names: tuple[str, ...]) -> tuple[str, ...]:
    """Classes with very few rows, and gaps in the target."""
    if answers.is_classification:
        counts = np.bincount(answers.label, minlength=len(names))
        return tuple(f"{names[c]} ({counts[c]} rows)" for c in np.flatnonzero(counts < 2 * FEWEST))
    counts, edges = np.histogram(answers.label, bins=20)
    sparse = np.flatnonzero(counts < FEWEST)
    runs = np.split(sparse, np.flatnonzero(np.diff(sparse) > 1) + 1) if len(sparse) else []
    return tuple(f"{edges[run[0]]:.4g} to {edges[run[-1] + 1]:.4g} ({counts[run].sum()} rows)" for run in runs)
