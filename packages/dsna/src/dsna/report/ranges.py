"""Sections of a report on a regressor: errors and coverage by target range, and errors by ``balance``."""

from __future__ import annotations

from itertools import pairwise
from warnings import catch_warnings, simplefilter

import numpy as np

from ..inspection.figures import explained_variance, range_edges, range_figures
from ..uncertainty.intervals import Regions, target_spread
from .answers import OutOfBagAnswers
from .data import BalancePoint, NamedEstimate, PartFigures, QualitySection, RangeDecide
from .text import estimate, finite_or_none, rounded

COVERAGE = 0.9
_BALANCES = tuple(step / 10 for step in range(11))


def range_names(edges: np.ndarray) -> tuple[str, ...]:
    """Names of target ranges.

    Examples
    --------
    >>> import numpy as np
    >>> range_names(np.array([0.0, 2.5, 10.0]))
    ('0 to 2.5', '2.5 to 10')
    """
    return tuple(f"{low:.4g} to {high:.4g}" for low, high in pairwise(edges))


def range_quality(answers: OutOfBagAnswers) -> QualitySection:
    """Out-of-bag figures of all target ranges."""
    truth, predicted, cases = answers.truth, answers.predicted, answers.cases
    edges = range_edges(answers.label)
    names = range_names(edges)
    bounds = held_out_intervals(answers)
    covered = (bounds[:, 0] <= truth) & (truth <= bounds[:, 1])
    range_number = np.searchsorted(edges[1:-1], truth, side="right")
    by_range = []
    for r, figures in enumerate(range_figures(truth, predicted, edges, cases)):
        in_range = range_number == r
        by_range.append(
            PartFigures(
                name=names[r],
                rows=rounded(figures.rows, 6),
                first=estimate(figures.error),
                second=estimate(figures.bias),
                coverage=estimate(cases.part(in_range).share(covered[in_range])),
            )
        )
    error, rare = np.abs(predicted - truth), answers.rare[answers.rows]
    overall = (
        NamedEstimate(
            name="Mean absolute error", meaning="over all rows", estimate=estimate(cases.mean(error)), unit="target"
        ),
        NamedEstimate(
            name="Error on rare targets",
            meaning="mean absolute error over the rarest targets",
            estimate=estimate(cases.part(rare).mean(error[rare])),
            unit="target",
        ),
        NamedEstimate(
            name="R²",
            meaning="share of the variance explained",
            estimate=estimate(explained_variance(truth, predicted, cases)),
            unit="score",
        ),
        NamedEstimate(
            name="Coverage on rare targets",
            meaning="share of rare targets within their 90 % interval",
            estimate=estimate(cases.part(rare).share(covered[rare])),
            unit="share",
        ),
    )
    width = finite_or_none(float(np.average(bounds[:, 1] - bounds[:, 0], weights=cases.weight)))
    return QualitySection(overall=overall, parts=tuple(by_range), reliability=(), set_size=width)


def neighbor_spread(answers: OutOfBagAnswers) -> np.ndarray:
    """(n,) spread of the targets around each case."""
    return np.asarray(target_spread(answers.kernel, answers.explanation.label)[:, 0])


def held_out_intervals(answers: OutOfBagAnswers) -> np.ndarray:
    """(n, 2) intervals with 90 % coverage, from the errors on cases of other folds."""
    spread = neighbor_spread(answers)
    bounds = np.full((len(answers.rows), 2), np.nan)
    fitted = answers.model._regions[:1]
    with catch_warnings():
        simplefilter("ignore", UserWarning)  # about ranges with few rows; the table shows their numbers
        for fold in np.unique(answers.fold) if fitted else ():
            in_fold = answers.fold == fold
            outside = ~in_fold
            if outside.any():
                weight = answers.cases.weight[outside]
                truth, predicted = answers.truth[outside], answers.predicted[outside]
                regions = Regions(truth, predicted, spread[outside], weight, fitted[0].grid)
                bounds[in_fold] = regions.intervals(answers.predicted[in_fold], COVERAGE, spread[in_fold])
    return bounds


def range_decide(answers: OutOfBagAnswers) -> RangeDecide:
    """Errors over all cases, over rare ones and by range at each balance, with unchanged blend and decision."""
    edges = range_edges(answers.label)
    rare, cases = answers.rare[answers.rows], answers.cases
    points = []
    for balance in sorted({*_BALANCES, float(answers.model.balance_)}):
        predicted = answers.model._predict_oob(answers.explanation, answers.rows, balance)[:, 0]
        error = np.abs(predicted - answers.truth)
        points.append(
            BalancePoint(
                balance=rounded(balance),
                overall=estimate(cases.mean(error)),
                rare=estimate(cases.part(rare).mean(error[rare])),
                ranges=tuple(estimate(r.error) for r in range_figures(answers.truth, predicted, edges, cases)),
            )
        )
    return RangeDecide(points=tuple(points), chosen=rounded(answers.model.balance_), names=range_names(edges))
