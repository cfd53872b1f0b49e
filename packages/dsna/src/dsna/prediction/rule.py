"""The rule that turns coefficients into a regression prediction, and its choice out of bag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .._utils.invariants import Checked, Choice, Number
from .decision import DECISIONS, candidates, decide, target_weights

_BLENDS = (0.0, 0.25, 0.5, 0.75, 1.0)
_BALANCES = tuple(step / 20 for step in range(21))
# What the balance "auto" may spend on rare targets: factors of the mean and of the root mean squared error.
_SPEND = np.array([1.10, 1.03])
_TIE = 1e-9  # errors, in units of the spread, that differ by less are equal


@dataclass(frozen=True)
class Rule(Checked):
    """How the coefficients of a query become its prediction.

    Parameters
    ----------
    blend : float
        Share of the forest's kernel in the weights; the coefficients have the rest.
    decision : str
        A name in :data:`dsna.prediction.decision.DECISIONS`.
    balance : float
        How much rare targets gain, from 0 to 1.
    sum_to_one : bool, default=True
        Whether weights add up to one.
    offset : float, default=0.0
        Share of the trend's difference between query and neighbour that is added to the neighbour's target.
    pull : float, default=0.0
        Share of the trend itself, at balance 0 and amid its values at the training rows; none is left at balance 1, and
        none toward its ends.
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

    def carried(self, targets: np.ndarray, along: Along | None) -> np.ndarray:
        """(n, M, q) targets of the neighbours as they are carried over to the query along a trend."""
        if along is None or self.offset == self.pull == 0.0:
            return targets
        here = along.here[:, None]
        pull = self.pull * (1.0 - self.balance) * along.hold[:, None]
        carried = pull * here + (1.0 - pull) * (targets + self.offset * (here - along.there))
        return np.asarray(np.clip(carried, *along.bounds))

    def predict(self, weights: np.ndarray, targets: np.ndarray, grid: np.ndarray) -> np.ndarray:
        """(n, q) predictions from weights (n, M) of targets (n, M, q)."""
        return decide(weights, targets, self.decision, grid)


class Along(NamedTuple):
    """A trend at n queries and at their neighbours."""

    here: np.ndarray  # (n, q)
    there: np.ndarray  # (n, M, q)
    hold: np.ndarray  # (n, q) share of the pull that is left toward the ends of the trend
    bounds: np.ndarray  # (2, q) carried targets beyond these are cut off


class Answered(NamedTuple):
    """Out-of-bag queries of one fold: the inputs of a rule."""

    alpha: np.ndarray  # (n, M) coefficients
    kernel: np.ndarray  # (n, M) the forest's kernel
    rarity: np.ndarray  # (n, M) rarity of the neighbours' targets, known without the fold
    targets: np.ndarray  # (n, M, q) targets of the neighbours
    along: Along | None = None  # the trend, learned without the fold


