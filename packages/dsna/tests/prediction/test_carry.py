"""Which trend targets are carried along, and how far."""

from types import SimpleNamespace

import numpy as np
import pytest

from dsna.prediction.carry import (
    FoldQueries,
    _Candidate,
    _choose_fading,
    _linear_is_far_behind,
    _without_fading,
    choose_trend,
    with_trend,
)
from dsna.prediction.rule import Rule, RuleChoices, RuleEvaluator, RuleInputs, TrendValues
from dsna.trend.trend import TrendRows, fit_trend

CHOICES = RuleChoices.of("auto", ("mean", "median"), sum_to_one=True)


def questions(slope, n=200, seed=0):
    """Rows of a linear truth whose neighbours are drawn at random: only a trend can tell them apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    target = (slope * X[:, 0] + 0.1 * rng.normal(size=n))[:, None]
    fold = np.arange(n) % 5
    rows = TrendRows(X, target, np.ones(n), fold)
    queries, folds = [], []
    for b in range(5):
        own = np.flatnonzero(fold == b)
        near = rng.choice(np.flatnonzero(fold != b), (len(own), 8))
        alpha = np.full(near.shape, 1 / 8)
        queries.append(FoldQueries(b, own, near))
        folds.append(RuleInputs(alpha, alpha, np.ones(near.shape), target[near]))
    order = np.concatenate([one.rows for one in queries])
    evaluator = RuleEvaluator(target[order], np.ones(n), np.ones(n), target.std(axis=0), target, np.arange(n))
    return rows, folds, queries, evaluator


def test_queries_meet_a_trend_that_saw_neither_them_nor_their_neighbours_fold():
    rows, folds, queries, _ = questions(2.0)
    fitted = fit_trend("linear", rows, np.random.RandomState(0))
    for fold, one in zip(with_trend(folds, queries, fitted), queries, strict=True):
        np.testing.assert_array_equal(fold.trend.at_queries, fitted.out_of_fold[one.rows])
        np.testing.assert_array_equal(fold.trend.at_neighbors, fitted.out_of_two_folds[one.fold][one.neighbors])


@pytest.mark.parametrize("trend", ["auto", "linear"])
def test_a_trend_that_helps_is_used_as_far_as_it_does(trend):
    rows, folds, queries, evaluator = questions(2.0)
    carried, chosen = choose_trend(trend, rows, folds, queries, evaluator, CHOICES)
    assert chosen.trend.kind == "linear"
    assert chosen.offset == 1.0
    plain = CHOICES.best(folds, evaluator, 0.0)[1]
    found = CHOICES._replace(blends=(0.0,), decisions=("mean",)).best(
        carried, evaluator, 0.0, chosen.offset, chosen.pull
    )[1]
    assert evaluator.error(found, 0.0) < 0.2 * evaluator.error(plain, 0.0)


@pytest.mark.parametrize("trend, slope", [(None, 2.0), ("linear", 0.0)])
def test_no_trend(trend, slope):
    rows, folds, queries, evaluator = questions(slope)
    if slope == 0.0:  # targets of neighbours are the truth, which nothing can improve
        folds = [
            fold._replace(targets=np.repeat(rows.target[one.rows][:, None], 8, axis=1))
            for fold, one in zip(folds, queries, strict=True)
        ]
    same, chosen = choose_trend(trend, rows, folds, queries, evaluator, CHOICES)
    assert (chosen.trend, chosen.offset, chosen.pull) == (None, 0.0, 0.0)
    assert same is folds


def test_carried_targets():
    along = TrendValues(np.array([[10.0]]), np.array([[[4.0], [8.0]]]), np.ones((1, 1)), np.array([[-20.0], [11.5]]))
    targets = np.array([[[5.0], [7.0]]])
    assert Rule(0.0, "mean", 0.0).carried(targets, along) is targets
    assert Rule(0.0, "mean", 0.0, True, 1.0, 0.0).carried(targets, None) is targets
    np.testing.assert_allclose(Rule(0.0, "mean", 0.0, True, 1.0, 0.0).carried(targets, along).ravel(), [11.0, 9.0])
    np.testing.assert_allclose(Rule(0.0, "mean", 0.0, True, 0.5, 0.5).carried(targets, along).ravel(), [9.0, 9.0])
    # The pull fades out as the balance grows, and what lies past the bounds is cut off.
    np.testing.assert_allclose(Rule(0.0, "mean", 1.0, True, 0.5, 0.5).carried(targets, along).ravel(), [8.0, 8.0])
    faded = along._replace(fade=np.zeros((1, 1)))
    np.testing.assert_allclose(Rule(0.0, "mean", 0.0, True, 0.5, 0.5).carried(targets, faded).ravel(), [8.0, 8.0])
    far = TrendValues(np.array([[20.0]]), *along[1:])
    np.testing.assert_allclose(Rule(0.0, "mean", 0.0, True, 1.0, 0.0).carried(targets, far).ravel(), [11.5, 11.5])


@pytest.mark.parametrize("short, fading", [(0.0, True), (30.0, False)])
def test_the_pull_fades_out_toward_the_ends_unless_that_costs_much(short, fading):
    rows, folds, queries, evaluator = questions(2.0)
    fitted = fit_trend("kernel", rows, np.random.RandomState(0))
    along = with_trend(folds, queries, fitted)
    left = np.concatenate([fold.trend.fade for fold in along])
    assert (left.min(), left.max()) == (0.0, 1.0)
    # Neighbours whose targets do not follow the trend: what they chosen over is worth less than the trend itself.
    noise = np.random.default_rng(0)
    along = [fold._replace(targets=fold.targets + short * noise.normal(size=fold.targets.shape)) for fold in along]
    found, predicted = _choose_fading(along, evaluator, CHOICES, 1.0, 0.5)
    assert found is fading
    held = CHOICES.best([_without_fading(fold) for fold in along], evaluator, 0.0, 1.0, 0.5)[1]
    assert np.array_equal(predicted, held) is not fading


@pytest.mark.parametrize("linear, skipped", [(1.0, False), (1.2, True), (None, True)])
def test_inputs_with_radial_functions_are_not_tried_far_behind_thresholds(linear, skipped):
    fitted = {kind: SimpleNamespace(trend=SimpleNamespace(kind=kind)) for kind in ("ordinal", "linear")}
    found = [_Candidate(1.0, fitted["ordinal"], 0.0, 0.0)]
    found += [_Candidate(linear, fitted["linear"], 0.0, 0.0)] if linear else []
    assert _linear_is_far_behind(found) is skipped
    assert not _linear_is_far_behind([_Candidate(1.0, fitted["linear"], 0.0, 0.0)])
    assert not _linear_is_far_behind([])
