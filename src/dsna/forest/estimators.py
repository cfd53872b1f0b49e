"""CS-RF: cost-sensitive random forests whose nodes learn linear splits (eq. 8 to 10).

Module map: ``CostSensitiveForestClassifier`` and ``CostSensitiveForestRegressor`` validate, call ``growing`` for the
trees, and average what the leaves hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._utils.parallel import chunks
from .._utils.parameters import check_parameters, documented
from .._utils.validation import check_classes, check_groups, check_rows, check_targets, check_weights
from ..prediction.decision import most_probable
from .build import grow_forest
from .costs import class_shares
from .held_out import deal_folds, left_out_folds
from .scaling import Scaling, column_spread
from .targets import Targets, class_targets, regression_targets


class _CostSensitiveForest(BaseEstimator):
    """What the two forests share: parameters, growing, leaves."""

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_depth: int | None = 20,
        min_samples_leaf: int | None = None,
        max_features: Any = "auto",
        n_draws: int = 10,
        C: float = 10.0,
        cost: Any = "inverse",
        threshold: str = "gain",
        split_groups: str = "targets",
        svr_epsilon: float = 0.1,
        target_density: Any = "auto",
        max_split_samples: int = 512,
        bootstrap: bool = False,
        metric_rounds: int = 1,
        scaling: str = "columns",
        balance: float | None = None,
        oob_score: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.n_draws = n_draws
        self.C = C
        self.cost = cost
        self.threshold = threshold
        self.split_groups = split_groups
        self.svr_epsilon = svr_epsilon
        self.target_density = target_density
        self.max_split_samples = max_split_samples
        self.bootstrap = bootstrap
        self.metric_rounds = metric_rounds
        self.scaling = scaling
        self.balance = balance
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        """Refuse unknown or impossible parameter values."""
        check_parameters(self)

    def _grow(self, X: np.ndarray, targets: Targets, weight: np.ndarray, groups: np.ndarray | None) -> None:
        self._check_parameters()
        rng = check_random_state(self.random_state)
        self.scaling_ = Scaling(X[weight > 0], self.scaling)
        rank = targets.rank if targets.n_classes else np.argsort(np.argsort(targets.rank, kind="stable"))
        self.block_ = deal_folds(rank, groups, rng, weight)
        left_out = left_out_folds(self.n_estimators, self.block_, weight)
        scaled = self.scaling_.transform(X)
        self.trees_ = grow_forest(scaled, targets, weight, self.block_, left_out, self, rng)

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
        total = self.trees_.importance.sum()
        return self.trees_.importance / total if total > 0 else np.zeros_like(self.trees_.importance)

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
            out[part] = self.trees_.mean_over_trees(self.leaf_value_, leaves, self.trees_.left_out.T[self.block_[part]])
        return out


@documented
class CostSensitiveForestClassifier(ClassifierMixin, _CostSensitiveForest):
    """Cost-sensitive random forest (CS-RF) for classes.

    Each node separates two groups of classes by a weighted linear SVM on a few random features; rare classes weigh
    as much as common ones when splits are learned and chosen.

    Parameters
    ----------
    {GROWTH}
    {ROUNDS}
    balance : float in [0, 1] or None, default=None
        0 predicts for the class shares of the training rows, 1 (which None stands for) treats classes alike.
    oob_score : bool, default=False
        Whether to score the training rows by the trees that never saw them.
    {COMMON}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_prior_ : array of shape (n_classes,)
        Share of each class in the training rows.
    trees_ : Trees
        The trees, with the training rows of each leaf.
    block_ : array of shape (n,)
        Block of each training row; each tree omits whole blocks.
    oob_score_, oob_decision_function_ : float and array of shape (n, n_classes)
        Balanced accuracy and probabilities out of bag, with ``oob_score=True``.
    feature_importances_ : array of shape (n_features,)

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from dsna import CostSensitiveForestClassifier
    >>> X, y = make_classification(300, weights=[0.9], class_sep=2.0, random_state=0)
    >>> forest = CostSensitiveForestClassifier(20, random_state=0).fit(X[:200], y[:200])
    >>> forest.predict(X[200:203]).tolist() == y[200:203].tolist()
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> CostSensitiveForestClassifier:
        """Grow the forest.

        Parameters
        ----------
        X : array of shape (n, n_features)
        y : array of shape (n,)
            Classes of any type.
        sample_weight : array of shape (n,), optional
            A row of weight two counts as two rows.
        groups : array of shape (n,), optional
            Rows of one group (a person, a day) are held out together wherever rows are held out.

        Returns
        -------
        self
        """
        X = check_rows(self, X, reset=True)
        self.classes_, code = check_classes(self, y, X)
        weight = check_weights(sample_weight, X)
        groups = check_groups(groups, X)
        self.n_classes_ = len(self.classes_)
        self.class_prior_ = class_shares(code, self.n_classes_, weight)
        self._grow(X, class_targets(code, self.n_classes_, weight), weight, groups)
        self.leaf_value_ = self.trees_.leaf_means(np.eye(self.n_classes_)[code], weight)
        if self.oob_score:
            self.oob_decision_function_ = self._balanced(self._out_of_bag(X))
            seen = ~np.isnan(self.oob_decision_function_[:, 0])
            self.oob_score_ = balanced_accuracy_score(
                code[seen], most_probable(self.oob_decision_function_[seen]), sample_weight=weight[seen]
            )
        return self

    def _oob_losses(self, code: np.ndarray) -> np.ndarray:
        """Log loss of each training row out of bag."""
        proba = np.nan_to_num(self.oob_decision_function_[np.arange(len(code)), code], nan=1.0 / self.n_classes_)
        return -np.log(np.maximum(proba, 0.01))

    def _balanced(self, proba: np.ndarray) -> np.ndarray:
        balance = 1.0 if self.balance is None else self.balance
        scaled = proba / np.maximum(self.class_prior_, 1e-300) ** balance
        # No class has a say where all leaves reached are empty.
        scaled[scaled.sum(axis=1) == 0.0] = 1.0
        return scaled / scaled.sum(axis=1, keepdims=True)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, corrected for the class shares as ``balance`` asks.

        Parameters
        ----------
        X : array of shape (n, n_features)

        Returns
        -------
        array of shape (n, n_classes)
        """
        check_is_fitted(self)
        return self._balanced(self._mean_of_leaves(check_rows(self, X, reset=False)))

    def predict(self, X: Any) -> np.ndarray:
        """Most probable class.

        Parameters
        ----------
        X : array of shape (n, n_features)

        Returns
        -------
        array of shape (n,)
        """
        best = most_probable(self.predict_proba(X))
        return self.classes_[best]


@documented
class CostSensitiveForestRegressor(RegressorMixin, _CostSensitiveForest):
    """Cost-sensitive random forest (CS-RF) for labels, one or several outputs.

    Each node predicts the label by a weighted linear SVR on a few random features and sends rows left or right of a
    cut; rare labels weigh more when splits are learned and chosen.

    Parameters
    ----------
    {GROWTH}
    {ROUNDS}
    balance : float in [0, 1] or None, default=None
        0 (which None stands for) predicts for the labels at hand, 1 treats all label regions as equally important.
    oob_score : bool, default=False
        Whether to score the training rows by the trees that never saw them.
    {COMMON}

    Attributes
    ----------
    n_outputs_ : int
    trees_ : Trees
        The trees, with the training rows of each leaf.
    block_ : array of shape (n,)
        Block of each training row; each tree omits whole blocks.
    oob_score_, oob_prediction_ : float and array
        R2 and predictions out of bag, with ``oob_score=True``.
    feature_importances_ : array of shape (n_features,)

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from dsna import CostSensitiveForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = CostSensitiveForestRegressor(20, oob_score=True, random_state=0).fit(X, y)
    >>> bool(forest.oob_score_ > 0.3)
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> CostSensitiveForestRegressor:
        """Grow the forest.

        Parameters
        ----------
        X : array of shape (n, n_features)
        y : array of shape (n,) or (n, n_outputs)
        sample_weight : array of shape (n,), optional
            A row of weight two counts as two rows.
        groups : array of shape (n,), optional
            Rows of one group (a person, a day) are held out together wherever rows are held out.

        Returns
        -------
        self
        """
        X = check_rows(self, X, reset=True)
        y = check_targets(y, X)
        weight = check_weights(sample_weight, X)
        groups = check_groups(groups, X)
        self.n_outputs_ = 1 if y.ndim == 1 else y.shape[1]
        targets = regression_targets(y, weight, self.target_density)
        self._grow(X, targets, weight, groups)
        balance = 0.0 if self.balance is None else self.balance
        self.leaf_value_ = self.trees_.leaf_means(y.reshape(len(y), -1), weight * targets.share**-balance)
        if self.oob_score:
            self.oob_prediction_ = self._shaped(self._out_of_bag(X))
            seen = ~np.isnan(self.oob_prediction_.reshape(len(X), -1)[:, 0])
            self.oob_score_ = r2_score(y[seen], self.oob_prediction_[seen], sample_weight=weight[seen])
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _oob_losses(self, y: np.ndarray) -> np.ndarray:
        """Absolute error of each training row out of bag, in units of the label spread."""
        labels = y.reshape(len(y), -1)
        error = np.abs(self.oob_prediction_.reshape(labels.shape) - labels)
        return np.nan_to_num((error / column_spread(labels)).mean(axis=1), nan=1.0)

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] if self.n_outputs_ == 1 else values

    def predict(self, X: Any) -> np.ndarray:
        """Mean over trees of the leaves' labels.

        Parameters
        ----------
        X : array of shape (n, n_features)

        Returns
        -------
        array of shape (n,) or (n, n_outputs)
        """
        check_is_fitted(self)
        return self._shaped(self._mean_of_leaves(check_rows(self, X, reset=False)))
