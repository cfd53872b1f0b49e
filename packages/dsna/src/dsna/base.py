"""Base class of the DSNA estimators: parameters, neighbours, out-of-bag predictions, tuning.

Map of the module: ``fit`` of ``DSNAClassifier`` and ``DSNARegressor`` checks its input and makes ``Training`` of it.
``_find_neighbors`` grows the forest, builds the index and, with ``tune="oob"``, chooses settings
(``_chosen_growth``, ``_choose_approximation``). The estimators then learn their decision from out-of-bag rows
(``_learn_decision``). ``_answer`` takes a query from the index to its coefficients.
"""

from __future__ import annotations

import sys
from abc import ABCMeta, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from ._utils.errors import DSNAError
from ._utils.parameters import JOBS, SHARE, CheckedEstimator, at_least, check_nested, check_own
from ._utils.progress import tracked
from ._utils.sampling import stratified_sample
from ._utils.validation import check_rows
from .approximation import Approximation
from .forest import CostSensitiveForestClassifier, CostSensitiveForestRegressor
from .forest.adapters import check_forest, grow
from .forest.build import TrainingRows
from .forest.held_out import N_FOLDS
from .forest.scaling import Scaling
from .forest.trees import Leaves
from .inspection.columns import TrainingColumns
from .inspection.explanation import Explanation
from .neighbors.condense import weighed_rows
from .neighbors.index import LEAF_ROWS, Fold, NeighborIndex
from .neighbors.neighborhoods import Neighborhoods
from .neighbors.solve import solve
from .prediction.tuning import APPROXIMATION_GRID, FOREST_GRID, search
from .training import AnsweredFold, OutOfBag, Training

_OOB_ROWS = 3000
_TUNING_ROWS = 1000
_PILOT_TREES = 10
_ROUNDING = 1e-6
#: Parameters that a fitted model cannot follow: another value needs another fit.
_FITTED = (
    "forest", "approximation", "metric", "max_neighbors", "blend", "scaling", "balance", "relevance", "decision",
    "criterion", "trend", "tune",
)  # fmt: skip


