"""The rule that turns coefficients into a regression prediction, and its choice out of bag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._utils.errors import DSNAError
from .._utils.invariants import Checked, Choice, Number
from .decision import DECISIONS, candidates, decide, target_weights

_BLENDS = (0.0, 0.25, 0.5, 0.75, 1.0)
_BALANCES = tuple(step / 20 for step in range(21))
# What the balance "auto" may spend on rare targets: factors of the mean and of the root mean squared error.
_SPEND = np.array([1.15, 1.08])
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
    """

    FIELDS = {
        "blend": Number(0.0, 1.0),
        "decision": Choice(tuple(DECISIONS)),
        "balance": Number(0.0, 1.0),
        "sum_to_one": Choice((True, False)),
    }

    blend: float
    decision: str
    balance: float
    sum_to_one: bool = True

    def weights(self, alpha: np.ndarray, kernel: np.ndarray, rarity: np.ndarray) -> np.ndarray:
        """(n, M) weights of the neighbours' targets; see :func:`dsna.prediction.decision.target_weights`."""
        return target_weights(alpha, kernel, rarity, self.blend, self.balance, self.sum_to_one)

    def predict(self, weights: np.ndarray, targets: np.ndarray, grid: np.ndarray) -> np.ndarray:
        """(n, q) predictions from weights (n, M) of targets (n, M, q)."""
        return decide(weights, targets, self.decision, grid)


class Answered(NamedTuple):
    """Out-of-bag queries of one fold: the inputs of a rule."""

    alpha: np.ndarray  # (n, M) coefficients
    kernel: np.ndarray  # (n, M) the forest's kernel
    rarity: np.ndarray  # (n, M) rarity of the neighbours' targets, known without the fold
    targets: np.ndarray  # (n, M, q) targets of the neighbours


class Judge(NamedTuple):
    """What the predictions of a rule are compared with; n queries of all folds."""

    truth: np.ndarray  # (n, q)
    weight: np.ndarray  # (n,)
    rarity: np.ndarray  # (n,) of the queries' own targets
    spread: np.ndarray  # (q,) unit of each output
    grid: np.ndarray  # targets seen

    def error(self, prediction: np.ndarray, balance: float) -> float:
        """Mean absolute error in units of the spread, in which rare targets weigh as ``balance`` says."""
        off = (np.abs(prediction - self.truth) / self.spread).mean(axis=1)
        return float(np.average(off, weights=self.weight * self.rarity**balance))

    def overall(self, prediction: np.ndarray) -> np.ndarray:
        """Mean absolute and root mean squared error, all rows alike."""
        squares = ((prediction - self.truth) / self.spread) ** 2
        return np.array([self.error(prediction, 0.0), np.sqrt(np.average(squares.mean(axis=1), weights=self.weight))])


def predictions(rule: Rule, folds: Sequence[Answered], grid: np.ndarray) -> np.ndarray:
    """Out-of-bag predictions of a rule, fold by fold."""
    return np.concatenate([rule.predict(rule.weights(f.alpha, f.kernel, f.rarity), f.targets, grid) for f in folds])


def choose_rule(
    folds: Sequence[Answered],
    judge: Judge,
    blend: float | str,
    balance: float | str,
    decisions: Sequence[str],
    sum_to_one: bool,
) -> tuple[list[Rule], np.ndarray]:
    """The best rule out of bag for each balance that matters, and the predictions of the last of them.

    For a given balance, blend and decision are those of smallest error at that balance. The balance "auto" is the
    largest at which the errors over all rows, each with its own best blend and decision, stay within what it may spend;
    so a balance that was chosen and the same balance given make the same model.
    """
    blends = _BLENDS if isinstance(blend, str) else (float(blend),)

    def best(at: float) -> tuple[Rule, np.ndarray]:
        rules = [Rule(share, decision, at, sum_to_one) for share in blends for decision in decisions]
        found = [predictions(rule, folds, judge.grid) for rule in rules]
        losses = [judge.error(prediction, at) for prediction in found]
        first = next(i for i, loss in enumerate(losses) if loss <= min(losses) + _TIE)
        return rules[first], found[first]

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


def given_rule(blend: float | str, decision: str, balance: float, sum_to_one: bool) -> Rule | None:
    """The rule that parameters state without a choice, or None where they leave one."""
    if isinstance(blend, str) or decision == "auto":
        return None
    return Rule(float(blend), candidates(decision, True)[0], balance, sum_to_one)


def known_rule(rules: Sequence[Rule], balance: float) -> Rule:
    """The rule that was chosen for a balance."""
    for rule in rules:
        if rule.balance == balance:
            return rule
    raise DSNAError(f"balance={balance} needs a choice of blend and decision: give both, or call fit.")
