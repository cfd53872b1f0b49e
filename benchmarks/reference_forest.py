"""CS-RF as one would write it with scikit-learn: each candidate split of a node is a ``LinearSVC`` or ``LinearSVR``.

Nodes draw the same numbers of features, learn on samples of the same size with the same costs, and are judged by the
same reweighted gain at the same cuts as in ``dsna``; only the solver and the language differ.  Random numbers are its
own, so trees agree in kind but not node by node.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, LinearSVR

from dsna.forest.build import draw_sizes, min_leaf_rows
from dsna.forest.targets import Targets

_CUTS = 15


class ReferenceTree:
    """One tree on rows of two classes, or of one label whose density is not counted in the node.

    Parameters
    ----------
    setting : a ``dsna`` forest, whose parameters say how to grow.
    """

    def __init__(self, setting: Any, seed: int) -> None:
        self.setting = setting
        self.rng = np.random.default_rng(seed)

    def fit(self, X: np.ndarray, targets: Targets) -> ReferenceTree:
        """Grow on scaled rows."""
        self.X, self.targets = X, targets
        self.least = min_leaf_rows(self.setting.min_samples_leaf, targets.rarest)
        self.sizes = draw_sizes(self.setting.max_features, self.setting.n_draws, X.shape[1])
        self.nodes: list[tuple[Any, ...]] = []
        stack = [(np.argsort(targets.rank, kind="stable"), 0, -1)]
        while stack:
            rows, depth, parent = stack.pop()
            if parent >= 0:
                self.nodes[parent] = (*self.nodes[parent], len(self.nodes))
            split = None
            if depth < self.setting.max_depth and len(rows) >= 2 * self.least:
                split = self._split(rows)
            if split is not None:
                features, weights, threshold = split
                below = X[np.ix_(rows, features)] @ weights < threshold
                if min(below.sum(), (~below).sum()) >= self.least:
                    stack.append((rows[~below], depth + 1, len(self.nodes)))
                    stack.append((rows[below], depth + 1, -1))
                    self.nodes.append((features, weights, threshold))
                    continue
            self.nodes.append((self._value(rows),))
        return self

    def _value(self, rows: np.ndarray) -> np.ndarray:
        if self.targets.n_classes:
            return np.bincount(self.targets.code[rows], minlength=self.targets.n_classes) / len(rows)
        return self.targets.label[rows].mean(axis=0)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """(n, k) class shares, or scaled labels."""
        out = []
        for x in X:
            node = 0
            while len(self.nodes[node]) > 1:
                features, weights, threshold, right = self.nodes[node]
                node = node + 1 if x[features] @ weights < threshold else right
            out.append(self.nodes[node][0])
        return np.array(out)

    def _sample(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """At most ``max_split_samples`` rows, small classes whole, and how many each stands for."""
        most = self.setting.max_split_samples
        if len(rows) <= most:
            return rows, np.ones(len(rows))
        if not self.targets.n_classes:
            at = ((np.arange(most) + self.rng.random()) * len(rows) / most).astype(int)
            return rows[at], np.full(most, len(rows) / most)
        members = sorted((rows[self.targets.code[rows] == c] for c in np.unique(self.targets.code[rows])), key=len)
        picked, mass = [], []
        for place, some in enumerate(members):
            quota = min(len(some), (most - sum(map(len, picked))) // (len(members) - place))
            picked.append(some[((np.arange(quota) + self.rng.random()) * len(some) / quota).astype(int)])
            mass.append(np.full(quota, len(some) / quota))
        return np.concatenate(picked), np.concatenate(mass)

    def _split(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, float] | None:
        targets, setting = self.targets, self.setting
        picked, mass = self._sample(rows)
        if targets.n_classes:
            side = targets.code[picked]
            shares = np.bincount(side, mass, 2) / mass.sum()
            if shares.max() == 1.0:
                return None
            target, cost = 2.0 * side - 1.0, self._cost(shares[side]) * mass
        else:
            label = targets.label[picked, 0]
            mean = np.average(label, weights=mass)
            spread = np.sqrt(np.average((label - mean) ** 2, weights=mass))
            if spread == 0.0:
                return None
            target, cost = (label - mean) / spread, self._cost(targets.share[picked]) * mass
        cost = cost / cost.mean() if cost.sum() > 0 else mass / mass.mean()
        best, chosen = 1e-12, None
        for size in self.sizes:
            features = self.rng.choice(self.X.shape[1], size, replace=False)
            scaler = StandardScaler().fit(self.X[np.ix_(picked, features)], sample_weight=mass)
            Z = scaler.transform(self.X[np.ix_(picked, features)])
            if targets.n_classes:
                svm = LinearSVC(C=setting.C / len(picked), dual=False)
            else:
                svm = LinearSVR(
                    C=setting.C / len(picked),
                    dual=False,
                    loss="squared_epsilon_insensitive",
                    epsilon=setting.svr_epsilon,
                )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                svm.fit(Z, target, sample_weight=cost)
            w, bias = np.ravel(svm.coef_), float(np.ravel(svm.intercept_)[0])
            gain, cut = self._best_cut(Z @ w + bias, picked, mass)
            if gain > best:
                weights = w / scaler.scale_
                best, chosen = gain, (features, weights, cut - bias + weights @ scaler.mean_)
        return chosen

    def _cost(self, p: np.ndarray) -> np.ndarray:
        if self.setting.cost == "paper":
            return (1.0 - p) / p
        return 1.0 / p if self.setting.cost == "inverse" else np.ones(len(p))

    def _best_cut(self, prediction: np.ndarray, picked: np.ndarray, mass: np.ndarray) -> tuple[float, float]:
        """Reweighted gain and cut: at 0, or also at quantiles of the predictions."""
        order = np.argsort(prediction)
        ordered = prediction[order]
        u = (mass * self.targets.gain[picked])[order]
        if self.targets.n_classes:
            held = np.eye(self.targets.n_classes)[self.targets.code[picked[order]]]
        else:
            held = self.targets.label[picked[order]]
        below = np.cumsum(u[:, None] * held, axis=0)
        mass_below = np.cumsum(u)
        m = len(ordered)
        at = [int(np.searchsorted(ordered, 0.0))]
        if self.setting.threshold == "gain":
            at += [k for k in np.arange(1, _CUTS + 1) * m // (_CUTS + 1) if k > 0 and ordered[k] > ordered[k - 1]]
        least = 1 if m == self.setting.max_split_samples else self.least
        best, cut = -1.0, 0.0
        for place, k in enumerate(at):
            if not least <= k <= m - least:
                continue
            gain = self._gain(below[k - 1], mass_below[k - 1], below[-1], mass_below[-1])
            if gain > best:
                best, cut = gain, 0.0 if place == 0 else 0.5 * (ordered[k] + ordered[k - 1])
        return best, cut

    def _gain(self, left: np.ndarray, left_mass: float, both: np.ndarray, both_mass: float) -> float:
        right, right_mass = both - left, both_mass - left_mass
        if self.targets.n_classes:
            return _entropy(both) - (left_mass * _entropy(left) + right_mass * _entropy(right)) / both_mass
        mean = both / both_mass
        apart = left_mass * (left / left_mass - mean) ** 2 + right_mass * (right / right_mass - mean) ** 2
        return float(np.sum(apart) / both_mass)


def _entropy(masses: np.ndarray) -> float:
    p = masses[masses > 0] / masses.sum()
    return float(-np.sum(p * np.log(p)))
