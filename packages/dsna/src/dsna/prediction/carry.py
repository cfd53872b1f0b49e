"""Out-of-bag choice of the trend along which neighbours' targets are carried over to a query, and how far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._utils.sums import ordered_sum, weighted_sum
from ..trend.other import fit_regressor_trend
from ..trend.trend import CrossFitted, TrendRows, candidate_kinds, fade_factor, fit_trend, refit_on_all_rows
from .rule import Rule, RuleChoices, RuleEvaluator, RuleInputs, TrendValues

_OFFSETS = (0.0, 0.25, 0.5, 0.75, 1.0)
_PULLS = (0.0, 0.25, 0.5)
_TIE = 1e-9
_AS_GOOD = 1.01  # settings with at most this multiple of the smallest error are as good as the best
_NEARLY_AS_GOOD = 1.03  # trends with at most this multiple of the smallest error are nearly as good as the best
_FAR_BEHIND = 1.05  # trends with more than this multiple of another's error are far behind it


class ChosenTrend(NamedTuple):
    """A trend, or None, and how far targets are carried along it."""

    trend: Any  # Trend, RegressorTrend or None
    out_of_fold: np.ndarray  # (N, q) trend at each training row, learned without its fold
    offset: float
    pull: float


class FoldQueries(NamedTuple):
    """Rows of one held-out fold as queries, and their neighbours."""

    fold: int
    rows: np.ndarray  # (n,) training rows
    neighbors: np.ndarray  # (n, M) training rows


class _Candidate(NamedTuple):
    error: float
    fitted: CrossFitted
    offset: float
    pull: float


def trend_values(trend: Any, at_queries: np.ndarray, at_neighbors: np.ndarray) -> TrendValues:
    """Values of a trend at queries and neighbours, with the factor of its pull and its bounds."""
    return TrendValues(at_queries, at_neighbors, fade_factor(at_queries, trend.ends), trend.bounds)


def with_trend(folds: Sequence[RuleInputs], queries: Sequence[FoldQueries], fitted: CrossFitted) -> list[RuleInputs]:
    """The folds with the values of a trend, learned without the fold and, at a neighbour, without its fold too."""
    return [
        inputs._replace(
            trend=trend_values(
                fitted.trend,
                fitted.out_of_fold[fold_queries.rows],
                fitted.out_of_two_folds[fold_queries.fold][fold_queries.neighbors],
            )
        )
        for inputs, fold_queries in zip(folds, queries, strict=True)
    ]


def choose_trend(
    trend: Any,
    rows: TrendRows,
    folds: list[RuleInputs],
    queries: Sequence[FoldQueries],
    evaluator: RuleEvaluator,
    choices: RuleChoices,
) -> tuple[list[RuleInputs], ChosenTrend]:
    """Choose a trend among those that ``trend`` allows, and return the folds with it.

    A trend must lower the out-of-bag error; with "auto", by at least one standard error. Of the trends that are nearly
    as good as the best, the one with the smallest error on the outermost targets is chosen. Everything is chosen at
    balance 0, and callers pass the same choices for any blend and decision, so the trend depends on neither.
    """
    candidates: list[_Candidate] = []
    auto = isinstance(trend, str) and trend == "auto"
    if trend is not None and rows.can_cross_fit:
        without_trend = choices.best(folds, evaluator, 0.0)[1]
        targets_repeat = 3 * len(evaluator.grid) <= len(rows.X)
        for kind in candidate_kinds(targets_repeat) if auto else (trend,):
            if kind == "joint" and auto and _linear_is_far_behind(candidates):
                continue
            if isinstance(kind, str):
                fitted = fit_trend(kind, rows, np.random.RandomState(0))
            else:
                fitted = fit_regressor_trend(kind, rows)
            trend_folds = with_trend(folds, queries, fitted)
            for blend, offset, pull in _settings_to_try(trend_folds, evaluator, choices):
                blend_choices = choices._replace(blends=(blend,))
                fades, prediction = _choose_fading(trend_folds, evaluator, blend_choices, offset, pull)
                decrease, standard_error = evaluator.improvement(without_trend, prediction)
                if decrease > (standard_error if auto else 0.0):
                    fitted.trend.ends = fitted.trend.ends if fades else None
                    candidates.append(_Candidate(evaluator.error(prediction, 0.0), fitted, offset, pull))
                    break
    if not candidates:
        return folds, ChosenTrend(None, np.empty((0, rows.target.shape[1])), 0.0, 0.0)
    max_error = _NEARLY_AS_GOOD * min(candidate.error for candidate in candidates) + _TIE
    nearly_best = [candidate for candidate in candidates if candidate.error <= max_error]
    selected = min(nearly_best, key=lambda candidate: candidate.fitted.tail_error)
    fitted = refit_on_all_rows(selected.fitted, rows)
    chosen_trend = ChosenTrend(fitted.trend, fitted.out_of_fold, selected.offset, selected.pull)
    return with_trend(folds, queries, fitted), chosen_trend


def _linear_is_far_behind(candidates: Sequence[_Candidate]) -> bool:
    """Whether thresholds are so much better than inputs alone that inputs with radial functions need no trial."""
    errors = {candidate.fitted.trend.kind: candidate.error for candidate in candidates}
    return errors.get("linear", np.inf) > _FAR_BEHIND * errors.get("ordinal", np.inf)


def _choose_fading(
    folds: Sequence[RuleInputs], evaluator: RuleEvaluator, choices: RuleChoices, offset: float, pull: float
) -> tuple[bool, np.ndarray]:
    """Choose whether the pull fades out toward the ends of the trend; return the choice and the predictions.

    It fades out unless this clearly raises the error over all rows, which says little about the outermost targets.
    """
    fading = choices.best(folds, evaluator, 0.0, offset, pull)[1]
    constant = choices.best([_without_fading(fold) for fold in folds], evaluator, 0.0, offset, pull)[1]
    fades = evaluator.error(fading, 0.0) <= _NEARLY_AS_GOOD * evaluator.error(constant, 0.0) + _TIE
    return fades, fading if fades else constant


def _without_fading(fold: RuleInputs) -> RuleInputs:
    """The fold with a pull that does not fade out."""
    assert fold.trend is not None
    return fold._replace(trend=fold.trend._replace(fade=np.ones_like(fold.trend.fade)))


def _settings_to_try(
    folds: Sequence[RuleInputs], evaluator: RuleEvaluator, choices: RuleChoices
) -> list[tuple[float, float, float]]:
    """Blend, offset and pull to try, judged by the error of weighted means; settings without effect are left out.

    First come the settings of largest offset among those that are as good as the best, then the best. The pull does
    not fade out here: the error over all rows says little about the ends of the trend.
    """
    candidates = []
    for blend in choices.blends:
        rule = Rule(blend, "mean", 0.0, choices.sum_to_one)
        sums = [_weighted_sums(rule, fold) for fold in folds]
        target_sum, difference_sum, trend_sum = (np.concatenate(arrays) for arrays in zip(*sums, strict=True))
        for pull in _PULLS:
            for offset in _OFFSETS:
                prediction = pull * trend_sum + (1.0 - pull) * (target_sum + offset * difference_sum)
                candidates.append((evaluator.error(prediction, 0.0), (blend, offset, pull)))
    min_loss = min(loss for loss, _ in candidates)
    best = next(settings for loss, settings in candidates if loss <= min_loss + _TIE)
    candidates = [(loss, settings) for loss, settings in candidates if loss <= _AS_GOOD * min_loss + _TIE]
    max_offset = max(offset for _, (_, offset, _) in candidates)
    candidates = [(loss, settings) for loss, settings in candidates if settings[1] == max_offset]
    farthest = next(settings for loss, settings in candidates if loss <= min(candidates)[0] + _TIE)
    return [settings for settings in dict.fromkeys((farthest, best)) if settings[1:] != (0.0, 0.0)]


def _weighted_sums(rule: Rule, fold: RuleInputs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weighted sums of the neighbours' targets, of the trend's differences, and of the trend at the query."""
    trend = fold.trend
    assert trend is not None
    weights = rule.weights(fold.alpha, fold.kernel, fold.rarity)
    difference_sum = weighted_sum(weights, trend.at_queries[:, None] - trend.at_neighbors)
    return weighted_sum(weights, fold.targets), difference_sum, trend.at_queries * ordered_sum(weights)[:, None]
