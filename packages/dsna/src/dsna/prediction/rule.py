"""The rule that turns coefficients into a regression prediction, and its choice on out-of-bag rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .._utils.invariants import Checked, Choice, Number
from .decision import DECISIONS, allowed_decisions, decide, target_weights

_BLENDS = (0.0, 0.25, 0.5, 0.75, 1.0)
_BALANCES = tuple(step / 20 for step in range(21))
# Factors by which balance="auto" may raise the mean absolute and the root mean squared error.
_MAX_ERROR_RATIOS = np.array([1.10, 1.03])
_TIE = 1e-9  # errors, in units of the spread, that differ by less are equal


@dataclass(frozen=True)
class Rule(Checked):
    """Rule by which the coefficients of a query become its prediction.

    Parameters
    ----------
    blend : float
        Share of the forest's kernel in the weights; the rest comes from the coefficients.
    decision : str
        A name in :data:`dsna.prediction.decision.DECISIONS`.
    balance : float
        Extra weight of rare targets, from 0 (none) to 1.
    sum_to_one : bool, default=True
        Whether weights add up to one.
    offset : float, default=0.0
        Share of the trend's difference between query and neighbour that is added to the neighbour's target.
    pull : float, default=0.0
        Share by which neighbours' targets are replaced with the trend at the query. It falls to 0 as the balance rises
        to 1, and toward the ends of the trend.
    """

    FIELDS = {
        "blend": Number(0.0, 1.0),
        "decision": Choice(tuple(DECISIONS)),
        "balance": Number(0.0, 1.0),
        "sum_to_one": Choice((True, False)),
        "offset": Number(0.0, 1.0),
        "pull": Number(0.0, 1.0),
    }

    blend: float
    decision: str
    balance: float
    sum_to_one: bool = True
    offset: float = 0.0
    pull: float = 0.0

    def weights(self, alpha: np.ndarray, kernel: np.ndarray, rarity: np.ndarray) -> np.ndarray:
        """(n, M) weights of the neighbours' targets; see :func:`dsna.prediction.decision.target_weights`."""
        return target_weights(alpha, kernel, rarity, self.blend, self.balance, self.sum_to_one)

    def carried(self, targets: np.ndarray, trend: TrendValues | None) -> np.ndarray:
        """(n, M, q) targets of the neighbours, carried over to the query along a trend."""
        if trend is None or self.offset == self.pull == 0.0:
            return targets
        at_queries = trend.at_queries[:, None]
        pull = self.pull * (1.0 - self.balance) * trend.fade[:, None]
        carried = pull * at_queries + (1.0 - pull) * (targets + self.offset * (at_queries - trend.at_neighbors))
        return np.asarray(np.clip(carried, *trend.bounds))

    def predict(self, weights: np.ndarray, targets: np.ndarray, grid: np.ndarray) -> np.ndarray:
        """(n, q) predictions from weights (n, M) of targets (n, M, q)."""
        return decide(weights, targets, self.decision, grid)


class TrendValues(NamedTuple):
    """A trend at n queries and at their neighbours."""

    at_queries: np.ndarray  # (n, q)
    at_neighbors: np.ndarray  # (n, M, q)
    fade: np.ndarray  # (n, q) factor of the pull, below 1 toward the ends of the trend
    bounds: np.ndarray  # (2, q) limits at which carried targets are clipped


class RuleInputs(NamedTuple):
    """Queries with the coefficients and targets of their neighbours: the inputs of a rule."""

    alpha: np.ndarray  # (n, M) coefficients
    kernel: np.ndarray  # (n, M) the forest's kernel
    rarity: np.ndarray  # (n, M) rarity of the neighbours' targets; out of bag, learned without the fold
    targets: np.ndarray  # (n, M, q) targets of the neighbours
    trend: TrendValues | None = None  # out of bag, learned without the fold


