"""Intervals open outward past the rows, and only there."""

import numpy as np
import pytest
from tests.small_models import build

import dsna
from dsna import DSNARegressor

pytestmark = pytest.mark.filterwarnings("ignore:Target regions of fewer:UserWarning")
TRUTHS = {"linear": lambda u: u, "saturating": np.tanh, "exponential": np.exp}


def made(truth, side=1.0):
    """Rows with one direction that counts; the targets past 80 % on one side are not seen."""
    rng = np.random.RandomState(3)
    X = rng.normal(size=(1000, 3))
    value = TRUTHS[truth](X @ [0.8, -0.6, 0.0])
    y = side * (value + 0.1 * value.std() * rng.normal(size=1000))
    past = side * y > np.quantile(side * y, 0.8)
    inside = ~past & (rng.rand(1000) < 0.25)
    return X, y, past, inside


def fitted(X, y, **settings):
    return build(DSNARegressor, n_estimators=30, balance=0.0, random_state=0, **settings).fit(X, y)


def held(bounds, y):
    return (bounds[:, 0] <= y) & (y <= bounds[:, 1])


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("truth", list(TRUTHS))
def test_targets_past_those_seen_are_held(truth, side):
    X, y, past, inside = made(truth, side)
    model = fitted(X[~past & ~inside], y[~past & ~inside])
    bounds = model.predict_interval(X)
    width = np.diff(bounds, axis=1)[:, 0]
    assert held(bounds, y)[past].mean() > 0.7
    assert width[past].mean() < 4.0 * width[inside].mean()
    assert held(bounds, y)[inside].mean() > 0.8


def test_only_rows_past_the_end_are_opened_and_predictions_are_held():
    X, y, past, inside = made("exponential")
    model = fitted(X[~past], y[~past])
    closed = fitted(X[~past], y[~past])
    closed._continuation = None
    closed._extrapolation = lambda X: 0.0
    bounds, plain, prediction = model.predict_interval(X), closed.predict_interval(X), model.predict(X)
    opened = np.any(bounds != plain, axis=1)
    assert opened[past].mean() > 0.6
    assert opened[inside].mean() < 0.05
    assert np.all(bounds[:, 0] <= plain[:, 0])
    assert np.all(bounds[:, 1] >= plain[:, 1])
    assert held(bounds, prediction).all()


def test_intervals_open_farther_the_farther_out():
    X, y, past, _ = made("linear")
    model = fitted(X[~past], y[~past])
    away = np.outer(np.linspace(2.0, 4.0, 5), [0.8, -0.6, 0.0])
    width = np.diff(model.predict_interval(away), axis=1)[:, 0]
    assert np.all(np.diff(width) > 0.0)
    assert np.isfinite(model.predict_interval(1e6 * away)).all()


def test_no_trend_and_repeated_targets_stay_closed():
    X, y, past, _ = made("linear")
    assert fitted(X[~past], y[~past], trend=None)._continuation is None
    ages = np.round(3.0 * y)
    model = fitted(X[~past], ages[~past])
    assert model._continuation is None
    assert model.predict_interval(X)[:, 1].max() <= ages[~past].max()


def test_targets_that_the_line_says_little_about_stay_closed():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(600, 2))
    y = X[:, 0] ** 2 + 0.1 * rng.normal(size=600)
    model = fitted(X, y, trend="joint")
    if model._continuation is not None:
        assert not model._continuation.used[1].any()


def test_several_outputs_and_files(tmp_path):
    X, y, past, _ = made("exponential")
    model = fitted(X[~past], np.c_[y, -2.0 * y][~past])
    bounds = model.predict_interval(X[past])
    assert held(bounds[:, 0], y[past]).mean() > 0.6
    assert held(bounds[:, 1], -2.0 * y[past]).mean() > 0.6
    dsna.save(model, tmp_path / "m.dsna")
    np.testing.assert_array_equal(dsna.load(tmp_path / "m.dsna").predict_interval(X[past]), bounds)
