"""How a DSNA regression decides: what it learns out of bag, and how neighbours' targets become predictions.

``uncertainty/`` adds intervals and quantiles; ``DSNARegressor`` parameters and what users call.
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
        """(N,) rarity of each target among those outside a held-out fold."""
        target = self._index.label
        weight = np.where(self._index.fold != fold, self._index.weight, 0.0)
        others = weight > 0
        density = self._density_outside(fold, target[others], weight[others])
        return self._relevant(density, target[others], weight[others]).rarity(target)

    def _density_of(self, target: np.ndarray, weight: np.ndarray) -> TargetDensity:
        """Density, of the kind of this model, of rows that have a weight."""
        if self._density.kind == "callable":
            return self._density
        return TargetDensity(target, self._density.kind, weight)

    def _density_outside(self, fold: int, target: np.ndarray, weight: np.ndarray) -> TargetDensity:
        """Density of the rows outside a held-out fold, which have these targets and weights."""
        return self._density_of(target, weight)

    def _first_density(self, target: np.ndarray, weight: np.ndarray) -> TargetDensity:
        """Density of training rows that have a weight, of the kind that is asked for."""
        return TargetDensity(target, self.target_density, weight)

    def _relevant(self, density: TargetDensity, target: np.ndarray, weight: np.ndarray) -> RelevantDensity:
        """The density in which targets that do not matter are common."""
        return RelevantDensity(density, target, self.relevance, weight)

    def _row_losses(self, alpha: np.ndarray, fold: Fold) -> np.ndarray:
        """Error of the weighted mean in units of the spread, weighted according to ``balance``."""
        rows, target = fold.neighbor_rows[fold.near.rows], self._index.label
        rule = Rule(self._initial_blend(), "mean", self._initial_balance(), self.approximation_.sum_to_one)
        weights = rule.weights(alpha, fold.near.kernel, self._rarity[rows])
        error = np.abs(rule.predict(weights, target[rows], target) - target[fold.rows]) / column_spread(target)
        error = error**2 if self.criterion == "squared_error" else error
        return np.asarray(error.mean(axis=1) * self._rarity[fold.rows] ** rule.balance)

    def _learn_decision(self, asked: OutOfBag, training: Training) -> None:
        """Choose trend, blend, decision and balance out of bag, and learn intervals and quantiles."""
        target = self._index.label
        few = self._density.repeats
        choices = RuleChoices.of(self.blend, allowed_decisions(self.decision, few), self.approximation_.sum_to_one)
        all_choices = RuleChoices.of("auto", allowed_decisions("auto", few), choices.sum_to_one)
        rule = Rule(self._initial_blend(), choices.decisions[0], self._initial_balance(), choices.sum_to_one)
        self._rules = [rule]
        self._trend: Any = None
        self._row_trend = prediction = np.empty((0, self.n_outputs_))
        truth = target[asked.rows]
        folds = [self._evidence_outside(fold) for fold in asked.folds]
        if folds:
            evaluator = RuleEvaluator(
                truth,
                asked.weight,
                self._rarity[asked.rows],
                column_spread(target),
                np.unique(target, axis=0),
                training.group_codes[asked.rows],
                self.criterion == "squared_error",
            )
            queries = [
                FoldQueries(int(self._index.fold[fold.rows[0]]), fold.rows, fold.near.rows) for fold in asked.folds
            ]
            folds, chosen = choose_trend(self.trend, self._trend_rows(training), folds, queries, evaluator, all_choices)
            self._trend, self._row_trend = chosen.trend, chosen.out_of_fold
            self._rules, prediction = choose_rule(folds, evaluator, choices, self.balance, chosen.offset, chosen.pull)
            rule = self._rules[-1]
            if self.decision == "open":
                self._grid = learn_ends(truth, prediction, asked.weight)
                rule, prediction = replace(rule, decision="open"), move_outward(prediction, self._grid)
        self._take(rule)
        self.oob_rows_, self._oob_weight = asked.rows, asked.weight
        self.oob_prediction_ = self._shaped(prediction)
        self.oob_score_ = np.nan
        if len(truth) > 1:
            self.oob_score_ = float(r2_score(self._shaped(truth), self.oob_prediction_, sample_weight=asked.weight))
        self._learn_uncertainty(asked, folds, training, prediction)
        self._say(f"out-of-bag R2 {self.oob_score_:.3f} on {len(truth)} rows")

    @abstractmethod
    def _learn_uncertainty(
        self, oob: OutOfBag, folds: list[RuleInputs], training: Training, prediction: np.ndarray
    ) -> None:
        """Learn intervals and quantiles from out-of-bag rows and their predictions."""

    def _trend_rows(self, training: Training) -> TrendRows:
        """What a trend is learned from: rare targets weigh more."""
        index = self._index
        weight = trend_weights(training.weight, training.targets.share)
        return TrendRows(index.scaling.transform(training.X), index.label, weight / weight.mean(), index.fold)

    def _evidence_outside(self, fold: AnsweredFold) -> RuleInputs:
        """Coefficients and neighbours of a held-out fold, with rarities of targets outside it."""
        rarity = self._rarity_outside(int(self._index.fold[fold.rows[0]]))
        return RuleInputs(fold.alpha, fold.near.kernel, rarity[fold.near.rows], self._index.label[fold.near.rows])

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] if self.n_outputs_ == 1 and values.shape[1] == 1 else values

    def _coefficients(self, Q: np.ndarray, near: Neighborhoods) -> np.ndarray:
        """(n, M) coefficients of queries; the forest's kernel instead where predictions do not depend on them."""
        alpha = near.kernel
        some = np.flatnonzero(self._depends_on_coefficients(near))
        if len(some):
            alpha[some] = self._solve(Q[some], near.subset(some))["alpha"]
        return alpha

    def _depends_on_coefficients(self, near: Neighborhoods) -> np.ndarray:
        """(n,) False where the kernel has all weight, or where all neighbours have the target that is predicted then.

        The latter holds for weights that add up to one, of targets that no trend carries over.
        """
        rule = self._rule
        if rule.blend == 1.0:
            return np.zeros(len(near.size), dtype=bool)
        if not rule.sum_to_one or (self._trend is not None and max(rule.offset, rule.pull) > 0.0):
            return np.ones(len(near.size), dtype=bool)
        target = self._index.label[near.rows]
        inside = np.arange(target.shape[1]) < near.size[:, None]
        return np.asarray(np.any((target != target[:, :1]).any(axis=2) & inside, axis=1))

    def _decided(self, X: np.ndarray, near: Neighborhoods, alpha: np.ndarray) -> np.ndarray:
        """(n, n_outputs) predictions."""
        weights = self._rule.weights(alpha, near.kernel, self._rarity[near.rows])
        return self._rule.predict(weights, self._carried(X, near, self._rule), self._grid)

    def _carried(self, X: np.ndarray, near: Neighborhoods, rule: Rule) -> np.ndarray:
        """(n, M, n_outputs) targets of the neighbours, carried over to the queries."""
        trend = None
        if self._trend is not None:
            at_queries = self._trend.predict(self._index.scaling.transform(X))
            trend = trend_values(self._trend, at_queries, self._row_trend[near.rows])
        return rule.carried(self._index.label[near.rows], trend)

    def _take(self, rule: Rule) -> None:
        """Decide by a rule from now on."""
        self._rule = rule
        self.blend_, self.decision_, self.balance_ = rule.blend, rule.decision, rule.balance
        self.trend_ = None if self._trend is None else self._trend.kind
        self.trend_offset_, self.trend_pull_ = rule.offset, rule.pull
        if not DECISIONS[rule.decision].learns_ends:
            target = self._index.label
            self._grid = np.unique(target, axis=0) if DECISIONS[rule.decision].needs_grid else target[:1].copy()

    def _evidence(self, X: np.ndarray, near: Neighborhoods, answers: dict[str, np.ndarray]) -> dict[str, Any]:
        """Weights and targets of the rows, what these are carried over as, and the rule that decides by them."""
        weight = self._rule.weights(answers["alpha"], near.kernel, self._rarity[near.rows])
        task: dict[str, Any] = {"kind": "regression", "decision": self.decision_, "grid": self._grid}
        task |= {"uses_coefficients": self.blend_ < 1.0}
        along: dict[str, Any] = {}
        if self._trend is not None:
            along = {
                "carried": self._carried(X, near, self._rule),
                "extrapolated": np.any(self._extrapolation(X) > 0.0, axis=1),
            }
        return {**task, **along, "weight": weight, "label": self._index.label[near.rows]}

    def _left_out(self, why: Explanation, rows: np.ndarray) -> Explanation:
        """Targets carried along a trend that was learned without the fold of the row at hand."""
        return why if self._trend is None else replace(why, carried=self._carried_outside(self._rule, why, rows))

    def _carried_outside(self, rule: Rule, why: Explanation, rows: np.ndarray) -> np.ndarray:
        """(n, M, n_outputs) targets of the neighbours of training rows, carried over by a rule."""
        trend = None
        if self._trend is not None:
            trend = trend_values(self._trend, self._row_trend[rows], self._row_trend[why.rows])
        return rule.carried(why.label, trend)

    def _predict_oob(self, why: Explanation, rows: np.ndarray, balance: float) -> np.ndarray:
        """(n, n_outputs) predictions of training rows from their out-of-bag explanation, at another balance."""
        rule = replace(self._rule, balance=balance)
        kernel = Neighborhoods(why.rows, why.proximity, why.size, why.proximity).kernel
        weights = rule.weights(why.coefficient, kernel, self._rarity[why.rows])
        return rule.predict(weights, self._carried_outside(rule, why, rows), self._grid)

    def _extrapolation(self, X: np.ndarray) -> Any:
        """(n, n_outputs) distance of the trend at the queries from the range of its values at the training rows."""
        return 0.0 if self._trend is None else self._trend.extrapolation(self._index.scaling.transform(X))
