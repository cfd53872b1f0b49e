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

from .held_out import N_FOLDS, PAIRS
from .trees import Trees

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
    left_out: np.ndarray,
    n_jobs: int | None,
    rng: np.random.RandomState,
) -> Trees:
    """Grow a scikit-learn forest whose trees omit blocks as ours do, and take its nodes over.

    Parameters
    ----------
    template : the forest; its ``n_estimators`` trees are grown in parts, one for each set of omitted blocks.
    X, y, weight, block : scaled rows, labels, sample weights and blocks.
    """
    grown: list[tuple] = [()] * len(left_out)
    for pair in range(min(len(PAIRS), len(left_out))):
        members = np.arange(pair, len(left_out), len(PAIRS))
        rows = np.flatnonzero(~left_out[members[0]][block] & (weight > 0))
        part = clone(template).set_params(n_estimators=len(members), random_state=rng.randint(2**31 - 1), n_jobs=n_jobs)
        part.fit(X[rows], y[rows], sample_weight=weight[rows])
        for t, estimator in zip(members, part.estimators_, strict=True):
            grown[t] = _nodes_of(estimator.tree_, X, rows)
    return Trees.join(grown, left_out)


def _nodes_of(tree: Any, X: np.ndarray, rows: np.ndarray) -> tuple:
    """One scikit-learn tree as the arrays that ``Trees.join`` takes."""
    inner = tree.children_left >= 0
    number = np.where(inner, np.cumsum(inner) - 1, -np.cumsum(~inner))
    child = number[np.stack([tree.children_left, tree.children_right], axis=1)[inner]]
    # Theirs sends x <= t left, ours x < t.
    threshold = np.nextafter(tree.threshold[inner], np.inf)
    feature = tree.feature[inner].astype(np.int32)
    mass = tree.weighted_n_node_samples * tree.impurity
    gain = np.maximum((mass - mass[tree.children_left] - mass[tree.children_right])[inner], 0.0)
    importance = np.bincount(feature, weights=gain, minlength=X.shape[1])
    nodes = (child, threshold, np.arange(len(child) + 1), feature, np.ones(len(child)), gain)
    bare = Trees.join(
        [(*nodes, np.zeros(int((~inner).sum()) + 1, dtype=np.int64), importance, rows[:0])],
        np.zeros((1, N_FOLDS), dtype=bool),
    )
    reached = bare.apply(X[rows])[:, 0]
    order = np.argsort(reached, kind="stable")
    leaf_ptr = np.concatenate([[0], np.cumsum(np.bincount(reached, minlength=bare.n_leaves))])
    return (*nodes, leaf_ptr, importance, rows[order])
