"""Base class of the cost-sensitive forests: growth, routing, means of leaves (equations 8 to 10 of the paper)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._utils.parallel import chunks
from .._utils.parameters import JOBS, POSITIVE, SHARE, CheckedEstimator, at_least
from .._utils.validation import check_rows
from .build import SPLITS, TrainingRows, grow_forest
from .held_out import deal_folds
from .scaling import SCALINGS, Scaling
from .targets import COSTS, Targets
from .trees import Leaves


class CostSensitiveForest(CheckedEstimator):
    """Base class of ``CostSensitiveForestClassifier`` and ``CostSensitiveForestRegressor``."""

    _parameter_constraints: dict[str, Any] = {
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
        "splits": [StrOptions(set(SPLITS))],
        "C": [POSITIVE],
        "cost": [StrOptions({name for name in COSTS if name}), callable, None],
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
    _leaf_value: np.ndarray
    n_estimators: int
    n_jobs: int | None
    random_state: Any
    verbose: int

    def _grow(
        self, X: np.ndarray, targets: Targets, weight: np.ndarray, groups: np.ndarray | None, leaves: Leaves
    ) -> None:
        """Set ``_scaling``, ``fold_``, ``trees_`` and the means of their leaves."""
        rng = check_random_state(self.random_state)
        self._scaling = Scaling(X, self.scaling, weight)
        self.fold_ = deal_folds(targets.rank, groups, rng, weight)
        rows = TrainingRows(X, self._scaling, targets, weight, self.fold_, leaves)
        self.trees_, self._leaf_value = grow_forest(rows, self, rng, self.verbose)

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows to route through the trees.

        Returns
        -------
        array of shape (n, n_estimators)
            Leaf numbers, which are unique across trees.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        return self.trees_.apply(self._scaling.transform(X), self.n_jobs)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the gains of all splits; the shares sum to one."""
        check_is_fitted(self)
        return self.trees_.feature_importances

    def _mean_of_leaves(self, X: np.ndarray) -> np.ndarray:
        """(n, k) mean over trees of the means of the leaves that each row reaches."""
        scaled = self._scaling.transform(X)
        means = [
            self.trees_.mean_over_trees(self._leaf_value, self.trees_.apply(scaled[chunk], self.n_jobs))
            for chunk in chunks(len(X), 8192)
        ]
        return np.concatenate(means)

    def _out_of_bag(self, X: np.ndarray) -> np.ndarray:
        """(n, k) the same for training rows, over the trees that left out each row; NaN if there are none."""
        scaled = self._scaling.transform(X)
        means = np.full((len(X), self._leaf_value.shape[1]), np.nan)
        for chunk in chunks(len(X), 8192):
            leaves = self.trees_.apply(scaled[chunk], self.n_jobs)
            means[chunk] = self.trees_.mean_over_trees(
                self._leaf_value, leaves, self.trees_.left_out.T[self.fold_[chunk]]
            )
        return means
