"""Quantiles: as many fresh targets below as promised, monotone, the same however queries are asked."""

import numpy as np
import pytest
from scipy.stats import binom
from tests.small_models import build

import dsna
from dsna import DSNAError, DSNARegressor
from dsna.uncertainty.quantiles import Ranks, positive_weights, rank_among

LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]


def table(n, seed):
    """Skewed noise that grows with a feature."""
    rng = np.random.RandomState(seed)
    X = rng.rand(n, 4)
    return X, 4.0 * X[:, 1] + (0.2 + 2.0 * X[:, 2]) * rng.exponential(size=n)


@pytest.fixture(scope="module")
def model():
    return build(DSNARegressor, n_estimators=50, random_state=0).fit(*table(1200, 0))


def within_chance(below, level, n_known, slack=0.015):
    """Whether a count is one that the level makes likely, up to the noise of the calibration rows and a slack."""
    wide = slack + 3.0 * np.sqrt(level * (1.0 - level) / n_known)
    first = binom.ppf(0.0005, len(below), max(level - wide, 0.0))
    last = binom.ppf(0.9995, len(below), min(level + wide, 1.0))
    return first <= below.sum() <= last


def test_share_of_fresh_targets_below(model):
    fresh, truth = table(4000, 1)
    found = model.predict_quantiles(fresh, LEVELS)
    for level, bound in zip(LEVELS, found.T, strict=True):
        assert within_chance(truth <= bound, level, 1200)


def test_share_holds_where_targets_differ_much_and_little(model):
    fresh, truth = table(4000, 1)
    found = model.predict_quantiles(fresh, [0.05, 0.95])
    loud = fresh[:, 2] > 0.5
    for rows in (loud, ~loud):
        for level, bound in zip((0.05, 0.95), found[rows].T, strict=True):
            assert within_chance(truth[rows] <= bound, level, 600, slack=0.03)
    width = found[:, 1] - found[:, 0]
    assert width[loud].mean() > 1.5 * width[~loud].mean()


def test_quantiles_beat_those_of_the_targets_alone(model):
    fresh, truth = table(4000, 1)
    found, plain = model.predict_quantiles(fresh, LEVELS), np.quantile(table(1200, 0)[1], LEVELS)
    levels = np.array(LEVELS)

    def pinball(q):
        off = truth[:, None] - q
        return np.maximum(levels * off, (levels - 1.0) * off).mean()

    assert pinball(found) < 0.75 * pinball(plain)


def test_quantiles_rise_with_the_level_in_any_order(model):
    fresh = table(200, 2)[0]
    levels = np.r_[1e-6, np.linspace(0.01, 0.99, 33), 1.0 - 1e-6]
    found = model.predict_quantiles(fresh, levels)
    assert np.all(np.isfinite(found))
    assert np.all(np.diff(found, axis=1) >= 0.0)
    np.testing.assert_array_equal(model.predict_quantiles(fresh, levels[::-1]), found[:, ::-1])


def test_queries_are_answered_one_by_one(model):
    fresh = table(60, 3)[0]
    found = model.predict_quantiles(fresh, LEVELS)
    order = np.random.RandomState(0).permutation(60)
    np.testing.assert_array_equal(model.predict_quantiles(fresh[order], LEVELS), found[order])
    np.testing.assert_allclose(model.predict_quantiles(fresh[:1], LEVELS), found[:1], rtol=1e-9)


def test_balance_and_decision_change_nothing(model):
    fresh = table(30, 3)[0]
    other = model.with_settings(balance=1.0, blend=0.0, decision="median")
    np.testing.assert_array_equal(other.predict_quantiles(fresh), model.predict_quantiles(fresh))


def test_several_outputs():
    (X, y), (fresh, truth) = table(600, 0), table(2000, 1)
    model = build(DSNARegressor, n_estimators=50, random_state=0).fit(X, np.c_[y, -3.0 * y])
    found = model.predict_quantiles(fresh, [0.1, 0.9])
    assert found.shape == (2000, 2, 2)
    for a, values in enumerate((truth, -3.0 * truth)):
        for level, bound in zip((0.1, 0.9), found[:, a].T, strict=True):
            assert within_chance(values <= bound, level, 600, slack=0.02)


