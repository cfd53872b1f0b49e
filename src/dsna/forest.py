"""CS-RF: cost-sensitive random forests whose nodes learn linear splits (eq. 8 to 10).

Module map: ``grow_forest`` turns scaled rows and targets into ``Trees``; ``CostSensitiveForestClassifier`` and
``CostSensitiveForestRegressor`` validate, call it, and average what the leaves hold.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, balanced_accuracy_score, r2_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .blocks import PAIRS, deal_blocks, omitted_blocks
from .costs import class_shares, cost_code
from .metric import metric_map, split_scatter
from .scaling import Scaling
from .targets import Targets, class_targets, label_targets
from .trees import Trees, chunks, grow_trees, in_input_units
from .validation import check_classes, check_groups, check_labels, check_rows, check_weights

_SEEDS = np.iinfo(np.int32).max


def draw_sizes(max_features: Any, n_draws: int, n_features: int) -> np.ndarray:
    """Number of features of each random subset that a node tries."""
    root = max(1, int(np.ceil(np.sqrt(n_features))))
    if isinstance(max_features, str):
        if max_features == "auto":
            # Small subsets suit tables with few telling columns, all features suit dense vectors: the gain decides.
            sizes = [root] * n_draws
            sizes[-1] = min(n_features, 100)
            return np.array(sizes, dtype=np.int64)
        if max_features != "sqrt":
            raise ValueError(f"max_features={max_features!r} is unknown: use 'auto', 'sqrt', a number or None.")
        size = root
    elif max_features is None:
        size = n_features
    elif isinstance(max_features, Integral) and not isinstance(max_features, bool) and max_features >= 1:
        size = min(int(max_features), n_features)
    elif isinstance(max_features, Real) and 0.0 < max_features <= 1.0:
        size = max(1, round(float(max_features) * n_features))
    else:
        raise ValueError(f"max_features={max_features!r} must be 'auto', 'sqrt', None, a whole number or a share.")
    return np.full(1 if size == n_features else n_draws, size, dtype=np.int64)


def grow_forest(
    X: np.ndarray,
    targets: Targets,
    weight: np.ndarray,
    block: np.ndarray,
    omits: np.ndarray,
    setting: Any,
    rng: np.random.RandomState,
) -> Trees:
    """Grow the trees of a forest on scaled rows.

    Parameters
    ----------
    X, targets, weight, block : rows on a common scale, their labels, sample weights and blocks.
    omits : (n_estimators, N_BLOCKS) blocks that each tree leaves out.
    setting : an estimator of this module, whose parameters say how.
    """
    cost, cost_table = cost_code(setting.cost)
    growth = (
        targets.n_classes,
        int(targets.code.max()) + 1,
        int(setting.max_depth) if setting.max_depth is not None else 10_000,
        int(setting.min_samples_leaf),
        int(setting.max_split_samples),
        int(setting.split_groups == "features"),
        int(setting.threshold == "gain"),
        0,
        cost,
        targets.density,
        float(setting.C),
        float(setting.svr_epsilon),
    )
    order = np.lexsort((rng.rand(len(X)), targets.rank))
    order = order[weight[order] > 0]
    jobs = []
    for omit in omits:
        rows = order[~omit[block[order]]]
        counts = np.empty(0)
        if setting.bootstrap:
            counts = np.bincount(rng.choice(rows, len(rows)), minlength=len(X)).astype(np.float64)
            rows = rows[counts[rows] > 0]
        jobs.append((rows, counts, int(rng.randint(_SEEDS))))

    def grow(space: np.ndarray, some: np.ndarray, common_scale: bool) -> list[tuple]:
        table = (space, targets.label, targets.code, targets.share, weight, targets.gain, cost_table)
        sizes = draw_sizes(setting.max_features, setting.n_draws, space.shape[1])
        how = (*growth[:7], int(common_scale), *growth[8:])
        return grow_trees(table, how, sizes, [jobs[t] for t in some], setting.n_jobs, setting.verbose)

    everyone = np.arange(len(omits))
    trees = Trees.join(grow(X, everyone, False), omits)
    for _ in range(1, setting.metric_rounds):
        # A second forest grows in the metric of the first.  Trees that omit the same blocks share a metric made
        # by trees that omit them too, or out-of-bag rows would have had a say in it.
        grown: list[tuple] = [()] * len(omits)
        for pair in range(min(len(PAIRS), len(omits))):
            some = everyone[pair :: len(PAIRS)]
            space = metric_map(split_scatter(trees, np.isin(everyone, some), X.shape[1]))
            for t, tree in zip(some, grow(np.ascontiguousarray(X @ space), some, True), strict=True):
                grown[t] = in_input_units(tree, space)
        trees = Trees.join(grown, omits)
    return trees


class _CostSensitiveForest(BaseEstimator):
    """What the two forests share: parameters, growing, leaves."""

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_depth: int | None = 20,
        min_samples_leaf: int = 2,
        max_features: Any = "auto",
        n_draws: int = 10,
        C: float = 10.0,
        cost: Any = "paper",
        threshold: str = "gain",
        split_groups: str = "targets",
        svr_epsilon: float = 0.1,
        label_density: Any = "auto",
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
        self.label_density = label_density
        self.max_split_samples = max_split_samples
        self.bootstrap = bootstrap
        self.metric_rounds = metric_rounds
        self.scaling = scaling
        self.balance = balance
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _grow(self, X: np.ndarray, targets: Targets, weight: np.ndarray, groups: np.ndarray | None) -> None:
        rng = check_random_state(self.random_state)
        self.scaling_ = Scaling(X[weight > 0], self.scaling)
        rank = targets.rank if targets.n_classes else np.argsort(np.argsort(targets.rank, kind="stable"))
        self.block_ = deal_blocks(rank, groups, rng)
        omits = omitted_blocks(self.n_estimators, self.block_)
        scaled = self.scaling_.transform(X)
        self.trees_ = grow_forest(scaled, targets, weight, self.block_, omits, self, rng)

    def apply(self, X):
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
    def feature_importances_(self):
        """Share of each feature in the gains of all splits; sums to one."""
        check_is_fitted(self)
        total = self.trees_.importance.sum()
        return self.trees_.importance / total if total > 0 else np.zeros_like(self.trees_.importance)

    def _mean_of_leaves(self, X: np.ndarray) -> np.ndarray:
        """(n, k) mean over trees of what the leaves hold."""
        scaled = self.scaling_.transform(X)
        parts = [self.leaf_value_[self.trees_.apply(scaled[p], self.n_jobs)].mean(axis=1) for p in chunks(len(X), 8192)]
        return np.concatenate(parts)

    def _out_of_bag(self, X: np.ndarray) -> np.ndarray:
        """(n, k) mean over the trees that omit each training row; NaN where there is none."""
        scaled = self.scaling_.transform(X)
        out = np.full((len(X), self.leaf_value_.shape[1]), np.nan)
        for part in chunks(len(X), 8192):
            leaves = self.trees_.apply(scaled[part], self.n_jobs)
            used = self.trees_.omits.T[self.block_[part]]
            total = np.einsum("ntk,nt->nk", self.leaf_value_[leaves], used.astype(np.float64))
            with np.errstate(invalid="ignore"):
                out[part] = total / used.sum(axis=1, keepdims=True)
        return out


class CostSensitiveForestClassifier(ClassifierMixin, _CostSensitiveForest):
    """x"""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> CostSensitiveForestClassifier:
        """Grow the forest."""
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
                code[seen], self.oob_decision_function_[seen].argmax(axis=1), sample_weight=weight[seen]
            )
        return self

    def _balanced(self, proba: np.ndarray) -> np.ndarray:
        balance = 1.0 if self.balance is None else self.balance
        scaled = proba / np.maximum(self.class_prior_, 1e-300) ** balance
        return scaled / scaled.sum(axis=1, keepdims=True)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities."""
        check_is_fitted(self)
        return self._balanced(self._mean_of_leaves(check_rows(self, X, reset=False)))

    def predict(self, X: Any) -> np.ndarray:
        """Most probable class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class CostSensitiveForestRegressor(RegressorMixin, _CostSensitiveForest):
    """x"""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> CostSensitiveForestRegressor:
        """Grow the forest."""
        X = check_rows(self, X, reset=True)
        y = check_labels(y, X)
        weight = check_weights(sample_weight, X)
        groups = check_groups(groups, X)
        self.n_outputs_ = 1 if y.ndim == 1 else y.shape[1]
        targets = label_targets(y, weight, self.label_density)
        self._grow(X, targets, weight, groups)
        balance = 0.0 if self.balance is None else self.balance
        self.leaf_value_ = self.trees_.leaf_means(y.reshape(len(y), -1), weight * targets.share**-balance)
        if self.oob_score:
            self.oob_prediction_ = self._shaped(self._out_of_bag(X))
            seen = ~np.isnan(self.oob_prediction_.reshape(len(X), -1)[:, 0])
            self.oob_score_ = r2_score(y[seen], self.oob_prediction_[seen], sample_weight=weight[seen])
        return self

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] if self.n_outputs_ == 1 else values

    def predict(self, X: Any) -> np.ndarray:
        """Mean over trees of the leaves' labels."""
        check_is_fitted(self)
        return self._shaped(self._mean_of_leaves(check_rows(self, X, reset=False)))
