"""Should I rebalance? How rare a class is, what either decision costs and gains, whether more rows would help."""

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
_FEWEST = 8  # rows of the rarest class below which halves of it say nothing
_NAMES = {0.0: "population", 1.0: "balanced"}


@dataclass(frozen=True)
class ImbalanceReport:
    """What `imbalance_report` found; ``print`` it.

    Attributes
    ----------
    rare : the rarest class.
    n_rows, n_rare : numbers (weights) of the training rows, and of those of the rarest class.
    n_behind : out-of-bag rows of the rarest class, which the figures rest on.
    figures : dict of {"population", "balanced"} to dict of measure to (value, standard error); out of bag.
    hits, alarms : dicts of {"population", "balanced"} to rows of the rarest class that are found, and other rows taken
        for it; out of bag, and counted as the training rows that they stand for.
    curve : list of (rows of the rarest class, balanced accuracy, standard error), or None where it was not asked for.
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
        """Data frame of the figures: a line for each decision and measure, with value and standard error."""
        rows = [(name, what, *pair) for name, found in self.figures.items() for what, pair in found.items()]
        return import_extra("pandas", "report").DataFrame(rows, columns=["decision", "measure", "value", "std"])

    def __str__(self) -> str:
        share = self.n_rare / self.n_rows
        lines = [
            f"How rare: {self.rare} has {self.n_rare:g} of {self.n_rows} rows ({share:.1%}, one in {1 / share:.0f}).",
            f"{self.n_behind} out-of-bag rows of {self.rare} stand behind the figures"
            + (": too few to trust a second digit." if self.n_behind < 100 else "."),
            "",
            f"{'':<12}" + "".join(f"{what:>20}" for what in self.figures["balanced"]),
        ]
        for name, found in self.figures.items():
            lines.append(f"{name:<12}" + "".join(f"{f'{value:.3f} +- {std:.3f}':>20}" for value, std in found.values()))
        return "\n".join([*lines, "", self._trade(), self._more()])

    def _trade(self) -> str:
        more = self.hits["balanced"] - self.hits["population"]
        price = self.alarms["balanced"] - self.alarms["population"]
        if more < 0.5:
            return f"Balancing finds no more of {self.rare}: the population decision (balance=0) loses nothing."
        each = f"{price / more:.1f} for each" if price > 0 else "no price"
        return (
            f"Of {self.n_rare:g} rows of {self.rare}, the balanced decision finds about {more:.0f} more, for about "
            f"{max(price, 0):.0f} more false alarms ({each}).\nRebalance if a miss costs more than that many alarms; "
            "with_decision([[...]]) takes the costs themselves."
        )

    def _more(self) -> str:
        if self.curve is None:
            return "Whether more rows would help: imbalance_report(model, X, y) fits on parts of the rare rows."
        if len(self.curve) < 2:
            return f"Whether more rows would help cannot be told from {self.n_rare:g} rows of {self.rare}."
        (few, low, low_std), (most, high, high_std) = self.curve[-2], self.curve[-1]
        std = np.hypot(low_std, high_std)
        steps = ", ".join(f"{value:.3f} with {n}" for n, value, _ in self.curve)
        verdict = "would likely help" if high - low > std else "show no gain beyond the noise"
        return (
            f"Balanced accuracy by rows of {self.rare}: {steps}.\nFrom {few} to {most} it changed by {high - low:+.3f} "
            f"(standard error {std:.3f}): more such rows {verdict}."
        )


def imbalance_report(model: Any, X: Any = None, y: Any = None) -> ImbalanceReport:
    """Should the rare class be given more weight? What the out-of-bag rows of a fitted classifier say.

    Parameters
    ----------
    model : fitted DSNAClassifier
    X, y : the training rows, optional
        With them, the model is fitted again on a quarter and on half of the rows of the rarest class, to see whether
        more of them would help; this takes six fits.

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
        raise DSNAError(f"imbalance_report is about classes, which {type(model).__name__} does not predict.")
    check_is_fitted(model)
    if len(model.oob_rows_) == 0:
        raise DSNAError("The model has no out-of-bag rows to report on: fit it on more rows.")
    counts, prior = model._class_weight, model.class_prior_
    rare = int(np.argmin(np.where(prior > 0, prior, np.inf)))
    name = model.classes_[rare]
    views = {_NAMES[balance]: model.with_decision("balanced", balance=balance) for balance in _NAMES}
    truth, weight = model.classes_[model._code[model.oob_rows_]], model._oob_weight
    figures, hits, alarms = {}, {}, {}
    for what, view in views.items():
        said = view.oob_prediction_
        figures[what] = _figures(truth, said, weight, name)
        hits[what] = float(weight[(truth == name) & (said == name)].sum())
        alarms[what] = float(weight[(truth != name) & (said == name)].sum())
    curve = None if X is None else _curve(model, X, y, name)
    behind = int(np.sum(truth == name))
    return ImbalanceReport(name, int(counts.sum()), float(counts[rare]), behind, figures, hits, alarms, curve)


def _figures(truth: np.ndarray, said: np.ndarray, weight: np.ndarray, rare: Any) -> dict[str, tuple[float, float]]:
    """Measures with standard errors over resampled rows."""
    rng = np.random.RandomState(0)
    again = [_measures(truth, said, weight * rng.poisson(1.0, len(truth)), rare) for _ in range(_RESAMPLES)]
    with catch_warnings():
        simplefilter("ignore", RuntimeWarning)  # a class that is never predicted has no precision
        spread = np.nanstd(np.array([list(one.values()) for one in again]), axis=0)
    found = _measures(truth, said, weight, rare)
    return {what: (value, float(std)) for (what, value), std in zip(found.items(), spread, strict=True)}


def _measures(truth: np.ndarray, said: np.ndarray, weight: np.ndarray, rare: Any) -> dict[str, float]:
    right = truth == said
    recalls = [_share(right, weight * (truth == c)) for c in np.unique(truth)]
    return {
        f"recall of {rare}": _share(right, weight * (truth == rare)),
        f"precision of {rare}": _share(right, weight * (said == rare)),
        "accuracy": _share(right, weight),
        "balanced accuracy": float(np.nanmean(recalls)) if not np.all(np.isnan(recalls)) else np.nan,
    }


def _share(right: np.ndarray, weight: np.ndarray) -> float:
    total = weight.sum()
    return float(weight @ right / total) if total > 0 else np.nan


def _curve(model: Any, X: Any, y: Any, rare: Any) -> list[tuple[int, float, float]]:
    """Rows of the rarest class, balanced accuracy out of bag, and its standard error."""
    X, y = np.asarray(X), np.asarray(y)
    if len(X) != len(y):
        raise DSNAError(f"X has {len(X)} rows and y {len(y)}: pass the training rows and their classes.")
    rows = np.flatnonzero(y == rare)
    full = model.with_decision("balanced", balance=1.0)
    found = []
    for share in _SHARES:
        n = int(share * len(rows))
        if n >= _FEWEST // 2:
            scores = []
            for draw in range(_DRAWS):
                dropped = np.random.RandomState(draw).permutation(rows)[n:]
                kept = np.setdiff1d(np.arange(len(y)), dropped)
                with catch_warnings():
                    simplefilter("ignore", DSNAWarning)  # of rows that are left out on purpose
                    part = clone(full).set_params(tune=None).fit(X[kept], y[kept])
                scores.append(part.oob_balanced_accuracy_)
            found.append((n, float(np.mean(scores)), float(np.std(scores))))
    return [*found, (len(rows), full.oob_decision_score_, full.oob_decision_score_std_)]
