"""The forest's metric beside its definition, a dense matrix; wide tables beside tall ones."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.datasets import load_breast_cancer, load_diabetes
from tests.small_models import build

from dsna import CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor
from dsna.forest import learned_metric as metric
from dsna.forest.learned_metric import metric_map


def _dense_distances(trees, chosen, X):
    """Distances after (A / largest eigenvalue)^(1/4), with A as its definition says, node by node."""
    d = X.shape[1]
    A = np.zeros((d, d))
    for node in range(len(trees.child)):
        if chosen[trees.node_tree[node]]:
            w = np.zeros(d)
            part = slice(trees.split_ptr[node], trees.split_ptr[node + 1])
            w[trees.split_feature[part]] = trees.split_weight[part]
            A += trees.metric_weight[node] * np.outer(w, w)
    values, vectors = np.linalg.eigh(A)
    return pdist(X @ (vectors * (np.maximum(values, 0.0) / values[-1]) ** 0.25))


def _wide(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, :4].sum(axis=1)


def _trees(X, y, **params):
    return CostSensitiveForestRegressor(random_state=0, **params).fit(X, y).trees_


def test_more_nodes_than_columns():
    X, y = load_diabetes(return_X_y=True)
    trees = _trees(X, y, n_estimators=6)
    assert len(trees.child) > X.shape[1]
    for chosen in (np.ones(6, dtype=bool), trees.left_out[:, 0]):
        space = metric_map(trees, chosen, X.shape[1])
        np.testing.assert_allclose(pdist(X @ space), _dense_distances(trees, chosen, X), rtol=1e-6)


@pytest.mark.parametrize("max_features", ["auto", "sqrt", None])
def test_more_columns_than_nodes(max_features):
    X, y = _wide(60, 300)
    trees = _trees(X, y, n_estimators=4, max_features=max_features)
    chosen = np.array([True, False, True, True])
    space = metric_map(trees, chosen, 300)
    assert space.shape[1] <= np.count_nonzero(chosen[trees.node_tree]) < 300
    np.testing.assert_allclose(pdist(X @ space), _dense_distances(trees, chosen, X), rtol=1e-6)


def test_columns_that_no_split_looks_at_do_not_matter():
    X, y = _wide(60, 20)
    trees = _trees(np.column_stack([X, np.zeros((60, 5))]), y, n_estimators=3)
    space = metric_map(trees, np.ones(3, dtype=bool), 25)
    assert not space[20:].any()
    assert space[:20].any(axis=1).all()


def test_few_directions_are_the_longest(monkeypatch):
    X, y = _wide(80, 200)
    trees = _trees(X, y, n_estimators=5)
    everyone = np.ones(5, dtype=bool)
    whole = metric_map(trees, everyone, 200)
    lengths = np.linalg.norm(whole, axis=0)
    assert np.all(np.diff(lengths) <= 1e-9)
    monkeypatch.setattr(metric, "MAX_DIRECTIONS", 10)
    few = metric_map(trees, everyone, 200)
    np.testing.assert_allclose(np.linalg.norm(few, axis=0), lengths[:10], rtol=1e-6)


def test_sums_of_many_nodes_keep_the_metric_on_average(monkeypatch):
    X, y = _wide(150, 400)
    trees = _trees(X, y, n_estimators=10)
    everyone = np.ones(10, dtype=bool)
    exact = _dense_distances(trees, everyone, X)
    monkeypatch.setattr(metric, "MAX_ROWS", 200)
    assert min(len(trees.child), 400) > 200
    space = metric_map(trees, everyone, 400)
    assert space.shape[1] <= 200
    assert np.corrcoef(pdist(X @ space), exact)[0, 1] > 0.9


def test_no_splits_no_map():
    X = np.random.default_rng(0).normal(size=(30, 3))
    trees = _trees(X, np.zeros(30), n_estimators=2)
    assert metric_map(trees, np.ones(2, dtype=bool), 3) is None
    X, y = load_breast_cancer(return_X_y=True)
    trees = CostSensitiveForestClassifier(2, random_state=0).fit(X, y).trees_
    assert metric_map(trees, np.zeros(2, dtype=bool), X.shape[1]) is None


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("kind", [DSNAClassifier, DSNARegressor])
def test_a_wide_table_needs_no_square_of_its_width(kind, rounds):
    X, y = _wide(50, 5000)
    if kind is DSNAClassifier:
        y = y > 1.0
    model = build(kind, n_estimators=10, metric_rounds=rounds, random_state=0).fit(X, y)
    assert model._index.space.shape[1] <= 512
    assert np.all(np.isfinite(model.predict(X).astype(float)))
    plain = build(kind, n_estimators=10, metric="euclidean", random_state=0).fit(X, y)
    assert plain._index.space is None
    assert np.all(np.isfinite(plain.predict(X).astype(float)))