class DSNAEstimator(CheckedEstimator, metaclass=ABCMeta):
    """Base class of ``DSNAClassifier`` and ``DSNARegressor``."""

    _parameter_constraints: dict[str, Any] = {
        "forest": "no_validation",
        "approximation": [Approximation, None],
        "metric": [StrOptions({"forest", "euclidean"})],
        "max_neighbors": [at_least(1), None],
        "blend": [SHARE, StrOptions({"auto"})],
        "scaling": [StrOptions({"columns", "global", "none"})],
        "tune": [StrOptions({"oob"}), None],
        "n_jobs": JOBS,
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __new__(cls, *args: Any, **params: Any) -> Any:
        """Refuse parameters of other estimators by a sentence that names the remedy; Python calls them unexpected."""
        made = super().__new__(cls)
        made._check_own(params)
        return made

    forest: Any
    approximation: Approximation | None
    metric: str
    max_neighbors: int | None
    blend: float | str
    scaling: str
    decision: str
    tune: str | None
    n_jobs: int | None
    random_state: Any
    verbose: int

    def set_params(self, **params: Any) -> Any:
        """Set parameters of this estimator, its forest and its approximation.

        Parameters
        ----------
        **params : dict
            ``balance=...``, ``forest__C=...``, ``approximation__lam=...`` and so on; the nested names need an object
            that has them.

        Returns
        -------
        self
        """
        self._check_own(params)
        made = {"forest": f"{self._forest_class().__name__}()", "approximation": "Approximation()"}
        check_nested(self, params, made)
        return super().set_params(**params)

    def _check_own(self, params: dict[str, Any]) -> None:
        check_own(self, params, {"forest": self._forest_class(), "approximation": Approximation})

    @property
    def partial_fit(self) -> Any:
        """Not available, so that ``hasattr`` is False; the error names ``add_samples``."""
        raise AttributeError(
            f"{type(self).__name__} has no partial_fit: call fit once, then add_samples(X, y) for new rows."
        )

    def default_forest(self) -> Any:
        """A fresh forest, the one that ``forest=None`` stands for.

        Examples
        --------
        >>> from dsna import DSNAClassifier
        >>> DSNAClassifier().default_forest()
        CostSensitiveForestClassifier()
        """
        return self._forest_class()()

    def predict_forest(self, X: Any) -> np.ndarray:
        """What the forest says on its own: the mean over trees of what the leaves reached hold.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows with the columns of the training rows.

        Returns
        -------
        array of shape (n,) or (n, n_outputs), or (n, n_classes)
            Targets, or shares of the classes.
        """
        check_is_fitted(self)
        scaled, Q = self._index.scale_and_map(check_rows(self, X, reset=False))
        vote = self._index.neighbors(scaled, Q, n_jobs=self.n_jobs).vote
        return vote[:, 0] if vote.shape[1] == 1 else vote

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the gains of all splits; sums to one."""
        trees = self._index.trees
        if trees is None:
            raise AttributeError("A model on nearest neighbours has no splits and so no feature importances.")
        return trees.feature_importances

    @abstractmethod
    def _forest_class(self) -> type:
        """The cost-sensitive forest for this task."""

    @abstractmethod
    def _n_classes(self) -> int:
        """Number of classes, 0 in regression."""

    @abstractmethod
    def _class_scale(self) -> np.ndarray:
        """(n_classes,) factor of each class where coefficients are summed by class."""

    @abstractmethod
    def _row_losses(self, alpha: np.ndarray, fold: Fold) -> np.ndarray:
        """(n,) loss of each query of a fold, given its coefficients, weighted according to ``balance``."""

    def check_parameters(self) -> Any:
        """Check all parameters; returns a copy of the forest that is to be grown."""
        self._validate_params()
        forest = self.default_forest() if self.forest is None else self.forest
        check_forest(forest, self)
        if self.approximation is not None:
            self.approximation.check()
        return clone(forest)

    def _find_neighbors(self, training: Training, forest: Any) -> OutOfBag:
        """Grow the forest, index the rows, tune, and find out-of-bag neighbours of a sample of the rows.

        Sets ``forest_``, ``approximation_`` and the index.
        """
        rng = check_random_state(self.random_state)
        weight, targets = training.weight, training.targets
        scaling = Scaling(training.X, self.scaling, weight)
        most = self._most_neighbors(forest)
        leaves = Leaves(training.values, weight, targets.code, None if most is None else LEAF_ROWS)
        fold = training.folds(rng)
        rows = TrainingRows(training.X, scaling, targets, weight, fold, leaves)
        forest.set_params(n_jobs=self.n_jobs)
        if self.tune == "oob" and isinstance(forest, CostSensitiveForestClassifier | CostSensitiveForestRegressor):
            forest.set_params(**self._chosen_growth(forest, rows, training, rng))
        self._say("growing the forest")
        grown = grow(forest, rows, training.label, rng, self.verbose)
        self._index = NeighborIndex.build(rows, training.label, grown, self.metric == "forest", most)
        self.forest_ = forest
        self.approximation_ = Approximation() if self.approximation is None else clone(self.approximation)
        asked, stands_for = stratified_sample(training.strata, _OOB_ROWS, rng)
        asked, stands_for = asked[weight[asked] > 0], stands_for[weight[asked] > 0]
        if self.tune == "oob":
            some = asked if len(asked) <= _TUNING_ROWS else np.sort(rng.choice(asked, _TUNING_ROWS, replace=False))
            self._choose_approximation(list(self._index.out_of_bag(rows, some, self.n_jobs)))
        # One fold at a time: each has all rows in a metric of its own.
        unanswered = self._index.out_of_bag(rows, asked, self.n_jobs)
        shown = tracked(unanswered, N_FOLDS, "folds out of bag" * bool(self.verbose))
        folds = [self._answered(fold) for fold in shown]
        met = weighed_rows([f.near.rows for f in folds], [f.alpha for f in folds], targets.gain)
        self._index.finish(rows, met, asked)
        answered = np.concatenate([f.rows for f in folds]) if folds else np.empty(0, dtype=np.int64)
        standing = (stands_for * weight[asked])[np.searchsorted(asked, answered)]
        self.restored()
        return OutOfBag(folds, answered, standing)

    def _most_neighbors(self, forest: Any) -> int | None:
        """Bound of a neighbourhood; nearest neighbours have one of their own."""
        bounds = [bound for bound in (self.max_neighbors, getattr(forest, "n_neighbors", None)) if bound is not None]
        return min(bounds, default=None)

    def _chosen_growth(
        self, forest: Any, rows: TrainingRows, training: Training, rng: np.random.RandomState
    ) -> dict[str, Any]:
        """C and max_features by the out-of-bag loss of a few trees on a bounded sample."""
        some, _ = stratified_sample(training.strata, _OOB_ROWS, rng)
        some = some[rows.weight[some] > 0]
        y = training.label[some] if not rows.targets.n_classes else rows.targets.code[some]
        y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
        groups = None if training.groups is None else training.groups[some]
        seed = rng.randint(2**31 - 1)

        def losses(setting: dict[str, Any]) -> np.ndarray:
            pilot = clone(forest).set_params(**setting, n_estimators=_PILOT_TREES, scaling="none", random_state=seed)
            found = pilot.out_of_bag_losses(rows.scaled(some), y, rows.weight[some], groups)
            return np.asarray(found * rows.targets.gain[some] ** self._initial_balance())

        chosen = search({"C": forest.C, "max_features": forest.max_features}, FOREST_GRID, losses)
        self._say(f"chose C={chosen['C']}, max_features={chosen['max_features']}")
        return chosen

    @abstractmethod
    def _initial_balance(self) -> float:
        """The balance under which settings are tuned."""

    def _choose_approximation(self, folds: list[Fold]) -> None:
        """lam, gamma, bandwidth, n_clusters and tau by the out-of-bag loss of their predictions."""
        if not folds:
            return
        given = self.approximation_

        def losses(setting: dict[str, Any]) -> np.ndarray:
            candidate = clone(given).set_params(**setting)
            return np.concatenate([self._row_losses(self._solve_fold(f, candidate)["alpha"], f) for f in folds])

        start = {name: getattr(given, name) for name in APPROXIMATION_GRID}
        chosen = search({**start, "max_iter": given.feedback_steps(self._n_classes())}, APPROXIMATION_GRID, losses)
        self.approximation_ = clone(given).set_params(**{name: chosen[name] for name in APPROXIMATION_GRID})
        self._say(", ".join(f"{name}={chosen[name]}" for name in APPROXIMATION_GRID))

    def _answered(self, fold: Fold) -> AnsweredFold:
        near = fold.near.with_rows(fold.neighbor_rows[fold.near.rows])
        return AnsweredFold(fold.rows, near, self._solve_fold(fold, self.approximation_)["alpha"])

    def _solve_fold(self, fold: Fold, approximation: Approximation) -> dict[str, np.ndarray]:
        label = np.ascontiguousarray(self._index.label[fold.neighbor_rows])
        how = approximation.kernel_settings(self._n_classes())
        return solve(fold.Q, fold.Z, label, self._class_scale(), fold.near, how, self.n_jobs)

    def _answer(self, X: np.ndarray) -> tuple[Neighborhoods, dict[str, np.ndarray]]:
        """Neighbourhoods of queries and their approximations; changes nothing."""
        Q, near = self._neighbors(X)
        return near, self._solve(Q, near)

    def _neighbors(self, X: np.ndarray) -> tuple[np.ndarray, Neighborhoods]:
        """Queries in the space of distances, and their neighbourhoods."""
        self._check_unchanged()
        scaled, Q = self._index.scale_and_map(X)
        return Q, self._index.neighbors(scaled, Q, n_jobs=self.n_jobs)

    def _solve(self, Q: np.ndarray, near: Neighborhoods) -> dict[str, np.ndarray]:
        how = self.approximation_.kernel_settings(self._n_classes())
        label = self._index.label if near.positions is near.rows else self._index.label[self._index.held]
        return solve(Q, self._index.Z, label, self._class_scale(), near, how, self.n_jobs)

    def holds_rows(self, X: Any, rows: np.ndarray) -> np.ndarray:
        """Whether the values ``X`` are those of given training rows, up to rounding.

        Parameters
        ----------
        X : array of shape (n, n_features)
        rows : array of shape (n,)
            Numbers of training rows.

        Returns
        -------
        array of shape (n,), bool
        """
        known, placed = self._index.mapped_rows(rows), self._index.scale_and_map(np.asarray(X, dtype=np.float64))[1]
        slack = _ROUNDING * np.abs(known).max(axis=0, initial=0.0)
        return np.asarray(np.all(np.abs(placed - known) <= slack, axis=1))

    def explain(self, X: Any, train: Any = None, id: Any = None) -> Explanation:
        """Which training rows made each prediction, and how.

        The weights of the rows make the prediction: summed over the rows of a class they are its probability, and in
        regression the decision rule is applied to them. Of a model in a pipeline, ``dsna.inspection.explain`` gives the
        explanation in the names and values of the pipeline's input.

        Parameters
        ----------
        X : data frame or array of shape (n, n_features)
        train : data frame or array, optional
            The rows given to ``fit``, in their order, to show the neighbours' own values. It may hold further columns,
            and rows of ``add_samples`` may follow.
        id : name of a column of ``train``, or array with one identifier for each training row, optional
            What the training rows are called.

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False)
        why = self._explanation(rows, *self._answer(rows))
        why = why.beside(X, train, id, getattr(self, "feature_names_in_", None))
        if train is not None and why.train is not None:
            self._check_training_rows(why.train)
        return why

    def _explanation(self, X: np.ndarray, near: Neighborhoods, answers: dict[str, np.ndarray]) -> Explanation:
        """Explanation of queries whose neighbours and approximations are known."""
        fold = self._index.fold
        return Explanation(
            rows=near.rows,
            size=near.size,
            proximity=near.proximity,
            coefficient=answers["alpha"],
            settled=answers["labels"],
            member=answers["member"],
            share=answers["share"],
            hull_residual=answers["hull_residual"],
            objective=answers["objective"],
            steps=answers["steps"],
            history=answers["history"],
            **self._evidence(X, near, answers),
            n_train=(int(np.sum(fold >= 0)), len(fold)),
        )

    def _explain_oob(self, X: np.ndarray, rows: np.ndarray) -> Explanation:
        """Explanation of training rows, with values ``X``, by trees and rows that left them out."""
        scaled, Q = self._index.scale_and_map(X)
        near = self._index.neighbors(scaled, Q, fold=self._index.fold[rows], n_jobs=self.n_jobs)
        return self._left_out(self._explanation(X, near, self._solve(Q, near)), rows)

    @abstractmethod
    def _left_out(self, why: Explanation, rows: np.ndarray) -> Explanation:
        """The explanation of training rows with what was learned without them in place of what was learned of all."""

    @abstractmethod
    def _evidence(self, X: np.ndarray, near: Neighborhoods, answers: dict[str, np.ndarray]) -> dict[str, Any]:
        """Weights and labels of the neighbours, and the decision: the fields of an Explanation that tell both tasks."""

    def _check_training_rows(self, train: TrainingColumns) -> None:
        """Refuse values that are not those of the training rows."""
        given = train.rows < train.reach
        try:
            values = np.stack(train.columns.values, axis=1)[given]
            same = bool(np.all(self.holds_rows(values, train.rows[given])))
        except (TypeError, ValueError):  # text, where the model was fitted on numbers
            same = False
        if not same:
            raise DSNAError(
                "Rows of train are not those that the model was fitted on: pass the rows given to fit, in their order, "
                "and explain a pipeline by dsna.inspection.explain."
            )

    def restored(self) -> None:
        """Record the current parameters as those of the fit; a model file holds no others."""
        self._fitted_with = self._parameters_of_fit()

    def _parameters_of_fit(self) -> dict[str, Any]:
        return {name: _identity(getattr(self, name)) for name in _FITTED if hasattr(self, name)}

    def _check_unchanged(self) -> None:
        """Refuse to answer with parameters that are not those of the fit."""
        for name, fitted in self._fitted_with.items():
            if _identity(getattr(self, name)) != fitted:
                raise DSNAError(f"{name} was changed after fit, which a fitted model cannot follow: call fit again.")

    def _say(self, what: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {what}", file=sys.stderr, flush=True)


def _identity(value: Any) -> Any:
    """A value to compare parameters by: of an object its class and parameters, of an array its values."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return (type(value).__name__, repr(value.get_params())) if hasattr(value, "get_params") else value
