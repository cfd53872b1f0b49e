"""Rows and regions to look at: doubtful labels, rows that decide many cases, parts of the table without support."""

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
from .answers import Answered
from .cases import Judged, class_doubt, times_off
from .data import Decider, Doubt, FurtherDoubt, Region, SuspectSection
from .table import column_names, kind_of
from .text import clean, estimate, percent, rounded

_DOUBTS = 30
_LOOKED_AT = 50_000  # training rows whose labels are compared with their neighbours
_TREE_VISITS = 7_500_000  # of rows in trees, so that this takes a few seconds at most
_LOOKED_AT_NEAREST = 5_000  # where neighbours are not found by trees
_DECIDERS = 15
_DOUBTFUL = 0.8
_FAR_OFF = 2.0  # in regression: errors in units of the spread around the case
_DECIDES = 0.1  # share of the weight of a case
_FEWEST_DECIDED = 3
_LEAVES = 5
_SMALLEST_REGION = 30
_FAR = 1.5
_NAMED_VALUES = 5


class LookedAt(NamedTuple):
    """What trees and rows of other folds say of training rows, held-out cases or not.

    Attributes
    ----------
    rows : (n,) numbers of the rows that were looked at, rising.
    n_rows : training rows in all.
    label, predicted : (n,) class numbers, or targets; in classification the most probable other class.
    share : (n,) probability of ``predicted``; NaN in regression.
    doubt : (n,) as in ``Judged``.
    worst : numbers, among ``rows``, of those whose label hardly fits, most doubtful first.
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
        """Which rows were looked at, in words."""
        if len(self.rows) == self.n_rows:
            return f"all {self.n_rows:,} rows"
        return f"{len(self.rows):,} of {self.n_rows:,} rows"

    def says(self, place: int, names: Sequence[str]) -> str:
        """What neighbours say of a row, given the names of the classes."""
        if not len(names):
            return f"about {self.predicted[place]:.4g}"
        return f"{names[int(self.predicted[place])]} ({percent(self.share[place])})"


def look_at_rows(model: Any, X: Any) -> LookedAt:
    """Compare the label of each training row with what trees and rows of other folds say of it.

    Up to 50,000 rows are looked at, or fewer where there are many trees; beyond that, they are drawn evenly. Of rows
    with an out-of-bag answer it counts; of others, what the leaves of the trees hold, which is close to it.

    Parameters
    ----------
    model : fitted DSNAClassifier or DSNARegressor (one output), or Pipeline that ends in one.
    X : the rows given to ``fit``, in their order; of a pipeline, as they went into its first step.

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
    most = min(_LOOKED_AT, _TREE_VISITS // index.trees.n_trees) if index.trees is not None else _LOOKED_AT_NEAREST
    if len(rows) > most:
        rows = np.sort(np.random.RandomState(0).choice(rows, most, replace=False))
    scaled, Q = index.scale_and_map(training_values(model, X, rows))
    near = index.neighbors(scaled, Q, fold=fold[rows], n_jobs=last.n_jobs)
    order = np.argsort(last.oob_rows_)
    place = order[np.minimum(np.searchsorted(last.oob_rows_, rows, sorter=order), len(order) - 1)]
    answered = last.oob_rows_[place] == rows
    label, share = index.label[rows, 0], np.full(len(rows), np.nan)
    if hasattr(last, "classes_"):
        label = label.astype(np.int64)
        proba = _padded(near.vote, last)
        proba[answered] = _padded(last.oob_decision_function_[place[answered]], last)
        doubt = class_doubt(proba, label, last.class_prior_)
        proba[np.arange(len(rows)), label] = -1.0
        predicted, share = proba.argmax(axis=1), proba.max(axis=1)
    else:
        predicted = np.where(answered, last.oob_prediction_[place], near.vote[:, 0])
        kernel = near.proximity / np.maximum(near.proximity.sum(axis=1, keepdims=True), 1e-300)
        spread = target_spread(kernel, index.label[near.rows])[:, 0]
        off = times_off(np.abs(predicted - label), spread, np.ones(len(rows)))
        doubt = off / (1.0 + off)
    return LookedAt(rows, n_rows, label, predicted, share, doubt, _most_doubtful(doubt, hasattr(last, "classes_")))


def _padded(shares: np.ndarray, last: Any) -> np.ndarray:
    """Shares of all classes, given those of all or of the classes that were known when the model was fitted."""
    if shares.shape[1] == len(last.classes_):
        return shares.copy()
    proba = np.zeros((len(shares), len(last.classes_)))
    proba[:, np.searchsorted(last.classes_, last.fitted_classes_)] = shares
    return proba


def _most_doubtful(doubt: np.ndarray, classes: bool) -> np.ndarray:
    """Which labels hardly fit what is around them, most doubtful first."""
    enough = _DOUBTFUL if classes else _FAR_OFF / (1.0 + _FAR_OFF)
    order = np.argsort(-doubt, kind="stable")
    return np.asarray(order[doubt[order] >= enough])


def doubtful(at: Answered, how: Judged) -> np.ndarray:
    """Cases whose neighbours disagree with their label, most first."""
    return _most_doubtful(how.doubt, at.is_classification)


def deciders(at: Answered, doubts: np.ndarray) -> list[tuple[int, int, float, bool]]:
    """Training rows that have a tenth or more of the weight of several cases.

    Returns
    -------
    list of (training row, cases that it decides, share of the weight of all cases, whether its label is doubtful)
    """
    size = np.abs(at.why.weight)
    part = size / np.maximum(size.sum(axis=1, keepdims=True), 1e-300)
    n = len(at.label)
    share = np.bincount(at.why.rows.ravel(), weights=(part * at.cases.weight[:, None]).ravel(), minlength=n)
    decided = np.bincount(at.why.rows[part >= _DECIDES], minlength=n)
    order = np.lexsort((-share[:n], -decided[:n]))[:_DECIDERS]
    order = order[decided[order] >= _FEWEST_DECIDED]
    suspects = set(at.rows[doubts].tolist())
    total = at.cases.weight.sum()
    return [(int(row), int(decided[row]), float(share[row] / total), int(row) in suspects) for row in order]


def neighbor_distance(at: Answered) -> np.ndarray:
    """(n,) mean distance of the neighbours of a case, by the forest's weights, in units of the usual one."""
    index = at.model._index
    kernel, away = at.kernel, np.empty(len(at.rows))
    for i, row in enumerate(at.rows):
        apart = index.mapped_rows(at.why.rows[i]) - index.mapped_rows(np.array([row]))
        away[i] = kernel[i] @ np.sqrt(np.einsum("md,md->m", apart, apart))
    usual = np.median(away)
    return away / usual if usual > 0 else np.ones_like(away)


def regions(at: Answered) -> tuple[Region, ...]:
    """Parts of the table, in the user's columns, where neighbours are far from the cases."""
    inputs, names = _readable_inputs(at)
    if inputs.shape[1] == 0 or len(inputs) < 2 * _SMALLEST_REGION:
        return ()
    distance = neighbor_distance(at)
    tree = DecisionTreeRegressor(max_leaf_nodes=_LEAVES, min_samples_leaf=_SMALLEST_REGION, random_state=0)
    tree.fit(inputs, np.log(np.maximum(distance, 1e-6)), sample_weight=at.cases.weight)
    leaf = tree.apply(inputs)
    wrong = (at.predicted != at.truth) if at.is_classification else np.abs(at.predicted - at.truth)
    wrong = wrong.astype(np.float64)
    found = []
    for one in np.unique(leaf):
        own = leaf == one
        far = float(np.exp(np.average(np.log(np.maximum(distance[own], 1e-6)), weights=at.cases.weight[own])))
        if far < _FAR:
            continue
        inside, outside = at.cases.part(own), at.cases.part(~own)
        ask = "share" if at.is_classification else "mean"
        found.append(
            Region(
                where=_path(tree, int(one), names),
                share=rounded(inside.weight.sum() / at.cases.weight.sum()),
                distance=rounded(far, 3),
                error=estimate(getattr(inside, ask)(wrong[own])),
                elsewhere=estimate(getattr(outside, ask)(wrong[~own])),
            )
        )
    return tuple(sorted(found, key=lambda region: -region.distance))


def _readable_inputs(at: Answered) -> tuple[np.ndarray, list[tuple[str, str | None]]]:
    """Numbers as they are and frequent values of other columns as 0 or 1; names, and the value where it is one."""
    columns: list[np.ndarray] = []
    names: list[tuple[str, str | None]] = []
    for name, values in zip(column_names(at.table), at.table.values, strict=True):
        some, kind = values[at.rows], kind_of(values)
        numbers = as_numbers(some) if kind == "number" else None
        if numbers is not None:
            finite = numbers[np.isfinite(numbers)]
            columns.append(np.where(np.isfinite(numbers), numbers, np.median(finite) if len(finite) else 0.0))
            names.append((name, None))
        elif kind in ("text", "yes/no"):
            texts = np.array(["" if is_missing(value) else str(value) for value in some.tolist()], dtype=object)
            seen, counts = np.unique(texts, return_counts=True)
            for value in seen[np.argsort(-counts, kind="stable")[:_NAMED_VALUES]]:
                columns.append((texts == value).astype(np.float64))
                names.append((name, clean(value, 40) or "missing"))
    inputs = np.stack(columns, axis=1) if columns else np.empty((len(at.rows), 0))
    return np.clip(inputs, -1e30, 1e30), names


def _path(tree: DecisionTreeRegressor, leaf: int, names: Sequence[tuple[str, str | None]]) -> str:
    """The conditions that lead to a leaf, in words."""
    nodes = tree.tree_
    sides = {"left": nodes.children_left, "right": nodes.children_right}
    parent = {int(child): (node, side) for side, children in sides.items() for node, child in enumerate(children)}
    words: list[str] = []
    bounds: dict[str, list[float]] = {}
    while leaf in parent:
        leaf, side = parent[leaf]
        name, value = names[nodes.feature[leaf]]
        if value is not None:
            words.append(f"{name} is {'not ' if side == 'left' else ''}{value}")
            continue
        low, high = bounds.setdefault(name, [-np.inf, np.inf])
        cut = float(nodes.threshold[leaf])
        bounds[name] = [low, min(high, cut)] if side == "left" else [max(low, cut), high]
    for name, (low, high) in bounds.items():
        if np.isfinite(low) and np.isfinite(high):
            words.append(f"{name} between {low:.4g} and {high:.4g}")
        else:
            words.append(f"{name} above {low:.4g}" if np.isfinite(low) else f"{name} at most {high:.4g}")
    return " and ".join(words)


def suspect_section(
    at: Answered, how: Judged, looked: LookedAt, some: np.ndarray, rows: np.ndarray, names: tuple[str, ...]
) -> SuspectSection:
    """Suspects among the cases ``some`` and the training rows ``rows``, both sorted, that the page shows."""
    doubts = doubtful(at, how)
    others = looked.worst[~np.isin(looked.rows[looked.worst], at.rows)]
    listed = doubts[np.isin(doubts, some)][:_DOUBTS]
    found = [
        Doubt(case=int(np.searchsorted(some, i)), says=_says(at, int(i), names), strength=rounded(how.doubt[i], 3))
        for i in listed
    ]
    deciding = [
        Decider(row=int(np.searchsorted(rows, row)), cases=cases, share=rounded(share, 3), doubted=doubted)
        for row, cases, share, doubted in deciders(at, doubts)
    ]
    return SuspectSection(
        n_doubts=len(doubts),
        doubts=tuple(found),
        looked_at=looked.scope,
        n_further=len(others),
        further=tuple(_further(at, looked, int(place), names) for place in others[:_DOUBTS]),
        deciders=tuple(deciding),
        regions=regions(at),
        thin=_thin(at, names),
    )


def _further(at: Answered, looked: LookedAt, place: int, names: tuple[str, ...]) -> FurtherDoubt:
    """A doubtful row that is not among the cases."""
    row, label = int(looked.rows[place]), looked.label[place]
    return FurtherDoubt(
        id=clean(at.table.id[row], 120) if at.table.id is not None else f"row {row}",
        label=names[int(label)] if names else f"{label:.4g}",
        says=looked.says(place, names),
    )


def _says(at: Answered, i: int, names: tuple[str, ...]) -> str:
    """What the neighbours of a doubtful case say."""
    if not at.is_classification:
        return f"about {at.predicted[i]:.4g}"
    proba = at.proba[i].copy()
    proba[at.truth[i]] = -1.0
    other = int(proba.argmax())
    return f"{names[other]} ({percent(proba[other])})"


def _thin(at: Answered, names: tuple[str, ...]) -> tuple[str, ...]:
    """Classes with hardly any rows, and gaps in the target."""
    if at.is_classification:
        counts = np.bincount(at.label, minlength=len(names))
        return tuple(f"{names[c]} ({counts[c]} rows)" for c in np.flatnonzero(counts < 2 * FEWEST))
    counts, edges = np.histogram(at.label, bins=20)
    few = np.flatnonzero(counts < FEWEST)
    runs = np.split(few, np.flatnonzero(np.diff(few) > 1) + 1) if len(few) else []
    return tuple(f"{edges[run[0]]:.4g} to {edges[run[-1] + 1]:.4g} ({counts[run].sum()} rows)" for run in runs)