class Judge(NamedTuple):
    """What the predictions of a rule are compared with; n queries of all folds."""

    truth: np.ndarray  # (n, q)
    weight: np.ndarray  # (n,)
    rarity: np.ndarray  # (n,) of the queries' own targets
    spread: np.ndarray  # (q,) unit of each output
    grid: np.ndarray  # targets seen
    group: np.ndarray  # (n,) queries of one group are alike
    squared: bool = False  # whether squared errors count, or absolute ones

    def losses(self, prediction: np.ndarray) -> np.ndarray:
        """(n,) absolute or squared errors in units of the spread."""
        away = np.abs(prediction - self.truth) / self.spread
        return np.asarray((away**2 if self.squared else away).mean(axis=1))

    def gain(self, before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
        """By how much the mean error of predictions falls, and the standard error of that, group by group."""
        less = self.losses(before) - self.losses(after)
        mean = float(np.average(less, weights=self.weight))
        parts = np.bincount(self.group, weights=self.weight * (less - mean)) / self.weight.sum()
        return mean, float(np.sqrt(np.sum(parts**2)))

    def error(self, prediction: np.ndarray, balance: float) -> float:
        """Mean absolute, or root mean squared, error in which rare targets weigh as ``balance`` says."""
        mean = float(np.average(self.losses(prediction), weights=self.weight * self.rarity**balance))
        return float(np.sqrt(mean)) if self.squared else mean

    def overall(self, prediction: np.ndarray) -> np.ndarray:
        """Mean absolute and root mean squared error, all rows alike."""
        return np.array([self._replace(squared=squared).error(prediction, 0.0) for squared in (False, True)])


class Choices(NamedTuple):
    """What a rule may be chosen from."""

    blends: tuple[float, ...]
    decisions: tuple[str, ...]
    sum_to_one: bool

    @classmethod
    def of(cls, blend: float | str, decisions: Sequence[str], sum_to_one: bool) -> Choices:
        """The choices that a value of ``DSNARegressor(blend=...)`` leaves."""
        return cls(_BLENDS if isinstance(blend, str) else (float(blend),), tuple(decisions), sum_to_one)

    def best(
        self, folds: Sequence[Answered], judge: Judge, balance: float, offset: float = 0.0, pull: float = 0.0
    ) -> tuple[Rule, np.ndarray]:
        """The rule of smallest error at a balance, and its predictions; of equals, the first."""
        plain = Rule(self.blends[0], self.decisions[0], balance, self.sum_to_one, offset, pull)
        carried = [plain.carried(f.targets, f.along) for f in folds]  # whatever the blend and the decision
        found = []
        for blend in self.blends:
            weights = [replace(plain, blend=blend).weights(f.alpha, f.kernel, f.rarity) for f in folds]
            for decision in self.decisions:
                rule = replace(plain, blend=blend, decision=decision)
                parts = [rule.predict(*one, judge.grid) for one in zip(weights, carried, strict=True)]
                found.append((rule, np.concatenate(parts)))
        losses = [judge.error(prediction, balance) for _, prediction in found]
        return next(one for one, loss in zip(found, losses, strict=True) if loss <= min(losses) + _TIE)


def choose_rule(
    folds: Sequence[Answered],
    judge: Judge,
    choices: Choices,
    balance: float | str,
    offset: float = 0.0,
    pull: float = 0.0,
) -> tuple[list[Rule], np.ndarray]:
    """The best rule out of bag for each balance that matters, and the predictions of the last of them.

    For a given balance, blend and decision are those of smallest error at that balance. The balance "auto" is the
    largest at which the errors over all rows, each with its own best blend and decision, stay within what it may spend;
    so a balance that was chosen and the same balance given make the same model.
    """

    def best(at: float) -> tuple[Rule, np.ndarray]:
        return choices.best(folds, judge, at, offset, pull)

    kept = best(0.0 if isinstance(balance, str) else float(balance))
    plain = kept[0]
    if not isinstance(balance, str):
        return [plain], kept[1]
    bound = _SPEND * judge.overall(kept[1]) + _TIE
    low, high = 0, len(_BALANCES)
    while high - low > 1:
        middle = (low + high) // 2
        other = best(_BALANCES[middle])
        if np.all(judge.overall(other[1]) <= bound):
            low, kept = middle, other
        else:
            high = middle
    return ([plain] if kept[0] == plain else [plain, kept[0]]), kept[1]


def rule_with(
    used: Rule, known: Sequence[Rule], *, blend: float | str, decision: str, balance: float, sum_to_one: bool
) -> Rule:
    """The rule of a fitted model under other settings; what they leave "auto" stays as it is.

    A balance for which the fit has chosen blend and decision brings these along, any other keeps those in use.

    Examples
    --------
    >>> used, plain = Rule(0.5, "median", 0.3, True), Rule(0.25, "mean", 0.0, True)
    >>> [
    ...     (rule.blend, rule.decision)
    ...     for rule in (
    ...         rule_with(used, [plain, used], blend="auto", decision="auto", balance=balance, sum_to_one=True)
    ...         for balance in (0.0, 1.0)
    ...     )
    ... ]
    [(0.25, 'mean'), (0.5, 'median')]
    """
    kept = next((rule for rule in (used, *known) if rule.balance == balance), used)
    return Rule(
        kept.blend if isinstance(blend, str) else float(blend),
        kept.decision if decision == "auto" else candidates(decision, True)[0],
        balance,
        sum_to_one,
        used.offset,
        used.pull,
    )
