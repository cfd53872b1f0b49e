"""What a model learns out of bag when its rows lie on shards: the ordinary estimators, with neighbours from there.

Trees are grown on a sample. Its rows, as queries, then meet the rows of all shards, by trees that left out their fold
and among rows of other folds; calibration, decision, trend and intervals are learned from these answers. So they are
learned from the neighbourhoods that new rows will have.
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
from .asking.neighbors import Found, request_outside
from .placed import AllRows, PlacedRows
from .sampling import Sample

_OOB_ROWS = 3000
_TUNING_ROWS = 1000


class _Met:
    """The rows of the sample, then those that they met on shards, each once."""

    def __init__(self, sample: Sample, found: list[Found]):
        number = np.concatenate([sample.number, *(one.rows.number for one in found)])
        first, self.at = np.unique(number, return_index=True, return_inverse=True)[1:]
        # Rows of the sample keep their numbers.
        order = np.argsort(first)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        self.at = place[self.at]
        chosen = first[order]
        label = [sample.y.astype(np.float64).reshape(len(sample.y), -1), *(one.rows.label for one in found)]
        self.label = np.concatenate(label)[chosen]
        self.X = np.concatenate([sample.X, *(one.rows.own for one in found)])[chosen]
        self.fold = np.concatenate([sample.fold, *(one.rows.fold for one in found)])[chosen]
        self.starts = np.cumsum([len(sample.y), *(len(one.rows.number) for one in found)])

    def known(self, part: int) -> np.ndarray:
        """(m,) numbers of the rows that one part of the queries met."""
        return self.at[self.starts[part] : self.starts[part + 1]]


class _Learner(DSNAEstimator):
    """An estimator whose training rows are a sample, and whose neighbours come from shards.

    ``sample`` holds the training rows, ``every`` stands for all rows. Both are set before ``fit``.
    """

    every: AllRows
    sample: Sample
    placed: PlacedRows

    def _find_neighbors(self, training: Training, forest: Any) -> OutOfBag:
        if isinstance(forest, NEIGHBORS):
            raise DSNAError("Rows on shards are found by the leaves of trees: use a forest, not nearest neighbours.")
        rng = check_random_state(self.random_state)
        weight, targets = training.weight, training.targets
        scaling = Scaling(training.X, "none", weight)
        most = self._most_neighbors(forest)
        leaves = Leaves(training.values, weight, targets.code, None if most is None else LEAF_ROWS)
        rows = TrainingRows(training.X, scaling, targets, weight, self.sample.fold, leaves)
        forest.set_params(n_jobs=self.n_jobs)
        if self.tune == "oob" and hasattr(forest, "out_of_bag_losses"):
            forest.set_params(**self._chosen_growth(forest, rows, training, rng))
        self._say("growing the forest")
        trees, leaf_value = grow(forest, rows, training.label, rng, self.verbose)
        assert trees is not None
        self._index = NeighborIndex.build(rows, training.label, (trees, leaf_value), self.metric == "forest", most)
        self._say("placing all rows")
        self.placed = self.every.place(trees, most)
        self._index.leaf_value = self.placed.forest.leaf_value
        if not isinstance(forest, FORESTS):  # trees of scikit-learn weigh their splits by a gain of their own
            self._index.trees = trees = self.placed.forest.trees
        self.forest_ = forest
        self.approximation_ = Approximation() if self.approximation is None else clone(self.approximation)
        asked, stands_for = stratified_sample(training.strata, _OOB_ROWS, rng)
        self._say("out-of-bag rows among all rows")
        parts = list(self._requests(trees, rows, asked))
        found = [self.placed.found(request) for _, request in parts]
        met = _Met(self.sample, found)
        self._take_rows(met, rows, training)
        folds = [
            Fold(some, request.Q, one.rows.Z, met.known(k), one.near)
            for k, ((some, request), one) in enumerate(zip(parts, found, strict=True))
        ]
        if self.tune == "oob":
            few = rng.permutation(len(asked))[:_TUNING_ROWS]
            self._choose_approximation([_some_of(fold, asked[few]) for fold in folds])
        answers = [self._answered(fold) for fold in folds]
        answered = np.concatenate([f.rows for f in answers]) if answers else np.empty(0, dtype=np.int64)
        standing = (stands_for * weight[asked])[np.searchsorted(asked, answered)]
        self.restored()
        return OutOfBag(answers, answered, standing)

    def _requests(self, trees: Trees, rows: TrainingRows, asked: np.ndarray) -> Any:
        """Rows of the sample of each fold, and their request to what left out the fold."""
        for fold in range(N_FOLDS):
            some = asked[rows.fold[asked] == fold]
            chosen = trees.left_out[:, fold]
            if not len(some) or not chosen.any():
                continue
            space = metric_map(trees, chosen, rows.X.shape[1]) if self.metric == "forest" else None
            Q = rows.X[some] if space is None else rowwise_product(rows.X[some], space)
            yield some, request_outside(self.placed.forest, rows.X[some], Q, fold, space)

    @abstractmethod
    def _take_rows(self, met: _Met, rows: TrainingRows, training: Training) -> None:
        """Keep what the rest of ``fit`` needs of the rows that were met, and settle the index."""


def _some_of(fold: Fold, asked: np.ndarray) -> Fold:
    """A fold with some of its queries."""
    some = np.flatnonzero(np.isin(fold.rows, asked))
    return fold._replace(rows=fold.rows[some], Q=fold.Q[some], near=fold.near.subset(some))


class ClassifierLearner(_Learner, DSNAClassifier):
    """A DSNAClassifier whose neighbours come from shards while it learns."""

    def _take_rows(self, met: _Met, rows: TrainingRows, training: Training) -> None:
        self.met = met
        self._index.finish(rows, np.ones(len(rows.weight), dtype=bool))

    def _mass(self, alpha: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return class_mass(alpha, rows, self.met.label[:, 0].astype(np.int64), len(self.classes_))

    def _solve_fold(self, fold: Fold, approximation: Approximation) -> dict[str, np.ndarray]:
        label = np.ascontiguousarray(self.met.label[fold.neighbor_rows])
        how = approximation.kernel_settings(self._n_classes())
        return solve(fold.Q, fold.Z, label, self._class_scale(), fold.near, how, self.n_jobs)


class RegressorLearner(_Learner, DSNARegressor):
    """A DSNARegressor whose neighbours come from shards while it learns.

    Rows that the sample met are training rows of weight zero: the trend is cross-fitted at them, too, and nothing is
    learned from them otherwise.
    """

    wide: Training
    relevant: RelevantDensity

    def _first_density(self, target: np.ndarray, weight: np.ndarray) -> TargetDensity:
        targets = self.every.targets
        assert targets is not None
        return targets.density(self.target_density, self.sample, self.every.totals)

    def _density_outside(self, fold: int, target: np.ndarray, weight: np.ndarray) -> TargetDensity:
        targets = self.placed.targets
        assert targets is not None
        if self._density.kind == "callable":
            return self._density
        return targets.density(self._density.kind, self.sample, self.every.totals, fold)

    def _take_rows(self, met: _Met, rows: TrainingRows, training: Training) -> None:
        index, more = self._index, len(met.X) - len(training.X)
        weight = np.concatenate([training.weight, np.zeros(more)])
        kept = weight > 0
        relevant = self._relevant(self._density, met.label[kept], weight[kept])
        groups = None if training.groups is None else np.concatenate([training.groups, np.zeros(more, dtype=np.int64)])
        targets = regression_targets(met.label, weight, relevant)
        self.wide = Training(met.X, met.label, targets.values_by_code(met.label), targets, weight, groups)
        self.relevant, self._rarity = relevant, relevant.rarity(met.label)
        index.label, index.weight, index.fold, index.rarity = met.label, weight, met.fold, np.ones(len(weight))
        placed = rows._replace(X=met.X, targets=targets, weight=weight, fold=met.fold)
        index.finish(placed, np.ones(len(weight), dtype=bool))

    def _learn_decision(self, asked: OutOfBag, training: Training) -> None:
        super()._learn_decision(asked, self.wide)

    def _trend_rows(self, training: Training) -> TrendRows:
        rows = super()._trend_rows(training)
        weight = rows.weight * np.mean(training.weight > 0)
        return rows._replace(weight=weight, sums_of_all_rows=partial(self.every.trend_sums, density=self.relevant))


def learned(template: Any, sample: Sample, every: AllRows) -> tuple[Any, PlacedRows]:
    """An ordinary estimator, fitted to a sample and to all rows, and these where they were placed.

    Parameters
    ----------
    template : DSNAClassifier or DSNARegressor, whose parameters are used.
    """
    classes = every.totals.classes
    params = {**template.get_params(deep=False), "scaling": "none"}
    learner: Any = (RegressorLearner if classes is None else ClassifierLearner)(**params)
    learner.sample, learner.every = sample, every
    groups = sample.group.view(np.int64) if len(np.unique(sample.group)) < len(sample.group) else None
    y = classes[sample.y] if classes is not None else sample.y[:, 0] if sample.y.shape[1] == 1 else sample.y
    learner.fit(sample.X, y, sample_weight=sample.weight, groups=groups)
    model = type(template)(**params)
    state = {name: value for name, value in vars(learner).items() if name not in _LEARNING}
    vars(model).update(state)
    return model, learner.placed


_LEARNING = ("sample", "every", "placed", "met", "wide", "relevant")
