"""Other sources of neighbours: scikit-learn forests converted to our trees, and plain nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors

from .._utils.errors import DSNAError
from .build import TrainingRows, grow_forest
from .classifier import CostSensitiveForestClassifier
from .held_out import N_FOLDS, PAIRS, left_out_folds
from .regressor import CostSensitiveForestRegressor
from .trees import GrownTree, Leaves, Trees

OURS = (CostSensitiveForestClassifier, CostSensitiveForestRegressor)
FORESTS = (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor)
NEIGHBORS = (NearestNeighbors, KNeighborsClassifier, KNeighborsRegressor)


#: Parameters of each kind that DSNA sets or has no use for, so that a value of their own would be lost.
_UNUSED: dict[tuple[type, ...], tuple[str, ...]] = {
    OURS: ("scaling", "balance", "oob_score", "target_density"),
    FORESTS: ("oob_score", "warm_start"),
    NEIGHBORS: ("radius", "algorithm", "leaf_size", "metric", "p", "metric_params", "weights"),
}


def check_forest(forest: Any, owner: Any) -> None:
    """Refuse an object that cannot find neighbours for the estimator ``owner``, or has values that would be ignored."""
    kind = next((kind for kind in _UNUSED if isinstance(forest, kind)), None)
    if kind is None:
        raise DSNAError(
            f"forest={forest!r} is unknown: use None, a CostSensitiveForest*, a RandomForest* or ExtraTrees* of "
            "scikit-learn, or a NearestNeighbors."
        )
    wanted = "Classifier" if is_classifier(owner) else "Regressor"
    if kind is not NEIGHBORS and not type(forest).__name__.endswith(wanted):
        raise DSNAError(f"forest={type(forest).__name__} does not fit the task: use the {wanted} of its kind.")
    usual = type(forest)().get_params(deep=False)
    given = forest.get_params(deep=False)
    for name in _UNUSED[kind]:
        if name in given and given[name] != usual[name]:
            ours = f"pass {name} to {type(owner).__name__} instead" if hasattr(owner, name) else "leave it out"
            raise DSNAError(
                f"{name}={given[name]!r} of the {type(forest).__name__} would be ignored inside "
                f"{type(owner).__name__}: {ours}."
            )
    if kind is OURS:
        forest._validate_params()


def grow(
    forest: Any, rows: TrainingRows, label: np.ndarray, rng: np.random.RandomState, verbose: int
) -> tuple[Trees | None, np.ndarray]:
    """The trees of a forest of any kind and the means of their leaves; None and no means for nearest neighbours.

    Parameters
    ----------
    forest : what :func:`check_forest` lets pass.
    label : (n, q) targets, or class numbers in one column, as given.
    """
    if isinstance(forest, OURS):
        return grow_forest(rows, forest, rng, verbose)
    if isinstance(forest, FORESTS):
        return _sklearn_trees(forest, rows, label, rng)
    return None, np.empty((0, rows.leaves.values.shape[1]))


def _sklearn_trees(
    template: Any, rows: TrainingRows, label: np.ndarray, rng: np.random.RandomState
) -> tuple[Trees, np.ndarray]:
    """Grow a scikit-learn forest whose trees leave out folds as ours do, and copy its nodes.

    Its ``n_estimators`` trees are grown in parts, one for each pair of folds left out.
    """
    left_out = left_out_folds(template.n_estimators, rows.fold, rows.weight)
    X = rows.scaled()
    y = label[:, 0] if label.shape[1] == 1 else label
    grown: list[GrownTree] = [()] * len(left_out)
    for pair in range(min(len(PAIRS), len(left_out))):
        members = np.arange(pair, len(left_out), len(PAIRS))
        some = np.flatnonzero(~left_out[members[0]][rows.fold] & (rows.weight > 0))
        part = clone(template).set_params(n_estimators=len(members), random_state=rng.randint(2**31 - 1))
        part.fit(X[some], y[some], sample_weight=rows.weight[some])
        for t, estimator in zip(members, part.estimators_, strict=True):
            grown[t] = _nodes_of(estimator.tree_, X, some, rows.leaves)
    return Trees.join(grown, left_out)


def _nodes_of(tree: Any, X: np.ndarray, rows: np.ndarray, leaves: Leaves) -> GrownTree:
    """One scikit-learn tree as the arrays that ``Trees.join`` takes."""
    inner = tree.children_left >= 0
    number = np.where(inner, np.cumsum(inner) - 1, -np.cumsum(~inner))
    child = number[np.stack([tree.children_left, tree.children_right], axis=1)[inner]]
    # scikit-learn sends x <= t to the left, our kernels x < t.
    threshold = np.nextafter(tree.threshold[inner], np.inf)
    feature = tree.feature[inner].astype(np.int32)
    mass = tree.weighted_n_node_samples * tree.impurity
    gain = np.maximum((mass - mass[tree.children_left] - mass[tree.children_right])[inner], 0.0)
    importance = np.bincount(feature, weights=gain, minlength=X.shape[1])
    nodes = (child, threshold, np.arange(len(child) + 1), feature, np.ones(len(child)), gain, importance)
    n_leaves = int((~inner).sum())
    empty = (np.zeros(n_leaves + 1, dtype=np.int64), rows[:0], np.empty((n_leaves, 1)))
    bare = Trees.join([(*nodes, *empty)], np.zeros((1, N_FOLDS), dtype=bool))[0]
    reached = bare.apply(X[rows])[:, 0]
    order = np.lexsort((leaves.code[rows], reached))
    leaf_ptr = np.concatenate([[0], np.cumsum(np.bincount(reached, minlength=n_leaves))])
    return (*nodes, *leaves.fill(leaf_ptr, rows[order].astype(np.int32)))
