"""A forest whose nodes cluster the targets and classify the clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from dsna import DSNAError

_LLOYD_STEPS = 10


@dataclass
class _Node:
    """A leaf with a mean label, or a split: rows with positive score go to the second child."""

    mean: np.ndarray
    direction: np.ndarray | None = None
    offset: float = 0.0
    children: tuple[_Node, ...] = ()


class KMeansForestRegressor(RegressorMixin, BaseEstimator):
    """Regression forest after Hara and Chellappa's K-means forest (KRF), with two clusters at each node.

    A node clusters the labels of its rows by 2-means, learns a linear classifier of the two clusters from all features,
    and sends rows to the predicted child.  Leaves predict the mean label; trees are grown on bootstrap samples and
    averaged.  Rare labels have no extra weight.

    Simpler than the original: KRF chooses the number of clusters and uses a hinge loss; here there are two clusters and
    a regularised least-squares classifier.

    Parameters
    ----------
    n_estimators : int, default=20
        Number of trees.
    max_depth : int, default=20
        Depth at which a tree stops growing.
    min_samples_leaf : int, default=5
        Minimal number of rows on each side of a split.
    penalty : float, default=0.1
        Weight of the classifier's squared norm, in units of the mean variance of the node's columns.
    random_state : int, RandomState or None, default=None
        Bootstrap samples.

    Attributes
    ----------
    trees_ : list
        Roots of the trees.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_studies.baselines import KMeansForestRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = KMeansForestRegressor(random_state=0).fit(X, np.sign(X[:, :2]))
    >>> model.predict([[2.0, -2.0, 0.0]]).round(1)
    array([[ 1., -1.]])
    """

    def __init__(
        self,
        n_estimators: int = 20,
        *,
        max_depth: int = 20,
        min_samples_leaf: int = 5,
        penalty: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.penalty = penalty
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Several outputs are supported."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Grow the trees on rows (n, n_features) and targets (n,) or (n, n_outputs)."""
        for name in ("n_estimators", "max_depth", "min_samples_leaf"):
            if not getattr(self, name) >= 1:
                raise DSNAError(f"{name}={getattr(self, name)!r} must be a whole number of at least 1.")
        if not self.penalty > 0:
            raise DSNAError(f"penalty={self.penalty!r} must be a positive number.")
        X, y = validate_data(self, X, y, y_numeric=True, multi_output=True, dtype=np.float64)
        y = np.asarray(y, dtype=np.float64)
        self._flat = y.ndim == 1
        labels = y.reshape(len(y), -1)
        rng = check_random_state(self.random_state)
        self.trees_ = []
        for _ in range(int(self.n_estimators)):
            rows = rng.randint(len(X), size=len(X))
            self.trees_.append(self._grow(X[rows], labels[rows], int(self.max_depth)))
        return self

    def _grow(self, X: np.ndarray, labels: np.ndarray, depth: int) -> _Node:
        node = _Node(labels.mean(axis=0))
        min_leaf_rows = int(self.min_samples_leaf)
        if depth == 0 or len(X) < 2 * min_leaf_rows or not np.ptp(labels, axis=0).any():
            return node
        direction, offset = _classifier(X, _clusters(labels), self.penalty)
        in_second = X @ direction + offset > 0
        if min(in_second.sum(), (~in_second).sum()) < min_leaf_rows:
            return node
        node.direction, node.offset = direction, offset
        node.children = tuple(
            self._grow(X[in_child], labels[in_child], depth - 1) for in_child in (~in_second, in_second)
        )
        return node

    def predict(self, X: Any) -> np.ndarray:
        """Predict the mean over the trees for rows (n, n_features)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        mean = np.mean([_predict_tree(tree, X) for tree in self.trees_], axis=0)
        return np.asarray(mean[:, 0] if self._flat else mean)


def _clusters(labels: np.ndarray) -> np.ndarray:
    """Return the mask of the second of two clusters, initialised by the sign along the direction of largest spread."""
    centred = labels - labels.mean(axis=0)
    spread = centred.std(axis=0)
    centred = centred / np.where(spread > 0, spread, 1.0)
    axis = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    in_second = centred @ axis > 0
    for _ in range(_LLOYD_STEPS):
        if in_second.all() or not in_second.any():
            break
        low, high = centred[~in_second].mean(axis=0), centred[in_second].mean(axis=0)
        new_in_second = ((centred - high) ** 2).sum(axis=1) < ((centred - low) ** 2).sum(axis=1)
        if (new_in_second == in_second).all():
            break
        in_second = new_in_second
    return np.asarray(in_second)


def _classifier(X: np.ndarray, in_second: np.ndarray, penalty: float) -> tuple[np.ndarray, float]:
    """Return direction and offset of the regularised least-squares classifier, with equal weight of both clusters."""
    share = in_second.mean()
    if share in (0.0, 1.0):
        return np.zeros(X.shape[1]), 0.0
    weight = np.where(in_second, 0.5 / share, 0.5 / (1 - share))
    middle = np.average(X, axis=0, weights=weight)
    centred = X - middle
    scatter = (centred * weight[:, None]).T @ centred / len(X)
    scatter[np.diag_indices_from(scatter)] += penalty * max(np.trace(scatter) / len(scatter), 1e-12)
    direction = np.linalg.solve(scatter, (weight * np.where(in_second, 1.0, -1.0)) @ centred / len(X))
    return direction, -float(middle @ direction)


def _predict_tree(node: _Node, X: np.ndarray) -> np.ndarray:
    """Return (n, n_outputs) mean labels of the leaves that rows reach."""
    if node.direction is None:
        return np.tile(node.mean, (len(X), 1))
    out = np.empty((len(X), len(node.mean)))
    in_second = X @ node.direction + node.offset > 0
    for in_child, child in zip((~in_second, in_second), node.children, strict=True):
        if in_child.any():
            out[in_child] = _predict_tree(child, X[in_child])
    return out
