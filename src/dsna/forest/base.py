"""CS-RF: cost-sensitive random forests whose nodes learn weighted linear splits (eq. 8 to 10).

What ``CostSensitiveForestClassifier`` and ``CostSensitiveForestRegressor`` share: growing, routing, means of leaves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._utils.parallel import chunks
from .._utils.parameters import JOBS, POSITIVE, SHARE, at_least
from .._utils.validation import check_rows
from .build import TrainingRows, grow_forest
from .held_out import deal_folds
from .scaling import SCALINGS, Scaling
from .targets import Targets


class CostSensitiveForest(BaseEstimator):
    """What the two forests share: growing, routing, leaves."""

    _parameter_constraints: dict = {
        "n_estimators": [at_least(1)],
        "max_depth": [at_least(1), None],
        "min_samples_leaf": [at_least(1), StrOptions({"auto"})],
        "max_features": [
            at_least(1),
            Interval(RealNotInt, 0, 1, closed="right"),
            StrOptions({"auto", "sqrt"}),
            None,
        ],
        "n_draws": [at_least(1)],
        "C": [POSITIVE],
        "cost": [StrOptions({"inverse", "paper"}), callable, None],
        "threshold": [StrOptions({"gain", "sign"})],
        "max_split_samples": [at_least(10)],
        "bootstrap": ["boolean"],
        "metric_rounds": [at_least(1)],
        "scaling": [StrOptions(set(SCALINGS))],
        "balance": [SHARE],
        "oob_score": ["boolean"],
        "n_jobs": JOBS,
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    scaling: str
    n_estimators: int
    n_jobs: int | None
    random_state: Any
    verbose: int

    def _grow(self, X: np.ndarray, targets: Targets, weight: np.ndarray, groups: np.ndarray | None) -> None:
        """Set ``scaling_``, ``fold_`` and ``trees_``."""
        rng = check_random_state(self.random_state)
        self.scaling_ = Scaling(X[weight > 0], self.scaling)
        self.fold_ = deal_folds(targets.rank, groups, rng, weight)
        rows = TrainingRows(self.scaling_.transform(X), targets, weight, self.fold_)
        self.trees_ = grow_forest(rows, self, rng, self.verbose)

    def apply(self, X: Any) -> np.ndarray:
        """Leaf that each row reaches in each tree.

        Parameters
        ----------
        X : array of shape (n, n_features)

        Returns
        -------
        array of shape (n, n_estimators)
            Leaf numbers; no two trees share one.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        return self.trees_.apply(self.scaling_.transform(X), self.n_jobs)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the gains of all splits; sums to one."""
        check_is_fitted(self)
        return self.trees_.feature_importances

    def _mean_of_leaves(self, X: np.ndarray) -> np.ndarray:
        """(n, k) mean over trees of what the leaves hold."""
        scaled = self.scaling_.transform(X)
        parts = [
            self.trees_.mean_over_trees(self.leaf_value_, self.trees_.apply(scaled[part], self.n_jobs))
            for part in chunks(len(X), 8192)
        ]
        return np.concatenate(parts)

    def _out_of_bag(self, X: np.ndarray) -> np.ndarray:
        """(n, k) mean over the trees that omit each training row; NaN where there is none."""
        scaled = self.scaling_.transform(X)
        out = np.full((len(X), self.leaf_value_.shape[1]), np.nan)
        for part in chunks(len(X), 8192):
            leaves = self.trees_.apply(scaled[part], self.n_jobs)
            out[part] = self.trees_.mean_over_trees(self.leaf_value_, leaves, self.trees_.left_out.T[self.fold_[part]])
        return out
