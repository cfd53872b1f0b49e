"""Where predictions do not depend on coefficients, these are not computed, and the predictions are the same."""

import numpy as np
import pytest
from tests.small_models import build

import dsna

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 5))
SIGNAL = X[:, 0] + X[:, 1] ** 2
MOSTLY_ZERO = np.where(X[:, 0] > 0.7, np.round(SIGNAL, 1), 0.0)
QUERIES = RNG.normal(size=(80, 5))
FEW = {"n_estimators": 12, "random_state": 0}


def solved(model, monkeypatch):
    """Numbers of queries of each solve from now on."""
    counts, solve = [], model._solve
    monkeypatch.setattr(model, "_solve", lambda Q, near: counts.append(len(Q)) or solve(Q, near), raising=False)
    return counts


def with_all_coefficients(model):
    near, answers = model._answer(QUERIES)
    return model._shaped(model._decided(QUERIES, near, answers["alpha"]))


@pytest.mark.parametrize("decision", ["mean", "median", "grid"])
@pytest.mark.parametrize("balance", [0.0, 0.6])
def test_neighbours_of_one_target(decision, balance, monkeypatch):
    choices = {"decision": decision, "balance": balance, "blend": 0.25, "trend": None, "max_neighbors": 20}
    model = build(dsna.DSNARegressor, **FEW, **choices).fit(X, MOSTLY_ZERO)
    expected = with_all_coefficients(model)
    counts = solved(model, monkeypatch)
    np.testing.assert_array_equal(model.predict(QUERIES), expected)
    assert 0 < sum(counts) < len(QUERIES)
    counts.clear()
    np.testing.assert_array_equal(model.explain(QUERIES).predict(), expected)
    assert sum(counts) == len(QUERIES)


def test_the_kernel_has_all_weight(monkeypatch):
    model = build(dsna.DSNARegressor, **FEW, blend=1.0).fit(X, SIGNAL)
    expected = with_all_coefficients(model)
    counts = solved(model, monkeypatch)
    np.testing.assert_array_equal(model.predict(QUERIES), expected)
    model.predict_interval(QUERIES)
    assert counts == []
    np.testing.assert_array_equal(model.explain(QUERIES).predict(), expected)


@pytest.mark.parametrize(
    "how, y",
    [({"sum_to_one": False}, MOSTLY_ZERO), ({"trend": "linear"}, np.round(3.0 * X[:, 0] + X[:, 1]))],
    ids=["any sum of coefficients", "carried along a trend"],
)
def test_equal_targets_that_do_not_decide(how, y, monkeypatch):
    choices = {"decision": "mean", "blend": 0.0, "balance": 0.0, "trend": None, "max_neighbors": 2, **how}
    model = build(dsna.DSNARegressor, **FEW, **choices).fit(X, y)
    if choices["trend"] is not None:
        assert max(model.trend_offset_, model.trend_pull_) > 0.0
    near = model._neighbors(QUERIES)[1]
    assert np.any(y[near.rows[:, 0]] == y[near.rows[:, 1]])
    expected = with_all_coefficients(model)
    counts = solved(model, monkeypatch)
    np.testing.assert_array_equal(model.predict(QUERIES), expected)
    assert sum(counts) == len(QUERIES)


def test_neighbours_of_one_class(monkeypatch):
    model = build(dsna.DSNAClassifier, **FEW, max_neighbors=20).fit(X, MOSTLY_ZERO > 0.0)
    explained = model.explain(QUERIES).predict()
    counts = solved(model, monkeypatch)
    np.testing.assert_array_equal(model.predict(QUERIES), explained)
    assert 0 < sum(counts) < len(QUERIES)