def test_targets_that_repeat_are_quantiles():
    rng = np.random.RandomState(0)
    X = rng.rand(900, 3)
    y = rng.poisson(1.0 + 6.0 * X[:, 0]).astype(float)
    model = build(DSNARegressor, n_estimators=30, random_state=0).fit(X[:600], y[:600])
    found = model.predict_quantiles(X[600:], [0.1, 0.5, 0.9])
    assert np.isin(found, y[:600]).all()
    below, upto = np.mean(y[600:, None] < found, axis=0), np.mean(y[600:, None] <= found, axis=0)
    assert np.all(below <= np.array([0.1, 0.5, 0.9]) + 0.07)
    assert np.all(upto >= np.array([0.1, 0.5, 0.9]) - 0.07)


def test_saved_and_added_to(model, tmp_path):
    fresh = table(40, 3)[0]
    dsna.save(model, tmp_path / "m.dsna")
    np.testing.assert_array_equal(
        dsna.load(tmp_path / "m.dsna").predict_quantiles(fresh), model.predict_quantiles(fresh)
    )
    X, y = table(300, 4)
    longer = build(DSNARegressor, n_estimators=10, random_state=0).fit(X[:200], y[:200]).add_samples(X[200:], y[200:])
    assert np.isfinite(longer.predict_quantiles(fresh)).all()


@pytest.mark.parametrize("levels", [0.5, [], [0.0], [1.0], [0.5, np.nan], [[0.5]], "half", ["a"], [True], None])
def test_bad_levels_are_refused(model, levels):
    with pytest.raises(DSNAError, match=r"quantiles=.* strictly between 0 and 1"):
        model.predict_quantiles(table(5, 0)[0], levels)


def test_models_without_out_of_bag_rows_say_so():
    X, y = table(6, 0)
    model = build(DSNARegressor, n_estimators=5, random_state=0).fit(X, y)
    if not model._ranks:
        with pytest.raises(DSNAError, match="Quantiles need out-of-bag rows"):
            model.predict_quantiles(X)


def test_ranks_are_those_of_the_weighted_targets():
    rng = np.random.RandomState(0)
    weights, targets, y = rng.dirichlet(np.ones(9), 50), rng.randn(50, 9), rng.randn(50)
    found = rank_among(y, weights, targets, np.full(50, 1e-9))
    np.testing.assert_allclose(found, (weights * (targets < y[:, None])).sum(axis=1), atol=1e-9)


def test_rows_of_no_weight_do_not_count():
    rng = np.random.RandomState(0)
    weights, targets, spread = rng.dirichlet(np.ones(5), 20), rng.randn(20, 5), rng.rand(20)
    ranks = Ranks(rng.rand(100), np.ones(100), 1.0)
    plain = ranks.quantiles(weights, targets, spread, np.array(LEVELS))
    padded = ranks.quantiles(
        np.c_[weights, np.zeros((20, 2))], np.c_[targets, np.full((20, 2), 99.0)], spread, np.array(LEVELS)
    )
    np.testing.assert_array_equal(padded, plain)


def test_levels_are_moved_to_where_ranks_are_right():
    # Ranks that all lie near the middle: distributions are too wide, and quantiles draw together.
    wide, even = Ranks(np.linspace(0.4, 0.6, 101), np.ones(101), 1.0), Ranks(np.linspace(0, 1, 101), np.ones(101), 1.0)
    weights, targets = np.full((1, 50), 0.02), np.arange(50.0)[None]
    near, far = (r.quantiles(weights, targets, np.ones(1), np.array([0.1, 0.9]))[0] for r in (wide, even))
    np.testing.assert_allclose(far, [4.5, 44.5], atol=0.7)
    np.testing.assert_allclose(near, [20.5, 28.5], atol=0.7)


def test_equal_targets_are_their_own_quantiles():
    X = np.random.RandomState(0).rand(80, 2)
    model = build(DSNARegressor, n_estimators=5, random_state=0).fit(X, np.full(80, 7.0))
    np.testing.assert_allclose(model.predict_quantiles(X[:3]), 7.0)


def test_negative_weights_are_left_out():
    found = positive_weights(np.array([[0.7, -0.1, 0.4], [-1.0, 0.0, 0.0]]), np.array([[0.2, 0.3, 0.5]] * 2))
    np.testing.assert_array_equal(found, [[0.7, 0.0, 0.4], [0.2, 0.3, 0.5]])
