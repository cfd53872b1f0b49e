"""CS-RF for classification."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from .._utils.choices import balanced_gain, best_class
from .._utils.validation import check_classes, check_groups, check_rows, check_weights
from .base import CostSensitiveForest
from .targets import class_shares, class_targets
from .trees import Leaves


class CostSensitiveForestClassifier(ClassifierMixin, CostSensitiveForest):
    r"""Cost-sensitive random forest (CS-RF) for classification.

    Each node separates two groups of classes, :math:`t_i = \pm 1`, by a linear SVM on a few random features
    :math:`x_i` of its :math:`n` rows. The SVM minimises a weighted squared hinge,

    .. math:: \frac{1}{2} \| w \|^2 + \frac{C}{n} \sum_i c_i \max(0,\, 1 - t_i\, w^\top x_i)^2 ,
              \qquad c_i \propto f(p_{t_i})

    (equation 9 of Huang, Loy and Tang, "Discriminative Sparse Neighbor Approximation for Imbalanced Learning"), where
    :math:`p_t` is the share of a group in the node and :math:`f` the `cost`; costs have the mean one. Of the random
    feature subsets the node keeps the split of largest information gain, in which all classes weigh the same
    (equation 8).

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_depth : int or None, default=20
        Maximum depth of a tree.
    min_samples_leaf : int or "auto", default="auto"
        Minimum number of rows on each side of a split; "auto": the size of the rarest class, between 2 and 4.
    max_features : {"auto", "sqrt"}, int, float or None, default="auto"
        Number of features in a node's linear split: a number, a share of all, None for all, "sqrt"; "auto" lets
        single features, pairs and sets of sqrt(n_features) compete for the largest gain.
    n_draws : int, default=10
        Number of random feature subsets that a node tries.
    splits : {"oblique", "both", "axis"}, default="oblique"
        "oblique" learns an SVM on every subset, also on single features; "axis" tries single features only, each at
        its best threshold; with "both", subsets of one feature are cut at their best threshold, larger ones by
        an SVM, and small nodes (with ``max_features="auto"``: fewer than four rows per feature) try single features.
    C : float, default=10.0
        Weight of the mean loss against the norm in the SVM of a node.
    cost : {"inverse", "paper"}, callable or None, default="inverse"
        Cost f(p) of a group of classes with the share p of a node's rows: 1 / p, (1 - p) / p, a function, or no cost.
    threshold : {"gain", "sign"}, default="gain"
        Cut of a split: where the reweighted gain is largest, or at the sign of the SVM.
    split_groups : {"targets", "features"}, default="targets"
        The two groups that the SVM of a node separates: (groups of) classes, or 2-means clusters of the rows.
    max_split_samples : int, default=512
        Maximum number of rows that a split is learned on; larger nodes use a stratified sample.
    bootstrap : bool, default=False
        Whether trees resample their rows with replacement. Each tree leaves out two fifths of the rows in any case.
    metric_rounds : int, default=1
        Number of forests grown one after another, each in the metric of the previous one; the last is kept.
    scaling : {"columns", "global", "none"}, default="columns"
        Whether inputs are divided by the spread of each column (tables), by a common spread (PCA or HOG features), or
        not at all.
    balance : float in [0, 1], default=1.0
        0: predict for the class shares of the training rows; 1: predict as if all classes were equally common.
        Probabilities do not depend on it.
    oob_score : bool, default=False
        Whether to compute out-of-bag predictions and scores of the training rows.
    n_jobs : int or None, default=None
        Number of parallel jobs; results do not depend on it.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0
        Whether to show progress.

    Attributes
    ----------
    classes_, n_classes_ : array of shape (n_classes,) and int
    class_prior_ : array of shape (n_classes,)
        Share of each class in the training rows.
    trees_ : Trees
        The trees, with the training rows of each leaf.
    fold_ : array of shape (n,)
        Held-out fold of each training row; each tree leaves out whole folds.
    oob_score_ : float
        Accuracy out of bag, as in ``score``, with ``oob_score=True``.
    oob_balanced_accuracy_ : float
        Balanced accuracy out of bag, with ``oob_score=True``.
    oob_decision_function_ : array of shape (n, n_classes)
        Out-of-bag probabilities; only with ``oob_score=True``.
    feature_importances_ : array of shape (n_features,)
        Share of each feature in the gains of all splits.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from dsna import CostSensitiveForestClassifier
    >>> X, y = make_classification(300, weights=[0.9], class_sep=2.0, random_state=0)
    >>> forest = CostSensitiveForestClassifier(20, random_state=0).fit(X[:200], y[:200])
    >>> forest.predict(X[200:203]).tolist() == y[200:203].tolist()
    True
    """

    _parameter_constraints: dict[str, Any] = {
        **CostSensitiveForest._parameter_constraints,
        "split_groups": [StrOptions({"targets", "features"})],
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
        split_groups: str = "targets",
        max_split_samples: int = 512,
        bootstrap: bool = False,
        metric_rounds: int = 1,
        scaling: str = "columns",
        balance: float = 1.0,
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
        self.split_groups = split_groups
        self.max_split_samples = max_split_samples
        self.bootstrap = bootstrap
        self.metric_rounds = metric_rounds
        self.scaling = scaling
        self.balance = balance
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> CostSensitiveForestClassifier:
        """Grow the forest.

        Parameters
        ----------
        X : array of shape (n, n_features)
        y : array of shape (n,)
            Classes of any type.
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
        self.classes_, code = check_classes(self, y, X)
        weight = check_weights(sample_weight, X)
        groups = check_groups(groups, X)
        self.n_classes_ = len(self.classes_)
        self.class_prior_ = class_shares(code, self.n_classes_, weight)
        leaves = Leaves(np.eye(self.n_classes_), weight, code)
        self._grow(X, class_targets(code, self.n_classes_, weight), weight, groups, leaves)
        if self.oob_score:
            self.oob_decision_function_ = self._probabilities(self._out_of_bag(X))
            has_oob = ~np.isnan(self.oob_decision_function_[:, 0])
            predicted = self._class_numbers(self.oob_decision_function_[has_oob])
            self.oob_score_ = accuracy_score(code[has_oob], predicted, sample_weight=weight[has_oob])
            self.oob_balanced_accuracy_ = balanced_accuracy_score(
                code[has_oob], predicted, sample_weight=weight[has_oob]
            )
        return self

    def out_of_bag_losses(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> np.ndarray:
        """Fit the forest, and return the out-of-bag log loss of each training row.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in ``fit``.

        Returns
        -------
        array of shape (n,)
        """
        self.set_params(oob_score=True).fit(X, y, sample_weight, groups)
        code = np.searchsorted(self.classes_, y)
        proba = np.nan_to_num(self.oob_decision_function_[np.arange(len(code)), code], nan=1.0 / self.n_classes_)
        return np.asarray(-np.log(np.maximum(proba, 0.01)))

    def _probabilities(self, proba: np.ndarray) -> np.ndarray:
        """Normalise means of leaves to probabilities; if all leaves are empty, return the class shares."""
        total = proba.sum(axis=1, keepdims=True)
        return np.asarray(np.where(total == 0.0, self.class_prior_, proba / np.where(total == 0.0, 1.0, total)))

    def _class_numbers(self, proba: np.ndarray) -> np.ndarray:
        """(n,) numbers of the predicted classes."""
        return best_class(proba, balanced_gain(self.class_prior_, float(self.balance)))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict class probabilities for the class shares of the training rows, independent of ``balance``.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows to classify.

        Returns
        -------
        array of shape (n, n_classes)
            Probabilities in the order of ``classes_``.
        """
        check_is_fitted(self)
        return self._probabilities(self._mean_of_leaves(check_rows(self, X, reset=False)))

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of largest probability / share^balance.

        Parameters
        ----------
        X : array of shape (n, n_features)

        Returns
        -------
        array of shape (n,)
        """
        class_numbers = self._class_numbers(self.predict_proba(X))
        return np.asarray(self.classes_[class_numbers])
