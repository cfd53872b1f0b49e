"""CS-RF for regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from .._utils.parameters import NON_NEGATIVE
from .._utils.validation import check_groups, check_rows, check_targets, check_weights
from .base import CostSensitiveForest
from .density import DENSITIES, TargetDensity
from .scaling import column_spread
from .targets import regression_targets
from .trees import Leaves


class CostSensitiveForestRegressor(RegressorMixin, CostSensitiveForest):
    r"""Cost-sensitive random forest (CS-RF) for regression, one or several outputs.

    Each node predicts the standardised targets :math:`t_i` of its :math:`n` rows (several outputs: their first
    principal component) by a linear SVR on a few random features :math:`x_i`, and sends rows left or right of a cut
    along the prediction. The SVR minimises a weighted squared epsilon-insensitive loss,

    .. math:: \frac{1}{2} \| w \|^2
              + \frac{C}{n} \sum_i c_i \max(0,\, | t_i - w^\top x_i | - \varepsilon)^2 ,
              \qquad c_i \propto f(p_{t_i})

    (equation 10 of Huang, Loy and Tang, "Discriminative Sparse Neighbor Approximation for Imbalanced Learning"), where
    :math:`p_t` is the share of rows with (nearly) the target and :math:`f` the `cost`; costs have the mean one. Of the
    random feature subsets the node keeps the split of largest reduction of variance, in which rows weigh inversely to
    the density of their targets (equation 8).

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_depth : int or None, default=20
        Maximum depth of a tree.
    min_samples_leaf : int or "auto", default="auto"
        Minimum number of rows on each side of a split; "auto" stands for 2.
    max_features : {"auto", "sqrt"}, int, float or None, default="auto"
        Number of features in a node's linear split: a number, a share of all, None for all, "sqrt"; "auto" lets
        single features, pairs and sets of sqrt(n_features) compete for the largest gain.
    n_draws : int, default=10
        Number of random feature subsets that a node tries.
    splits : {"oblique", "both", "axis"}, default="oblique"
        "oblique" learns an SVR on every subset, also on single features; "axis" tries single features only, each at
        its best threshold; with "both", subsets of one feature are cut at their best threshold, larger ones by
        an SVR, and small nodes (with ``max_features="auto"``: fewer than four rows per feature) try single features.
    C : float, default=10.0
        Weight of the mean loss against the norm in the SVR of a node.
    cost : {"inverse", "paper"}, callable or None, default="inverse"
        Cost f(p) of a target with the share p of a node's rows: 1 / p, (1 - p) / p, a function, or no cost.
    threshold : {"gain", "sign"}, default="gain"
        Cut of a split: where the reweighted gain is largest, or at the node's mean target.
    svr_epsilon : float, default=0.1
        Width of the tube of a node's SVR, in standard deviations of the node's targets.
    target_density : {"auto", "exact", "bins", "kernel", "per-output"} or callable, default="auto"
        Estimate of how common a target is: counts of equal targets, a histogram of 20 bins, a kernel density, or a
        function of the targets; "auto" counts if targets repeat, and uses a kernel density otherwise. The density of
        several outputs is joint; with "per-output", each output has its own, and a target is as rare as the rarest of
        its outputs.
    max_split_samples : int, default=512
        Maximum number of rows that a split is learned on; larger nodes use a stratified sample.
    bootstrap : bool, default=False
        Whether trees resample their rows with replacement. Each tree leaves out two fifths of the rows in any case.
    metric_rounds : int, default=1
        Number of forests grown one after another, each in the metric of the previous one; the last is kept.
    scaling : {"columns", "global", "none"}, default="columns"
        Whether inputs are divided by the spread of each column (tables), by a common spread (PCA or HOG features), or
        not at all.
    balance : float in [0, 1], default=0.0
        0: minimise the error over the training rows; 1: treat all regions of the target as equally important.
    oob_score : bool, default=False
        Whether to compute out-of-bag predictions and the score of the training rows.
    n_jobs : int or None, default=None
        Number of parallel jobs; results do not depend on it.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0
        Whether to show progress.

    Attributes
    ----------
    n_outputs_ : int
    trees_ : Trees
        The trees, with the training rows of each leaf.
    fold_ : array of shape (n,)
        Held-out fold of each training row; each tree leaves out whole folds.
    oob_score_ : float
        R2 out of bag, with ``oob_score=True``.
    oob_prediction_ : array
        Predictions out of bag, with ``oob_score=True``.
    feature_importances_ : array of shape (n_features,)
        Share of each feature in the gains of all splits.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from dsna import CostSensitiveForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = CostSensitiveForestRegressor(20, oob_score=True, random_state=0).fit(X, y)
    >>> bool(forest.oob_score_ > 0.3)
    True
    """

    _parameter_constraints: dict[str, Any] = {
        **CostSensitiveForest._parameter_constraints,
        "svr_epsilon": [NON_NEGATIVE],
        "target_density": [StrOptions(set(DENSITIES)), callable],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_depth: int | None = 20,
        min_samples_leaf: int | str = "auto",
        max_features: Any = "auto",
        n_draws: int = 10,
        splits: str = "oblique",
        C: float = 10.0,
        cost: Any = "inverse",
        threshold: str = "gain",
        svr_epsilon: float = 0.1,
        target_density: Any = "auto",
        max_split_samples: int = 512,
        bootstrap: bool = False,
        metric_rounds: int = 1,
        scaling: str = "columns",
        balance: float = 0.0,
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
        self.splits = splits
        self.C = C
        self.cost = cost
        self.threshold = threshold
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> CostSensitiveForestRegressor:
        """Grow the forest.

        Parameters
        ----------
        X : array of shape (n, n_features)
        y : array of shape (n,) or (n, n_outputs)
        sample_weight : array of shape (n,), optional
            Sample weights. A row of weight two is equivalent to two copies of it in expectation; the fitted models
            differ, because trees draw rows and features at random.
        groups : array of shape (n,), optional
            Group of each row (a person, a day). Rows of one group are always held out together.

        Returns
        -------
        self
        """
        self._validate_params()
        X = check_rows(self, X, reset=True)
        y = check_targets(y, X)
        weight = check_weights(sample_weight, X)
        groups = check_groups(groups, X)
        self.n_outputs_ = 1 if y.ndim == 1 else y.shape[1]
        columns, has_weight = y.reshape(len(y), -1), weight > 0
        targets = regression_targets(
            columns, weight, TargetDensity(columns[has_weight], self.target_density, weight[has_weight])
        )
        leaves = Leaves(targets.values_by_code(columns), weight * targets.share**-self.balance, targets.code)
        self._grow(X, targets, weight, groups, leaves)
        if self.oob_score:
            self.oob_prediction_ = self._shaped(self._out_of_bag(X))
            has_oob = ~np.isnan(self.oob_prediction_.reshape(len(X), -1)[:, 0])
            self.oob_score_ = r2_score(y[has_oob], self.oob_prediction_[has_oob], sample_weight=weight[has_oob])
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def out_of_bag_losses(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> np.ndarray:
        """Fit the forest, and return the out-of-bag absolute error of each row, in spreads of the target.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in ``fit``.

        Returns
        -------
        array of shape (n,)
        """
        self.set_params(balance=0.0, oob_score=True).fit(X, y, sample_weight, groups)
        targets = y.reshape(len(y), -1)
        error = np.abs(self.oob_prediction_.reshape(targets.shape) - targets)
        return np.asarray(np.nan_to_num((error / column_spread(targets)).mean(axis=1), nan=1.0))

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] if self.n_outputs_ == 1 else values

    def predict(self, X: Any) -> np.ndarray:
        """Predict the mean over trees of the leaves' mean targets.

        Parameters
        ----------
        X : array of shape (n, n_features)

        Returns
        -------
        array of shape (n,) or (n, n_outputs)
        """
        check_is_fitted(self)
        return self._shaped(self._mean_of_leaves(check_rows(self, X, reset=False)))
