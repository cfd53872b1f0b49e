"""Other sources of neighbours: converted scikit-learn forests, and plain nearest neighbours."""

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


#: Parameters of each kind that DSNA sets or ignores; values other than the defaults are rejected.
_UNUSED: dict[tuple[type, ...], tuple[str, ...]] = {
    OURS: ("scaling", "balance", "oob_score", "target_density"),
    FORESTS: ("oob_score", "warm_start"),
    NEIGHBORS: ("radius", "algorithm", "leaf_size", "metric", "p", "metric_params", "weights"),
}


def check_forest(forest: Any, owner: Any) -> None:
    """Validate a source of neighbours for the estimator ``owner``, including parameters that would be ignored."""
    kind = next((kind for kind in _UNUSED if isinstance(forest, kind)), None)
    if kind is None:
        raise DSNAError(
            f"forest={forest!r} is unknown: use None, a CostSensitiveForest*, a RandomForest* or ExtraTrees* of "
            "scikit-learn, or a NearestNeighbors."
        )
    suffix = "Classifier" if is_classifier(owner) else "Regressor"
    if kind is not NEIGHBORS and not type(forest).__name__.endswith(suffix):
        raise DSNAError(f"forest={type(forest).__name__} does not fit the task: use the {suffix} of its kind.")
    defaults = type(forest)().get_params(deep=False)
    parameters = forest.get_params(deep=False)
    for name in _UNUSED[kind]:
        if name in parameters and parameters[name] != defaults[name]:
            advice = f"pass {name} to {type(owner).__name__} instead" if hasattr(owner, name) else "leave it out"
            raise DSNAError(
                f"{name}={parameters[name]!r} of the {type(forest).__name__} would be ignored inside "
                f"{type(owner).__name__}: {advice}."
            )
    if kind is OURS:
        forest._validate_params()


def grow(
    forest: Any, rows: TrainingRows, label: np.ndarray, rng: np.random.RandomState, verbose: int
) -> tuple[Trees | None, np.ndarray]:
    """Grow the trees of a forest of any kind; return them and the means of their leaves.

    For nearest neighbours, trees are None and means are empty.

    Parameters
    ----------
    forest : object accepted by :func:`check_forest`.
    label : (n, q) unscaled targets, or class numbers in one column.
    """
    if isinstance(forest, OURS):
        return grow_forest(rows, forest, rng, verbose)
    if isinstance(forest, FORESTS):
        return _sklearn_trees(forest, rows, label, rng)
    return None, np.empty((0, rows.leaves.values.shape[1]))


def _sklearn_trees(
    template: Any, rows: TrainingRows, label: np.ndarray, rng: np.random.RandomState
) -> tuple[Trees, np.ndarray]:
    """Grow a scikit-learn forest whose trees leave out folds as those of dsna do, and copy its nodes.

    The ``n_estimators`` trees are grown as several forests, one for each pair of folds that is left out.
    """
    left_out_mask = left_out_folds(template.n_estimators, rows.fold, rows.weight)
    X = rows.scaled()
    y = label[:, 0] if label.shape[1] == 1 else label
    grown: list[GrownTree] = [()] * len(left_out_mask)
    for pair in range(min(len(PAIRS), len(left_out_mask))):
        tree_numbers = np.arange(pair, len(left_out_mask), len(PAIRS))
        row_numbers = np.flatnonzero(~left_out_mask[tree_numbers[0]][rows.fold] & (rows.weight > 0))
        pair_forest = clone(template).set_params(n_estimators=len(tree_numbers), random_state=rng.randint(2**31 - 1))
        pair_forest.fit(X[row_numbers], y[row_numbers], sample_weight=rows.weight[row_numbers])
        for t, estimator in zip(tree_numbers, pair_forest.estimators_, strict=True):
            grown[t] = _nodes_of(estimator.tree_, X, row_numbers, rows.leaves)
    return Trees.join(grown, left_out_mask)


def _nodes_of(tree: Any, X: np.ndarray, rows: np.ndarray, leaves: Leaves) -> GrownTree:
    """Convert a scikit-learn tree to the arrays that ``Trees.join`` takes."""
    is_inner = tree.children_left >= 0
    node_number = np.where(is_inner, np.cumsum(is_inner) - 1, -np.cumsum(~is_inner))
    child = node_number[np.stack([tree.children_left, tree.children_right], axis=1)[is_inner]]
    # scikit-learn sends x <= t to the left, the kernels of dsna x < t.
    threshold = np.nextafter(tree.threshold[is_inner], np.inf)
    feature = tree.feature[is_inner].astype(np.int32)
    mass = tree.weighted_n_node_samples * tree.impurity
    gain = np.maximum((mass - mass[tree.children_left] - mass[tree.children_right])[is_inner], 0.0)
    importance = np.bincount(feature, weights=gain, minlength=X.shape[1])
    nodes = (child, threshold, np.arange(len(child) + 1), feature, np.ones(len(child)), gain, importance)
    n_leaves = int((~is_inner).sum())
    empty_leaves = (np.zeros(n_leaves + 1, dtype=np.int64), rows[:0], np.empty((n_leaves, 1)))
    routing_trees = Trees.join([(*nodes, *empty_leaves)], np.zeros((1, N_FOLDS), dtype=bool))[0]
    leaf_numbers = routing_trees.apply(X[rows])[:, 0]
    order = np.lexsort((leaves.code[rows], leaf_numbers))
    leaf_ptr = np.concatenate([[0], np.cumsum(np.bincount(leaf_numbers, minlength=n_leaves))])
    return (*nodes, *leaves.fill(leaf_ptr, rows[order].astype(np.int32)))
