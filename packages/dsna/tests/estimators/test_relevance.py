"""DSNARegressor(relevance=...): rare targets that matter are served, others are not."""

import numpy as np
import pytest

import dsna
from dsna import CostSensitiveForestRegressor, DSNAError, DSNARegressor

POINTS = [(-0.5, 0.0), (0.5, 0.3), (1.5, 1.0)]


def symmetric(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + 0.5 * X[:, 1] + 0.8 * rng.normal(size=n)


X, Y = symmetric(700, 0)
FRESH, TRUTH = symmetric(4000, 1)


def model(relevance="auto", balance=1.0, n_estimators=30, **how):
    forest = CostSensitiveForestRegressor(n_estimators)
    return DSNARegressor(forest, balance=balance, relevance=relevance, trend=None, random_state=0, **how)


def errors(fitted, sign=1.0):
    """Mean absolute error of the lowest tenth of the targets and of the highest one."""
    off = np.abs(sign * fitted.predict(FRESH) - TRUTH)
    low, high = np.quantile(TRUTH, [0.1, 0.9])
    return np.array([off[low > TRUTH].mean(), off[high < TRUTH].mean()])


@pytest.fixture(scope="module")
def plain():
    return errors(model(balance=0.0).fit(X, Y))


@pytest.mark.parametrize("relevance, served", [("high", 1), ("low", 0), (POINTS, 1)])
def test_only_the_end_that_matters_is_served(plain, relevance, served):
    found = errors(model(relevance).fit(X, Y))
    gain = 1.0 - found / plain
    assert gain[served] > 0.05
    assert gain[1 - served] < 0.5 * gain[served]


def test_low_serves_mirrored_targets_as_high_serves_the_targets():
    high, low = model("high").fit(X, Y), model("low").fit(X, -Y)
    np.testing.assert_allclose(high._rarity, low._rarity, rtol=1e-6)
    np.testing.assert_allclose(errors(high), errors(low, -1.0), rtol=0.05)


def test_control_points_are_the_function_through_them():
    def ramp(y):
        return np.clip(y, 0.0, 1.0)

    given, called = (model(kind, n_estimators=8).fit(X, Y) for kind in ([(0.0, 0.0), (1.0, 1.0)], ramp))
    np.testing.assert_allclose(given._rarity, called._rarity, rtol=1e-9)
    np.testing.assert_allclose(given.predict(FRESH[:200]), called.predict(FRESH[:200]), rtol=1e-6)


def test_all_targets_relevant_is_the_default():
    default, every = (model(kind, n_estimators=8).fit(X, Y) for kind in ("auto", lambda y: np.ones(len(y))))
    np.testing.assert_array_equal(default.predict(FRESH[:200]), every.predict(FRESH[:200]))


def test_held_out_targets_do_not_say_what_matters():
    fitted = model("high", n_estimators=8).fit(X, Y)
    fold = fitted._index.fold
    moved = fitted._rarity_outside(0)
    fitted._index.label = np.where((fold == 0)[:, None], 50.0, fitted._index.label)
    np.testing.assert_array_equal(fitted._rarity_outside(0)[fold != 0], moved[fold != 0])


@pytest.mark.parametrize("relevance", ["high", POINTS])
def test_names_and_points_are_saved_and_follow_new_rows(tmp_path, relevance):
    fitted = model(relevance, n_estimators=8).fit(X[:300], Y[:300])
    dsna.save(fitted, tmp_path / "model.dsna")
    again = dsna.load(tmp_path / "model.dsna")
    assert again.relevance == relevance
    for one in (fitted, again):
        one.add_samples(X[300:], Y[300:])
    np.testing.assert_array_equal(again.predict(FRESH[:50]), fitted.predict(FRESH[:50]))
    np.testing.assert_allclose(fitted._rarity, model(relevance, n_estimators=8).fit(X, Y)._rarity, rtol=1e-9)


def test_a_fitted_model_does_not_follow_another_relevance():
    fitted = model(n_estimators=5).fit(X[:100], Y[:100])
    with pytest.raises(DSNAError, match="relevance was changed after fit"):
        fitted.set_params(relevance="low").predict(X[:3])


@pytest.mark.parametrize("relevance", ["low", POINTS, lambda y: np.clip(y, 0, 1)])
def test_several_outputs_repeated_targets_and_weights(relevance):
    both = model(relevance, n_estimators=5).fit(X[:200], np.c_[Y, -Y][:200], sample_weight=np.arange(200) % 3)
    assert both.predict(FRESH[:9]).shape == (9, 2)
    ages = model(relevance, n_estimators=5, target_density="exact").fit(X[:200], np.round(Y[:200]))
    assert np.isfinite(ages.predict(FRESH[:9])).all()
