"""Sections of a report on a classifier: recall and precision by class, reliability, coverage, decisions."""

from __future__ import annotations

from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from .._utils.sampling import stratified_sample
from ..inspection.figures import FEWEST, Cases, balanced_accuracy, class_figures
from ..prediction.class_decision import OutOfBagProba, best_if_unreachable
from ..prediction.sets import class_thresholds
from .answers import OutOfBagAnswers
from .data import (
    ClassDecide,
    NamedEstimate,
    PartFigures,
    QualitySection,
    Reliability,
    ReliabilityBin,
    TargetRate,
)
from .text import all_rounded, clean, estimate, finite_or_none, rounded

COVERAGE = 0.9
_BINS = 10
_MAX_CURVES = 12
_MAX_PROBABILITIES = 60_000
_TARGETS = {
    "recall": (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98),
    "precision": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
}


def class_quality(answers: OutOfBagAnswers, names: tuple[str, ...]) -> QualitySection:
    """Out-of-bag figures of all classes."""
    truth, predicted, cases = answers.truth, answers.predicted, answers.cases
    n = len(names)
    covered, set_size = _held_out_sets(answers)
    by_class = []
    for figures in class_figures(truth, predicted, range(n), cases):
        is_class = truth == figures.name
        by_class.append(
            PartFigures(
                name=names[figures.name],
                rows=rounded(figures.rows, 6),
                first=estimate(figures.recall),
                second=estimate(figures.precision),
                coverage=estimate(cases.part(is_class).share(covered[is_class])),
            )
        )
    rare = int(np.argmin(answers.model.class_prior_))
    is_class, predicted_rare, correct = truth == rare, predicted == rare, truth == predicted
    overall = (
        NamedEstimate(
            name="Balanced accuracy",
            meaning="mean of the recalls of all classes",
            estimate=estimate(balanced_accuracy(truth, correct, cases)),
            unit="share",
        ),
        NamedEstimate(
            name=f"Recall of {names[rare]}",
            meaning="share of the rows of the rarest class that are found",
            estimate=estimate(cases.part(is_class).share(correct[is_class])),
            unit="share",
        ),
        NamedEstimate(
            name=f"Precision of {names[rare]}",
            meaning="share of the alarms that are correct",
            estimate=estimate(cases.part(predicted_rare).share(correct[predicted_rare])),
            unit="share",
        ),
        NamedEstimate(
            name="Accuracy",
            meaning="share of all rows that are predicted correctly",
            estimate=estimate(cases.share(correct)),
            unit="share",
        ),
    )
    order = np.argsort(answers.model.class_prior_, kind="stable")[: 1 if n == 2 else _MAX_CURVES]
    curves = tuple(
        Reliability(name=names[c], bins=reliability_bins(answers.proba[:, c], truth == c, cases)) for c in order
    )
    mean_size = finite_or_none(float(np.average(set_size, weights=cases.weight)))
    return QualitySection(overall=overall, parts=tuple(by_class), reliability=curves, set_size=mean_size)


def _held_out_sets(answers: OutOfBagAnswers) -> tuple[np.ndarray, np.ndarray]:
    """(n,) whether prediction sets, learned without the fold of the case, contain its class; and their sizes."""
    covered, set_size = np.zeros(len(answers.rows), dtype=bool), np.zeros(len(answers.rows))
    for fold in np.unique(answers.fold):
        in_fold = answers.fold == fold
        thresholds = class_thresholds(
            answers.proba[~in_fold], answers.truth[~in_fold], answers.cases.weight[~in_fold], COVERAGE
        )
        sets = answers.proba[in_fold] >= thresholds
        covered[in_fold] = sets[np.arange(len(sets)), answers.truth[in_fold]]
        set_size[in_fold] = sets.sum(axis=1)
    return covered, set_size


def reliability_bins(proba: np.ndarray, is_class: np.ndarray, cases: Cases) -> tuple[ReliabilityBin, ...]:
    """Group cases by probability into bins of equal size; equal probabilities stay together.

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
    bin_starts = np.unique(np.searchsorted(ordered, ordered[np.arange(n_bins) * len(proba) // n_bins]))
    bins = []
    for rows in np.split(order, bin_starts[1:]):
        mean = float(np.average(proba[rows], weights=cases.weight[rows])) if cases.weight[rows].any() else 0.0
        observed = estimate(cases.part(rows).share(is_class[rows]))
        bins.append(ReliabilityBin(probability=rounded(mean), came_true=observed))
    return tuple(bins)


def class_decide(answers: OutOfBagAnswers, grouped: bool) -> ClassDecide:
    """Out-of-bag probabilities for decisions; with many classes, of a sample of the cases that favours rare classes."""
    model = answers.model
    rare = int(np.argmin(model.class_prior_))
    n = len(model.classes_)
    rows, sampling_weight = np.arange(len(answers.rows)), np.ones(len(answers.rows))
    if n > 2 and len(rows) * n > _MAX_PROBABILITIES:
        rows, sampling_weight = stratified_sample(answers.truth, _MAX_PROBABILITIES // n, np.random.RandomState(0))
    proba = answers.proba[rows]
    probability: Any = all_rounded(proba[:, rare]) if n == 2 else tuple(all_rounded(row) for row in proba)
    weight = answers.cases.weight[rows] * sampling_weight
    return ClassDecide(
        rare=rare,
        truth=tuple(answers.truth[rows].tolist()),
        weight=all_rounded(weight, 6),
        probability=probability,
        group=tuple(answers.cases.group[rows].tolist()) if grouped else (),
        gain=tuple(all_rounded(row, 8) for row in model._gain),
        decision=clean(model.decision if isinstance(model.decision, str) else "by costs or a scorer"),
        threshold=None if model.decision_threshold_ is None else rounded(model.decision_threshold_.probability),
        target_rates=_target_rates(answers, rare) if n == 2 else (),
    )


def _target_rates(answers: OutOfBagAnswers, rare: int) -> tuple[TargetRate, ...]:
    """Results of decisions such as ``recall>=.9``, with thresholds chosen without the fold of the case."""
    is_rare = answers.truth == rare
    if np.sum(is_rare) < FEWEST:
        return ()
    model, cases = answers.model, answers.cases
    predictions = OutOfBagProba(answers.proba, answers.truth, cases.weight, answers.fold)
    targets = []
    for kind, minima in _TARGETS.items():
        for minimum in minima:
            decision = f"{kind}>={minimum:g}".replace("=0.", "=.")
            with catch_warnings():
                simplefilter("ignore", UserWarning)  # about targets that cannot be reached, which the page shows
                view = model.with_decision(decision, balance=1.0)
            predicted_rare = np.searchsorted(view.classes_, view.oob_prediction_) == rare
            reached = best_if_unreachable(decision, view._gain, predictions, model.classes_, model.class_prior_)
            targets.append(
                TargetRate(
                    kind=kind,
                    minimum=minimum,
                    decision=decision,
                    threshold=rounded(view.decision_threshold_.probability),
                    reached=None if reached is None else rounded(reached),
                    recall=estimate(cases.part(is_rare).share(predicted_rare[is_rare])),
                    precision=estimate(cases.part(predicted_rare).share(is_rare[predicted_rare])),
                )
            )
    return tuple(targets)
