"""What the estimators promise: sources of neighbours, presets, outputs, importances, honesty of the parts."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.metrics import balanced_accuracy_score, mean_absolute_error
from sklearn.neighbors import NearestNeighbors
from tests.small_models import build

from dsna import (
    CostSensitiveForestClassifier,
    CostSensitiveForestRegressor,
    DSNAClassifier,
    DSNARegressor,
    presets,
)


@pytest.fixture(scope="module")
def classes():
    X, y = make_classification(600, 8, n_informative=5, weights=[0.85], class_sep=1.5, random_state=0)
    return X[:400], X[400:], y[:400], y[400:]


@pytest.fixture(scope="module")
def labels():
    X, y = make_regression(500, 6, n_informative=4, noise=5.0, random_state=0)
    return X[:350], X[350:], y[:350], y[350:]


SOURCES = {
    "csrf": (CostSensitiveForestClassifier(20), CostSensitiveForestRegressor(20)),
    "rf": (RandomForestClassifier(20), RandomForestRegressor(20)),
    "et": (ExtraTreesClassifier(20), ExtraTreesRegressor(20)),
    "knn": (NearestNeighbors(n_neighbors=30), NearestNeighbors(n_neighbors=30)),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_of_neighbours_serves(source, classes, labels):
    classifier = DSNAClassifier(SOURCES[source][0], random_state=0).fit(classes[0], classes[2])
    assert balanced_accuracy_score(classes[3], classifier.predict(classes[1])) > 0.75
    regressor = DSNARegressor(SOURCES[source][1], random_state=0).fit(labels[0], labels[2])
    error = mean_absolute_error(labels[3], regressor.predict(labels[1]))
    assert error < 0.7 * np.abs(labels[3] - np.median(labels[2])).mean()


@pytest.mark.parametrize(
    "preset", [presets.paper, presets.faces, lambda task: presets.affine_hull()], ids=["paper", "faces", "affine hull"]
)
def test_presets_serve_both_kinds(preset, classes, labels):
    classifier = DSNAClassifier(**preset("classification"), random_state=0).fit(classes[0], classes[2])
    assert balanced_accuracy_score(classes[3], classifier.predict(classes[1])) > 0.6
    regressor = DSNARegressor(**preset("regression"), random_state=0).fit(labels[0], labels[2])
    error = mean_absolute_error(labels[3], regressor.predict(labels[1]))
    assert error < np.abs(labels[3] - np.median(labels[2])).mean()


def test_a_forest_of_the_wrong_kind_is_refused(classes, labels):
    with pytest.raises(ValueError, match="use the Classifier of its kind"):
        DSNAClassifier(RandomForestRegressor()).fit(classes[0], classes[2])
    with pytest.raises(ValueError, match="use the Regressor of its kind"):
        DSNARegressor(RandomForestClassifier()).fit(labels[0], labels[2])
    with pytest.raises(ValueError, match="forest='trees' is unknown"):
        DSNARegressor("trees").fit(labels[0], labels[2])


def test_foreign_trees_route_as_their_own(classes):
    """Leaves taken over from scikit-learn hold the rows that scikit-learn sends there."""
    from dsna.forest.adapters import _nodes_of
    from dsna.forest.trees import Leaves, Trees

    X, _, y, _ = classes
    X = X.astype(np.float32).astype(np.float64)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    rows = np.arange(len(X))
    leaves = Leaves(np.eye(2), np.ones(len(X)), y)
    grown = [_nodes_of(t.tree_, X, rows, leaves) for t in forest.estimators_]
    trees, means = Trees.join(grown, np.zeros((5, 5), dtype=bool))
    np.testing.assert_array_equal(np.rint(means.sum(axis=1)), 1.0)
    ours, theirs = trees.apply(X), forest.apply(X)
    for t in range(5):
        pairs = set(zip(ours[:, t].tolist(), theirs[:, t].tolist(), strict=True))
        assert len(pairs) == len(set(ours[:, t].tolist())) == len(set(theirs[:, t].tolist()))


def test_several_outputs_are_predicted_together(labels):
    X, X_test, y, y_test = labels
    Y, Y_test = np.c_[y, -2 * y + X[:, 0]], np.c_[y_test, -2 * y_test + X_test[:, 0]]
    for model in (
        CostSensitiveForestRegressor(30, random_state=0),
        build(DSNARegressor, n_estimators=30, random_state=0),
    ):
        prediction = model.fit(X, Y).predict(X_test)
        assert prediction.shape == Y_test.shape
        usual = np.abs(Y_test - np.median(Y, axis=0)).mean(axis=0)
        assert np.all(np.abs(prediction - Y_test).mean(axis=0) < 0.7 * usual)
    bounds, beside = model.predict_interval(X_test, return_prediction=True)
    assert bounds.shape == (len(X_test), 2, 2)
    np.testing.assert_array_equal(beside, prediction)


def test_importances_find_the_columns_that_matter():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(400, 6))
    y = X[:, 1] + 2 * X[:, 4]
    regressor = CostSensitiveForestRegressor(20, random_state=0).fit(X, y)
    classifier = CostSensitiveForestClassifier(20, random_state=0).fit(X, y > 1)
    for model in (regressor, classifier):
        assert model.feature_importances_.sum() == pytest.approx(1.0)
        assert set(np.argsort(model.feature_importances_)[-2:]) == {1, 4}


def test_balance_moves_predictions_toward_the_rare(classes, labels):
    X, X_test, y, _ = classes
    rare = [
        np.mean(build(DSNAClassifier, n_estimators=20, balance=b, random_state=0).fit(X, y).predict(X_test) == 1)
        for b in (0.0, 0.5, 1.0)
    ]
    assert rare[0] <= rare[1] <= rare[2]
    assert rare[0] < rare[2]
    X, X_test, y, _ = labels
    spread = [
        build(DSNARegressor, n_estimators=20, balance=b, decision="mean", trend=None, random_state=0)
        .fit(X, y)
        .predict(X_test)
        .std()
        for b in (0.0, 0.5)
    ]
    assert spread[1] > spread[0]


def test_without_a_trend_only_the_mean_extrapolates():
    rng = np.random.RandomState(0)
    X = rng.uniform(0, 1, size=(300, 2))
    y = 10 * X[:, 0]
    seen = X[:, 0] < 0.8
    beyond = X[X[:, 0] > 0.9]
    how = {"n_estimators": 30, "balance": 0.0, "blend": 0.0, "max_iter": 0, "gamma": 0.01, "trend": None}
    how["random_state"] = 0
    mean = build(DSNARegressor, decision="mean", **how).fit(X[seen], y[seen]).predict(beyond)
    grid = build(DSNARegressor, decision="median", **how).fit(X[seen], y[seen]).predict(beyond)
    assert mean.max() > y[seen].max()
    assert grid.max() <= y[seen].max()


def test_metric_rounds_help_where_few_directions_matter():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(500, 30))
    y = X @ np.r_[np.ones(3), np.zeros(27)] + 0.1 * rng.normal(size=500)
    errors = [
        mean_absolute_error(
            y[300:],
            CostSensitiveForestRegressor(30, metric_rounds=r, random_state=0).fit(X[:300], y[:300]).predict(X[300:]),
        )
        for r in (1, 2)
    ]
    assert errors[1] < errors[0]


def test_verbose_tells_the_stages(classes, capsys):
    build(DSNAClassifier, n_estimators=10, verbose=1, random_state=0).fit(classes[0], classes[2])
    printed = capsys.readouterr().err
    assert "[DSNAClassifier] growing the forest" in printed
    assert "out-of-bag balanced accuracy" in printed
