"""Tables of few rows, odd columns or unusual arrays: each a clear error or a right answer."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from tests.small_models import (
    CLASSIFIERS,
    REGRESSORS,
    answers,
    each_classifier,
    each_regressor,
    every,
    make,
    mistake,
    read_only,
    table,
)

from dsna import DSNAClassifier, DSNARegressor

# Few rows, odd tables -----------------------------------------------------------------------------------------------


@each_regressor
def test_one_row(kind):
    model = make(kind).fit([[1.0, 2.0]], [5.0])
    np.testing.assert_allclose(answers(model, np.array([[1.0, 2.0], [7.0, -8.0]])), 5.0)


@every
@pytest.mark.parametrize("n", (2, 3, 5, 9, 10, 11))
def test_few_rows(kind, n):
    X, y = table(kind, n)
    if kind in CLASSIFIERS:
        y = np.arange(n) % 2
        X[:, 0] += 10.0 * y
    model = make(kind).fit(X, y)
    fresh = np.random.RandomState(1).randn(20, 3)
    prediction = answers(model, np.vstack([X, fresh]))
    if kind in CLASSIFIERS:
        assert set(prediction) <= {0, 1}
        if kind is DSNAClassifier:
            np.testing.assert_array_equal(prediction[:n], y)
    else:
        assert np.all(np.abs(prediction[:n] - y.mean()) <= np.ptp(y))


def test_intervals_of_few_rows():
    X, y = table(DSNARegressor, 9)
    with pytest.raises(ValueError, match="Intervals need out-of-bag rows"):
        make(DSNARegressor).fit(X, y).predict_interval(X)
    X, y = table(DSNARegressor, 12)
    bounds = make(DSNARegressor).fit(X, y).predict_interval(X)
    assert np.all(np.isfinite(bounds))
    assert np.all(bounds[:, 0] <= bounds[:, 1])


@pytest.mark.parametrize("coverage", (0.0, 1.0, -1, 90, "x", None, np.nan))
def test_impossible_coverage(coverage):
    X, y = table(DSNARegressor)
    model = make(DSNARegressor).fit(X, y)
    with pytest.raises(ValueError, match="coverage"):
        model.predict_interval(X, coverage)


@each_classifier
def test_class_of_one_row(kind):
    X, _ = table(kind, 100)
    y = np.zeros(100, dtype=int)
    y[7] = 1
    X[7] = 9.0
    model = make(kind).fit(X, y)
    assert answers(model, X[[7]]).item() == 1
    assert np.mean(model.predict(X) == y) > 0.8


@each_classifier
def test_two_rows_per_class(kind):
    rng = np.random.RandomState(0)
    y = np.repeat(np.arange(6), 2)
    X = 10.0 * y[:, None] + 0.1 * rng.randn(12, 3)
    assert mistake(kind, make(kind, n_estimators=30).fit(X, y), X, y) <= (0.5 if kind in CLASSIFIERS[:1] else 0.2)


@each_classifier
def test_thirty_classes(kind):
    rng = np.random.RandomState(0)
    y = np.repeat(np.arange(30), 8)
    X = (10.0 * rng.randn(30, 3))[y] + 0.1 * rng.randn(240, 3)
    model = make(kind).fit(X, y)
    assert model.predict_proba(X).shape == (240, 30)
    assert mistake(kind, model, X, y) < 0.02


@every
def test_constant_columns(kind):
    X, y = table(kind)
    odd = np.c_[np.full(80, 7.0), X, np.zeros(80), np.full(80, 1e12), np.full(80, -1e-300)]
    model = make(kind).fit(odd, y)
    assert mistake(kind, model, odd, y) < 0.15
    moved = odd.copy()
    moved[:, 4] = 1e6
    assert np.all(np.isfinite(answers(model, moved).astype(float)))
    if hasattr(model, "feature_importances_"):
        np.testing.assert_array_equal(model.feature_importances_[[0, 4, 5, 6]], 0.0)


@every
def test_nothing_but_constant_columns(kind):
    _, y = table(kind)
    X = np.full((80, 3), 2.5)
    prediction = answers(make(kind).fit(X, y), X)
    assert len(np.unique(prediction)) == 1
    if kind in REGRESSORS:
        assert np.abs(prediction[0] - y.mean()) < y.std()


@every
def test_duplicate_columns(kind):
    X, y = table(kind)
    assert mistake(kind, make(kind).fit(np.tile(X, 3), y), np.tile(X, 3), y) < 0.15


@every
def test_duplicate_rows_with_different_labels(kind):
    rng = np.random.RandomState(0)
    place = np.repeat(np.arange(4), 50)
    X = np.c_[10.0 * place, rng.randn(4)[place]]
    if kind in CLASSIFIERS:
        y = (rng.rand(200) < np.array([0.1, 0.9, 0.1, 0.9])[place]).astype(int)
        np.testing.assert_array_equal(answers(make(kind).fit(X, y), X[::50]), [0, 1, 0, 1])
    else:
        y = place + 0.1 * rng.randn(200)
        np.testing.assert_allclose(answers(make(kind).fit(X, y), X[::50]), [0, 1, 2, 3], atol=0.2)


@every
def test_one_feature(kind):
    X, y = table(kind, 80, 1)
    assert mistake(kind, make(kind).fit(X, y), X, y) < 0.3


@every
def test_far_more_features_than_rows(kind):
    X, y = table(kind, 30, 300)
    X[:, ::10] += 3.0 * np.sign(y - np.mean(y))[:, None]
    assert mistake(kind, make(kind).fit(X, y), X, y) < 0.8
    assert kind not in CLASSIFIERS or mistake(kind, make(kind).fit(X, y), X, y) < 0.1


@every
@pytest.mark.parametrize("factor", (1e200, 1e-200, 1e300))
def test_the_unit_of_columns_does_not_matter(kind, factor):
    X, y = table(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert mistake(kind, make(kind).fit(factor * X, y), factor * X, y) < 0.15


@every
@pytest.mark.parametrize("scaling", ("columns", "global", "none"))
def test_queries_far_from_all_rows(kind, scaling):
    X, y = table(kind)
    model = make(kind, scaling=scaling).fit(X, y)
    far = np.array([[1e6, 0, 0], [-1e300, 1e300, 1e300], [1.7e308, -1.7e308, 0]])
    found = answers(model, far)
    if kind in CLASSIFIERS:
        np.testing.assert_array_equal(found, [1, 0, 1])
    else:
        # A trend is cut off one range of the targets past the outermost.
        assert np.all((found >= y.min() - np.ptp(y)) & (found <= y.max() + np.ptp(y)))


@every
def test_wrong_width(kind):
    X, y = table(kind)
    model = make(kind).fit(X, y)
    methods = [m for m in ("predict", "predict_proba", "apply", "explain", "predict_interval") if hasattr(model, m)]
    for method in methods:
        for wide in (X[:, :2], np.c_[X, X]):
            with pytest.raises(ValueError, match=rf"X has {wide.shape[1]} features, but .* is expecting 3"):
                getattr(model, method)(wide)


@every
def test_no_rows_no_columns_no_table(kind):
    X, y = table(kind)
    with pytest.raises(ValueError, match="0 sample"):
        make(kind).fit(X[:0], y[:0])
    with pytest.raises(ValueError, match="0 feature"):
        make(kind).fit(X[:, :0], y)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        make(kind).fit(X[:, 0], y)
    with pytest.raises(ValueError, match="0 sample"):
        make(kind).fit(X, y).predict(X[:0])


@every
def test_before_fit(kind):
    X, y = table(kind)
    model = make(kind)
    methods = [m for m in ("predict", "predict_proba", "apply", "explain", "predict_interval") if hasattr(kind, m)]
    for method in methods:
        with pytest.raises(NotFittedError):
            getattr(model, method)(X)
    if hasattr(kind, "add_samples"):
        with pytest.raises(NotFittedError):
            model.add_samples(X, y)


# Kinds of arrays ----------------------------------------------------------------------------------------------------


LAYOUTS = {
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "big-endian": lambda X: X.astype(">f8"),
    "Fortran": np.asfortranarray,
    "read-only": read_only,
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "backwards": lambda X: X[::-1].copy()[::-1],
    "integers": lambda X: X.astype(np.int64),
    "small integers": lambda X: X.astype(np.int8),
    "objects": lambda X: X.astype(object),
    "list": lambda X: X.tolist(),
}


@every
def test_layout_and_type_of_arrays_do_not_matter(kind):
    X, y = table(kind)
    X = np.round(10.0 * X)
    expected_model = make(kind).fit(X, y)
    expected = expected_model.predict(X)
    for name, laid_out in LAYOUTS.items():
        np.testing.assert_array_equal(expected_model.predict(laid_out(X)), expected, err_msg=name)
        np.testing.assert_array_equal(make(kind).fit(laid_out(X), y).predict(X), expected, err_msg=name)


@every
@pytest.mark.parametrize("container", (sp.csr_matrix, sp.csc_array, sp.coo_array))
def test_sparse_matrices(kind, container):
    X, y = table(kind)
    with pytest.raises(TypeError, match=r"Sparse data was passed.*dense data is required.*toarray"):
        make(kind).fit(container(X), y)
    with pytest.raises(TypeError, match="dense data is required"):
        make(kind).fit(X, y).predict(container(X))
