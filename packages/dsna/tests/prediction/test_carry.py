"""Which trend targets are carried along, and how far."""

from types import SimpleNamespace

import numpy as np
import pytest

from dsna.prediction.carry import Asked, _faded, _far_ahead, _held, along_trend, carry_over
from dsna.prediction.rule import Along, Answered, Choices, Judge, Rule
from dsna.trend.trend import TrendRows, fit_trend

CHOICES = Choices.of("auto", ("mean", "median"), sum_to_one=True)


def questions(slope, n=200, seed=0):
    """Rows of a linear truth whose neighbours are drawn at random: only a trend can tell them apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    target = (slope * X[:, 0] + 0.1 * rng.normal(size=n))[:, None]
    fold = np.arange(n) % 5
    rows = TrendRows(X, target, np.ones(n), fold)
    asked, folds = [], []
    for b in range(5):
        own = np.flatnonzero(fold == b)
        near = rng.choice(np.flatnonzero(fold != b), (len(own), 8))
        alpha = np.full(near.shape, 1 / 8)
        asked.append(Asked(b, own, near))
        folds.append(Answered(alpha, alpha, np.ones(near.shape), target[near]))
    order = np.concatenate([one.rows for one in asked])
    judge = Judge(target[order], np.ones(n), np.ones(n), target.std(axis=0), target, np.arange(n))
    return rows, folds, asked, judge


def test_queries_meet_a_trend_that_saw_neither_them_nor_their_neighbours_fold():
    rows, folds, asked, _ = questions(2.0)
    fitted = fit_trend("linear", rows, np.random.RandomState(0))
    for fold, one in zip(along_trend(folds, asked, fitted), asked, strict=True):
        np.testing.assert_array_equal(fold.along.here, fitted.own[one.rows])
        np.testing.assert_array_equal(fold.along.there, fitted.outside[one.fold][one.near])


@pytest.mark.parametrize("trend", ["auto", "linear"])
def test_a_trend_that_helps_is_used_as_far_as_it_does(trend):
    rows, folds, asked, judge = questions(2.0)
    carried, carry = carry_over(trend, rows, folds, asked, judge, CHOICES)
    assert carry.trend.kind == "linear"
    assert carry.offset == 1.0
    plain = CHOICES.best(folds, judge, 0.0)[1]
    found = CHOICES._replace(blends=(0.0,), decisions=("mean",)).best(carried, judge, 0.0, carry.offset, carry.pull)[1]
    assert judge.error(found, 0.0) < 0.2 * judge.error(plain, 0.0)


@pytest.mark.parametrize("trend, slope", [(None, 2.0), ("linear", 0.0)])
def test_no_trend(trend, slope):
    rows, folds, asked, judge = questions(slope)
    if slope == 0.0:  # targets of neighbours are the truth, which nothing can improve
        folds = [
            fold._replace(targets=np.repeat(rows.target[one.rows][:, None], 8, axis=1))
            for fold, one in zip(folds, asked, strict=True)
        ]
    same, carry = carry_over(trend, rows, folds, asked, judge, CHOICES)
    assert (carry.trend, carry.offset, carry.pull) == (None, 0.0, 0.0)
    assert same is folds


def test_carried_targets():
    along = Along(np.array([[10.0]]), np.array([[[4.0], [8.0]]]), np.ones((1, 1)), np.array([[-20.0], [11.5]]))
    targets = np.array([[[5.0], [7.0]]])
    assert Rule(0.0, "mean", 0.0).carried(targets, along) is targets
    assert Rule(0.0, "mean", 0.0, True, 1.0, 0.0).carried(targets, None) is targets
    np.testing.assert_allclose(Rule(0.0, "mean", 0.0, True, 1.0, 0.0).carried(targets, along).ravel(), [11.0, 9.0])
    np.testing.assert_allclose(Rule(0.0, "mean", 0.0, True, 0.5, 0.5).carried(targets, along).ravel(), [9.0, 9.0])
    # The pull fades out as the balance grows, and what lies past the bounds is cut off.
    np.testing.assert_allclose(Rule(0.0, "mean", 1.0, True, 0.5, 0.5).carried(targets, along).ravel(), [8.0, 8.0])
    faded = along._replace(hold=np.zeros((1, 1)))
    np.testing.assert_allclose(Rule(0.0, "mean", 0.0, True, 0.5, 0.5).carried(targets, faded).ravel(), [8.0, 8.0])
    far = Along(np.array([[20.0]]), *along[1:])
    np.testing.assert_allclose(Rule(0.0, "mean", 0.0, True, 1.0, 0.0).carried(targets, far).ravel(), [11.5, 11.5])


@pytest.mark.parametrize("short, fading", [(0.0, True), (30.0, False)])
def test_the_pull_fades_out_toward_the_ends_unless_that_costs_much(short, fading):
    rows, folds, asked, judge = questions(2.0)
    fitted = fit_trend("kernel", rows, np.random.RandomState(0))
    along = along_trend(folds, asked, fitted)
    left = np.concatenate([fold.along.hold for fold in along])
    assert (left.min(), left.max()) == (0.0, 1.0)
    # Neighbours whose targets do not follow the trend: what they carry over is worth less than the trend itself.
    noise = np.random.default_rng(0)
    along = [fold._replace(targets=fold.targets + short * noise.normal(size=fold.targets.shape)) for fold in along]
    found, predicted = _faded(along, judge, CHOICES, 1.0, 0.5)
    assert found is fading
    held = CHOICES.best([_held(fold) for fold in along], judge, 0.0, 1.0, 0.5)[1]
    assert np.array_equal(predicted, held) is not fading


@pytest.mark.parametrize("linear, skipped", [(1.0, False), (1.2, True), (None, True)])
def test_inputs_with_radial_functions_are_not_tried_far_behind_thresholds(linear, skipped):
    fitted = {kind: SimpleNamespace(trend=SimpleNamespace(kind=kind)) for kind in ("ordinal", "linear")}
    found = [(1.0, fitted["ordinal"], None)] + ([(linear, fitted["linear"], None)] if linear else [])
    assert _far_ahead(found) is skipped
    assert not _far_ahead([(1.0, fitted["linear"], None)])
    assert not _far_ahead([])
