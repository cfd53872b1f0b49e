"""The answer to a row depends on no other row of the batch, to the last bit."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.neighbors import NearestNeighbors
from tests.small_models import build

import dsna

RNG = np.random.default_rng(0)
X = RNG.normal(size=(260, 7))
SIGNAL = X[:, 0] + X[:, 1] ** 2 + 0.3 * RNG.normal(size=260)
CLASSES = np.searchsorted([0.5, 2.0, 3.5], SIGNAL)
AGES = np.round(3 * SIGNAL)
QUERIES = RNG.normal(size=(41, 7))
FEW = {"n_estimators": 12, "random_state": 0}
ALL = {"max_neighbors": None}
FEEDBACK = {"n_clusters": 3, "max_iter": 5, "hull_energy": 0.9}

REGRESSORS = {
    "plain": (build(dsna.DSNARegressor, **FEW), SIGNAL),
    "all neighbours": (build(dsna.DSNARegressor, **FEW, **ALL), SIGNAL),
    "clusters": (build(dsna.DSNARegressor, **FEW, **FEEDBACK), SIGNAL),
    "balanced": (build(dsna.DSNARegressor, **FEW, balance=1.0), SIGNAL),
    "median": (build(dsna.DSNARegressor, **FEW, **ALL, decision="median"), SIGNAL),
    "trimmed": (build(dsna.DSNARegressor, **FEW, **ALL, decision="trimmed", relevance="high"), SIGNAL),
    "grid": (build(dsna.DSNARegressor, **FEW, decision="grid"), AGES),
    "paper": (dsna.DSNARegressor(**dsna.presets.paper("regression"), random_state=0), SIGNAL),
    "two outputs": (build(dsna.DSNARegressor, **FEW, **ALL), np.c_[SIGNAL, AGES]),
    "another forest": (dsna.DSNARegressor(RandomForestRegressor(10, random_state=0), random_state=0), SIGNAL),
    "no forest": (dsna.DSNARegressor(NearestNeighbors(n_neighbors=20), random_state=0), SIGNAL),
    "forest alone": (dsna.CostSensitiveForestRegressor(**FEW), SIGNAL),
    "forest alone, two outputs": (dsna.CostSensitiveForestRegressor(**FEW), np.c_[SIGNAL, AGES]),
}
CLASSIFIERS = {
    "plain": build(dsna.DSNAClassifier, **FEW),
    "all neighbours": build(dsna.DSNAClassifier, **FEW, **ALL),
    "clusters": build(dsna.DSNAClassifier, **FEW, **FEEDBACK),
    "paper": dsna.DSNAClassifier(**dsna.presets.paper("classification"), random_state=0),
    "no forest": dsna.DSNAClassifier(NearestNeighbors(n_neighbors=20), random_state=0),
    "forest alone": dsna.CostSensitiveForestClassifier(**FEW),
}


def same_in_parts(answer):
    whole = answer(QUERIES)
    for size in (1, 2, 17):
        parts = [answer(QUERIES[start : start + size]) for start in range(0, len(QUERIES), size)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.filterwarnings("ignore:Target regions")
def test_labels_and_intervals(name):
    model, y = REGRESSORS[name]
    model.fit(X, y)
    same_in_parts(model.predict)
    if hasattr(model, "predict_interval"):
        same_in_parts(model.predict_interval)
        same_in_parts(model.predict_quantiles)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes_and_probabilities(name):
    model = CLASSIFIERS[name].fit(X, CLASSES)
    same_in_parts(model.predict)
    same_in_parts(model.predict_proba)


@pytest.mark.parametrize("kind, y", [(dsna.DSNARegressor, SIGNAL), (dsna.DSNAClassifier, CLASSES)])
def test_after_rows_were_added(kind, y):
    model = build(kind, **FEW, **ALL).fit(X[:200], y[:200]).add_samples(X[200:], y[200:])
    same_in_parts(model.predict)
    same_in_parts(getattr(model, "predict_proba", model.predict))


@pytest.mark.parametrize("constant", [1.0, 0.1, -1e9 / 3, 0.0])
@pytest.mark.parametrize(
    "model",
    [
        build(dsna.DSNARegressor, **FEW),
        build(dsna.DSNARegressor, **FEW, balance=1.0),
        build(dsna.DSNARegressor, **FEW, **FEEDBACK),
        build(dsna.DSNARegressor, **FEW, decision="median"),
        dsna.DSNARegressor(NearestNeighbors(n_neighbors=20), random_state=0),
        dsna.CostSensitiveForestRegressor(**FEW, oob_score=True),
        dsna.CostSensitiveForestRegressor(**FEW, oob_score=True, balance=0.7),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:Target regions")
def test_a_constant_output_comes_back_exactly(model, constant):
    y = np.c_[SIGNAL, np.full(len(X), constant)]
    model.fit(X, y)
    np.testing.assert_array_equal(model.predict(QUERIES)[:, 1], constant)
    np.testing.assert_array_equal(model.oob_prediction_[:, 1], constant)
    alone = model.oob_prediction_[:, 0]
    truth = SIGNAL[model.oob_rows_] if hasattr(model, "oob_rows_") else SIGNAL
    own = 1 - np.sum((alone - truth) ** 2) / np.sum((truth - truth.mean()) ** 2)
    assert own > 0.3
    assert model.oob_score_ == pytest.approx((own + 1) / 2, abs=0.02)
    assert model.score(X, y) > (1 + own) / 2
