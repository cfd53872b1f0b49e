"""Algorithm 1 for one query at a time, as one would write it with numpy, scikit-learn and cvxpy.

It takes the trees, rows and parameters of a fitted ``dsna`` model and shares no code with the kernels, so that it is
both the peer in the benchmark of predictions and a check of them.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
from sklearn.metrics import pairwise_distances

_EPS = 1e-3
_TIE = 1e-9
_CLUSTER_STEPS = 10


class ReferenceQueries:
    """Neighbourhood, clusters, hulls and coefficients of single queries.

    Parameters
    ----------
    model : a fitted ``DSNAClassifier`` or ``DSNARegressor`` whose neighbours come from trees.
    compile_once : whether problems of equal size share one compiled by cvxpy beforehand, or each query states its own.
    """

    def __init__(self, model: Any, compile_once: bool = False) -> None:
        self.compile_once = compile_once
        self.know = model._index
        self.trees = self.know.trees
        steps = model.approximation_.feedback_steps(model._n_classes())
        self.how = {**model.approximation_.get_params(), "max_iter": steps}
        self.is_class = hasattr(model, "classes_")
        self.class_scale = model._class_scale()
        self._problems: dict[int, dict[str, Any]] = {}
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
        how = self.how
        scaled = (x - self.know.scaling.offset) / self.know.scaling.scale
        q = scaled if self.know.space is None else scaled @ self.know.space
        rows, proximity = self._neighborhood(self._leaves(scaled), q)
        L, y = self.know.Z[rows], self.know.label[rows]
        away = pairwise_distances(q[None], L)[0]
        scale, squared = away.mean(), np.mean(away**2)
        if squared <= 1e-300:
            scale = squared = 1.0
        members = np.ones((len(rows), 1), dtype=bool)
        if how["n_clusters"] > 1:
            members = self._clusters(L, y, how["overlap"] * scale, int(away.argmin()))
        points, fits = zip(*(self._hull_point(L[inside], q) for inside in members.T), strict=True)
        label = None
        if how["max_iter"] > 0:
            # Hulls that fit equally well but for rounding: the first.
            nearest = int(np.argmax(np.array(fits) <= min(fits) + 1e-9 * scale))
            label = self._centre_label(y[members[:, nearest]])
        met = [label]
        while True:
            alphas, objectives = [], []
            for inside, point, fit in zip(members.T, points, fits, strict=True):
                reach = away if label is None else away * self._label_factor(y, label)
                b = self._prior(reach[inside], proximity[inside], scale)
                lam = np.full(len(b), how["lam"])
                if how["proximity_weights"]:
                    lam *= proximity.max() / proximity[inside]
                a, objective = self._sparse((L[inside] - point) / np.sqrt(squared), point / np.sqrt(squared), lam, b)
                alphas.append(np.zeros(len(rows)))
                alphas[-1][inside] = a
                objectives.append(objective + 0.5 * fit**2 / squared)
            alpha = self._shares(np.array(objectives)) @ np.array(alphas)
            if label is None:
                return rows, proximity, alpha
            label = self._label_of(alpha, y)
            seen = any(np.abs(label - past).max() <= 1e-4 * self._widest(y) + 1e-300 for past in met)
            met.append(label)
            if seen or len(met) > how["max_iter"]:
                return rows, proximity, alpha

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
        held = [self.trees.leaf_rows[ptr[leaf] : ptr[leaf + 1]] for leaf in leaves]
        parts = np.concatenate([weight[rows] / weight[rows].sum() for rows in held]) / len(leaves)
        rows, at = np.unique(np.concatenate(held), return_inverse=True)
        proximity = np.bincount(at, weights=parts)
        rows, proximity = rows[proximity > 0], proximity[proximity > 0]
        rank = proximity
        most = self.know.max_neighbors
        if most is not None and len(rows) > most:
            away = pairwise_distances(q[None], self.know.Z[rows])[0]
            rank = proximity * self.know.rarity[rows] * (1.0 - 1e-9 * away / max(away.max(), 1e-300))
        order = np.argsort(-rank, kind="stable")[:most]
        return rows[order], proximity[order]

    def _widest(self, y: np.ndarray) -> float:
        return float(np.linalg.norm(np.ptp(y, axis=0)))

    def _label_factor(self, y: np.ndarray, label: np.ndarray) -> np.ndarray:
        if self.is_class:
            return (y[:, 0] != label[0]).astype(np.float64)
        gap = np.linalg.norm(y - label, axis=1)
        widest = self._widest(y)
        return self.how["tau"] * gap / (np.maximum(widest - gap, 0.0) + _EPS * widest + 1e-300)

    def _centre_label(self, y: np.ndarray) -> np.ndarray:
        if self.is_class:
            names, counts = np.unique(y[:, 0], return_counts=True)
            return names[[counts.argmax()]]
        return y.mean(axis=0)

    def _clusters(self, L: np.ndarray, y: np.ndarray, slack: float, first: int) -> np.ndarray:
        """(m, K) members of the overlapping clusters (eq. 1)."""
        centres, labels = L[[first]], y[[first]]

        def distances() -> np.ndarray:
            factor = np.stack([self._label_factor(y, label) for label in labels], axis=1)
            return pairwise_distances(L, centres) * (factor + _TIE)

        while len(centres) < self.how["n_clusters"]:
            least = distances().min(axis=1)
            if least.max() <= 0.0:
                break
            centres = np.vstack([centres, L[least.argmax()]])
            labels = np.vstack([labels, y[least.argmax()]])
        members = np.zeros((len(L), len(centres)), dtype=bool)
        for _ in range(_CLUSTER_STEPS):
            away = distances()
            new = away <= away.min(axis=1, keepdims=True) + slack
            if np.array_equal(new, members):
                break
            members = new
            for c in np.flatnonzero(members.any(axis=0)):
                centres[c] = L[members[:, c]].mean(axis=0)
                labels[c] = self._centre_label(y[members[:, c]])
        return members

    def _hull_point(self, L: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, float]:
        """The target of a cluster and its distance from the query (eq. 2)."""
        energy = self.how["hull_energy"]
        if not energy:
            return q, 0.0
        mean = L.mean(axis=0)
        _, lengths, directions = np.linalg.svd(L - mean, full_matrices=False)
        held = np.cumsum(lengths**2) / max(np.sum(lengths**2), 1e-300)
        n = 1 + int(np.searchsorted(held, energy * (1.0 - 1e-12)))
        basis = directions[:n][lengths[:n] ** 2 > 1e-12 * np.sum(lengths**2)]
        point = mean + basis.T @ (basis @ (q - mean))
        return point, float(np.linalg.norm(q - point))

    def _prior(self, reach: np.ndarray, proximity: np.ndarray, scale: float) -> np.ndarray:
        """Prior weights (eq. 4)."""
        radius = self.how["radius"]
        radius = 0.5 if radius == "median" else radius
        b = np.exp(-reach / (self.how["bandwidth"] * scale))
        if self.how["proximity_weights"]:
            b = b * proximity
        if radius is not None and radius < 1.0:
            b = b * (reach <= np.sort(reach)[min(int(radius * len(reach)), len(reach) - 1)])
        if b.sum() <= 1e-300:
            b[reach.argmin()] = 1.0
        return b / b.sum()

    def _sparse(self, R: np.ndarray, point: np.ndarray, lam: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float]:
        """Coefficients of eq. 6 and their objective."""
        if not self.how["sum_to_one"]:
            R = R + point
        if self.compile_once:
            return self._sparse_compiled(R, point, lam, b)
        alpha = cp.Variable(len(b))
        fitted = R.T @ alpha if self.how["sum_to_one"] else R.T @ alpha - point
        constraints = [cp.sum(alpha) == 1] if self.how["sum_to_one"] else []
        problem = cp.Problem(cp.Minimize(self._objective(alpha, fitted, lam, b)), constraints)
        problem.solve(solver=cp.CLARABEL)
        return alpha.value, float(problem.value)

    def _objective(self, alpha: Any, fitted: Any, lam: Any, b: Any) -> Any:
        smooth = 0.5 * cp.sum_squares(fitted) + 0.5 * self.how["ridge"] * cp.sum_squares(alpha)
        return smooth + lam @ cp.abs(alpha) + self.how["gamma"] * cp.norm1(alpha - b)

    def _sparse_compiled(
        self, R: np.ndarray, point: np.ndarray, lam: np.ndarray, b: np.ndarray
    ) -> tuple[np.ndarray, float]:
        if len(b) not in self._problems:
            self._problems[len(b)] = self._compile(*R.shape)
        known = self._problems[len(b)]
        for name, value in {"rows": R.T, "point": point, "lam": lam, "prior": b}.items():
            known[name].value = value
        known["problem"].solve(solver=cp.CLARABEL)
        return known["alpha"].value, float(known["problem"].value)

    def _compile(self, m: int, d: int) -> dict[str, Any]:
        alpha, fitted = cp.Variable(m), cp.Variable(d)
        rows, point = cp.Parameter((d, m)), cp.Parameter(d)
        lam, prior = cp.Parameter(m, nonneg=True), cp.Parameter(m)
        constraints = [fitted == rows @ alpha, cp.sum(alpha) == 1]
        if not self.how["sum_to_one"]:
            constraints = [fitted == rows @ alpha - point]
        problem = cp.Problem(cp.Minimize(self._objective(alpha, fitted, lam, prior)), constraints)
        return {"problem": problem, "alpha": alpha, "rows": rows, "point": point, "lam": lam, "prior": prior}

    def _shares(self, objectives: np.ndarray) -> np.ndarray:
        if self.how["selection"] == "best":
            return (np.arange(len(objectives)) == objectives.argmin()).astype(np.float64)
        shares = np.exp(-(objectives - objectives.min()) / self.how["temperature"])
        return shares / shares.sum()

    def _label_of(self, alpha: np.ndarray, y: np.ndarray) -> np.ndarray:
        if self.is_class:
            mass = np.bincount(y[:, 0].astype(int), np.maximum(alpha, 0.0), len(self.class_scale)) * self.class_scale
            return np.array([float(mass.argmax())])
        return alpha @ y
