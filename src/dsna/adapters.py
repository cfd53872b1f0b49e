"""Foreign sources of neighbours: scikit-learn forests turned into our trees, and plain nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors

from .blocks import PAIRS
from .trees import Trees, _route_some

FORESTS = (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor)
NEIGHBORS = (NearestNeighbors, KNeighborsClassifier, KNeighborsRegressor)


def check_source(forest: Any, n_classes: int) -> str:
    """What the parameter ``forest`` stands for: "csrf", "forest" or "neighbors"."""
    if isinstance(forest, str) and forest == "csrf":
        return "csrf"
    if isinstance(forest, NEIGHBORS):
        return "neighbors"
    if isinstance(forest, FORESTS):
        wanted = "Classifier" if n_classes else "Regressor"
        if type(forest).__name__.endswith(wanted):
            return "forest"
        raise ValueError(f"forest={type(forest).__name__} does not fit the task: use the {wanted} of its kind.")
    raise ValueError(
        f"forest={forest!r} is unknown: use 'csrf', a scikit-learn RandomForest* or ExtraTrees* estimator, or a "
        "NearestNeighbors estimator."
    )


def foreign_trees(
    template: Any,
    X: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    block: np.ndarray,
    omits: np.ndarray,
    n_jobs: int | None,
    rng: np.random.RandomState,
) -> Trees:
    """Grow a scikit-learn forest whose trees omit blocks as ours do, and take its nodes over.

    Parameters
    ----------
    template : the forest; its ``n_estimators`` trees are grown in parts, one for each set of omitted blocks.
    X, y, weight, block : scaled rows, labels, sample weights and blocks.
    """
    grown: list[tuple] = [()] * len(omits)
    for pair in range(min(len(PAIRS), len(omits))):
        members = np.arange(pair, len(omits), len(PAIRS))
        rows = np.flatnonzero(~omits[members[0]][block] & (weight > 0))
        part = clone(template).set_params(n_estimators=len(members), random_state=rng.randint(2**31 - 1), n_jobs=n_jobs)
        part.fit(X[rows], y[rows], sample_weight=weight[rows])
        for t, estimator in zip(members, part.estimators_, strict=True):
            grown[t] = _nodes_of(estimator.tree_, X, rows)
    return Trees.join(grown, omits)


def _nodes_of(tree: Any, X: np.ndarray, rows: np.ndarray) -> tuple:
    """One scikit-learn tree as the arrays that ``Trees.join`` takes."""
    inner = tree.children_left >= 0
    leaf_number = np.cumsum(~inner) - 1
    left = np.where(inner, tree.children_left, -1).astype(np.int32)
    right = np.where(inner, tree.children_right, leaf_number).astype(np.int32)
    # Theirs sends x <= t left, ours x < t.
    threshold = np.where(inner, np.nextafter(tree.threshold, np.inf), 0.0)
    split_ptr = np.concatenate([[0], np.cumsum(inner)]).astype(np.int64)
    feature = tree.feature[inner].astype(np.int32)
    mass = tree.weighted_n_node_samples * tree.impurity
    gain = np.zeros(len(inner))
    gain[inner] = (mass - mass[tree.children_left] - mass[tree.children_right])[inner]
    gain = np.maximum(gain, 0.0)
    importance = np.bincount(feature, weights=gain[inner], minlength=X.shape[1])
    weight = np.ones(len(feature))
    reached = _route_some(X[rows], np.zeros(1, dtype=np.int64), left, right, threshold, split_ptr, feature, weight)[
        :, 0
    ]
    order = np.argsort(reached, kind="stable")
    leaf_ptr = np.concatenate([[0], np.cumsum(np.bincount(reached, minlength=int((~inner).sum())))]).astype(np.int64)
    return (
        left,
        right,
        threshold,
        split_ptr,
        feature,
        weight,
        gain,
        leaf_ptr,
        importance,
        rows[order].astype(np.int32),
    )
