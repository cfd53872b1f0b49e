"""Rows added after fitting are used at once: new classes, new label regions, explanations, persistence."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import mean_absolute_error
from tests.small_models import build

from dsna import DSNAClassifier, DSNARegressor, load, save

CENTRES = np.array([[0.0, 0.0, 0.0], [6.0, 0.0, 0.0], [0.0, 6.0, 0.0], [5.0, 5.0, 6.0]])


@pytest.fixture(scope="module")
def blobs():
    """Rows and classes for training, for adding and for testing."""
    X, y = make_blobs([200, 150, 120, 80], 3, centers=CENTRES, random_state=0)
    names = np.array(["a", "c", "d", "b"])[y]
    new = names == "b"
    return (X[~new], names[~new]), (X[new][:15], names[new][:15]), (X[new][15:], names[new][15:])


@pytest.fixture
def classifier(blobs):
    (X, y), _, _ = blobs
    return build(DSNAClassifier, n_estimators=30, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def slope():
    """A label that grows along a line; training lacks its upper end."""
    rng = np.random.RandomState(0)
    X = rng.uniform(0.0, 10.0, (700, 3))
    y = 5.0 * X[:, 0] + X[:, 1] + 0.3 * rng.randn(700)
    rare = X[:, 0] > 8.0
    return (X[~rare], y[~rare]), (X[rare][:25], y[rare][:25]), (X[rare][25:], y[rare][25:])


@pytest.fixture
def regressor(slope):
    (X, y), _, _ = slope
    return build(DSNARegressor, n_estimators=30, trend=None, random_state=0).fit(X, y)


def test_a_new_class_becomes_predictable(classifier, blobs):
    (X, y), (X_new, y_new), (X_fresh, y_fresh) = blobs
    before = np.mean(classifier.predict(X) == y)
    assert not np.any(classifier.predict(X_fresh) == "b")
    assert classifier.add_samples(X_new, y_new) is classifier
    np.testing.assert_array_equal(classifier.classes_, ["a", "b", "c", "d"])
    assert np.mean(classifier.predict(X_fresh) == y_fresh) > 0.8
    for name in "acd":
        assert np.mean(classifier.predict(X[y == name]) == name) > 0.9
    assert np.mean(classifier.predict(X) == y) > before - 0.03
    proba = classifier.predict_proba(X_fresh)
    assert proba.shape == (len(X_fresh), 4)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


@pytest.mark.parametrize("seed", (0, 1, 2))
@pytest.mark.parametrize("n_new", (1, 5, 15))
def test_the_other_classes_keep_their_accuracy(seed, n_new):
    X, y = make_blobs([200, 150, 120, 80], 3, centers=CENTRES, random_state=seed)
    train = np.random.RandomState(seed).rand(len(X)) < 0.6
    known, new = train & (y != 3), np.flatnonzero(train & (y == 3))[:n_new]
    model = build(DSNAClassifier, n_estimators=20, random_state=0).fit(X[known], y[known])
    fresh = [(X[~train & (y == c)], c) for c in range(4)]
    before = [np.mean(model.predict(rows) == c) for rows, c in fresh]
    model.add_samples(X[new], y[new])
    after = [np.mean(model.predict(rows) == c) for rows, c in fresh]
    assert before[3] == 0.0
    assert after[3] > 0.8
    assert np.min(np.subtract(after, before)[:3]) > -0.06


def test_more_rows_of_a_known_class_help_it(blobs):
    (X, y), (X_new, y_new), (X_fresh, _) = blobs
    rng = np.random.RandomState(1)
    few = np.vstack([X, X_new[:2]]), np.concatenate([y, y_new[:2]])
    model = build(DSNAClassifier, n_estimators=30, random_state=0).fit(*few)
    before = model.predict_proba(X_fresh)[:, 1].mean()
    share = model.class_prior_[1]
    model.add_samples(X_new[2:] + 0.01 * rng.randn(13, 3), y_new[2:])
    assert model.class_prior_[1] > share
    assert np.mean(model.predict(X_fresh) == "b") > 0.8
    assert model.predict_proba(X_fresh)[:, 1].mean() > before - 0.02


def test_a_new_label_region_becomes_predictable(regressor, slope):
    (X, y), (X_new, y_new), (X_fresh, y_fresh) = slope
    before = mean_absolute_error(y_fresh, regressor.predict(X_fresh))
    known = mean_absolute_error(y, regressor.predict(X))
    assert regressor.add_samples(X_new, y_new) is regressor
    assert mean_absolute_error(y_fresh, regressor.predict(X_fresh)) < 0.6 * before
    assert mean_absolute_error(y, regressor.predict(X)) < 1.2 * known


def test_new_rows_appear_in_explanations(classifier, regressor, blobs, slope):
    for model, ((X, _), (X_new, y_new), _) in ((classifier, blobs), (regressor, slope)):
        model.add_samples(X_new, y_new)
        why = model.explain(X_new)
        first = len(X)
        own = why.rows == np.arange(first, first + len(X_new))[:, None]
        assert np.all(np.any(own & (why.proximity > 0), axis=1))
        assert np.mean(np.any((why.rows >= first) & (why.weight > 0), axis=1)) > 0.9
        np.testing.assert_array_equal(why.predict(), model.predict(X_new))
        lines = why.frame(query=0)
        label = lines.loc[lines["row"] == first, "label"].item()
        assert label == y_new[0]


def test_one_row(classifier, regressor, blobs, slope):
    for model, (_, (X_new, y_new), _) in ((classifier, blobs), (regressor, slope)):
        n = len(model._index.label)
        model.add_samples(X_new[:1], y_new[:1])
        assert len(model._index.label) == n + 1
        assert n in model.explain(X_new[:1]).rows
    assert classifier.predict(blobs[1][0][:1]).item() == "b"


def test_row_by_row_is_like_all_at_once(blobs):
    (X, y), (X_new, y_new), (X_fresh, _) = blobs
    together = build(DSNAClassifier, n_estimators=10, random_state=0).fit(X, y).add_samples(X_new, y_new)
    single = build(DSNAClassifier, n_estimators=10, random_state=0).fit(X, y)
    for row, name in zip(X_new, y_new, strict=True):
        single.add_samples(row[None], [name])
    np.testing.assert_allclose(single.predict_proba(X_fresh), together.predict_proba(X_fresh), rtol=1e-6, atol=1e-9)


def test_several_outputs(slope):
    (X, y), (X_new, y_new), (X_fresh, y_fresh) = slope
    model = build(DSNARegressor, n_estimators=20, trend=None, random_state=0).fit(X, np.c_[y, -y])
    before = np.abs(model.predict(X_fresh)[:, 1] + y_fresh).mean()
    model.add_samples(X_new, np.c_[y_new, -y_new])
    assert np.abs(model.predict(X_fresh)[:, 1] + y_fresh).mean() < 0.7 * before
    with pytest.raises(ValueError, match="1 outputs; the model was fitted on 2"):
        model.add_samples(X_new, y_new)


@pytest.mark.parametrize("forest", ("neighbors", "random forest"))
def test_other_sources_of_neighbours(blobs, forest):
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.neighbors import NearestNeighbors

    source = NearestNeighbors(n_neighbors=30) if forest == "neighbors" else RandomForestClassifier(20)
    (X, y), (X_new, y_new), (X_fresh, y_fresh) = blobs
    model = DSNAClassifier(source, random_state=0).fit(X, y).add_samples(X_new, y_new)
    assert np.mean(model.predict(X_fresh) == y_fresh) > 0.8
    assert np.mean(model.predict(X) == y) > 0.9


def test_wrong_rows_are_refused_and_change_nothing(classifier, regressor, blobs, slope):
    for model, (_, (X_new, y_new), (X_fresh, _)) in ((classifier, blobs), (regressor, slope)):
        before = model.predict(X_fresh)
        bad = X_new.copy()
        bad[0, 1] = np.nan
        with pytest.raises(ValueError, match=r"X has 2 features, but DSNA.* is expecting 3"):
            model.add_samples(X_new[:, :2], y_new)
        with pytest.raises(ValueError, match=r"NaN in column 1.*TableEncoder"):
            model.add_samples(bad, y_new)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            model.add_samples(X_new, y_new[:-1])
        with pytest.raises(ValueError, match="0 sample"):
            model.add_samples(X_new[:0], y_new[:0])
        with pytest.raises(ValueError, match="y"):
            model.add_samples(X_new, None)
        np.testing.assert_array_equal(model.predict(X_fresh), before)
    with pytest.raises(ValueError, match="New classes of type int64"):
        classifier.add_samples(blobs[1][0], np.arange(15))
    with pytest.raises(ValueError, match="holds text"):
        regressor.add_samples(slope[1][0], np.full(25, "b"))


def test_saved_and_pickled_models_know_the_new_rows(classifier, regressor, blobs, slope, tmp_path):
    for model, (_, (X_new, y_new), (X_fresh, _)) in ((classifier, blobs), (regressor, slope)):
        model.add_samples(X_new, y_new)
        expected = model.predict(X_fresh)
        path = tmp_path / "model.dsna"
        save(model, path)
        for again in (load(path), pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(again.predict(X_fresh), expected)
            again.add_samples(X_new[:1], y_new[:1])
            assert len(again._index.label) == len(model._index.label) + 1