class RuleEvaluator(NamedTuple):
    """Truth and weights of the out-of-bag queries of all folds, with which rules are compared."""

    truth: np.ndarray  # (n, q)
    weight: np.ndarray  # (n,)
    rarity: np.ndarray  # (n,) of the queries' own targets
    spread: np.ndarray  # (q,) unit of each output
    grid: np.ndarray  # (k, q) distinct training targets
    group: np.ndarray  # (n,) group of each query; errors within a group are correlated
    squared: bool = False  # whether errors are squared or absolute

    def losses(self, prediction: np.ndarray) -> np.ndarray:
        """(n,) absolute or squared errors in units of the spread."""
        error = np.abs(prediction - self.truth) / self.spread
        return np.asarray((error**2 if self.squared else error).mean(axis=1))

    def improvement(self, before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
        """Decrease in the mean loss from the predictions before to those after, and its standard error by group."""
        decrease = self.losses(before) - self.losses(after)
        mean = float(np.average(decrease, weights=self.weight))
        deviations = np.bincount(self.group, weights=self.weight * (decrease - mean)) / self.weight.sum()
        return mean, float(np.sqrt(np.sum(deviations**2)))

    def error(self, prediction: np.ndarray, balance: float) -> float:
        """Mean absolute or root mean squared error, in which rare targets weigh more as ``balance`` grows."""
        mean = float(np.average(self.losses(prediction), weights=self.weight * self.rarity**balance))
        return float(np.sqrt(mean)) if self.squared else mean

    def overall_errors(self, prediction: np.ndarray) -> np.ndarray:
        """Mean absolute and root mean squared error at balance 0."""
        return np.array([self._replace(squared=squared).error(prediction, 0.0) for squared in (False, True)])


class RuleChoices(NamedTuple):
    """Blends and decisions among which a rule is chosen."""

    blends: tuple[float, ...]
    decisions: tuple[str, ...]
    sum_to_one: bool

    @classmethod
    def of(cls, blend: float | str, decisions: Sequence[str], sum_to_one: bool) -> RuleChoices:
        """Choices that a value of ``DSNARegressor(blend=...)`` allows."""
        return cls(_BLENDS if isinstance(blend, str) else (float(blend),), tuple(decisions), sum_to_one)

    def best(
        self,
        folds: Sequence[RuleInputs],
        evaluator: RuleEvaluator,
        balance: float,
        offset: float = 0.0,
        pull: float = 0.0,
    ) -> tuple[Rule, np.ndarray]:
        """Rule of smallest error at a balance, and its predictions; the first of equally good ones."""
        first = Rule(self.blends[0], self.decisions[0], balance, self.sum_to_one, offset, pull)
        targets = [first.carried(fold.targets, fold.trend) for fold in folds]  # the same for all blends and decisions
        candidates = []
        for blend in self.blends:
            weights = [replace(first, blend=blend).weights(fold.alpha, fold.kernel, fold.rarity) for fold in folds]
            for decision in self.decisions:
                rule = replace(first, blend=blend, decision=decision)
                predictions = [
                    rule.predict(fold_weights, fold_targets, evaluator.grid)
                    for fold_weights, fold_targets in zip(weights, targets, strict=True)
                ]
                candidates.append((rule, np.concatenate(predictions)))
        losses = [evaluator.error(prediction, balance) for _, prediction in candidates]
        return next(candidate for candidate, loss in zip(candidates, losses, strict=True) if loss <= min(losses) + _TIE)


def choose_rule(
    folds: Sequence[RuleInputs],
    evaluator: RuleEvaluator,
    choices: RuleChoices,
    balance: float | str,
    offset: float = 0.0,
    pull: float = 0.0,
) -> tuple[list[Rule], np.ndarray]:
    """Best rules on out-of-bag rows, and the predictions of the last one.

    For a given balance there is one rule, with the blend and decision of smallest error at that balance. The balance
    "auto" is the largest at which the errors over all rows, each with its own best blend and decision, stay within
    fixed factors of those at balance 0; the rule at balance 0 then comes first. So a balance gives the same model
    whether it was chosen or set.
    """

    def best(at_balance: float) -> tuple[Rule, np.ndarray]:
        return choices.best(folds, evaluator, at_balance, offset, pull)

    if not isinstance(balance, str):
        rule, prediction = best(float(balance))
        return [rule], prediction
    unbalanced, prediction = best(0.0)
    rule = unbalanced
    max_errors = _MAX_ERROR_RATIOS * evaluator.overall_errors(prediction) + _TIE
    low, high = 0, len(_BALANCES)
    while high - low > 1:
        middle = (low + high) // 2
        balanced, balanced_prediction = best(_BALANCES[middle])
        if np.all(evaluator.overall_errors(balanced_prediction) <= max_errors):
            low, rule, prediction = middle, balanced, balanced_prediction
        else:
            high = middle
    return ([unbalanced] if rule == unbalanced else [unbalanced, rule]), prediction


def rule_for_settings(
    current: Rule, learned: Sequence[Rule], *, blend: float | str, decision: str, balance: float, sum_to_one: bool
) -> Rule:
    """Rule of a fitted model under other settings; "auto" keeps what was learned.

    At a balance for which ``fit`` has chosen a blend and a decision, "auto" means these, otherwise those in use.

    Examples
    --------
    >>> current, unbalanced = Rule(0.5, "median", 0.3, True), Rule(0.25, "mean", 0.0, True)
    >>> [
    ...     (rule.blend, rule.decision)
    ...     for rule in (
    ...         rule_for_settings(
    ...             current, [unbalanced, current], blend="auto", decision="auto", balance=balance, sum_to_one=True
    ...         )
    ...         for balance in (0.0, 1.0)
    ...     )
    ... ]
    [(0.25, 'mean'), (0.5, 'median')]
    """
    base_rule = next((rule for rule in (current, *learned) if rule.balance == balance), current)
    return Rule(
        base_rule.blend if isinstance(blend, str) else float(blend),
        base_rule.decision if decision == "auto" else allowed_decisions(decision, True)[0],
        balance,
        sum_to_one,
        current.offset,
        current.pull,
    )
