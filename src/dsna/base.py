"""DSNA estimators: a forest's neighbourhood, approximated sparsely, carries its labels over to the query.

Module map: ``_DSNA`` holds what both kinds share (parameters, where neighbours come from, tuning, out-of-bag
answers, explanations); ``classification`` and ``regression`` make probabilities and labels of the coefficients.
"""

from __future__ import annotations

import sys
from abc import ABCMeta, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import check_random_state

from ._utils.parameters import check_parameters
from ._utils.sampling import stratified_sample
from .forest import CostSensitiveForestClassifier, CostSensitiveForestRegressor
from .forest.adapters import check_source, foreign_trees
from .forest.held_out import deal_folds, left_out_folds
from .forest.scaling import Scaling
from .forest.targets import Targets
from .neighbors.index import Fold, NeighborIndex
from .neighbors.neighborhoods import Neighborhoods
from .neighbors.solve import approximation_setting, solve
from .prediction.tuning import GRID, GROWTH_GRID, search

_OOB_ROWS = 3000
_TUNING_ROWS = 1000
_PILOT_TREES = 10
_TIE = 1e-9
_GROWTH = (
    "max_depth",
    "min_samples_leaf",
    "max_features",
    "n_draws",
    "C",
    "cost",
    "threshold",
    "split_groups",
    "svr_epsilon",
    "target_density",
    "max_split_samples",
    "bootstrap",
    "metric_rounds",
    "scaling",
    "n_jobs",
)
TUNED = ("lam", "gamma", "tau", "n_clusters", "bandwidth", "C", "max_features")


