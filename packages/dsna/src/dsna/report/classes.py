"""What a report says of a classification: recall and precision by class, reliability, coverage, and how to decide."""

from __future__ import annotations

from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from .._utils.sampling import stratified_sample
from ..inspection.figures import FEWEST, Cases, balanced_accuracy, class_figures
from ..prediction.class_decision import OutOfBagProba, best_if_unreachable
from ..prediction.sets import class_thresholds
from .answers import Answered
from .data import (
    ClassDecide,
    NamedEstimate,
    PartFigures,
    QualitySection,
    Reliability,
    ReliabilityBin,
    Wish,
)
from .text import all_rounded, clean, estimate, known, rounded

COVERAGE = 0.9
_BINS = 10
_MOST_CURVES = 12
_MOST_PROBABILITIES = 60_000
_WISHES = {
    "recall": (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98),
    "precision": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
}


def class_quality(at: Answered, names: tuple[str, ...]) -> QualitySection:
    """How good the classes are, out of bag."""
    truth, said, cases = at.truth, at.predicted, at.cases
    n = len(names)
    inside, size = _held_out_sets(at)
    parts = []
    for figures in class_figures(truth, said, range(n), cases):
        own = truth == figures.name
        parts.append(
            PartFigures(
                name=names[figures.name],
                rows=rounded(figures.rows, 6),
                first=estimate(figures.recall),
                second=estimate(figures.precision),
                coverage=estimate(cases.part(own).share(inside[own])),
            )
        )
    rare = int(np.argmin(at.model.class_prior_))
    own, called, right = truth == rare, said == rare, truth == said
    overall = (
        NamedEstimate(
            name="Balanced accuracy",
            meaning="mean of the recalls of all classes",
            estimate=estimate(balanced_accuracy(truth, right, cases)),
            unit="share",
        ),
        NamedEstimate(
            name=f"Recall of {names[rare]}",
            meaning="share of the rarest class that is found",
            estimate=estimate(cases.part(own).share(right[own])),
            unit="share",
        ),
        NamedEstimate(
            name=f"Precision of {names[rare]}",
            meaning="share of the alarms that are right",
            estimate=estimate(cases.part(called).share(right[called])),
            unit="share",
        ),
        NamedEstimate(
            name="Accuracy",
            meaning="share of all rows that is right",
            estimate=estimate(cases.share(right)),
            unit="share",
        ),
    )
    order = np.argsort(at.model.class_prior_, kind="stable")[: 1 if n == 2 else _MOST_CURVES]
    curves = tuple(Reliability(name=names[c], bins=reliability_bins(at.proba[:, c], truth == c, cases)) for c in order)
    mean_size = known(float(np.average(size, weights=cases.weight)))
    return QualitySection(overall=overall, parts=tuple(parts), reliability=curves, set_size=mean_size)


def _held_out_sets(at: Answered) -> tuple[np.ndarray, np.ndarray]:
    """(n,) whether the prediction set of a case holds its class, and how large it is; learned without its fold."""
    inside, size = np.zeros(len(at.rows), dtype=bool), np.zeros(len(at.rows))
    for fold in np.unique(at.fold):
        side = at.fold == fold
        least = class_thresholds(at.proba[~side], at.truth[~side], at.cases.weight[~side], COVERAGE)
        sets = at.proba[side] >= least
        inside[side] = sets[np.arange(len(sets)), at.truth[side]]
        size[side] = sets.sum(axis=1)
    return inside, size


def reliability_bins(proba: np.ndarray, hit: np.ndarray, cases: Cases) -> tuple[ReliabilityBin, ...]:
    """Cases sorted by probability, in bins of equally many; equal probabilities stay together.

    Examples
    --------
    >>> import numpy as np
    >>> proba = np.repeat([0.1, 0.9], 20)
    >>> [bin.came_true.value for bin in reliability_bins(proba, proba > 0.5, Cases.of(40))]
    [0, 1]
    """
    order = np.argsort(proba, kind="stable")
    ordered = proba[order]
    n_bins = max(1, min(_BINS, len(proba) // (2 * FEWEST)))
    cuts = np.unique(np.searchsorted(ordered, ordered[np.arange(n_bins) * len(proba) // n_bins]))
    found = []
    for some in np.split(order, cuts[1:]):
        mean = float(np.average(proba[some], weights=cases.weight[some])) if cases.weight[some].any() else 0.0
        found.append(ReliabilityBin(probability=rounded(mean), came_true=estimate(cases.part(some).share(hit[some]))))
    return tuple(found)


def class_decide(at: Answered, grouped: bool) -> ClassDecide:
    """Out-of-bag probabilities to decide by; of many classes, a sample of the cases in which rare ones come first."""
    model = at.model
    rare = int(np.argmin(model.class_prior_))
    n = len(model.classes_)
    some, factor = np.arange(len(at.rows)), np.ones(len(at.rows))
    if n > 2 and len(some) * n > _MOST_PROBABILITIES:
        some, factor = stratified_sample(at.truth, _MOST_PROBABILITIES // n, np.random.RandomState(0))
    proba = at.proba[some]
    shown: Any = all_rounded(proba[:, rare]) if n == 2 else tuple(all_rounded(row) for row in proba)
    weight = at.cases.weight[some] * factor
    return ClassDecide(
        rare=rare,
        truth=tuple(at.truth[some].tolist()),
        weight=all_rounded(weight, 6),
        probability=shown,
        group=tuple(at.cases.group[some].tolist()) if grouped else (),
        gain=tuple(all_rounded(row, 8) for row in model._gain),
        decision=clean(model.decision if isinstance(model.decision, str) else "by costs or a scorer"),
        threshold=None if model.decision_threshold_ is None else rounded(model.decision_threshold_.probability),
        wishes=_wishes(at, rare) if n == 2 else (),
    )


def _wishes(at: Answered, rare: int) -> tuple[Wish, ...]:
    """What ``recall>=.9`` and the like come to, by thresholds that are chosen without the case."""
    own = at.truth == rare
    if np.sum(own) < FEWEST:
        return ()
    answers = OutOfBagProba(at.proba, at.truth, at.cases.weight, at.fold)
    known = at.model.classes_, at.model.class_prior_
    found = []
    for kind, bounds in _WISHES.items():
        for least in bounds:
            decision = f"{kind}>={least:g}".replace("=0.", "=.")
            with catch_warnings():
                simplefilter("ignore", UserWarning)  # of wishes that cannot be reached, which the page says
                view = at.model.with_decision(decision, balance=1.0)
            called = np.searchsorted(view.classes_, view.oob_prediction_) == rare
            most = best_if_unreachable(decision, view._gain, answers, *known)
            found.append(
                Wish(
                    kind=kind,
                    least=least,
                    decision=decision,
                    threshold=rounded(view.decision_threshold_.probability),
                    most=None if most is None else rounded(most),
                    recall=estimate(at.cases.part(own).share(called[own])),
                    precision=estimate(at.cases.part(called).share(own[called])),
                )
            )
    return tuple(found)
