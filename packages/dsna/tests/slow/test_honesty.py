"""Honesty of out-of-bag scores over many draws: at chance on permuted labels, and equal to the score on fresh rows.

Each draw gives a score, what it should be, and the standard error of the difference (tests/honesty.py). Over S
independent draws the mean difference has the standard error sqrt(sum of their squares) / S, and has to lie within three
of these. Out-of-bag answers come from two fifths of the trees and four fifths of the rows, so a score may be lower than
on fresh rows by a margin, which is named; it may not be higher.
"""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.neighbors import NearestNeighbors
from tests import honesty
from tests.small_models import build

from dsna import DSNAClassifier, DSNARegressor

pytestmark = pytest.mark.slow

SEEDS = range(8)
TUNE = pytest.mark.parametrize("tune", [None, "oob"])


def together(differences, noises):
    """Mean difference and its standard error."""
    return np.mean(differences), np.sqrt(np.sum(np.square(noises))) / len(noises)


def oob_classes(model):
    return model.oob_prediction_


@pytest.mark.parametrize("balance", [0.0, None])
@pytest.mark.parametrize(
    "forest, tune",
    [("csrf", None), ("csrf", "oob"), (RandomForestClassifier(30), None), (NearestNeighbors(n_neighbors=20), "oob")],
)
def test_permuted_classes(forest, tune, balance):
    found = []
    for seed in SEEDS:
        X, y = honesty.classes(400, seed)
        y = np.random.RandomState(100 + seed).permutation(y)
        model = build(DSNAClassifier, forest, n_estimators=30, balance=balance, tune=tune, random_state=seed).fit(X, y)
        noise = honesty.recall_noise(y[model.oob_rows_], oob_classes(model))
        found.append((model.oob_score_ - 1 / 3, noise))
    difference, noise = together(*zip(*found, strict=True))
    assert abs(difference) < 3 * noise


@pytest.mark.parametrize(
    "forest, tune",
    [("csrf", None), ("csrf", "oob"), (ExtraTreesRegressor(30), None), (NearestNeighbors(n_neighbors=20), "oob")],
)
def test_permuted_labels(forest, tune):
    scores, gains = [], []
    for seed in SEEDS:
        X, y = honesty.labels(400, seed)
        y = np.random.RandomState(100 + seed).permutation(y)
        model = build(DSNARegressor, forest, n_estimators=30, tune=tune, random_state=seed).fit(X, y)
        scores.append(model.oob_score_)
        gains.append(honesty.gain_over_median(y[model.oob_rows_], model.oob_prediction_))
    gain, noise = together(*zip(*gains, strict=True))
    assert np.mean(scores) < 0.0
    assert max(scores) < 0.05
    assert gain < 3 * noise


@TUNE
@pytest.mark.parametrize("rounds", [1, 2])
def test_classes_of_persons(tune, rounds):
    found, naive = [], []
    for seed in SEEDS:
        X, y, groups = honesty.persons(100, 4, seed, "classes")
        model = build(DSNAClassifier, n_estimators=30, metric_rounds=rounds, tune=tune, random_state=seed)
        naive.append(model.fit(X, y).oob_score_)
        rows = model.fit(X, y, groups=groups).oob_rows_
        found.append((model.oob_score_ - 0.5, honesty.recall_noise(y[rows], oob_classes(model), groups[rows])))
    difference, noise = together(*zip(*found, strict=True))
    assert np.median(naive) > 0.9, "without groups, identity gives labels away"
    # Folds of whole groups cannot be dealt evenly among classes: what a fold has too much of, the others lack,
    # which lowers the score a little.
    assert -0.05 - 3 * noise < difference < 3 * noise


@TUNE
@pytest.mark.parametrize("rounds", [1, 2])
def test_labels_of_persons(tune, rounds):
    scores, gains, naive = [], [], []
    for seed in SEEDS:
        X, y, groups = honesty.persons(100, 4, seed, "labels")
        model = build(DSNARegressor, n_estimators=30, metric_rounds=rounds, tune=tune, random_state=seed)
        naive.append(model.fit(X, y).oob_score_)
        rows = model.fit(X, y, groups=groups).oob_rows_
        scores.append(model.oob_score_)
        gains.append(honesty.gain_over_median(y[rows], model.oob_prediction_, groups[rows]))
    gain, noise = together(*zip(*gains, strict=True))
    assert np.median(naive) > 0.9, "without groups, identity gives labels away"
    assert np.mean(scores) < 0.0
    assert gain < 3 * noise


