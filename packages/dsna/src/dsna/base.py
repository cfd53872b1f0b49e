"""Base class of the DSNA estimators: parameters, neighbours, out-of-bag predictions, tuning.

Overview: ``fit`` of ``DSNAClassifier`` and ``DSNARegressor`` validates its input and encodes it as ``Training``.
``_find_neighbors`` grows the forest, builds the index and, with ``tune="oob"``, chooses settings
(``_chosen_growth``, ``_choose_approximation``). The estimators then learn their decision from out-of-bag rows
(``_learn_decision``). ``_answer`` finds the neighbours and coefficients of queries.
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
#: Parameters that cannot be changed without another fit.
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
        """Validate parameter names, with an error that is more helpful than Python's."""
        estimator = super().__new__(cls)
        estimator._check_parameter_names(params)
        return estimator

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
            ``balance=...``, ``forest__C=...``, ``approximation__lam=...`` and so on; nested names require that the
            forest or approximation is not None.

        Returns
        -------
        self
        """
        self._check_parameter_names(params)
        defaults = {"forest": f"{self._forest_class().__name__}()", "approximation": "Approximation()"}
        check_nested(self, params, defaults)
        return super().set_params(**params)

    def _check_parameter_names(self, params: dict[str, Any]) -> None:
        check_own(self, params, {"forest": self._forest_class(), "approximation": Approximation})

    @property
    def partial_fit(self) -> Any:
        """Not available (``hasattr`` is False); the error refers to ``add_samples``."""
        raise AttributeError(
            f"{type(self).__name__} has no partial_fit: call fit once, then add_samples(X, y) for new rows."
        )

    def default_forest(self) -> Any:
        """Create the forest that ``forest=None`` stands for.

        Examples
        --------
        >>> from dsna import DSNAClassifier
        >>> DSNAClassifier().default_forest()
        CostSensitiveForestClassifier()
        """
        return self._forest_class()()

    def predict_forest(self, X: Any) -> np.ndarray:
        """Predict by the forest alone: the mean over trees of the leaf values.

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
        """Share of each feature in the total gain of all splits; the shares sum to one."""
        trees = self._index.trees
        if trees is None:
            raise AttributeError("Models with nearest neighbours have no splits and thus no feature importances.")
        return trees.feature_importances

    @abstractmethod
    def _forest_class(self) -> type:
        """Class of the cost-sensitive forest for this task."""

    @abstractmethod
    def _n_classes(self) -> int:
        """Number of classes, 0 in regression."""

    @abstractmethod
    def _class_scale(self) -> np.ndarray:
        """(n_classes,) factor of each class in sums of coefficients by class."""

    @abstractmethod
    def _row_losses(self, alpha: np.ndarray, fold: Fold) -> np.ndarray:
        """(n,) loss of each query of a fold, given its coefficients, weighted according to ``balance``."""

    def check_parameters(self) -> Any:
        """Validate all parameters and return an unfitted copy of the forest."""
        self._validate_params()
        forest = self.default_forest() if self.forest is None else self.forest
        check_forest(forest, self)
        if self.approximation is not None:
            self.approximation.check()
        return clone(forest)

    def _find_neighbors(self, training: Training, forest: Any) -> OutOfBag:
        """Grow the forest, index the rows, tune settings, and find out-of-bag neighbours of a sample of the rows.

        Sets ``forest_``, ``approximation_`` and the index.
        """
        rng = check_random_state(self.random_state)
        weight, targets = training.weight, training.targets
        scaling = Scaling(training.X, self.scaling, weight)
        max_neighbors = self._most_neighbors(forest)
        leaves = Leaves(training.values, weight, targets.code, None if max_neighbors is None else LEAF_ROWS)
        fold = training.folds(rng)
        rows = TrainingRows(training.X, scaling, targets, weight, fold, leaves)
        forest.set_params(n_jobs=self.n_jobs)
        if self.tune == "oob" and isinstance(forest, CostSensitiveForestClassifier | CostSensitiveForestRegressor):
            forest.set_params(**self._chosen_growth(forest, rows, training, rng))
        self._say("growing the forest")
        trees = grow(forest, rows, training.label, rng, self.verbose)
        self._index = NeighborIndex.build(rows, training.label, trees, self.metric == "forest", max_neighbors)
        self.forest_ = forest
        self.approximation_ = Approximation() if self.approximation is None else clone(self.approximation)
        oob_rows, sampling_weight = stratified_sample(training.strata, _OOB_ROWS, rng)
        oob_rows, sampling_weight = oob_rows[weight[oob_rows] > 0], sampling_weight[weight[oob_rows] > 0]
        if self.tune == "oob":
            tuning_rows = oob_rows
            if len(oob_rows) > _TUNING_ROWS:
                tuning_rows = np.sort(rng.choice(oob_rows, _TUNING_ROWS, replace=False))
            self._choose_approximation(list(self._index.out_of_bag(rows, tuning_rows, self.n_jobs)))
        # One fold at a time, because each holds all rows in its own metric.
        unanswered = self._index.out_of_bag(rows, oob_rows, self.n_jobs)
        progress = tracked(unanswered, N_FOLDS, "folds out of bag" * bool(self.verbose))
        folds = [self._answered(fold) for fold in progress]
        used_rows = weighed_rows([f.near.rows for f in folds], [f.alpha for f in folds], targets.gain)
        self._index.finish(rows, used_rows, oob_rows)
        answered_rows = np.concatenate([f.rows for f in folds]) if folds else np.empty(0, dtype=np.int64)
        represents = (sampling_weight * weight[oob_rows])[np.searchsorted(oob_rows, answered_rows)]
        self.restored()
        return OutOfBag(folds, answered_rows, represents)

    def _most_neighbors(self, forest: Any) -> int | None:
        """Maximum size of a neighbourhood; nearest neighbours have their own limit."""
        bounds = [bound for bound in (self.max_neighbors, getattr(forest, "n_neighbors", None)) if bound is not None]
        return min(bounds, default=None)

    def _chosen_growth(
        self, forest: Any, rows: TrainingRows, training: Training, rng: np.random.RandomState
    ) -> dict[str, Any]:
        """Choose C and max_features by the out-of-bag loss of a few trees on a sample of limited size."""
        sample, _ = stratified_sample(training.strata, _OOB_ROWS, rng)
        sample = sample[rows.weight[sample] > 0]
        y = training.label[sample] if not rows.targets.n_classes else rows.targets.code[sample]
        y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
        groups = None if training.groups is None else training.groups[sample]
        seed = rng.randint(2**31 - 1)

        def losses(setting: dict[str, Any]) -> np.ndarray:
            pilot = clone(forest).set_params(**setting, n_estimators=_PILOT_TREES, scaling="none", random_state=seed)
            sample_losses = pilot.out_of_bag_losses(rows.scaled(sample), y, rows.weight[sample], groups)
            return np.asarray(sample_losses * rows.targets.gain[sample] ** self._initial_balance())

        best = search({"C": forest.C, "max_features": forest.max_features}, FOREST_GRID, losses)
        self._say(f"chose C={best['C']}, max_features={best['max_features']}")
        return best

    @abstractmethod
    def _initial_balance(self) -> float:
        """Balance during the tuning of settings."""

    def _choose_approximation(self, folds: list[Fold]) -> None:
        """Choose lam, gamma, bandwidth, n_clusters and tau by the out-of-bag loss of their predictions."""
        if not folds:
            return
        initial = self.approximation_

        def losses(setting: dict[str, Any]) -> np.ndarray:
            candidate = clone(initial).set_params(**setting)
            return np.concatenate([self._row_losses(self._solve_fold(f, candidate)["alpha"], f) for f in folds])

        start = {name: getattr(initial, name) for name in APPROXIMATION_GRID}
        best = search({**start, "max_iter": initial.feedback_steps(self._n_classes())}, APPROXIMATION_GRID, losses)
        self.approximation_ = clone(initial).set_params(**{name: best[name] for name in APPROXIMATION_GRID})
        self._say(", ".join(f"{name}={best[name]}" for name in APPROXIMATION_GRID))

    def _answered(self, fold: Fold) -> AnsweredFold:
        neighborhoods = fold.near.with_rows(fold.neighbor_rows[fold.near.rows])
        return AnsweredFold(fold.rows, neighborhoods, self._solve_fold(fold, self.approximation_)["alpha"])

    def _solve_fold(self, fold: Fold, approximation: Approximation) -> dict[str, np.ndarray]:
        label = np.ascontiguousarray(self._index.label[fold.neighbor_rows])
        settings = approximation.kernel_settings(self._n_classes())
        return solve(fold.Q, fold.Z, label, self._class_scale(), fold.near, settings, self.n_jobs)

    def _answer(self, X: np.ndarray) -> tuple[Neighborhoods, dict[str, np.ndarray]]:
        """Neighbourhoods of queries and their approximations; the model is not changed."""
        Q, neighborhoods = self._neighbors(X)
        return neighborhoods, self._solve(Q, neighborhoods)

    def _neighbors(self, X: np.ndarray) -> tuple[np.ndarray, Neighborhoods]:
        """Queries in the space of distances, and their neighbourhoods."""
        self._check_unchanged()
        scaled, Q = self._index.scale_and_map(X)
        return Q, self._index.neighbors(scaled, Q, n_jobs=self.n_jobs)

    def _solve(self, Q: np.ndarray, neighborhoods: Neighborhoods) -> dict[str, np.ndarray]:
        settings = self.approximation_.kernel_settings(self._n_classes())
        label = (
            self._index.label if neighborhoods.positions is neighborhoods.rows else self._index.label[self._index.held]
        )
        return solve(Q, self._index.Z, label, self._class_scale(), neighborhoods, settings, self.n_jobs)

    def holds_rows(self, X: Any, rows: np.ndarray) -> np.ndarray:
        """Whether ``X`` holds the values of given training rows, up to rounding.

        Parameters
        ----------
        X : array of shape (n, n_features)
        rows : array of shape (n,)
            Numbers of training rows.

        Returns
        -------
        array of shape (n,), bool
        """
        fitted, placed = self._index.mapped_rows(rows), self._index.scale_and_map(np.asarray(X, dtype=np.float64))[1]
        tolerance = _ROUNDING * np.abs(fitted).max(axis=0, initial=0.0)
        return np.asarray(np.all(np.abs(placed - fitted) <= tolerance, axis=1))

    def explain(self, X: Any, train: Any = None, id: Any = None) -> Explanation:
        """Explain each prediction by the training rows behind it.

        The prediction is computed from the weights of the rows: their sum over the rows of a class is its probability,
        and in regression the decision rule is applied to them. For a model in a pipeline, ``dsna.inspection.explain``
        gives the explanation with names and values of the pipeline's input.

        Parameters
        ----------
        X : data frame or array of shape (n, n_features)
        train : data frame or array, optional
            The rows given to ``fit``, in the same order, to show the values of the neighbours. Additional columns are
            ignored, and rows of ``add_samples`` may follow.
        id : name of a column of ``train``, or array with one identifier for each training row, optional
            Identifiers of the training rows.

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False)
        explanation = self._explanation(rows, *self._answer(rows))
        explanation = explanation.beside(X, train, id, getattr(self, "feature_names_in_", None))
        if train is not None and explanation.train is not None:
            self._check_training_rows(explanation.train)
        return explanation

    def _explanation(self, X: np.ndarray, neighborhoods: Neighborhoods, answers: dict[str, np.ndarray]) -> Explanation:
        """Explanation of queries, given their neighbours and approximations."""
        fold = self._index.fold
        return Explanation(
            rows=neighborhoods.rows,
            size=neighborhoods.size,
            proximity=neighborhoods.proximity,
            coefficient=answers["alpha"],
            settled=answers["labels"],
            member=answers["member"],
            share=answers["share"],
            hull_residual=answers["hull_residual"],
            objective=answers["objective"],
            steps=answers["steps"],
            history=answers["history"],
            **self._evidence(X, neighborhoods, answers),
            n_train=(int(np.sum(fold >= 0)), len(fold)),
        )

    def _explain_oob(self, X: np.ndarray, rows: np.ndarray) -> Explanation:
        """Out-of-bag explanation of training rows with values ``X``."""
        scaled, Q = self._index.scale_and_map(X)
        neighborhoods = self._index.neighbors(scaled, Q, fold=self._index.fold[rows], n_jobs=self.n_jobs)
        return self._out_of_bag_version(self._explanation(X, neighborhoods, self._solve(Q, neighborhoods)), rows)

    @abstractmethod
    def _out_of_bag_version(self, explanation: Explanation, rows: np.ndarray) -> Explanation:
        """Replace everything in an explanation of training rows that was learned from these rows."""

    @abstractmethod
    def _evidence(self, X: np.ndarray, neighborhoods: Neighborhoods, answers: dict[str, np.ndarray]) -> dict[str, Any]:
        """Fields of an Explanation that depend on the task: weights and labels of neighbours, and the decision."""

    def _check_training_rows(self, train: TrainingColumns) -> None:
        """Validate that values are those of the training rows."""
        available = train.rows < train.reach
        try:
            values = np.stack(train.columns.values, axis=1)[available]
            equal = bool(np.all(self.holds_rows(values, train.rows[available])))
        except (TypeError, ValueError):  # text instead of numbers
            equal = False
        if not equal:
            raise DSNAError(
                "Rows of train differ from those that the model was fitted on: pass the rows given to fit, in the same "
                "order; for a pipeline, use dsna.inspection.explain."
            )

    def restored(self) -> None:
        """Record the current parameters as those of the fit; model files do not store these separately."""
        self._fitted_with = self._parameters_of_fit()

    def _parameters_of_fit(self) -> dict[str, Any]:
        return {name: _comparable(getattr(self, name)) for name in _FITTED if hasattr(self, name)}

    def _check_unchanged(self) -> None:
        """Validate that the parameters are those of the fit."""
        for name, fitted in self._fitted_with.items():
            if _comparable(getattr(self, name)) != fitted:
                raise DSNAError(f"{name} was changed after fit: call fit again.")

    def _say(self, message: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {message}", file=sys.stderr, flush=True)


def _comparable(value: Any) -> Any:
    """Convert a parameter for comparison: an object to its class and parameters, an array to its values."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return (type(value).__name__, repr(value.get_params())) if hasattr(value, "get_params") else value
