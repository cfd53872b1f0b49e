"""Intervals of others: bounds are those of the libraries, and conformal ones hold what they promise."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from dsna_studies.baselines import ConformalForest, QuantileIntervals


@pytest.fixture(scope="module")
def rows():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(900, 3))
    return X, X[:, 0] + rng.normal(size=900)


def test_bounds_of_a_quantile_forest_are_its_outer_quantiles(rows):
    X, y = rows
    inner = pytest.importorskip("quantile_forest").RandomForestQuantileRegressor(20, random_state=0)
    model = QuantileIntervals(inner).fit(X[:500], y[:500])
    low, median, high = inner.fit(X[:500], y[:500]).predict(X[500:], quantiles=[0.1, 0.5, 0.9]).T
    np.testing.assert_allclose(model.predict_interval(X[500:], 0.8), np.c_[low, high])
    np.testing.assert_allclose(model.predict(X[500:]), median)


def test_conformal_intervals_hold_as_many_targets_as_they_promise(rows):
    pytest.importorskip("crepes")
    X, y = rows
    model = ConformalForest(RandomForestRegressor(60, oob_score=True, random_state=0)).fit(X[:500], y[:500])
    for coverage in (0.5, 0.9):
        low, high = model.predict_interval(X[500:], coverage).T
        assert np.mean((low <= y[500:]) & (y[500:] <= high)) == pytest.approx(coverage, abs=0.08)