@TUNE
@pytest.mark.parametrize("balance", [0.0, None])
def test_class_scores_on_fresh_rows(tune, balance):
    found = []
    for seed in SEEDS:
        (X, y), (fresh, truth) = honesty.classes(600, seed), honesty.classes(4000, 1000 + seed)
        model = build(DSNAClassifier, n_estimators=40, balance=balance, tune=tune, random_state=seed).fit(X, y)
        predicted = model.predict(fresh)
        out_of_bag = honesty.recall_noise(y[model.oob_rows_], oob_classes(model))
        noise = np.hypot(out_of_bag, honesty.recall_noise(truth, predicted))
        found.append((model.oob_score_ - balanced_accuracy_score(truth, predicted), noise))
    difference, noise = together(*zip(*found, strict=True))
    assert -0.02 - 3 * noise < difference < 3 * noise


@TUNE
def test_label_scores_on_fresh_rows(tune):
    found = []
    for seed in SEEDS:
        (X, y), (fresh, truth) = honesty.labels(600, seed), honesty.labels(4000, 1000 + seed)
        model = build(DSNARegressor, n_estimators=40, tune=tune, random_state=seed).fit(X, y)
        out_of_bag = honesty.r2_noise(y[model.oob_rows_], model.oob_prediction_)
        noise = np.hypot(out_of_bag, honesty.r2_noise(truth, model.predict(fresh)))
        found.append((model.oob_score_ - model.score(fresh, truth), noise))
    difference, noise = together(*zip(*found, strict=True))
    assert -0.04 - 3 * noise < difference < 3 * noise


def test_scores_of_large_tables_rest_on_a_sample_that_stands_for_all():
    (X, y), (fresh, truth) = honesty.classes(8000, 0), honesty.classes(8000, 1)
    model = build(DSNAClassifier, n_estimators=40, random_state=0).fit(X, y)
    predicted = model.predict(fresh)
    assert len(model.oob_rows_) < 4000
    out_of_bag = honesty.recall_noise(y[model.oob_rows_], oob_classes(model))
    noise = np.hypot(out_of_bag, honesty.recall_noise(truth, predicted))
    assert abs(model.oob_score_ - balanced_accuracy_score(truth, predicted)) < 3 * noise

    (X, y), (fresh, truth) = honesty.labels(8000, 0), honesty.labels(8000, 1)
    model = DSNARegressor(random_state=0).fit(X, y)
    assert len(model.oob_rows_) < 4000
    rows = model.oob_rows_
    # Rows sampled from few common labels stand for many; so many, of the 20 label ranges the sample is drawn by.
    at = [np.floor(20 * (values - y.min()) / np.ptp(y)).astype(int) for values in (y, y[rows])]
    weight = (np.bincount(at[0]) / np.maximum(np.bincount(at[1], minlength=at[0].max() + 1), 1))[at[1]]
    noise = np.hypot(
        honesty.r2_noise(y[rows], model.oob_prediction_, weight), honesty.r2_noise(truth, model.predict(fresh))
    )
    assert abs(model.oob_score_ - model.score(fresh, truth)) < 3 * noise
    error, off = np.abs(model.oob_prediction_ - y[rows]), np.abs(model.predict(fresh) - truth)
    mean = np.average(error, weights=weight)
    noise = np.hypot(np.sqrt(np.sum((weight * (error - mean)) ** 2)) / weight.sum(), off.std() / np.sqrt(len(off)))
    assert mean > off.mean() - 3 * noise, "the out-of-bag error may not be smaller than the error on fresh rows"


def test_intervals_cover_fresh_rows_in_every_region():
    hits, regions = [], {}
    for seed in SEEDS:
        (X, y), (fresh, truth) = honesty.labels(1000, seed), honesty.labels(4000, 1000 + seed)
        model = build(DSNARegressor, n_estimators=40, random_state=seed).fit(X, y)
        with pytest.warns(UserWarning, match="merged"):
            bounds = model.predict_interval(fresh)
        hit = (bounds[:, 0] <= truth) & (truth <= bounds[:, 1])
        hits.append(hit.mean())
        edges = np.linspace(0.0, 5.0, 11)
        for r in np.unique(np.digitize(truth, edges)):
            if np.sum(np.digitize(y, edges) == r) >= 50:
                regions.setdefault(r, []).append(hit[np.digitize(truth, edges) == r].mean())
    # Eight calibrations on 1,000 rows: the mean has a standard error of .3 / sqrt(8,000), a third of a percent.
    assert 0.88 < np.mean(hits) < 0.92
    assert len(regions) > 4
    # A region of 50 rows has a standard error of 4 % in one draw, and 1.5 % in the mean of eight.
    for shares in regions.values():
        assert np.mean(shares) > 0.87
