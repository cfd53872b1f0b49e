"""Whether neighbours' targets are carried over along a trend, along which, and how far: chosen out of bag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._utils.sums import ordered_sum, weighted_sum
from ..trend.other import fit_other
from ..trend.trend import CrossFitted, TrendRows, fit_trend, from_all_rows, hold, trends_to_try
from .rule import Along, Answered, Choices, Judge, Rule

_OFFSETS = (0.0, 0.25, 0.5, 0.75, 1.0)
_PULLS = (0.0, 0.25, 0.5)
_TIE = 1e-9
_AS_GOOD = 1.01  # errors of settings that are as good as the best
_FAR = 1.05  # errors of trends that are far behind the best
_NEARLY = 1.03  # errors of trends that are nearly as good as the best


class Carry(NamedTuple):
    """A trend, or None, and how far targets are carried along it."""

    trend: Any  # a Trend, what stands in for it, or None
    own: np.ndarray  # (N, q) trend at each training row, learned without its fold
    offset: float
    pull: float


class Asked(NamedTuple):
    """Rows of one held-out fold as queries, and the rows that are their neighbours."""

    fold: int
    rows: np.ndarray  # (n,)
    near: np.ndarray  # (n, M)


def along_at(trend: Any, here: np.ndarray, there: np.ndarray) -> Along:
    """A trend whose values at queries and at their neighbours are known."""
    return Along(here, there, hold(here, trend.ends), trend.bounds)


def along_trend(folds: Sequence[Answered], asked: Sequence[Asked], fitted: CrossFitted) -> list[Answered]:
    """The folds with a trend that saw neither their rows nor, of each neighbour, its fold."""
    return [
        fold._replace(along=along_at(fitted.trend, fitted.own[one.rows], fitted.outside[one.fold][one.near]))
        for fold, one in zip(folds, asked, strict=True)
    ]


def carry_over(
    trend: Any,
    rows: TrendRows,
    folds: list[Answered],
    asked: Sequence[Asked],
    judge: Judge,
    choices: Choices,
) -> tuple[list[Answered], Carry]:
    """The folds with the trend that is chosen among those that ``trend`` allows, and how far targets are carried.

    A trend has to lower the out-of-bag error and, where there is a choice, to do so by one standard error; of those
    that are nearly as good as the best, the one that reaches farthest is taken. All is chosen at balance 0, so that the
    trend does not depend on the balance; callers give the same choices whatever blend and decision are set.
    """
    found: list[tuple[float, CrossFitted, Carry]] = []
    auto = isinstance(trend, str) and trend == "auto"
    if trend is not None and rows.enough:
        plain = choices.best(folds, judge, 0.0)[1]
        repeat = 3 * len(judge.grid) <= len(rows.X)
        for kind in trends_to_try(repeat) if auto else (trend,):
            if kind == "joint" and auto and _far_ahead(found):
                continue
            named = isinstance(kind, str)
            fitted = fit_trend(kind, rows, np.random.RandomState(0)) if named else fit_other(kind, rows)
            along = along_trend(folds, asked, fitted)
            for blend, offset, pull in _good_means(along, judge, choices):
                fading, carried = _faded(along, judge, choices._replace(blends=(blend,)), offset, pull)
                less, noise = judge.gain(plain, carried)
                if less > (noise if auto else 0.0):
                    fitted.trend.ends = fitted.trend.ends if fading else None
                    found.append((judge.error(carried, 0.0), fitted, Carry(fitted.trend, fitted.own, offset, pull)))
                    break
    if not found:
        return folds, Carry(None, np.empty((0, rows.target.shape[1])), 0.0, 0.0)
    nearly = _NEARLY * min(error for error, _, _ in found) + _TIE
    _, fitted, carry = min((one for one in found if one[0] <= nearly), key=lambda one: one[1].beyond)
    fitted = from_all_rows(fitted, rows)
    carry = carry._replace(trend=fitted.trend, own=fitted.own)
    return along_trend(folds, asked, fitted), carry


def _far_ahead(found: Sequence[tuple[float, CrossFitted, Carry]]) -> bool:
    """Whether thresholds are so much better than inputs alone that inputs with radial functions need no trial."""
    errors = {fitted.trend.kind: error for error, fitted, _ in found}
    return errors.get("linear", np.inf) > _FAR * errors.get("ordinal", np.inf)


def _faded(
    folds: Sequence[Answered], judge: Judge, choices: Choices, offset: float, pull: float
) -> tuple[bool, np.ndarray]:
    """Whether the pull fades out toward the ends of the trend, and the predictions.

    It does so where the error over all rows hardly shows it: that says little about targets past the outermost.
    """
    faded = choices.best(folds, judge, 0.0, offset, pull)[1]
    held = choices.best([_held(fold) for fold in folds], judge, 0.0, offset, pull)[1]
    fading = judge.error(faded, 0.0) <= _NEARLY * judge.error(held, 0.0) + _TIE
    return fading, faded if fading else held


def _held(fold: Answered) -> Answered:
    """The same fold with a pull that does not fade out."""
    assert fold.along is not None
    return fold._replace(along=fold.along._replace(hold=np.ones_like(fold.along.hold)))


def _good_means(folds: Sequence[Answered], judge: Judge, choices: Choices) -> list[tuple[float, float, float]]:
    """Blend, offset and pull to try where weighted means decide; settings that carry nothing are left out.

    First the one that carries farthest of those nearly as good as the best, then the best. The pull holds everywhere
    here: the error over all rows says little about the ends of the trend.
    """
    found = []
    for blend in choices.blends:
        rule = Rule(blend, "mean", 0.0, choices.sum_to_one)
        sums = [_sums(rule, fold) for fold in folds]
        own, moved, here = (np.concatenate(parts) for parts in zip(*sums, strict=True))
        for pull in _PULLS:
            for offset in _OFFSETS:
                loss = judge.error(pull * here + (1.0 - pull) * (own + offset * moved), 0.0)
                found.append((loss, (blend, offset, pull)))
    least = min(loss for loss, _ in found)
    best = next(setting for loss, setting in found if loss <= least + _TIE)
    good = [(loss, setting) for loss, setting in found if loss <= _AS_GOOD * least + _TIE]
    farthest = max(offset for _, (_, offset, _) in good)
    good = [(loss, setting) for loss, setting in good if setting[1] == farthest]
    far = next(setting for loss, setting in good if loss <= min(good)[0] + _TIE)
    return [setting for setting in dict.fromkeys((far, best)) if setting[1:] != (0.0, 0.0)]


def _sums(rule: Rule, fold: Answered) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weighted sums of the neighbours' targets, of the trend's differences, and of the trend at the query."""
    along = fold.along
    assert along is not None
    weights = rule.weights(fold.alpha, fold.kernel, fold.rarity)
    moved = weighted_sum(weights, along.here[:, None] - along.there)
    return weighted_sum(weights, fold.targets), moved, along.here * ordered_sum(weights)[:, None]
