"""A forest whose nodes cluster the targets and learn to tell the clusters apart."""

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
    """A leaf that holds a mean label, or a split: rows of positive score go to the second child."""

    mean: np.ndarray
    direction: np.ndarray | None = None
    offset: float = 0.0
    children: tuple[_Node, ...] = ()


class KMeansForestRegressor(RegressorMixin, BaseEstimator):
    """Regression forest after Hara and Chellappa's K-means forest (KRF), with two clusters at each node.

    A node clusters the labels of its rows by 2-means, learns a linear classifier of the two clusters from all features,
    and sends rows to the side on which the classifier puts them.  Leaves answer with the mean label, trees are grown on
    bootstrap samples and averaged.  Rare labels have no more say than others.

    Simpler than the original: two clusters where KRF chooses their number, and a regularised least-squares classifier
    where it takes a hinge loss.

    Parameters
    ----------
    n_estimators : int, default=20
        Trees.
    max_depth : int, default=20
        Depth at which a tree stops growing.
    min_samples_leaf : int, default=5
        Rows that each side of a split must hold.
    penalty : float, default=0.1
        Weight of the classifier's squared norm, in mean variances of the node's columns.
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
        """Several outputs are welcome."""
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
        random = check_random_state(self.random_state)
        self.trees_ = []
        for _ in range(int(self.n_estimators)):
            rows = random.randint(len(X), size=len(X))
            self.trees_.append(self._grow(X[rows], labels[rows], int(self.max_depth)))
        return self

    def _grow(self, X: np.ndarray, labels: np.ndarray, depth: int) -> _Node:
        node = _Node(labels.mean(axis=0))
        least = int(self.min_samples_leaf)
        if depth == 0 or len(X) < 2 * least or not np.ptp(labels, axis=0).any():
            return node
        direction, offset = _classifier(X, _clusters(labels), self.penalty)
        second = X @ direction + offset > 0
        if min(second.sum(), (~second).sum()) < least:
            return node
        node.direction, node.offset = direction, offset
        node.children = tuple(self._grow(X[side], labels[side], depth - 1) for side in (~second, second))
        return node

    def predict(self, X: Any) -> np.ndarray:
        """Mean of the predictions of the trees for rows (n, n_features)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        mean = np.mean([_answers(tree, X) for tree in self.trees_], axis=0)
        return np.asarray(mean[:, 0] if self._flat else mean)


def _clusters(labels: np.ndarray) -> np.ndarray:
    """Mask of the second of two clusters, started on both sides of the mean along the direction of largest spread."""
    centred = labels - labels.mean(axis=0)
    spread = centred.std(axis=0)
    centred = centred / np.where(spread > 0, spread, 1.0)
    axis = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    second = centred @ axis > 0
    for _ in range(_LLOYD_STEPS):
        if second.all() or not second.any():
            break
        low, high = centred[~second].mean(axis=0), centred[second].mean(axis=0)
        moved = ((centred - high) ** 2).sum(axis=1) < ((centred - low) ** 2).sum(axis=1)
        if (moved == second).all():
            break
        second = moved
    return np.asarray(second)


def _classifier(X: np.ndarray, second: np.ndarray, penalty: float) -> tuple[np.ndarray, float]:
    """Direction and offset of the regularised least-squares classifier; both clusters weigh the same."""
    share = second.mean()
    if share in (0.0, 1.0):
        return np.zeros(X.shape[1]), 0.0
    weight = np.where(second, 0.5 / share, 0.5 / (1 - share))
    middle = np.average(X, axis=0, weights=weight)
    centred = X - middle
    scatter = (centred * weight[:, None]).T @ centred / len(X)
    scatter[np.diag_indices_from(scatter)] += penalty * max(np.trace(scatter) / len(scatter), 1e-12)
    direction = np.linalg.solve(scatter, (weight * np.where(second, 1.0, -1.0)) @ centred / len(X))
    return direction, -float(middle @ direction)


def _answers(node: _Node, X: np.ndarray) -> np.ndarray:
    """(n, n_outputs) mean labels of the leaves that rows reach."""
    if node.direction is None:
        return np.tile(node.mean, (len(X), 1))
    out = np.empty((len(X), len(node.mean)))
    second = X @ node.direction + node.offset > 0
    for side, child in zip((~second, second), node.children, strict=True):
        if side.any():
            out[side] = _answers(child, X[side])
    return out
