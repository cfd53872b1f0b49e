"""Report on imbalance: rarity, gains and costs of balanced decisions, and the benefit of more rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._utils.errors import DSNAError, DSNAWarning
from .._utils.optional import import_extra

_SHARES = (0.25, 0.5)
_DRAWS = 3
_RESAMPLES = 200
_MIN_ROWS = 8  # of the rarest class, for fits on half of them
_DECISIONS = {0.0: "population", 1.0: "balanced"}


@dataclass(frozen=True)
class ImbalanceReport:
    """Result of `imbalance_report`; ``print`` shows it.

    Attributes
    ----------
    rare : the rarest class.
    n_rows, n_rare : total weight of the training rows, and of those of the rarest class.
    n_behind : number of out-of-bag rows of the rarest class, on which the figures are based.
    figures : dict of {"population", "balanced"} to dict of measure to (value, standard error); out of bag.
    hits, alarms : dicts of {"population", "balanced"} to numbers of true and false positives of the rarest class; out
        of bag, weighted by the training rows that they represent.
    curve : list of (rows of the rarest class, balanced accuracy, standard error), or None without X and y.
    """

    rare: Any
    n_rows: int
    n_rare: float
    n_behind: int
    figures: dict[str, dict[str, tuple[float, float]]]
    hits: dict[str, float]
    alarms: dict[str, float]
    curve: list[tuple[int, float, float]] | None

    def frame(self) -> Any:
        """Data frame of the figures, with a row for each decision and measure: value and standard error."""
        rows = [(name, measure, *pair) for name, measures in self.figures.items() for measure, pair in measures.items()]
        return import_extra("pandas", "report").DataFrame(rows, columns=["decision", "measure", "value", "std"])

    def __str__(self) -> str:
        share = self.n_rare / self.n_rows
        lines = [
            f"How rare: {self.rare} has {self.n_rare:g} of {self.n_rows} rows ({share:.1%}, one in {1 / share:.0f}).",
            f"{self.n_behind} out-of-bag rows of {self.rare} are behind the figures"
            + (": too few for a second digit." if self.n_behind < 100 else "."),
            "",
            f"{'':<12}" + "".join(f"{measure:>20}" for measure in self.figures["balanced"]),
        ]
        for name, pairs in self.figures.items():
            lines.append(f"{name:<12}" + "".join(f"{f'{value:.3f} +- {std:.3f}':>20}" for value, std in pairs.values()))
        return "\n".join([*lines, "", self._trade_off(), self._benefit_of_rows()])

    def _trade_off(self) -> str:
        hits = self.hits["balanced"] - self.hits["population"]
        alarms = self.alarms["balanced"] - self.alarms["population"]
        if hits < 0.5:
            return f"Balancing finds no more of {self.rare}: the population decision (balance=0) loses nothing."
        ratio = f"{alarms / hits:.1f} for each" if alarms > 0 else "no price"
        return (
            f"Of {self.n_rare:g} rows of {self.rare}, the balanced decision finds about {hits:.0f} more, for about "
            f"{max(alarms, 0):.0f} more false alarms ({ratio}).\nRebalance if a miss costs more than that many alarms; "
            "with_decision([[...]]) takes the costs themselves."
        )

    def _benefit_of_rows(self) -> str:
        if self.curve is None:
            return "Whether more rows would help: imbalance_report(model, X, y) fits on parts of the rare rows."
        if len(self.curve) < 2:
            return f"Whether more rows would help cannot be told from {self.n_rare:g} rows of {self.rare}."
        (half_rows, half_score, half_std), (all_rows, full_score, full_std) = self.curve[-2], self.curve[-1]
        gain, std = full_score - half_score, np.hypot(half_std, full_std)
        steps = ", ".join(f"{score:.3f} with {rows}" for rows, score, _ in self.curve)
        verdict = "would likely help" if gain > std else "show no gain beyond the noise"
        return (
            f"Balanced accuracy by rows of {self.rare}: {steps}.\nFrom {half_rows} to {all_rows} it changed by "
            f"{gain:+.3f} (standard error {std:.3f}): more such rows {verdict}."
        )


def imbalance_report(model: Any, X: Any = None, y: Any = None) -> ImbalanceReport:
    """Report whether the rare class should get more weight, based on the out-of-bag rows of a classifier.

    Parameters
    ----------
    model : fitted DSNAClassifier
    X, y : the training rows, optional
        If given, the model is refitted on a quarter and on half of the rows of the rarest class, to estimate whether
        more of them would help. This takes six fits.

    Returns
    -------
    ImbalanceReport

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
    >>> from dsna.inspection import imbalance_report
    >>> X, y = make_classification(400, weights=[0.9], flip_y=0.05, random_state=0)
    >>> report = imbalance_report(DSNAClassifier(CostSensitiveForestClassifier(20), random_state=0).fit(X, y))
    >>> str(report).splitlines()[0]
    'How rare: 1 has 50 of 400 rows (12.5%, one in 8).'
    """
    if not hasattr(model, "with_decision"):
        raise DSNAError(f"imbalance_report needs a classifier; {type(model).__name__} does not predict classes.")
    check_is_fitted(model)
    if len(model.oob_rows_) == 0:
        raise DSNAError("The model has no out-of-bag rows to report on: fit it on more rows.")
    counts, prior = model._class_weight, model.class_prior_
    rare_code = int(np.argmin(np.where(prior > 0, prior, np.inf)))
    rare_class = model.classes_[rare_code]
    views = {_DECISIONS[balance]: model.with_decision("balanced", balance=balance) for balance in _DECISIONS}
    truth, weight = model.classes_[model._code[model.oob_rows_]], model._oob_weight
    figures, hits, alarms = {}, {}, {}
    for decision, view in views.items():
        predicted = view.oob_prediction_
        figures[decision] = _figures(truth, predicted, weight, rare_class)
        hits[decision] = float(weight[(truth == rare_class) & (predicted == rare_class)].sum())
        alarms[decision] = float(weight[(truth != rare_class) & (predicted == rare_class)].sum())
    curve = None if X is None else _curve(model, X, y, rare_class)
    n_behind = int(np.sum(truth == rare_class))
    return ImbalanceReport(
        rare_class, int(counts.sum()), float(counts[rare_code]), n_behind, figures, hits, alarms, curve
    )


def _figures(truth: np.ndarray, predicted: np.ndarray, weight: np.ndarray, rare: Any) -> dict[str, tuple[float, float]]:
    """Measures with bootstrap standard errors."""
    rng = np.random.RandomState(0)
    resampled = [_measures(truth, predicted, weight * rng.poisson(1.0, len(truth)), rare) for _ in range(_RESAMPLES)]
    with catch_warnings():
        simplefilter("ignore", RuntimeWarning)  # a class that is never predicted has no precision
        spread = np.nanstd(np.array([list(measures.values()) for measures in resampled]), axis=0)
    means = _measures(truth, predicted, weight, rare)
    return {measure: (value, float(std)) for (measure, value), std in zip(means.items(), spread, strict=True)}


def _measures(truth: np.ndarray, predicted: np.ndarray, weight: np.ndarray, rare: Any) -> dict[str, float]:
    correct = truth == predicted
    recalls = [_weighted_share(correct, weight * (truth == c)) for c in np.unique(truth)]
    return {
        f"recall of {rare}": _weighted_share(correct, weight * (truth == rare)),
        f"precision of {rare}": _weighted_share(correct, weight * (predicted == rare)),
        "accuracy": _weighted_share(correct, weight),
        "balanced accuracy": float(np.nanmean(recalls)) if not np.all(np.isnan(recalls)) else np.nan,
    }


def _weighted_share(correct: np.ndarray, weight: np.ndarray) -> float:
    total = weight.sum()
    return float(weight @ correct / total) if total > 0 else np.nan


def _curve(model: Any, X: Any, y: Any, rare: Any) -> list[tuple[int, float, float]]:
    """Learning curve: rows of the rarest class, out-of-bag balanced accuracy, and its standard error."""
    X, y = np.asarray(X), np.asarray(y)
    if len(X) != len(y):
        raise DSNAError(f"X has {len(X)} rows and y {len(y)}: pass the training rows and their classes.")
    rows = np.flatnonzero(y == rare)
    full = model.with_decision("balanced", balance=1.0)
    points = []
    for share in _SHARES:
        n_kept = int(share * len(rows))
        if n_kept >= _MIN_ROWS // 2:
            scores = []
            for draw in range(_DRAWS):
                dropped = np.random.RandomState(draw).permutation(rows)[n_kept:]
                rows_kept = np.setdiff1d(np.arange(len(y)), dropped)
                with catch_warnings():
                    simplefilter("ignore", DSNAWarning)  # about rows that are left out on purpose
                    smaller = clone(full).set_params(tune=None).fit(X[rows_kept], y[rows_kept])
                scores.append(smaller.oob_balanced_accuracy_)
            points.append((n_kept, float(np.mean(scores)), float(np.std(scores))))
    return [*points, (len(rows), full.oob_decision_score_, full.oob_decision_score_std_)]
