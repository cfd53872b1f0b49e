"""What a report says of a regression: errors and coverage by range of the target, and the curve of ``balance``."""

from __future__ import annotations

from itertools import pairwise
from warnings import catch_warnings, simplefilter

import numpy as np

from ..inspection.figures import explained_variance, range_edges, range_figures
from ..uncertainty.intervals import Regions, target_spread
from .answers import Answered
from .data import BalancePoint, NamedEstimate, PartFigures, QualitySection, RangeDecide
from .text import estimate, known, rounded

COVERAGE = 0.9
_BALANCES = tuple(step / 10 for step in range(11))


def range_names(edges: np.ndarray) -> tuple[str, ...]:
    """What ranges are called.

    Examples
    --------
    >>> import numpy as np
    >>> range_names(np.array([0.0, 2.5, 10.0]))
    ('0 to 2.5', '2.5 to 10')
    """
    return tuple(f"{low:.4g} to {high:.4g}" for low, high in pairwise(edges))


def range_quality(at: Answered) -> QualitySection:
    """How far off predictions are, out of bag."""
    truth, said, cases = at.truth, at.predicted, at.cases
    edges = range_edges(at.label)
    names = range_names(edges)
    bounds = held_out_intervals(at)
    inside = (bounds[:, 0] <= truth) & (truth <= bounds[:, 1])
    which = np.searchsorted(edges[1:-1], truth, side="right")
    parts = []
    for r, figures in enumerate(range_figures(truth, said, edges, cases)):
        own = which == r
        parts.append(
            PartFigures(
                name=names[r],
                rows=rounded(figures.rows, 6),
                first=estimate(figures.error),
                second=estimate(figures.bias),
                coverage=estimate(cases.part(own).share(inside[own])),
            )
        )
    error, rare = np.abs(said - truth), at.rare[at.rows]
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
            estimate=estimate(explained_variance(truth, said, cases)),
            unit="score",
        ),
        NamedEstimate(
            name="Coverage on rare targets",
            meaning="how often an interval of 90 % holds a rare target",
            estimate=estimate(cases.part(rare).share(inside[rare])),
            unit="share",
        ),
    )
    width = known(float(np.average(bounds[:, 1] - bounds[:, 0], weights=cases.weight)))
    return QualitySection(overall=overall, parts=tuple(parts), reliability=(), set_size=width)


def neighbor_spread(at: Answered) -> np.ndarray:
    """(n,) how much the targets around each case differ."""
    return np.asarray(target_spread(at.kernel, at.why.label)[:, 0])


def held_out_intervals(at: Answered) -> np.ndarray:
    """(n, 2) intervals of 90 % for each case, from the errors on cases of other folds."""
    spread = neighbor_spread(at)
    bounds = np.full((len(at.rows), 2), np.nan)
    own = at.model._regions[:1]
    with catch_warnings():
        simplefilter("ignore", UserWarning)  # of ranges with few rows; the table shows how few
        for fold in np.unique(at.fold) if own else ():
            side = at.fold == fold
            others = ~side
            if others.any():
                regions = Regions(
                    at.truth[others], at.predicted[others], spread[others], at.cases.weight[others], own[0].grid
                )
                bounds[side] = regions.intervals(at.predicted[side], COVERAGE, spread[side])
    return bounds


def range_decide(at: Answered) -> RangeDecide:
    """Errors over all cases, over rare ones and by range, at each balance; blend and decision stay as they are."""
    edges = range_edges(at.label)
    rare, cases = at.rare[at.rows], at.cases
    points = []
    for balance in sorted({*_BALANCES, float(at.model.balance_)}):
        said = at.model._predict_oob(at.why, at.rows, balance)[:, 0]
        error = np.abs(said - at.truth)
        points.append(
            BalancePoint(
                balance=rounded(balance),
                overall=estimate(cases.mean(error)),
                rare=estimate(cases.part(rare).mean(error[rare])),
                ranges=tuple(estimate(one.error) for one in range_figures(at.truth, said, edges, cases)),
            )
        )
    return RangeDecide(points=tuple(points), chosen=rounded(at.model.balance_), names=range_names(edges))
