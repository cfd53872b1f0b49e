"""Decisions of DSNA regressors: rules learned on out-of-bag rows, and predictions from the targets of neighbours.

``uncertainty/`` adds intervals and quantiles, ``DSNARegressor`` the parameters and the public methods.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.metrics import r2_score

from .base import DSNAEstimator
from .forest import CostSensitiveForestRegressor
from .forest.density import TargetDensity
from .forest.scaling import column_spread
from .inspection.explanation import Explanation
from .metrics.relevance import RelevantDensity
from .neighbors.index import Fold
from .neighbors.neighborhoods import Neighborhoods
from .prediction.carry import FoldQueries, choose_trend, trend_values
from .prediction.decision import DECISIONS, allowed_decisions
from .prediction.ends import learn_ends, move_outward
from .prediction.rule import Rule, RuleChoices, RuleEvaluator, RuleInputs, choose_rule
from .training import AnsweredFold, OutOfBag, Training
from .trend.trend import TrendRows, trend_weights


class DSNARegression(DSNAEstimator):
    """Base class of ``DSNARegressor``."""

    balance: float | str
    relevance: Any
    criterion: str
    target_density: Any
    trend: Any
    n_outputs_: int
    _density: TargetDensity
    _rarity: np.ndarray

    def _forest_class(self) -> type:
        return CostSensitiveForestRegressor

    def _n_classes(self) -> int:
        return 0

    def _initial_balance(self) -> float:
        return 0.0 if isinstance(self.balance, str) else float(self.balance)

    def _initial_blend(self) -> float:
        return 0.5 if isinstance(self.blend, str) else float(self.blend)

    def _class_scale(self) -> np.ndarray:
        return np.ones(1)

    def _rarity_outside(self, fold: int) -> np.ndarray:
        """(N,) rarity of each target relative to the rows outside a held-out fold."""
        target = self._index.label
        weight = np.where(self._index.fold != fold, self._index.weight, 0.0)
        outside = weight > 0
        density = self._density_outside(fold, target[outside], weight[outside])
        return self._relevant(density, target[outside], weight[outside]).rarity(target)

    def _density_of(self, target: np.ndarray, weight: np.ndarray) -> TargetDensity:
        """Density of weighted rows, of the same kind as the density of this model."""
        if self._density.kind == "callable":
            return self._density
        return TargetDensity(target, self._density.kind, weight)

    def _density_outside(self, fold: int, target: np.ndarray, weight: np.ndarray) -> TargetDensity:
        """Density of the rows outside a held-out fold, given their targets and weights."""
        return self._density_of(target, weight)

    def _first_density(self, target: np.ndarray, weight: np.ndarray) -> TargetDensity:
        """Density of weighted training rows, according to ``target_density``."""
        return TargetDensity(target, self.target_density, weight)

    def _relevant(self, density: TargetDensity, target: np.ndarray, weight: np.ndarray) -> RelevantDensity:
        """Density that treats irrelevant targets as common."""
        return RelevantDensity(density, target, self.relevance, weight)

    def _row_losses(self, alpha: np.ndarray, fold: Fold) -> np.ndarray:
        """Error of the weighted mean relative to the spread of the target, weighted according to ``balance``."""
        rows, target = fold.neighbor_rows[fold.near.rows], self._index.label
        rule = Rule(self._initial_blend(), "mean", self._initial_balance(), self.approximation_.sum_to_one)
        weights = rule.weights(alpha, fold.near.kernel, self._rarity[rows])
        error = np.abs(rule.predict(weights, target[rows], target) - target[fold.rows]) / column_spread(target)
        error = error**2 if self.criterion == "squared_error" else error
        return np.asarray(error.mean(axis=1) * self._rarity[fold.rows] ** rule.balance)

    def _learn_decision(self, out_of_bag: OutOfBag, training: Training) -> None:
        """Choose trend, blend, decision and balance out of bag, and learn intervals and quantiles."""
        target = self._index.label
        repeated = self._density.repeats
        choices = RuleChoices.of(self.blend, allowed_decisions(self.decision, repeated), self.approximation_.sum_to_one)
        all_choices = RuleChoices.of("auto", allowed_decisions("auto", repeated), choices.sum_to_one)
        rule = Rule(self._initial_blend(), choices.decisions[0], self._initial_balance(), choices.sum_to_one)
        self._rules = [rule]
        self._trend: Any = None
        self._row_trend = prediction = np.empty((0, self.n_outputs_))
        truth = target[out_of_bag.rows]
        folds = [self._evidence_outside(fold) for fold in out_of_bag.folds]
        if folds:
            evaluator = RuleEvaluator(
                truth,
                out_of_bag.weight,
                self._rarity[out_of_bag.rows],
                column_spread(target),
                np.unique(target, axis=0),
                training.group_codes[out_of_bag.rows],
                self.criterion == "squared_error",
            )
            fold = self._index.fold
            questions = [FoldQueries(int(fold[f.rows[0]]), f.rows, f.near.rows) for f in out_of_bag.folds]
            folds, carry = choose_trend(
                self.trend, self._trend_rows(training), folds, questions, evaluator, all_choices
            )
            self._trend, self._row_trend = carry.trend, carry.out_of_fold
            self._rules, prediction = choose_rule(folds, evaluator, choices, self.balance, carry.offset, carry.pull)
            rule = self._rules[-1]
            if self.decision == "open":
                self._grid = learn_ends(truth, prediction, out_of_bag.weight)
                rule, prediction = replace(rule, decision="open"), move_outward(prediction, self._grid)
        self._take(rule)
        self.oob_rows_, self._oob_weight = out_of_bag.rows, out_of_bag.weight
        self.oob_prediction_ = self._shaped(prediction)
        self.oob_score_ = np.nan
        if len(truth) > 1:
            self.oob_score_ = float(
                r2_score(self._shaped(truth), self.oob_prediction_, sample_weight=out_of_bag.weight)
            )
        self._learn_uncertainty(out_of_bag, folds, training, prediction)
        self._say(f"out-of-bag R2 {self.oob_score_:.3f} on {len(truth)} rows")

    @abstractmethod
    def _learn_uncertainty(
        self, out_of_bag: OutOfBag, folds: list[RuleInputs], training: Training, prediction: np.ndarray
    ) -> None:
        """Learn intervals and quantiles from out-of-bag rows and their predictions."""

    def _trend_rows(self, training: Training) -> TrendRows:
        """Training rows for a trend, in which rare targets have larger weights."""
        index = self._index
        weight = trend_weights(training.weight, training.targets.share)
        return TrendRows(index.scaling.transform(training.X), index.label, weight / weight.mean(), index.fold)

    def _evidence_outside(self, fold: AnsweredFold) -> RuleInputs:
        """Coefficients and neighbours of a held-out fold, with rarities relative to the rows outside it."""
        rarity = self._rarity_outside(int(self._index.fold[fold.rows[0]]))
        return RuleInputs(fold.alpha, fold.near.kernel, rarity[fold.near.rows], self._index.label[fold.near.rows])

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] if self.n_outputs_ == 1 and values.shape[1] == 1 else values

    def _coefficients(self, Q: np.ndarray, neighborhoods: Neighborhoods) -> np.ndarray:
        """(n, M) coefficients of queries; if predictions do not depend on them, the kernel of the forest instead."""
        alpha = neighborhoods.kernel
        queries = np.flatnonzero(self._depends_on_coefficients(neighborhoods))
        if len(queries):
            alpha[queries] = self._solve(Q[queries], neighborhoods.subset(queries))["alpha"]
        return alpha

    def _depends_on_coefficients(self, neighborhoods: Neighborhoods) -> np.ndarray:
        """(n,) whether predictions depend on coefficients.

        They do not if the kernel has all the weight, or if all neighbours have the same target, the weights sum to one
        and no trend shifts the targets.
        """
        rule = self._rule
        if rule.blend == 1.0:
            return np.zeros(len(neighborhoods.size), dtype=bool)
        if not rule.sum_to_one or (self._trend is not None and max(rule.offset, rule.pull) > 0.0):
            return np.ones(len(neighborhoods.size), dtype=bool)
        target = self._index.label[neighborhoods.rows]
        is_neighbor = np.arange(target.shape[1]) < neighborhoods.size[:, None]
        return np.asarray(np.any((target != target[:, :1]).any(axis=2) & is_neighbor, axis=1))

    def _decided(self, X: np.ndarray, neighborhoods: Neighborhoods, alpha: np.ndarray) -> np.ndarray:
        """(n, n_outputs) predictions."""
        weights = self._rule.weights(alpha, neighborhoods.kernel, self._rarity[neighborhoods.rows])
        return self._rule.predict(weights, self._carried(X, neighborhoods, self._rule), self._grid)

    def _carried(self, X: np.ndarray, neighborhoods: Neighborhoods, rule: Rule) -> np.ndarray:
        """(n, M, n_outputs) targets of the neighbours, shifted along the trend to the queries."""
        trend_terms = None
        if self._trend is not None:
            query_trend = self._trend.predict(self._index.scaling.transform(X))
            trend_terms = trend_values(self._trend, query_trend, self._row_trend[neighborhoods.rows])
        return rule.carried(self._index.label[neighborhoods.rows], trend_terms)

    def _take(self, rule: Rule) -> None:
        """Use a rule for predictions."""
        self._rule = rule
        self.blend_, self.decision_, self.balance_ = rule.blend, rule.decision, rule.balance
        self.trend_ = None if self._trend is None else self._trend.kind
        self.trend_offset_, self.trend_pull_ = rule.offset, rule.pull
        if not DECISIONS[rule.decision].learns_ends:
            target = self._index.label
            self._grid = np.unique(target, axis=0) if DECISIONS[rule.decision].needs_grid else target[:1].copy()

    def _evidence(self, X: np.ndarray, neighborhoods: Neighborhoods, answers: dict[str, np.ndarray]) -> dict[str, Any]:
        """Weights, targets and shifted targets of the rows, and the decision rule."""
        weight = self._rule.weights(answers["alpha"], neighborhoods.kernel, self._rarity[neighborhoods.rows])
        fields: dict[str, Any] = {"kind": "regression", "decision": self.decision_, "grid": self._grid}
        fields |= {"uses_coefficients": self.blend_ < 1.0}
        trend_fields: dict[str, Any] = {}
        if self._trend is not None:
            carried = self._carried(X, neighborhoods, self._rule)
            trend_fields = {"carried": carried, "extrapolated": np.any(self._extrapolation(X) > 0.0, axis=1)}
        return {**fields, **trend_fields, "weight": weight, "label": self._index.label[neighborhoods.rows]}

    def _out_of_bag_version(self, explanation: Explanation, rows: np.ndarray) -> Explanation:
        """Shift the targets along trends that were learned without the fold of each row."""
        if self._trend is None:
            return explanation
        return replace(explanation, carried=self._carried_out_of_bag(self._rule, explanation, rows))

    def _carried_out_of_bag(self, rule: Rule, explanation: Explanation, rows: np.ndarray) -> np.ndarray:
        """(n, M, n_outputs) targets of the neighbours of training rows, shifted by a rule."""
        trend_terms = None
        if self._trend is not None:
            trend_terms = trend_values(self._trend, self._row_trend[rows], self._row_trend[explanation.rows])
        return rule.carried(explanation.label, trend_terms)

    def _predict_oob(self, explanation: Explanation, rows: np.ndarray, balance: float) -> np.ndarray:
        """(n, n_outputs) predictions of training rows at another balance, from their out-of-bag explanation."""
        rule = replace(self._rule, balance=balance)
        kernel = Neighborhoods(explanation.rows, explanation.proximity, explanation.size, explanation.proximity).kernel
        weights = rule.weights(explanation.coefficient, kernel, self._rarity[explanation.rows])
        return rule.predict(weights, self._carried_out_of_bag(rule, explanation, rows), self._grid)

    def _extrapolation(self, X: np.ndarray) -> Any:
        """(n, n_outputs) distance of the trend at the queries from its range over the training rows."""
        return 0.0 if self._trend is None else self._trend.extrapolation(self._index.scaling.transform(X))
