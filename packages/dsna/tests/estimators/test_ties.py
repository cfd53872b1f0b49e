"""What rounding does to the last bits, which differs from machine to machine, decides nothing."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from tests.small_models import build

import dsna
from dsna._utils.choices import most_probable
from dsna.forest.density import TargetDensity
from dsna.forest.targets import regression_targets
from dsna.prediction.decision import decide
from dsna.uncertainty.intervals import Regions

LAST_BITS = (1 - 2.0**-52, 1.0, 1 + 2.0**-52)
FEW = {"n_estimators": 20, "random_state": 0}
IRIS, SPECIES = load_iris(return_X_y=True)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)


@pytest.mark.parametrize("factor", LAST_BITS)
def test_equal_probabilities(factor):
    assert most_probable(np.array([[0.3, 0.35, 0.35 * factor]])).tolist() == [1]


@pytest.mark.parametrize("factor", LAST_BITS)
def test_half_of_the_weight(factor):
    """The lower label is the median where both halves weigh the same."""
    weights = np.array([[0.1, 0.2 * factor, 0.2, 0.1]]) / 0.6
    labels = np.array([1.0, 2.0, 5.0, 9.0]).reshape(1, 4, 1)
    assert decide(weights, labels, "median", labels[0]).item() == 2.0


@pytest.mark.parametrize("factor", LAST_BITS)
def test_halfway_between_two_labels(factor):
    labels = np.array([[20.0, 3.0], [21.0, 3.0]])[None]
    weights = np.array([[0.5, 0.5 * factor]])
    assert decide(weights, labels, "grid", labels[0]).tolist() == [[20.0, 3.0]]


@pytest.mark.filterwarnings("ignore:Target regions")
@pytest.mark.parametrize("factor", LAST_BITS)
def test_an_interval_ends_at_a_label(factor):
    """Ends that are labels but for the last bit reach them."""
    ages = np.arange(10.0, 30.0)
    regions = Regions(np.tile(ages, 4), np.tile(ages, 4) + np.repeat([-0.1, 0.1, -0.3, 0.3], 20), grid=ages)
    regions._quantiles = lambda coverage: (np.array([-0.3 * factor]), np.array([0.3 * factor]))
    np.testing.assert_array_equal(regions.intervals(np.array([14.3]), 0.9), [[14.0, 14.0]])


@pytest.mark.parametrize("factor", LAST_BITS)
def test_outputs_that_vary_alike(factor):
    """Every direction is a main one of such labels: the first output orders the rows."""
    labels = np.array([(a, b) for a in range(5) for b in range(5)], dtype=float)
    labels[:, 1] *= factor
    rank = regression_targets(labels.reshape(len(labels), -1), np.ones(25), TargetDensity(labels)).rank
    np.testing.assert_allclose(rank, (labels[:, 0] - 2) / np.sqrt(2), atol=1e-3)


MODELS = {
    "iris": (build(dsna.DSNAClassifier, **FEW), IRIS, SPECIES),
    "iris, paper": (dsna.DSNAClassifier(**dsna.presets.paper("classification"), random_state=0), IRIS, SPECIES),
    "iris, CS-RF": (dsna.CostSensitiveForestClassifier(**FEW), IRIS, SPECIES),
    "petal width": (build(dsna.DSNARegressor, **FEW), IRIS[:, :3], IRIS[:, 3]),
    "petal width, feedback": (
        # An out-of-bag row whose clusters tie moves; the choice of a blend along a trend can hang on one row.
        build(dsna.DSNARegressor, **FEW, n_clusters=2, max_iter=5, trend=None),
        IRIS[:, :3],
        IRIS[:, 3],
    ),
    "diabetes": (build(dsna.DSNARegressor, **FEW), DIABETES, PROGRESS),
    "two outputs": (build(dsna.DSNARegressor, **FEW), DIABETES, np.c_[PROGRESS, DIABETES[:, 2]]),
    "diabetes, both": (build(dsna.DSNARegressor, **FEW, splits="both"), DIABETES, PROGRESS),
    "petal width, CS-RF, both": (dsna.CostSensitiveForestRegressor(**FEW, splits="both"), IRIS[:, :3], IRIS[:, 3]),
    "iris, CS-RF, axis": (dsna.CostSensitiveForestClassifier(**FEW, splits="axis"), IRIS, SPECIES),
    "CS-RF": (dsna.CostSensitiveForestRegressor(**FEW), DIABETES, PROGRESS),
}


@pytest.mark.parametrize("name", MODELS)
def test_inputs_that_differ_in_the_last_bit(name):
    """Tables of many equal values and rows: noise of the last bit stands for another machine's rounding."""
    model, X, y = MODELS[name]

    def answers(X):
        model.fit(X[::2], y[::2])
        return getattr(model, "predict_proba", model.predict)(X[1::2]) / (1.0 if y is SPECIES else y.std(axis=0))

    expected = answers(X)
    noise = np.random.default_rng(0).integers(-1, 2, X.shape)
    np.testing.assert_allclose(answers(X * (1.0 + noise * 2.0**-52)), expected, rtol=0, atol=1e-9)
