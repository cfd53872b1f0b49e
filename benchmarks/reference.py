"""Algorithm 1 for the queries of a fitted model, one at a time, as one would write it with scikit-learn and cvxpy.

It takes the trees, rows and parameters of the model and shares no code with the kernels, so that it is both the peer in
the benchmark of predictions and a check of them.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np
from sklearn.metrics import pairwise_distances
from slow_algorithm import SlowAnswer, best_coefficients, penalised


class CompiledProblems:
    """Takes what ``best_coefficients`` takes; problems of equal size share one that cvxpy has compiled.

    Ridge and gamma stay those of the first: they are part of what is compiled.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], dict[str, Any]] = {}

    def __call__(
        self, R: np.ndarray, ridge: float, lam: np.ndarray, gamma: np.ndarray, b: np.ndarray, target: np.ndarray,
        sum_to_one: bool,
    ) -> np.ndarray:  # fmt: skip
        if R.shape not in self._known:
            self._known[R.shape] = self._compiled(*R.shape, ridge, gamma, sum_to_one)
        known = self._known[R.shape]
        for name, value in {"rows": R.T, "target": target, "lam": lam, "prior": b}.items():
            known[name].value = value
        known["problem"].solve(solver=cp.CLARABEL)
        return np.asarray(known["a"].value)

    @staticmethod
    def _compiled(m: int, d: int, ridge: float, gamma: np.ndarray, sum_to_one: bool) -> dict[str, Any]:
        a, off = cp.Variable(m), cp.Variable(d)
        rows, target = cp.Parameter((d, m)), cp.Parameter(d)
        lam, prior = cp.Parameter(m, nonneg=True), cp.Parameter(m)
        constraints = [off == rows @ a - target, *([cp.sum(a) == 1] if sum_to_one else [])]
        problem = cp.Problem(cp.Minimize(penalised(off, a, ridge, lam, gamma, prior)), constraints)
        return {"problem": problem, "a": a, "rows": rows, "target": target, "lam": lam, "prior": prior}


class ReferenceQueries:
    """Neighbourhoods and coefficients of single queries.

    Parameters
    ----------
    model : a fitted ``DSNAClassifier`` or ``DSNARegressor`` whose neighbours come from trees.
    compile_once : whether problems of equal size share one compiled by cvxpy beforehand, or each query states its own.
    """

    def __init__(self, model: Any, compile_once: bool = False) -> None:
        self.solve = CompiledProblems() if compile_once else partial(best_coefficients, precision={})
        self.know = model._index
        self.trees = self.know.trees
        self.how = SimpleNamespace(**model.approximation_.kernel_settings(model._n_classes()))
        self.class_scale = model._class_scale()
        rows = self.trees.leaf_rows
        self._leaf_rows = rows if self.know.held is None else self.know.held[rows]
        sizes = np.diff(self.trees.split_ptr)
        # Splits padded to one width, so that a step down all trees is one expression.
        inside = np.arange(sizes.max()) < sizes[:, None]
        self._feature = np.zeros(inside.shape, dtype=np.int64)
        self._weight = np.zeros(inside.shape)
        self._feature[inside] = self.trees.split_feature
        self._weight[inside] = self.trees.split_weight

    def answers(self, Q: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Rows, proximities and coefficients of each query's neighbourhood."""
        return [self.answer(x) for x in Q]

    def answer(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows, proximities and coefficients of the neighbourhood of one query (d,)."""
        scaled = (x - self.know.scaling.offset) / self.know.scaling.scale
        q = scaled if self.know.space is None else scaled @ self.know.space
        rows, proximity = self._neighborhood(self._leaves(scaled), q)
        L, labels = self.know.mapped_rows(rows), self.know.label[rows]
        found = SlowAnswer(q, L, labels, proximity, self.class_scale, self.how, self.solve)
        return rows, proximity, found.alpha

    def _leaves(self, x: np.ndarray) -> np.ndarray:
        """(T,) leaf in each tree."""
        node = self.trees.roots.copy()
        inner = node >= 0
        while inner.any():
            at = node[inner]
            below = np.sum(self._weight[at] * x[self._feature[at]], axis=1) < self.trees.threshold[at]
            node[inner] = self.trees.child[at, np.where(below, 0, 1)]
            inner = node >= 0
        return -1 - node

    def _neighborhood(self, leaves: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the leaves by falling proximity, at most ``max_neighbors``."""
        ptr, weight = self.trees.leaf_ptr, self.know.weight
        held = [self._leaf_rows[ptr[leaf] : ptr[leaf + 1]] for leaf in leaves]
        parts = np.concatenate([weight[rows] / weight[rows].sum() for rows in held]) / len(leaves)
        rows, at = np.unique(np.concatenate(held), return_inverse=True)
        proximity = np.bincount(at, weights=parts)
        rows, proximity = rows[proximity > 0], proximity[proximity > 0]
        rank = proximity
        most = self.know.max_neighbors
        if most is not None and len(rows) > most:
            away = pairwise_distances(q[None], self.know.mapped_rows(rows))[0]
            rank = proximity * self.know.rarity[rows] * (1.0 - 1e-9 * away / max(away.max(), 1e-300))
        order = np.argsort(-rank, kind="stable")[:most]
        return rows[order], proximity[order]
