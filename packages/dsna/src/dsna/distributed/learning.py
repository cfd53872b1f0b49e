"""Learning of a distributed model: the estimators of tables in memory, with out-of-bag neighbours from shards.

Trees are grown on a sample. The rows of the sample are then queries to all shards, answered by the trees and rows that
leave out their fold. Calibration, decision, trend and intervals are learned from these answers, so they are learned
from neighbourhoods like those of new rows.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._utils.errors import DSNAError
from .._utils.sampling import stratified_sample
from .._utils.sums import rowwise_product
from ..approximation import Approximation
from ..base import DSNAEstimator
from ..classifier import DSNAClassifier
from ..forest.adapters import FORESTS, NEIGHBORS, grow
from ..forest.build import TrainingRows
from ..forest.density import TargetDensity
from ..forest.held_out import N_FOLDS
from ..forest.learned_metric import metric_map
from ..forest.scaling import Scaling
from ..forest.targets import regression_targets
from ..forest.trees import Leaves, Trees
from ..metrics.relevance import RelevantDensity
from ..neighbors.index import LEAF_ROWS, Fold, NeighborIndex
from ..neighbors.solve import solve
from ..prediction.calibration import class_mass
from ..regressor import DSNARegressor
from ..training import OutOfBag, Training
from ..trend.trend import TrendRows
from .asking.neighbors import MergedNeighbors, request_for_fold
from .placed import AllRows, PlacedRows
from .sampling import Sample

_OOB_ROWS = 3000
_TUNING_ROWS = 1000


class _PooledRows:
    """The rows of the sample, followed by their neighbours on shards, each row once."""

    def __init__(self, sample: Sample, neighbors: list[MergedNeighbors]):
        neighbor_rows = [batch_neighbors.rows for batch_neighbors in neighbors]
        number = np.concatenate([sample.number, *(rows.number for rows in neighbor_rows)])
        first, unique_code = np.unique(number, return_index=True, return_inverse=True)[1:]
        order = np.argsort(first)  # of first occurrence: rows of the sample keep their positions
        position = np.empty(len(order), dtype=np.int64)
        position[order] = np.arange(len(order))
        self._positions = position[unique_code]
        selected = first[order]
        label = [sample.y.astype(np.float64).reshape(len(sample.y), -1), *(rows.label for rows in neighbor_rows)]
        self.label = np.concatenate(label)[selected]
        self.X = np.concatenate([sample.X, *(rows.own for rows in neighbor_rows)])[selected]
        self.fold = np.concatenate([sample.fold, *(rows.fold for rows in neighbor_rows)])[selected]
        self._starts = np.cumsum([len(sample.y), *(len(rows.number) for rows in neighbor_rows)])

    def positions(self, batch: int) -> np.ndarray:
        """(m,) positions of the neighbours of one batch of queries."""
        return self._positions[self._starts[batch] : self._starts[batch + 1]]


class _Learner(DSNAEstimator):
    """An estimator with a sample as training rows, and with neighbours from shards.

    ``sample`` and ``all_rows`` must be set before ``fit``.
    """

    all_rows: AllRows
    sample: Sample
    placed: PlacedRows

    def _find_neighbors(self, training: Training, forest: Any) -> OutOfBag:
        if isinstance(forest, NEIGHBORS):
            raise DSNAError("Rows on shards are found by the leaves of trees: use a forest, not nearest neighbours.")
        rng = check_random_state(self.random_state)
        weight, targets = training.weight, training.targets
        scaling = Scaling(training.X, "none", weight)
        max_neighbors = self._most_neighbors(forest)
        leaves = Leaves(training.values, weight, targets.code, None if max_neighbors is None else LEAF_ROWS)
        rows = TrainingRows(training.X, scaling, targets, weight, self.sample.fold, leaves)
        forest.set_params(n_jobs=self.n_jobs)
        if self.tune == "oob" and hasattr(forest, "out_of_bag_losses"):
            forest.set_params(**self._chosen_growth(forest, rows, training, rng))
        self._say("growing the forest")
        trees, leaf_value = grow(forest, rows, training.label, rng, self.verbose)
        assert trees is not None
        self._index = NeighborIndex.build(
            rows, training.label, (trees, leaf_value), self.metric == "forest", max_neighbors
        )
        self._say("placing all rows")
        self.placed = self.all_rows.place(trees, max_neighbors)
        self._index.leaf_value = self.placed.forest.leaf_value
        if not isinstance(forest, FORESTS):  # trees of scikit-learn weight their splits by their own gain
            self._index.trees = trees = self.placed.forest.trees
        self.forest_ = forest
        self.approximation_ = Approximation() if self.approximation is None else clone(self.approximation)
        queries, rows_represented = stratified_sample(training.strata, _OOB_ROWS, rng)
        self._say("out-of-bag rows among all rows")
        requests = list(self._requests(trees, rows, queries))
        neighbors = [self.placed.neighbors(request) for _, request in requests]
        pool = _PooledRows(self.sample, neighbors)
        self._use_pool(pool, rows, training)
        folds = [
            Fold(fold_rows, request.Q, batch_neighbors.rows.Z, pool.positions(k), batch_neighbors.neighborhoods)
            for k, ((fold_rows, request), batch_neighbors) in enumerate(zip(requests, neighbors, strict=True))
        ]
        if self.tune == "oob":
            tuning_queries = rng.permutation(len(queries))[:_TUNING_ROWS]
            self._choose_approximation([_fold_subset(fold, queries[tuning_queries]) for fold in folds])
        answers = [self._answered(fold) for fold in folds]
        answered_rows = np.concatenate([answer.rows for answer in answers]) if answers else np.empty(0, dtype=np.int64)
        answer_weight = (rows_represented * weight[queries])[np.searchsorted(queries, answered_rows)]
        self.restored()
        return OutOfBag(answers, answered_rows, answer_weight)

    def _requests(self, trees: Trees, rows: TrainingRows, queries: np.ndarray) -> Any:
        """Yield the queries of each fold, with their request to the trees and rows that leave it out."""
        for fold in range(N_FOLDS):
            fold_rows = queries[rows.fold[queries] == fold]
            used_trees = trees.left_out[:, fold]
            if not len(fold_rows) or not used_trees.any():
                continue
            space = metric_map(trees, used_trees, rows.X.shape[1]) if self.metric == "forest" else None
            X = rows.X[fold_rows]
            Q = X if space is None else rowwise_product(X, space)
            yield fold_rows, request_for_fold(self.placed.forest, X, Q, fold, space)

    @abstractmethod
    def _use_pool(self, pool: _PooledRows, rows: TrainingRows, training: Training) -> None:
        """Store the pooled rows that the rest of ``fit`` needs, and complete the index."""


def _fold_subset(fold: Fold, rows: np.ndarray) -> Fold:
    """Return a fold with only these rows as queries."""
    queries = np.flatnonzero(np.isin(fold.rows, rows))
    return fold._replace(rows=fold.rows[queries], Q=fold.Q[queries], near=fold.near.subset(queries))


class ClassifierLearner(_Learner, DSNAClassifier):
    """A DSNAClassifier that learns from neighbours on shards."""

    pool: _PooledRows

    def _use_pool(self, pool: _PooledRows, rows: TrainingRows, training: Training) -> None:
        self.pool = pool
        self._index.finish(rows, np.ones(len(rows.weight), dtype=bool))

    def _mass(self, alpha: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return class_mass(alpha, rows, self.pool.label[:, 0].astype(np.int64), len(self.classes_))

    def _solve_fold(self, fold: Fold, approximation: Approximation) -> dict[str, np.ndarray]:
        label = np.ascontiguousarray(self.pool.label[fold.neighbor_rows])
        settings = approximation.kernel_settings(self._n_classes())
        return solve(fold.Q, fold.Z, label, self._class_scale(), fold.near, settings, self.n_jobs)


class RegressorLearner(_Learner, DSNARegressor):
    """A DSNARegressor that learns from neighbours on shards.

    The neighbours of the sample are training rows of weight zero: the trend is cross-fitted at them, and nothing else
    is learned from them.
    """

    pooled_training: Training
    relevant_density: RelevantDensity

    def _first_density(self, target: np.ndarray, weight: np.ndarray) -> TargetDensity:
        targets = self.all_rows.targets
        assert targets is not None
        return targets.density(self.target_density, self.sample, self.all_rows.totals)

    def _density_outside(self, fold: int, target: np.ndarray, weight: np.ndarray) -> TargetDensity:
        targets = self.placed.targets
        assert targets is not None
        if self._density.kind == "callable":
            return self._density
        return targets.density(self._density.kind, self.sample, self.all_rows.totals, fold)

    def _use_pool(self, pool: _PooledRows, rows: TrainingRows, training: Training) -> None:
        n_neighbors = len(pool.X) - len(training.X)
        weight = np.concatenate([training.weight, np.zeros(n_neighbors)])
        has_weight = weight > 0
        density = self._relevant(self._density, pool.label[has_weight], weight[has_weight])
        groups = training.groups
        if groups is not None:
            groups = np.concatenate([groups, np.zeros(n_neighbors, dtype=np.int64)])
        targets = regression_targets(pool.label, weight, density)
        values = targets.values_by_code(pool.label)
        self.pooled_training = Training(pool.X, pool.label, values, targets, weight, groups)
        self.relevant_density, self._rarity = density, density.rarity(pool.label)
        index = self._index
        index.label, index.weight, index.fold, index.rarity = pool.label, weight, pool.fold, np.ones(len(weight))
        pooled_rows = rows._replace(X=pool.X, targets=targets, weight=weight, fold=pool.fold)
        index.finish(pooled_rows, np.ones(len(weight), dtype=bool))

    def _learn_decision(self, out_of_bag: OutOfBag, training: Training) -> None:
        super()._learn_decision(out_of_bag, self.pooled_training)

    def _trend_rows(self, training: Training) -> TrendRows:
        rows = super()._trend_rows(training)
        weight = rows.weight * np.mean(training.weight > 0)
        sums_of_all = partial(self.all_rows.trend_sums, density=self.relevant_density)
        return rows._replace(weight=weight, sums_of_all_rows=sums_of_all)


def fit_on_all_rows(template: Any, sample: Sample, all_rows: AllRows) -> tuple[Any, PlacedRows]:
    """Fit an estimator to a sample and to all rows; return it with the rows on shards.

    Parameters
    ----------
    template : DSNAClassifier or DSNARegressor with the parameters to use.
    """
    classes = all_rows.totals.classes
    params = {**template.get_params(deep=False), "scaling": "none"}
    learner: Any = (RegressorLearner if classes is None else ClassifierLearner)(**params)
    learner.sample, learner.all_rows = sample, all_rows
    groups = sample.group.view(np.int64) if len(np.unique(sample.group)) < len(sample.group) else None
    y = classes[sample.y] if classes is not None else sample.y[:, 0] if sample.y.shape[1] == 1 else sample.y
    learner.fit(sample.X, y, sample_weight=sample.weight, groups=groups)
    model = type(template)(**params)
    state = {name: value for name, value in vars(learner).items() if name not in _LEARNING}
    vars(model).update(state)
    return model, learner.placed


#: Attributes of a learner that the fitted estimator does not have.
_LEARNING = ("sample", "all_rows", "placed", "pool", "pooled_training", "relevant_density")