class _DSNA(BaseEstimator, metaclass=ABCMeta):
    """Parameters and machinery of both estimators; see ``DSNAClassifier`` for the parameters."""

    def __init__(
        self,
        forest: Any = "csrf",
        *,
        n_estimators: int = 100,
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
        scaling: str = "columns",
        metric: str = "forest",
        metric_rounds: int = 1,
        max_neighbors: int | None = 100,
        proximity_weights: bool = True,
        n_clusters: int = 1,
        overlap: float = 0.3,
        tau: float = 1.0,
        selection: str = "soft",
        temperature: float = 0.05,
        hull_energy: float | None = None,
        lam: float = 0.003,
        gamma: float = 0.1,
        bandwidth: float = 0.3,
        radius: Any = "median",
        sum_to_one: bool = True,
        ridge: float = 0.01,
        max_iter: int | None = None,
        tol: float = 1e-3,
        blend: Any = "auto",
        balance: float | None = None,
        decision: str = "auto",
        tune: str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.forest = forest
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
        self.scaling = scaling
        self.metric = metric
        self.metric_rounds = metric_rounds
        self.max_neighbors = max_neighbors
        self.proximity_weights = proximity_weights
        self.n_clusters = n_clusters
        self.overlap = overlap
        self.tau = tau
        self.selection = selection
        self.temperature = temperature
        self.hull_energy = hull_energy
        self.lam = lam
        self.gamma = gamma
        self.bandwidth = bandwidth
        self.radius = radius
        self.sum_to_one = sum_to_one
        self.ridge = ridge
        self.max_iter = max_iter
        self.tol = tol
        self.blend = blend
        self.balance = balance
        self.decision = decision
        self.tune = tune
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        """Refuse unknown or impossible parameter values."""
        check_parameters(self)
        check_source(self.forest, int(is_classifier(self)))

    @abstractmethod
    def _row_losses(self, alpha: np.ndarray, fold: Fold) -> np.ndarray:
        """(n,) loss of each query of a fold, given its coefficients."""

    @abstractmethod
    def _class_scale(self) -> np.ndarray:
        """(n_classes,) factor of each class when a label is read off coefficients."""

    def _learn(
        self,
        X: np.ndarray,
        y: np.ndarray,
        label: np.ndarray,
        values: np.ndarray,
        targets: Targets,
        weight: np.ndarray,
        groups: np.ndarray | None,
    ) -> None:
        """Grow or fit what finds neighbours, tune, and answer the training rows out of bag.

        Parameters
        ----------
        y : labels as a scikit-learn forest wants them.
        label, values : (n, q) labels or class numbers, (n, k) what leaves average.

        Sets ``oob_rows_`` (training rows answered, at most about 3,000, rare ones first), ``knowledge_`` and the
        chosen parameters.
        """
        for name in ("oob_score_", "oob_prediction_", "oob_decision_function_", "regions_"):
            self.__dict__.pop(name, None)
        self.n_iter_ = 1
        rng = check_random_state(self.random_state)
        source = check_source(self.forest, targets.n_classes)
        chosen = {name: getattr(self, name) for name in TUNED}
        if self.tune == "oob" and source == "csrf":
            chosen.update(self._choose_growth(X, y, weight, groups, targets, rng))
            self._say(f"chose C={chosen['C']}, max_features={chosen['max_features']}")
        seed = rng.randint(2**31 - 1)
        if source == "csrf":
            forest = self._forest(targets, self.n_estimators, seed, chosen).fit(X, y, weight, groups)
            scaling, trees, block = forest.scaling_, forest.trees_, forest.block_
        else:
            seeded = np.random.RandomState(seed)
            scaling = Scaling(X[weight > 0], self.scaling)
            block = deal_folds(targets.rank, groups, seeded, weight)
            trees = None
            if source == "forest":
                left_out = left_out_folds(self.forest.n_estimators, block, weight)
                trees = foreign_trees(
                    self.forest, scaling.transform(X), y, weight, block, left_out, self.n_jobs, seeded
                )
        self.knowledge_ = NeighborIndex(
            X,
            label,
            weight,
            block,
            scaling,
            trees,
            targets.code,
            values,
            targets.gain if targets.n_classes else np.ones(len(X)),
            self.metric == "forest",
            self.max_neighbors,
            self.n_jobs,
        )
        if source == "neighbors" and self.max_neighbors is None:
            self.knowledge_.max_neighbors = self.forest.n_neighbors
        self._say(f"neighbours of {len(X)} rows are ready")
        rows, standing = stratified_sample(self._strata(targets), _OOB_ROWS, rng)
        kept = weight[rows] > 0
        rows, standing = rows[kept], standing[kept]
        self._setting = {name: getattr(self, name) for name in self.get_params(deep=False)}
        self._setting.update(chosen)
        self._setting["max_iter"] = self._feedback()
        folds = self.knowledge_.out_of_bag(X, rows)
        if self.tune == "oob" and folds:
            self._setting.update(self._choose_approximation(X, rows, rng))
            chosen.update({name: self._setting[name] for name in chosen})
            self._say(", ".join(f"{name}={chosen[name]}" for name in GRID))
        for name in TUNED:
            setattr(self, name + "_", chosen[name])
        self._finish(folds, rows, standing * weight[rows])
        del self._setting
        self.knowledge_.forget_metric()
        self._say(f"answered {len(self.oob_rows_)} rows out of bag; score {getattr(self, 'oob_score_', np.nan):.3f}")

    def _say(self, what: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {what}", file=sys.stderr, flush=True)

    @abstractmethod
    def _finish(self, folds: list[Fold], rows: np.ndarray, weight: np.ndarray) -> None:
        """Learn the decision from the out-of-bag answers to the sampled rows."""

    def _strata(self, targets: Targets) -> np.ndarray:
        """Class, or one of 20 label ranges, of each row."""
        if targets.n_classes:
            return targets.code
        rank = targets.rank
        width = np.ptp(rank)
        return np.floor(20 * (rank - rank.min()) / (width if width > 0 else 1.0) + _TIE)

    def _forest(self, targets: Targets, n_estimators: int, seed: int, chosen: dict[str, Any]) -> Any:
        kind = CostSensitiveForestClassifier if targets.n_classes else CostSensitiveForestRegressor
        how = {name: getattr(self, name) for name in _GROWTH}
        how.update({name: chosen[name] for name in ("C", "max_features")})
        return kind(n_estimators, **how, random_state=seed, verbose=self.verbose)

    def _choose_growth(
        self,
        X: np.ndarray,
        y: np.ndarray,
        weight: np.ndarray,
        groups: np.ndarray | None,
        targets: Targets,
        rng: np.random.RandomState,
    ) -> dict[str, Any]:
        """C and max_features by the out-of-bag loss of a few trees on a bounded sample."""
        rows, _ = stratified_sample(self._strata(targets), _OOB_ROWS, rng)
        rows = rows[weight[rows] > 0]
        seed = rng.randint(2**31 - 1)
        part = None if groups is None else groups[rows]

        def losses(setting: dict[str, Any]) -> np.ndarray:
            forest = self._forest(targets, _PILOT_TREES, seed, setting).set_params(balance=0.0, oob_score=True)
            forest.fit(X[rows], y[rows], weight[rows], part)
            return forest._oob_losses(y[rows]) * targets.gain[rows] ** self._balance()

        start = {"C": self.C, "max_features": self.max_features}
        return search(start, GROWTH_GRID, losses)

    def _choose_approximation(self, X: np.ndarray, rows: np.ndarray, rng: np.random.RandomState) -> dict[str, Any]:
        """lam, gamma, bandwidth, n_clusters and tau by the out-of-bag loss of their predictions."""
        some = rows if len(rows) <= _TUNING_ROWS else np.sort(rng.choice(rows, _TUNING_ROWS, replace=False))
        folds = self.knowledge_.out_of_bag(X, some)

        def losses(setting: dict[str, Any]) -> np.ndarray:
            return np.concatenate([self._row_losses(self._solve_fold(f, setting)["alpha"], f) for f in folds])

        return search(self._setting, GRID, losses)

    def _solve_fold(self, fold: Fold, setting: dict[str, Any]) -> dict[str, np.ndarray]:
        how = approximation_setting(setting, self._n_classes())
        label = np.ascontiguousarray(self.knowledge_.label[fold.known])
        answers = solve(fold.Q, fold.Z, label, self._class_scale(), fold.near, how, self.n_jobs)
        self.n_iter_ = max(self.n_iter_, int(answers["steps"].max()))
        return answers

    def _n_classes(self) -> int:
        return 0

    @abstractmethod
    def _balance(self) -> float:
        """The balance in force."""

    def _feedback(self) -> int:
        """Steps of label feedback; by default it is on for classes, where it earns its place."""
        if self.max_iter is not None:
            return int(self.max_iter)
        return 10 if self._n_classes() else 0

    def _chosen(self) -> dict[str, Any]:
        """Parameters with the chosen values in place of the given ones."""
        setting = self.get_params(deep=False)
        setting["max_iter"] = self._feedback()
        setting.update({name: getattr(self, name + "_") for name in TUNED})
        return setting

    def _answer(self, X: np.ndarray) -> tuple[Neighborhoods, dict[str, np.ndarray]]:
        """Neighbourhoods of queries and the approximations made of these."""
        know = self.knowledge_
        know.n_jobs = self.n_jobs
        scaled, Q = know.place(X)
        near = know.neighbors(scaled, Q)
        how = approximation_setting(self._chosen(), self._n_classes())
        return near, solve(Q, know.Z, know.label, self._class_scale(), near, how, self.n_jobs)


def explained(near: Neighborhoods, answers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The fields of an ``Explanation`` that both kinds take over as they are."""
    return {
        "rows": near.rows,
        "size": near.size,
        "proximity": near.proximity,
        "coefficient": answers["alpha"],
        "member": answers["member"],
        "share": answers["share"],
        "hull_residual": answers["hull_residual"],
        "objective": answers["objective"],
        "settled": answers["labels"],
        "steps": answers["steps"],
    }
