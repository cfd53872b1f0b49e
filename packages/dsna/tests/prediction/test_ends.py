"""Predictions past the outermost targets."""

import numpy as np
import pytest
from tests.small_models import build

from dsna import DSNAError, DSNARegressor
from dsna.prediction.ends import learn_ends, move_outward

RNG = np.random.RandomState(0)


def test_predictions_that_fall_short_are_moved_to_what_they_stand_for():
    target = RNG.uniform(-10, 10, (4000, 2)) * [1.0, 50.0]
    prediction = 0.7 * target + RNG.normal(0, 0.2, (4000, 2)) * [1.0, 50.0]
    ends = learn_ends(target, prediction, np.ones(4000))
    outermost = np.array([[-10.0, -500.0], [10.0, 500.0], [13.0, 650.0]])
    np.testing.assert_allclose(move_outward(0.7 * outermost, ends), outermost, rtol=0.03)
    middle = np.array([[0.0, 0.0], [3.0, -150.0]])
    np.testing.assert_array_equal(move_outward(middle, ends), middle)


def test_the_map_rises_without_a_jump_and_stays_within_one_range():
    target = RNG.normal(size=(500, 1))
    ends = learn_ends(target, 0.5 * target + RNG.normal(0, 0.3, (500, 1)), RNG.rand(500))
    p = np.linspace(-9, 9, 4001)[:, None]
    moved = move_outward(p, ends)
    steps = np.diff(moved[:, 0])
    assert np.all(steps >= 0)
    assert steps.max() <= np.diff(p[:, 0]).max() * 8
    width = np.ptp(target)
    assert moved.max() == pytest.approx(target.max() + width)
    assert moved.min() == pytest.approx(target.min() - width)


@pytest.mark.parametrize(
    "prediction",
    [lambda y: y, lambda y: np.full_like(y, 3.0), lambda y: -y],
    ids=["perfect", "constant", "reversed"],
)
def test_predictions_that_are_right_or_say_nothing_stay(prediction):
    y = np.arange(60.0)[:, None]
    ends = learn_ends(y, prediction(y), np.ones(60))
    np.testing.assert_allclose(move_outward(y, ends), y)


def test_rows_count_by_weight():
    y = RNG.randint(0, 8, (200, 1)).astype(float)
    p = 0.8 * y + RNG.normal(0, 0.3, (200, 1))
    times = RNG.randint(1, 4, 200)
    again = learn_ends(np.repeat(y, times, axis=0), np.repeat(p, times, axis=0), np.ones(times.sum()))
    np.testing.assert_allclose(learn_ends(y, p, times.astype(float)), again)


@pytest.fixture(scope="module")
def cut():
    """Rows without the top fifth of the targets, and those."""
    X = RNG.uniform(-1, 1, (500, 3))
    y = X @ [2.0, 1.0, 0.5]
    inside = y < np.quantile(y, 0.8)
    return X[inside], np.round(y[inside], 1), X[~inside], y[~inside]


def test_an_open_regressor_comes_nearer_to_targets_past_those_seen(cut):
    X, y, X_past, y_past = cut
    model = build(DSNARegressor, n_estimators=10, decision="open", trend=None, random_state=0).fit(X, y)
    closed = model.with_settings(decision="mean", blend=model.blend_)
    assert closed.predict(X_past).max() < model.predict(X_past).max()
    error, before = (np.abs(one.predict(X_past) - y_past).mean() for one in (model, closed))
    assert error < 0.95 * before
    assert np.abs(model.oob_prediction_ - y[model.oob_rows_]).mean() < 1.3 * np.abs(closed.predict(X) - y).mean() + 0.2
    bounds = model.predict_interval(X_past)
    assert bounds.max() > y.max(), "intervals go past the targets seen, too"


def test_other_settings_need_another_fit(cut):
    model = build(DSNARegressor, n_estimators=5, decision="open", random_state=0).fit(*cut[:2])
    for settings in ({"balance": 0.5}, {"decision": "open"}):
        with pytest.raises(DSNAError, match="call fit"):
            model.with_settings(**settings)
