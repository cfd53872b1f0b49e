"""DSNA for labels: coefficients as weights of labels, balanced, and intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from ._utils.parameters import documented, is_number
from ._utils.validation import check_groups, check_rows, check_targets, check_weights
from .base import _DSNA, explained
from .forest.density import TargetDensity
from .forest.scaling import column_spread
from .forest.targets import regression_targets
from .inspection.explanation import Explanation
from .neighbors.index import Fold
from .neighbors.neighborhoods import Neighborhoods
from .prediction.decision import decide, label_weights
from .prediction.intervals import Regions, label_spread

_BLENDS = (0.0, 0.25, 0.5, 0.75, 1.0)
_BALANCES = tuple(step / 20 for step in range(1, 21))
# What the default balance may spend on the rare labels: factors of the mean and of the root mean squared error.
_SPEND = np.array([1.15, 1.08])
# Neighbourhoods already lean to rare labels: the whole inverse density overshoots.
_TEMPER = 0.6
_TIE = 1e-9  # errors, in units of the label spread, that differ by less are equal


def _rarity(density: TargetDensity, label: np.ndarray) -> np.ndarray:
    """(n,) what a weight is multiplied by at balance 1."""
    return density.evaluate(label) ** -_TEMPER


@documented
class DSNARegressor(RegressorMixin, _DSNA):
    """Discriminative sparse neighbour approximation (DSNA) for labels, one or several outputs.

    A cost-sensitive forest finds a safe neighbourhood of training rows for each query; the query is approximated by
    a few of them, and their coefficients, which may be negative, carry the labels over and extrapolate.

    Parameters
    ----------
    forest : "csrf", RandomForestRegressor, ExtraTreesRegressor or NearestNeighbors instance, default="csrf"
        Where neighbours come from: our cost-sensitive forest, a scikit-learn forest, or plain nearest neighbours.
    {GROWTH}
    {ROUNDS}
    {APPROXIMATION}
    balance : float in [0, 1] or None, default=None
        0 predicts for the labels at hand, 1 treats all label regions as equally important.  None gives rare labels
        the most weight at which the out-of-bag errors stay within 15 % (absolute) and 8 % (root mean square) of those
        at 0, which as a rule is still no more than a random forest's.
    decision : {"auto", "mean", "median", "grid", "paper"}, default="auto"
        Weighted mean, which alone extrapolates past the labels seen; weighted median; mean snapped to the nearest
        label seen; the plain sum of the paper.  "auto" takes the one of smallest out-of-bag error.
    {TUNE}
    {COMMON}

    Attributes
    ----------
    n_outputs_ : int
    lam_, gamma_, bandwidth_, n_clusters_, tau_, C_, max_features_
        The values used: given or, with ``tune="oob"``, chosen.
    blend_, decision_, balance_
        The values used: given or, where they are "auto" or None, chosen out of bag.
    oob_score_ : float
        R2 on training rows by trees, metric, neighbours and densities that never saw them.
    oob_rows_, oob_prediction_ : arrays
        The rows of that score (about 3,000 at most, rare ones first) and their predictions.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from dsna import DSNARegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = DSNARegressor(n_estimators=20, random_state=0).fit(X[:400], y[:400])
    >>> model.predict(X[400:]).shape
    (42,)
    >>> model.predict_interval(X[400:]).shape
    (42, 2)
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> DSNARegressor:
        """Grow the forest, take its metric, and learn the decision from out-of-bag rows.

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
        self.__dict__.pop("balance_", None)
        self._check_parameters()
        label = y.reshape(len(y), -1)
        kept = weight > 0
        self.density_ = TargetDensity(label[kept], self.target_density, weight[kept])
        self.rarity_ = _rarity(self.density_, label)
        self._learn(X, y, label, label, regression_targets(y, weight, self.target_density), weight, groups)
        return self

    def _check_parameters(self) -> None:
        allowed = ("auto", "mean", "median", "grid", "paper")
        if self.decision not in allowed:
            raise ValueError(f"decision={self.decision!r} is unknown: use one of {allowed}.")
        super()._check_parameters()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _balance(self) -> float:
        if self.balance is not None:
            return float(self.balance)
        return float(getattr(self, "balance_", 0.0))

    def _class_scale(self) -> np.ndarray:
        return np.ones(1)

    def _spread(self) -> np.ndarray:
        return column_spread(self.knowledge_.label)

    def _rarity_outside(self, block: int) -> np.ndarray:
        """(N,) rarity of each label among those outside a block."""
        label, weight = self.knowledge_.label, self.knowledge_.weight
        if self.density_.kind == "callable":
            return self.rarity_
        others = (self.knowledge_.block != block) & (weight > 0)
        return _rarity(TargetDensity(label[others], self.density_.kind, weight[others]), label)

    def _weights(
        self,
        alpha: np.ndarray,
        near: Neighborhoods,
        rows: np.ndarray,
        rarity: np.ndarray,
        blend: float,
        balance: float,
    ) -> np.ndarray:
        return label_weights(alpha, near.kernel, rarity[rows], blend, balance, self.sum_to_one)

    def _label_spread(self, near: Neighborhoods, rows: np.ndarray) -> np.ndarray:
        """(n, n_outputs) how much the labels around each query differ."""
        return label_spread(near.kernel, self.knowledge_.label[rows])

    def _row_losses(self, alpha: np.ndarray, fold: Fold) -> np.ndarray:
        """Absolute error of the weighted mean in units of the spread, weighted as ``balance`` asks."""
        rarity = self.rarity_
        rows = fold.known[fold.near.rows]
        blend = 0.5 if self.blend == "auto" else float(self.blend)
        weights = self._weights(alpha, fold.near, rows, rarity, blend, self._balance())
        label = self.knowledge_.label
        error = np.abs(decide(weights, label[rows], "mean", label) - label[fold.rows]) / self._spread()
        return error.mean(axis=1) * rarity[fold.rows] ** self._balance()

    def _finish(self, folds: list[Fold], rows: np.ndarray, weight: np.ndarray) -> None:
        self.oob_rows_ = np.concatenate([f.rows for f in folds]) if folds else np.empty(0, dtype=np.int64)
        blends = _BLENDS if self.blend == "auto" else (float(self.blend),)
        decisions: tuple[str, ...] = ("mean" if self.decision == "paper" else self.decision,)
        if self.decision == "auto":
            decisions = ("mean", "median", "grid") if self.density_.kind == "exact" else ("mean", "median")
        self.blend_, self.decision_ = blends[len(blends) // 2], decisions[0]
        self.balance_ = 0.0 if self.balance is None else float(self.balance)
        if not folds:
            self._set_grid()
            return
        label = self.knowledge_.label
        truth = label[self.oob_rows_]
        weight = weight[np.searchsorted(rows, self.oob_rows_)]
        grid = np.unique(label, axis=0)
        solved = [self._solve_fold(f, self._setting)["alpha"] for f in folds]
        rarities = [self._rarity_outside(int(self.knowledge_.block[f.rows[0]])) for f in folds]

        def predicted(blend: float, decision: str, balance: float) -> np.ndarray:
            parts = []
            for fold, alpha, rarity in zip(folds, solved, rarities, strict=True):
                known = fold.known[fold.near.rows]
                weights = self._weights(alpha, fold.near, known, rarity, blend, balance)
                parts.append(decide(weights, label[known], decision, grid))
            return np.concatenate(parts)

        def error(prediction: np.ndarray, balance: float) -> float:
            cost = weight * self.rarity_[self.oob_rows_] ** balance
            return float(np.average((np.abs(prediction - truth) / self._spread()).mean(axis=1), weights=cost))

        def errors(prediction: np.ndarray) -> np.ndarray:
            off = np.abs(prediction - truth) / self._spread()
            return np.array([error(prediction, 0.0), np.sqrt(np.average((off**2).mean(axis=1), weights=weight))])

        choices = [(blend, decision) for blend in blends for decision in decisions]
        found = {choice: predicted(*choice, self.balance_) for choice in choices}
        losses = [error(found[choice], self.balance_) for choice in choices]
        best = next(choice for choice, loss in zip(choices, losses, strict=True) if loss <= min(losses) + _TIE)
        self.blend_, self.decision_ = best
        prediction = found[best]
        if self.balance is None:
            bound = _SPEND * errors(prediction) + _TIE
            for balance in _BALANCES:
                other = predicted(*best, balance)
                if np.any(errors(other) > bound):
                    break
                self.balance_, prediction = balance, other
        self._set_grid()
        self.oob_prediction_ = self._shaped(prediction)
        if len(truth) > 1:
            self.oob_score_ = r2_score(self._shaped(truth), self.oob_prediction_, sample_weight=weight)
        spread = np.concatenate([self._label_spread(f.near, f.known[f.near.rows]) for f in folds])
        few = self.density_.kind == "exact"
        self.regions_ = [
            Regions(truth[:, a], prediction[:, a], spread[:, a], weight, np.unique(label[:, a]) if few else None)
            for a in range(self.n_outputs_)
        ]

    def _set_grid(self) -> None:
        """The labels seen, where predictions are snapped to them."""
        label = self.knowledge_.label
        self.grid_ = np.unique(label, axis=0) if self.decision_ == "grid" else label[:1].copy()

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] if self.n_outputs_ == 1 and values.shape[1] == 1 else values

    def predict(self, X: Any) -> np.ndarray:
        """Labels: the decision rule applied to the weights of the neighbours' labels.

        Parameters
        ----------
        X : array of shape (n, n_features)

        Returns
        -------
        array of shape (n,) or (n, n_outputs)
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        return self._shaped(self._decided(*self._answer(X)))

    def _decided(self, near: Neighborhoods, answers: dict[str, np.ndarray]) -> np.ndarray:
        """(n, n_outputs) predictions."""
        weights = self._weights(answers["alpha"], near, near.rows, self.rarity_, self.blend_, self._balance())
        return decide(weights, self.knowledge_.label[near.rows], self.decision_, self.grid_)

    def explain(self, X: Any) -> Explanation:
        """Which training rows made each prediction, and how.

        Parameters
        ----------
        X : array of shape (n, n_features)

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        near, answers = self._answer(X)
        label = self.knowledge_.label
        return Explanation(
            kind="regression",
            weight=self._weights(answers["alpha"], near, near.rows, self.rarity_, self.blend_, self._balance()),
            label=label[near.rows],
            classes=None,
            rest=None,
            decision=self.decision_,
            grid=self.grid_,
            **explained(near, answers),
        )

    def add_samples(self, X: Any, y: Any) -> DSNARegressor:
        """Let new rows into the leaves, without refitting.

        Trees, metric and intervals stay as they are.  The rows are neighbours, and count in the label density, from
        now on.  They are numbered on from the last training row.

        Parameters
        ----------
        X : array of shape (n, n_features)
        y : array of shape (n,) or (n, n_outputs)

        Returns
        -------
        self
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        label = check_targets(y, X).reshape(len(X), -1)
        if label.shape[1] != self.n_outputs_:
            raise ValueError(f"y has {label.shape[1]} outputs; the model was fitted on {self.n_outputs_}.")
        know = self.knowledge_
        if self.density_.kind != "callable":
            weight = np.concatenate([know.weight, np.ones(len(X))])
            every = np.concatenate([know.label, label])
            self.density_ = TargetDensity(every[weight > 0], self.density_.kind, weight[weight > 0])
        self.rarity_ = _rarity(self.density_, np.concatenate([know.label, label]))
        know.add(X, label, label, np.ones(len(self.rarity_)))
        self._set_grid()
        return self

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Intervals that hold the label with the probability asked, for rare labels too.

        Parameters
        ----------
        X : array of shape (n, n_features)
        coverage : float in (0, 1), default=0.9

        Returns
        -------
        array of shape (n, 2), or (n, n_outputs, 2) for several outputs
            Lower and upper bounds.
        """
        if not is_number(coverage) or not 0.0 < coverage < 1.0:
            raise ValueError(f"coverage={coverage!r} must lie strictly between 0 and 1.")
        check_is_fitted(self)
        if not hasattr(self, "regions_"):
            raise ValueError("Intervals need out-of-bag rows, and this model has none: fit on 10 rows or more.")
        near, answers = self._answer(check_rows(self, X, reset=False))
        prediction = self._decided(near, answers)
        spread = self._label_spread(near, near.rows)
        bounds = np.stack(
            [r.intervals(prediction[:, a], coverage, spread[:, a]) for a, r in enumerate(self.regions_)], axis=1
        )
        return bounds[:, 0] if self.n_outputs_ == 1 else bounds
