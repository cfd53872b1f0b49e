"""Decisions between classes: one matrix of gains, given by balance or costs or chosen on out-of-bag probabilities.

The class predicted is the one of largest ``probabilities @ gain``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._utils.choices import balanced_gain, best_class, class_factors
from .._utils.errors import DSNAError
from .measures import MEASURES, Measure, find_measure, of_rare, scored

_TINY = 1e-300
_FEW = 30.0  # rows of the rarest class at which counted and expected rows weigh the same
_RESAMPLES = 100
_GAIN = 1e-9  # what a step must add


class Answers(NamedTuple):
    """Out-of-bag probabilities of rows of known class."""

    proba: np.ndarray  # (n, n_classes) for the population of the training rows, learned without the row
    code: np.ndarray  # (n,)
    weight: np.ndarray  # (n,)
    fold: np.ndarray  # (n,)

    def part(self, some: np.ndarray) -> Answers:
        """Some of the rows."""
        return Answers(*(a[some] for a in self))


class Decision(NamedTuple):
    """A decision, and how good it is out of bag.

    Attributes
    ----------
    gain : (n_classes, n_classes) what it gains to predict the second class where the first is true.
    predicted : (n,) class of each out-of-bag row, by a gain that was chosen without its fold.
    score, error : the measure on these rows, and its standard error.
    """

    gain: np.ndarray
    predicted: np.ndarray
    score: float
    error: float


class Threshold(NamedTuple):
    """Of two classes, the rarer one and the probability from which on it is predicted.

    Examples
    --------
    >>> str(Threshold("yes", 0.05123))
    'yes from 0.0512 on'
    """

    of: Any
    least: float

    def __str__(self) -> str:
        return f"{self.of} from {self.least:.3g} on"

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {"class": self.of, "probability": self.least}


def threshold_of(gain: np.ndarray, prior: np.ndarray, classes: np.ndarray) -> Threshold | None:
    """The threshold that gains come to; None where there are more than two classes.

    Examples
    --------
    >>> import numpy as np
    >>> str(threshold_of(np.diag([0.05, 0.95]), np.array([0.95, 0.05]), np.array(["no", "yes"])))
    'yes from 0.05 on'
    """
    factor = class_factors(gain)
    if len(classes) != 2 or not factor.sum() > 0:
        return None
    rare = int(np.argmin(np.where(prior > 0, prior, np.inf)))
    return Threshold(classes[rare], float(factor[1 - rare] / factor.sum()))


def cost_gain(cost: Any, classes: np.ndarray) -> np.ndarray:
    """(n_classes, n_classes) gains of a matrix of costs, or of a function of a true and a predicted class.

    Examples
    --------
    >>> import numpy as np
    >>> cost_gain(lambda true, said: 0 if true == said else 5, np.array(["no", "yes"])).tolist()
    [[-0.0, -1.0], [-1.0, -0.0]]
    """
    if callable(cost):
        cost = [[cost(true, said) for said in classes.tolist()] for true in classes.tolist()]
    try:
        found = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    n = len(classes)
    if found.shape != (n, n) or not np.all(np.isfinite(found)) or np.abs(found).max() > 1e100:
        raise DSNAError(
            f"decision is to be a matrix of {n} x {n} finite costs, a row for each true class and a column for each "
            f"predicted one, sorted ({', '.join(str(c) for c in classes[:5])}{', ...' * (n > 5)}), or a function that "
            "gives such costs."
        )
    wrong = _nonsense(found)
    if wrong:
        raise DSNAError(
            f"The costs {wrong}. Give each mistake a cost of 0 or more, and right answers less, such as [[0, 1], "
            "[20, 0]] of two classes."
        )
    size = np.abs(found).max()
    return -found / (size if size > 0 else 1.0)


def _nonsense(cost: np.ndarray) -> str:
    """What is wrong with costs that cannot be meant; right answers may gain, which are costs below zero."""
    if np.any(cost[~np.eye(len(cost), dtype=bool)] < 0.0):
        return "of some mistakes are negative, as if they were gains"
    if np.all(cost == cost[:, :1]):
        return "are the same whatever is predicted, so that they cannot decide"
    return ""


def is_cost(decision: Any) -> bool:
    """Whether a decision is given by costs."""
    return not isinstance(decision, str) and find_measure(decision) is None


def learn_decision(
    decision: Any, balance: float, answers: Answers, classes: np.ndarray, prior: np.ndarray, votes: np.ndarray | None
) -> Decision:
    """The gain that a value of ``DSNAClassifier(decision=...)`` stands for, chosen on out-of-bag rows where it must be.

    ``votes`` (n, n_classes) are those of the paper's decision, which takes them in place of probabilities.
    """
    measure = find_measure(decision)
    if is_cost(decision):
        gain = cost_gain(decision, classes)
        return _given(gain, answers.proba, answers, lambda counts, rare: float(np.sum(counts * gain) / counts.sum()))
    if measure is None:
        gain = balanced_gain(prior, balance)
        return _given(gain, answers.proba if votes is None else votes, answers, MEASURES["balanced"])
    if len(answers.code) == 0:
        return Decision(balanced_gain(prior, 1.0), answers.code, np.nan, np.nan)
    search = _Search(measure, classes, prior)
    predicted = np.empty(len(answers.code), dtype=np.int64)
    for held_out in np.unique(answers.fold):
        side = answers.fold == held_out
        predicted[side] = best_class(answers.proba[side], search.best(answers.part(~side)))
    score, error = search.estimate(answers, predicted)
    return Decision(search.best(answers), predicted, score, error)


def unreached(
    decision: Any, gain: np.ndarray, answers: Answers, classes: np.ndarray, prior: np.ndarray
) -> float | None:
    """Of a wished recall or precision that no threshold reaches on out-of-bag rows, the most that one does; or None.

    ``gain`` is what was learned for the decision.
    """
    measure = find_measure(decision)
    if measure is None or measure.bounded is None or len(answers.code) == 0:
        return None
    return _Search(measure, classes, prior).unreached(answers, gain)


def _given(
    gain: np.ndarray, shares: np.ndarray, answers: Answers, value: Callable[[np.ndarray, int], float]
) -> Decision:
    """A decision in which nothing is chosen."""
    if len(answers.code) == 0:
        return Decision(gain, answers.code, np.nan, np.nan)
    predicted = best_class(shares, gain)
    return Decision(gain, predicted, *_with_error(answers, predicted, lambda counts: value(counts, 0), len(gain)))


def _counts(code: np.ndarray, predicted: np.ndarray, weight: np.ndarray, n_classes: int) -> np.ndarray:
    """(n_classes, n_classes) weights of the rows by class and prediction."""
    flat = np.bincount(code * n_classes + predicted, weights=weight, minlength=n_classes**2)
    return flat.reshape(n_classes, n_classes)


def _with_error(
    answers: Answers, predicted: np.ndarray, value: Callable[[np.ndarray], float], n_classes: int
) -> tuple[float, float]:
    """A function of the counts, and its standard error over resampled rows."""
    rng = np.random.RandomState(0)
    again = []
    for _ in range(_RESAMPLES):
        drawn = answers.weight * rng.poisson(1.0, len(predicted))
        if np.any(drawn > 0):
            again.append(value(_counts(answers.code, predicted, drawn, n_classes)))
    return value(_counts(answers.code, predicted, answers.weight, n_classes)), float(np.std(again)) if again else np.nan


class _Search:
    """Looks for factors of the classes' probabilities that serve a measure."""

    def __init__(self, measure: Measure, classes: np.ndarray, prior: np.ndarray):
        self.measure, self.classes, self.prior = measure, classes, prior
        self.rare = int(np.argmin(np.where(prior > 0, prior, np.inf)))
        # A bound is one of the rarest class alone. Scorers are slow: they are asked less often.
        self.moved = [self.rare] if measure.bounded else np.argsort(prior, kind="stable")[: max(1, len(prior) - 1)]
        quick = measure.scorer is None
        self.starts: tuple[float, ...] = (1.0, 0.0) if quick else (1.0,)
        self.passes, self.steps = (2, 25) if quick else (1, 12)

    def best(self, answers: Answers) -> np.ndarray:
        """(n_classes, n_classes) diagonal gains, found class by class from those for equal classes and from ones."""
        if len(answers.code) == 0:
            return balanced_gain(self.prior, 1.0)
        soft = self._expected(answers)
        logs = np.log(np.maximum(answers.proba, 1e-12))
        found = []
        for balance in self.starts:
            bias = np.log(np.maximum(np.diag(balanced_gain(self.prior, balance)), _TINY))
            value = self._value(np.argmax(logs + bias, axis=1), answers, soft)
            for _ in range(self.passes):
                for c in self.moved:
                    value, bias = self._step(int(c), value, bias, logs, answers, soft)
            found.append((value, bias - bias.max()))
        most = max(value for value, _ in found)
        return np.diag(np.exp(next(bias for value, bias in found if value >= most - _GAIN)))

    def _expected(self, answers: Answers) -> np.ndarray:
        """(n, n_classes) classes of the rows, drawn toward their probabilities where rows of the rarest are few."""
        own = np.eye(len(self.prior))[answers.code]
        few = _FEW / (_FEW + np.sum(answers.code == self.rare))
        return np.asarray(((1.0 - few) * own + few * answers.proba) * answers.weight[:, None])

    def _value(self, predicted: np.ndarray, answers: Answers, soft: np.ndarray) -> float:
        if self.measure.scorer is not None:
            named = self.classes[answers.code], self.classes[predicted]
            return scored(self.measure.scorer, *named, self.classes, answers.weight)
        n = len(self.prior)
        counts = np.stack([np.bincount(predicted, weights=column, minlength=n) for column in soft.T])
        return self.measure.reached(counts, self.rare)

    def _step(
        self, c: int, value: float, bias: np.ndarray, logs: np.ndarray, answers: Answers, soft: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """The best bias of one class; of values that are equally good, the middle one of the first such range."""
        other, needed, cuts = self._cuts(c, logs + bias, logs, answers)
        values = np.array([self._value(np.where(cut > needed, c, other), answers, soft) for cut in cuts])
        if values.max() <= value + _GAIN:
            return value, bias
        good = values >= values.max() - _GAIN
        first = int(np.argmax(good))
        last = first + int(np.argmin(np.append(good[first:], False))) - 1
        moved = bias.copy()
        moved[c] = cuts[(first + last) // 2]
        return float(values.max()), moved

    def _cuts(
        self, c: int, scores: np.ndarray, logs: np.ndarray, answers: Answers
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(n,) best other class of each row, (n,) the bias above which it becomes class c, and biases to try."""
        scores[:, c] = -np.inf
        other = np.argmax(scores, axis=1)
        needed = scores[np.arange(len(other)), other] - logs[:, c]
        own, rest = needed[answers.code == c], needed[answers.code != c]
        tried = [np.quantile(own, np.linspace(0.0, 1.0, self.steps))] if len(own) else []
        tried += [np.quantile(rest, np.logspace(-3.0, -0.05, self.steps))] if len(rest) else []
        cuts = np.unique(np.concatenate(tried))
        return other, needed, np.append((cuts[1:] + cuts[:-1]) / 2.0, cuts[-1] + 1e-6)

    def unreached(self, answers: Answers, gain: np.ndarray) -> float | None:
        """The most that a bounded measure comes to where rows are said to be rare, if less than the bound; or None."""
        assert self.measure.bounded is not None
        soft, logs, c = self._expected(answers), np.log(np.maximum(answers.proba, 1e-12)), self.rare
        bias = np.log(np.maximum(np.diag(gain), _TINY))
        other, needed, cuts = self._cuts(c, logs + bias, logs, answers)
        most = 0.0
        for cut in [bias[c], *cuts]:
            said = np.where(cut > needed, c, other)
            if np.any(said == c):
                counts = np.stack([np.bincount(said, weights=column, minlength=len(gain)) for column in soft.T])
                most = max(most, of_rare(counts, c)[self.measure.bounded])
        return None if most >= self.measure.least - 1e-9 else most

    def estimate(self, answers: Answers, predicted: np.ndarray) -> tuple[float, float]:
        """The measure of predictions, and its standard error."""
        measure = self.measure
        if measure.scorer is None:
            assert measure.of_counts is not None
            of_counts = measure.of_counts
            return _with_error(answers, predicted, lambda counts: of_counts(counts, self.rare), len(self.prior))
        truth, said = self.classes[answers.code], self.classes[predicted]
        rng = np.random.RandomState(0)
        drawn = [rng.randint(len(said), size=len(said)) for _ in range(_RESAMPLES // 5)]
        again = [scored(measure.scorer, truth[i], said[i], self.classes, answers.weight[i]) for i in drawn]
        return scored(measure.scorer, truth, said, self.classes, answers.weight), float(np.std(again))


def widened_gain(gain: np.ndarray, old: np.ndarray, prior: np.ndarray, is_cost: bool) -> np.ndarray:
    """(n_classes, n_classes) gains where classes were added, ``old`` (n_old,) being the places of the known ones.

    A chosen factor of an added class is to its share as, on average, those of the others are to theirs; an added class
    costs what mistakes cost on average.
    """
    n, known = len(prior), len(gain)
    wide = np.zeros((n, n))
    if is_cost and known > 1:
        wide[:] = gain[~np.eye(known, dtype=bool)].mean()
        np.fill_diagonal(wide, 0.0)
    elif not is_cost:
        factor = np.maximum(np.diag(gain), _TINY) * np.maximum(prior[old], _TINY)
        np.fill_diagonal(wide, np.exp(np.log(factor).mean()) / np.maximum(prior, _TINY))
    wide[np.ix_(old, old)] = gain
    return np.asarray(wide / max(np.abs(wide).max(), _TINY))
