"""Decisions between classes: a matrix of gains, given by balance or costs, or chosen on out-of-bag probabilities.

The predicted class is the one of largest ``probabilities @ gain``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._utils.choices import balanced_gain, best_class, class_factors
from .._utils.errors import DSNAError
from .measures import MEASURES, Measure, find_measure, rare_class_scores, score_predictions

_TINY = 1e-300
_PRIOR_COUNT = 30.0  # number of rows of the rarest class at which true classes and probabilities have equal weights
_RESAMPLES = 100
_MIN_GAIN = 1e-9  # smallest improvement of a step


class OutOfBagProba(NamedTuple):
    """Out-of-bag probabilities of rows of known class."""

    proba: np.ndarray  # (n, n_classes) for the population of the training rows, learned without the row
    code: np.ndarray  # (n,) class numbers
    weight: np.ndarray  # (n,)
    fold: np.ndarray  # (n,)

    def subset(self, rows: np.ndarray) -> OutOfBagProba:
        """Data of the given rows (a mask or row numbers)."""
        return OutOfBagProba(*(values[rows] for values in self))


class ClassDecision(NamedTuple):
    """A decision with its out-of-bag score.

    Attributes
    ----------
    gain : (n_classes, n_classes) gain of predicting the second class where the first is true.
    predicted : (n,) class of each out-of-bag row, by a gain that was chosen without its fold.
    score, error : the measure on these rows, and its standard error.
    """

    gain: np.ndarray
    predicted: np.ndarray
    score: float
    error: float


class Threshold(NamedTuple):
    """The rarer of two classes, and the probability from which on it is predicted.

    Examples
    --------
    >>> str(Threshold("yes", 0.05123))
    'yes from 0.0512 on'
    """

    rare_class: Any
    probability: float

    def __str__(self) -> str:
        return f"{self.rare_class} from {self.probability:.3g} on"

    def as_json(self) -> dict[str, Any]:
        """Class and probability as a dictionary."""
        return {"class": self.rare_class, "probability": self.probability}


def threshold_of(gain: np.ndarray, prior: np.ndarray, classes: np.ndarray) -> Threshold | None:
    """Threshold that is equivalent to gains of two classes; None for more classes.

    Examples
    --------
    >>> import numpy as np
    >>> str(threshold_of(np.diag([0.05, 0.95]), np.array([0.95, 0.05]), np.array(["no", "yes"])))
    'yes from 0.05 on'
    """
    factor = class_factors(gain)
    if len(classes) != 2 or not factor.sum() > 0:
        return None
    rare_class = _rarest(prior)
    return Threshold(classes[rare_class], float(factor[1 - rare_class] / factor.sum()))


def cost_gain(cost: Any, classes: np.ndarray) -> np.ndarray:
    """(n_classes, n_classes) gains from a cost matrix, or from a function of a true and a predicted class.

    Examples
    --------
    >>> import numpy as np
    >>> cost_gain(lambda true, predicted: 0 if true == predicted else 5, np.array(["no", "yes"])).tolist()
    [[-0.0, -1.0], [-1.0, -0.0]]
    """
    if callable(cost):
        cost = [[cost(true, predicted) for predicted in classes.tolist()] for true in classes.tolist()]
    try:
        costs = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError):
        costs = np.empty(0)
    n = len(classes)
    if costs.shape != (n, n) or not np.all(np.isfinite(costs)) or np.abs(costs).max() > 1e100:
        raise DSNAError(
            f"decision must be a matrix of {n} x {n} finite costs, with a row for each true class and a column for "
            f"each predicted class, both sorted ({', '.join(str(c) for c in classes[:5])}{', ...' * (n > 5)}), or a "
            "function that returns such costs."
        )
    problem = _cost_problem(costs)
    if problem:
        raise DSNAError(
            f"The costs {problem}. Give each mistake a cost of 0 or more, and each right prediction a smaller one, "
            "such as [[0, 1], [20, 0]] for two classes."
        )
    scale = np.abs(costs).max()
    return -costs / (scale if scale > 0 else 1.0)


def _cost_problem(costs: np.ndarray) -> str:
    """Reason why costs are implausible, or an empty string; right predictions may have negative costs (gains)."""
    if np.any(costs[~np.eye(len(costs), dtype=bool)] < 0.0):
        return "of some mistakes are negative, as if they were gains"
    if np.all(costs == costs[:, :1]):
        return "do not depend on the prediction, so they cannot decide"
    return ""


def is_cost(decision: Any) -> bool:
    """Whether a decision is given by costs."""
    return not isinstance(decision, str) and find_measure(decision) is None


def learn_decision(
    decision: Any,
    balance: float,
    oob: OutOfBagProba,
    classes: np.ndarray,
    prior: np.ndarray,
    votes: np.ndarray | None,
) -> ClassDecision:
    """Gain for a value of ``DSNAClassifier(decision=...)``, chosen on out-of-bag rows where it maximises a measure.

    ``votes`` (n, n_classes) replace the probabilities in the paper's decision; None for other decisions.
    """
    measure = find_measure(decision)
    if is_cost(decision):
        gain = cost_gain(decision, classes)
        return _fixed_decision(
            gain, oob.proba, oob, lambda counts, rare_class: float(np.sum(counts * gain) / counts.sum())
        )
    if measure is None:
        gain = balanced_gain(prior, balance)
        return _fixed_decision(gain, oob.proba if votes is None else votes, oob, MEASURES["balanced"])
    if len(oob.code) == 0:
        return ClassDecision(balanced_gain(prior, 1.0), oob.code, np.nan, np.nan)
    search = _GainSearch(measure, classes, prior)
    predicted = np.empty(len(oob.code), dtype=np.int64)
    for held_out in np.unique(oob.fold):
        in_fold = oob.fold == held_out
        predicted[in_fold] = best_class(oob.proba[in_fold], search.best_gain(oob.subset(~in_fold)))
    score, error = search.estimate(oob, predicted)
    return ClassDecision(search.best_gain(oob), predicted, score, error)


def best_if_unreachable(
    decision: Any, gain: np.ndarray, oob: OutOfBagProba, classes: np.ndarray, prior: np.ndarray
) -> float | None:
    """Largest out-of-bag recall or precision of any threshold, if below the bound that ``decision`` sets.

    None where the bound is reachable, or where there is no bound. ``gain`` is the one learned for the decision.
    """
    measure = find_measure(decision)
    if measure is None or measure.bounded is None or len(oob.code) == 0:
        return None
    return _GainSearch(measure, classes, prior).best_if_unreachable(oob, gain)


def _fixed_decision(
    gain: np.ndarray, shares: np.ndarray, oob: OutOfBagProba, measure: Callable[[np.ndarray, int], float]
) -> ClassDecision:
    """Decision by a given gain, with its out-of-bag score."""
    if len(oob.code) == 0:
        return ClassDecision(gain, oob.code, np.nan, np.nan)
    predicted = best_class(shares, gain)
    score, error = _score_with_error(oob, predicted, lambda counts: measure(counts, 0), len(gain))
    return ClassDecision(gain, predicted, score, error)


def _rarest(prior: np.ndarray) -> int:
    """Number of the rarest class that has training weight."""
    return int(np.argmin(np.where(prior > 0, prior, np.inf)))


def _confusion(code: np.ndarray, predicted: np.ndarray, weight: np.ndarray, n_classes: int) -> np.ndarray:
    """(n_classes, n_classes) weighted confusion matrix."""
    flat = np.bincount(code * n_classes + predicted, weights=weight, minlength=n_classes**2)
    return flat.reshape(n_classes, n_classes)


def _score_with_error(
    oob: OutOfBagProba, predicted: np.ndarray, measure: Callable[[np.ndarray], float], n_classes: int
) -> tuple[float, float]:
    """Measure of a confusion matrix, and its standard error by bootstrap."""
    rng = np.random.RandomState(0)
    resampled = []
    for _ in range(_RESAMPLES):
        weight = oob.weight * rng.poisson(1.0, len(predicted))
        if np.any(weight > 0):
            resampled.append(measure(_confusion(oob.code, predicted, weight, n_classes)))
    score = measure(_confusion(oob.code, predicted, oob.weight, n_classes))
    return score, float(np.std(resampled)) if resampled else np.nan


class _GainSearch:
    """Search for factors of the classes' probabilities that maximise a measure."""

    def __init__(self, measure: Measure, classes: np.ndarray, prior: np.ndarray):
        self.measure, self.classes, self.prior = measure, classes, prior
        self.rare_class = _rarest(prior)
        # Bounds concern the rarest class alone. Scorers are slow: they are called less often.
        rarest_first = np.argsort(prior, kind="stable")
        self.adjusted = [self.rare_class] if measure.bounded else rarest_first[: max(1, len(prior) - 1)]
        fast = measure.scorer is None
        self.start_balances: tuple[float, ...] = (1.0, 0.0) if fast else (1.0,)
        self.n_passes, self.n_steps = (2, 25) if fast else (1, 12)

    def best_gain(self, oob: OutOfBagProba) -> np.ndarray:
        """(n_classes, n_classes) diagonal gains, searched class by class from those of balance 1 and balance 0."""
        if len(oob.code) == 0:
            return balanced_gain(self.prior, 1.0)
        expected = self._expected_classes(oob)
        log_proba = np.log(np.maximum(oob.proba, 1e-12))
        candidates = []
        for balance in self.start_balances:
            bias = np.log(np.maximum(np.diag(balanced_gain(self.prior, balance)), _TINY))
            value = self._objective(np.argmax(log_proba + bias, axis=1), oob, expected)
            for _ in range(self.n_passes):
                for c in self.adjusted:
                    value, bias = self._step(int(c), value, bias, log_proba, oob, expected)
            candidates.append((value, bias - bias.max()))
        best_value = max(value for value, _ in candidates)
        return np.diag(np.exp(next(bias for value, bias in candidates if value >= best_value - _MIN_GAIN)))

    def _expected_classes(self, oob: OutOfBagProba) -> np.ndarray:
        """(n, n_classes) weights of the rows by class: true classes, mixed with probabilities if rare rows are few."""
        one_hot = np.eye(len(self.prior))[oob.code]
        share = _PRIOR_COUNT / (_PRIOR_COUNT + np.sum(oob.code == self.rare_class))
        return np.asarray(((1.0 - share) * one_hot + share * oob.proba) * oob.weight[:, None])

    def _expected_confusion(self, predicted: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """(n_classes, n_classes) confusion matrix of expected classes and predictions."""
        n_classes = expected.shape[1]
        return np.stack([np.bincount(predicted, weights=weight, minlength=n_classes) for weight in expected.T])

    def _objective(self, predicted: np.ndarray, oob: OutOfBagProba, expected: np.ndarray) -> float:
        if self.measure.scorer is not None:
            labels = self.classes[oob.code], self.classes[predicted]
            return score_predictions(self.measure.scorer, *labels, self.classes, oob.weight)
        return self.measure.objective(self._expected_confusion(predicted, expected), self.rare_class)

    def _step(
        self, c: int, value: float, bias: np.ndarray, log_proba: np.ndarray, oob: OutOfBagProba, expected: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Best bias of one class: the middle of the first range of equally good ones."""
        other, crossing, cuts = self._cuts(c, log_proba + bias, log_proba, oob)
        values = np.array([self._objective(np.where(cut > crossing, c, other), oob, expected) for cut in cuts])
        if values.max() <= value + _MIN_GAIN:
            return value, bias
        is_best = values >= values.max() - _MIN_GAIN
        first = int(np.argmax(is_best))
        last = first + int(np.argmin(np.append(is_best[first:], False))) - 1
        new_bias = bias.copy()
        new_bias[c] = cuts[(first + last) // 2]
        return float(values.max()), new_bias

    def _cuts(
        self, c: int, scores: np.ndarray, log_proba: np.ndarray, oob: OutOfBagProba
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(n,) best other class of each row, (n,) bias above which class c is predicted, and biases to try."""
        scores[:, c] = -np.inf
        other = np.argmax(scores, axis=1)
        crossing = scores[np.arange(len(other)), other] - log_proba[:, c]
        class_crossing, other_crossing = crossing[oob.code == c], crossing[oob.code != c]
        quantiles = []
        if len(class_crossing):
            quantiles.append(np.quantile(class_crossing, np.linspace(0.0, 1.0, self.n_steps)))
        if len(other_crossing):
            quantiles.append(np.quantile(other_crossing, np.logspace(-3.0, -0.05, self.n_steps)))
        cuts = np.unique(np.concatenate(quantiles))
        return other, crossing, np.append((cuts[1:] + cuts[:-1]) / 2.0, cuts[-1] + 1e-6)

    def best_if_unreachable(self, oob: OutOfBagProba, gain: np.ndarray) -> float | None:
        """Largest value of the bounded measure over all cuts that predict the rarest class, if below the bound."""
        assert self.measure.bounded is not None
        expected, log_proba = self._expected_classes(oob), np.log(np.maximum(oob.proba, 1e-12))
        bias = np.log(np.maximum(np.diag(gain), _TINY))
        other, crossing, cuts = self._cuts(self.rare_class, log_proba + bias, log_proba, oob)
        best = 0.0
        for cut in [bias[self.rare_class], *cuts]:
            predicted = np.where(cut > crossing, self.rare_class, other)
            if np.any(predicted == self.rare_class):
                counts = self._expected_confusion(predicted, expected)
                best = max(best, rare_class_scores(counts, self.rare_class)[self.measure.bounded])
        return None if best >= self.measure.bound - 1e-9 else best

    def estimate(self, oob: OutOfBagProba, predicted: np.ndarray) -> tuple[float, float]:
        """Measure of predictions, and its standard error."""
        measure = self.measure
        if measure.scorer is None:
            assert measure.of_counts is not None
            of_counts = measure.of_counts
            return _score_with_error(oob, predicted, lambda counts: of_counts(counts, self.rare_class), len(self.prior))
        truth, labels = self.classes[oob.code], self.classes[predicted]
        rng = np.random.RandomState(0)
        samples = [rng.randint(len(labels), size=len(labels)) for _ in range(_RESAMPLES // 5)]
        resampled = [
            score_predictions(measure.scorer, truth[rows], labels[rows], self.classes, oob.weight[rows])
            for rows in samples
        ]
        score = score_predictions(measure.scorer, truth, labels, self.classes, oob.weight)
        return score, float(np.std(resampled))


def gain_of_all_classes(gain: np.ndarray, fitted: np.ndarray, prior: np.ndarray, is_cost: bool) -> np.ndarray:
    """(n_classes, n_classes) gains after classes were added to those that ``gain`` was learned for.

    The factor of an added class is the geometric mean of factor times share over the fitted classes, divided by its own
    share. With costs, mistakes that concern an added class have the mean cost of all mistakes.

    Parameters
    ----------
    gain : (n_fitted, n_fitted) gains of the fitted classes.
    fitted : (n_fitted,) numbers of the fitted classes among all.
    prior : (n_classes,) shares of all classes.
    is_cost : whether gains are costs or factors of probabilities.
    """
    n_classes, n_fitted = len(prior), len(gain)
    all_gain = np.zeros((n_classes, n_classes))
    if is_cost and n_fitted > 1:
        all_gain[:] = gain[~np.eye(n_fitted, dtype=bool)].mean()
        np.fill_diagonal(all_gain, 0.0)
    elif not is_cost:
        factor = np.maximum(np.diag(gain), _TINY) * np.maximum(prior[fitted], _TINY)
        np.fill_diagonal(all_gain, np.exp(np.log(factor).mean()) / np.maximum(prior, _TINY))
    all_gain[np.ix_(fitted, fitted)] = gain
    return np.asarray(all_gain / max(np.abs(all_gain).max(), _TINY))
