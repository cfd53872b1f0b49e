"""Bad and unusual input: each a clear error or a right answer, for all four estimators."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from dsna import CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor

CLASSIFIERS = (CostSensitiveForestClassifier, DSNAClassifier)
REGRESSORS = (CostSensitiveForestRegressor, DSNARegressor)
KINDS = CLASSIFIERS + REGRESSORS

every = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
each_classifier = pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
each_regressor = pytest.mark.parametrize("kind", REGRESSORS, ids=lambda kind: kind.__name__)
pytestmark = pytest.mark.filterwarnings("ignore:.*too few for intervals:UserWarning")


def make(kind, **params):
    return kind(**{"n_estimators": 10, "random_state": 0, **params})


def table(kind, n=80, d=3):
    """Rows whose first column decides the label."""
    rng = np.random.RandomState(0)
    X = rng.randn(n, d)
    score = X[:, 0] + 0.1 * rng.randn(n)
    return X, (score > 0.3).astype(int) if kind in CLASSIFIERS else score


def answers(model, X):
    """Predictions, after a look at everything else that a model can say about the rows."""
    prediction = model.predict(X)
    assert len(prediction) == len(X)
    if hasattr(model, "predict_proba"):
        proba = model.predict_proba(X)
        assert np.all(np.isfinite(proba))
        assert np.all(proba >= 0.0)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], prediction)
    else:
        assert np.all(np.isfinite(prediction))
    if hasattr(model, "explain"):
        np.testing.assert_array_equal(model.explain(X).predict(), prediction)
    return prediction


def mistake(kind, model, X, y):
    """Share of wrong classes, or mean absolute error in units of the labels' spread."""
    found = answers(model, X)
    return np.mean(found != y) if kind in CLASSIFIERS else np.mean(np.abs(found - y)) / np.std(y)


# NaN, inf, text -----------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("value, word", ((np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")))
def test_columns_that_are_not_finite_are_named(kind, value, word):
    X, y = table(kind)
    bad = X.copy()
    bad[3, 1] = value
    message = rf"contains {word} in column 1\..*SimpleImputer"
    with pytest.raises(ValueError, match=message):
        make(kind).fit(bad, y)
    model = make(kind).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.predict(bad)
    with pytest.raises(ValueError, match=rf"contains {word} in column age\..*SimpleImputer"):
        make(kind).fit(pd.DataFrame(bad, columns=["height", "age", "sex"]), y)


@every
def test_many_columns_that_are_not_finite(kind):
    X, y = table(kind, d=9)
    X[0, 1:8] = np.nan
    X[1, 8] = np.inf
    with pytest.raises(ValueError, match=r"NaN and inf in column 1, 2, 3, 4, 5 and 3 more"):
        make(kind).fit(X, y)


@every
def test_missing_values_of_pandas(kind):
    _, y = table(kind, 60)
    frame = pd.DataFrame({"a": pd.Series([1, None, 0] * 20, dtype="Int64"), "b": range(60)})
    with pytest.raises(ValueError, match="NaN in column a"):
        make(kind).fit(frame, y)


@every
def test_text_columns(kind):
    _, y = table(kind, 60)
    with pytest.raises(ValueError, match=r"X holds text .*'paris'.*OneHotEncoder"):
        make(kind).fit(pd.DataFrame({"city": ["paris", "rome"] * 30, "b": range(60)}), y)


# Labels -------------------------------------------------------------------------------------------------------------


@each_classifier
@pytest.mark.parametrize("n", (1, 60))
def test_one_class(kind, n):
    with pytest.raises(ValueError, match=r"one class only \(7\); .*at least 2 classes"):
        make(kind).fit(np.zeros((n, 3)), np.full(n, 7))


@each_classifier
def test_classes_that_are_unknown_or_mixed(kind):
    X, _ = table(kind, 60)
    for y in ([0.0, 1.0, np.nan] * 20, ["a", None, "b"] * 20, pd.Series(["a", None, "b"] * 20)):
        with pytest.raises(ValueError, match=r"y contains NaN, inf or no value in row \d; drop the rows"):
            make(kind).fit(X, y)
    with pytest.raises(ValueError, match="y mixes labels"):
        make(kind).fit(X, np.array(["a", 1, "b"] * 20, dtype=object))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        make(kind).fit(X, np.linspace(0, 1, 60))
    with pytest.raises(ValueError, match=r"shape \(60, 2\); one class label"):
        make(kind).fit(X, np.zeros((60, 2), dtype=int))


@each_classifier
@pytest.mark.parametrize("names", (["no", "yes"], [False, True], [-3, 8], [0.0, 1.0]))
def test_classes_of_any_type(kind, names):
    X, code = table(kind)
    y = np.array(names)[code]
    model = make(kind).fit(X, y)
    assert model.classes_.dtype == y.dtype
    np.testing.assert_array_equal(model.predict(X), np.array(names)[make(kind).fit(X, code).predict(X)])


@each_regressor
def test_labels_that_are_no_numbers(kind):
    X, y = table(kind)
    with pytest.raises(ValueError, match=r"y holds text .*'low'"):
        make(kind).fit(X, np.array(["low", "high"])[np.arange(80) % 2])
    for value, word in ((np.nan, "NaN"), (np.inf, "infinity")):
        bad = y.copy()
        bad[5] = value
        with pytest.raises(ValueError, match=f"Input y contains {word}"):
            make(kind).fit(X, bad)


@every
def test_labels_that_are_missing_or_too_few(kind):
    X, y = table(kind)
    with pytest.raises(ValueError, match="y is None"):
        make(kind).fit(X, None)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[80, 50\]"):
        make(kind).fit(X, y[:50])


@each_regressor
@pytest.mark.parametrize("label", (0.0, 3.25, 0.1, -1e90, 1e-300))
def test_equal_labels(kind, label):
    X, _ = table(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = make(kind).fit(X, np.full(80, label))
    np.testing.assert_allclose(answers(model, X), label, rtol=1e-12)
    if kind is DSNARegressor:
        np.testing.assert_allclose(model.predict_interval(X), label, rtol=1e-12)


@each_regressor
@pytest.mark.parametrize("factor", (1e300, 1e200))
def test_labels_too_large_are_refused(kind, factor):
    X, y = table(kind)
    with pytest.raises(ValueError, match=r"y reaches .* divide them by a constant, or take logarithms"):
        make(kind).fit(X, factor * y)
    with pytest.raises(ValueError, match=r"y reaches"):
        make(kind).fit(X, np.logspace(-200, 200, 80))


@each_regressor
def test_labels_too_close_are_refused(kind):
    X, y = table(kind)
    with pytest.raises(ValueError, match=r"y differ by .* multiply y by a constant"):
        make(kind).fit(X, 1e-200 * y)


@each_regressor
@pytest.mark.parametrize("factor", (2.0**-300, 2.0**-20, 2.0**20, 2.0**300))
def test_the_unit_of_labels_does_not_matter(kind, factor):
    X, y = table(kind)
    expected = make(kind).fit(X, y).predict(X)
    np.testing.assert_allclose(make(kind).fit(X, factor * y).predict(X), factor * expected, rtol=1e-6)


@each_regressor
@pytest.mark.parametrize("offset", (1e6, -1e9, 1e12))
def test_labels_far_from_zero(kind, offset):
    X, y = table(kind)
    model = make(kind).fit(X, y + offset)
    assert np.mean(np.abs(answers(model, X) - offset - y)) < 0.2 * y.std()
    if kind is DSNARegressor:
        low, high = model.predict_interval(X).T
        assert np.mean((low <= y + offset) & (y + offset <= high)) > 0.8
        assert np.median(high - low) < 2.0 * y.std()


@each_regressor
def test_labels_over_many_magnitudes(kind):
    X, y = table(kind, 200)
    model = make(kind).fit(X, np.logspace(-90, 90, 200)[np.argsort(np.argsort(y))])
    prediction = answers(model, X)
    assert 1e80 < np.max(prediction) < 1e91
    top = np.argsort(y)[-3:]
    assert np.all(prediction[top] > 1e70)


@every
def test_score_with_a_label_never_seen(kind):
    X, y = table(kind)
    model = make(kind).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.score(X, np.where(np.arange(80) < 40, 9, y)) < 0.6
    if kind in CLASSIFIERS:
        assert model.score(X, np.full(80, 9)) == 0.0


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
        assert np.all((found >= 2.0 * y.min()) & (found <= 2.0 * y.max()))


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


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


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
def test_read_only_labels_weights_and_groups(kind):
    X, y = table(kind)
    weight, groups = np.linspace(0.5, 1.5, 80), np.arange(80) % 9
    expected = make(kind).fit(X, y, weight, groups).predict(X)
    frozen = [read_only(a) for a in (X, y, weight, groups)]
    np.testing.assert_array_equal(make(kind).fit(*frozen).predict(frozen[0]), expected)
    strided = [np.repeat(a, 2, axis=0)[::2] for a in (X, y, weight, groups)]
    np.testing.assert_array_equal(make(kind).fit(*strided).predict(strided[0]), expected)


@every
@pytest.mark.parametrize("container", (sp.csr_matrix, sp.csc_array, sp.coo_array))
def test_sparse_matrices(kind, container):
    X, y = table(kind)
    with pytest.raises(TypeError, match=r"Sparse data was passed.*dense data is required.*toarray"):
        make(kind).fit(container(X), y)
    with pytest.raises(TypeError, match="dense data is required"):
        make(kind).fit(X, y).predict(container(X))


# Weights and groups -------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize(
    "weight, message",
    (
        (np.zeros(80), "at least one non-zero"),
        (-np.ones(80), "Negative values"),
        (np.ones(50), r"sample_weight.shape == \(50,\), expected \(80,\)"),
        (np.ones((80, 2)), "Sample weights must be 1D"),
        (np.full(80, np.nan), "sample_weight contains NaN"),
        (np.full(80, np.inf), "sample_weight contains infinity"),
    ),
)
def test_bad_weights(kind, weight, message):
    X, y = table(kind)
    with pytest.raises(ValueError, match=message):
        make(kind).fit(X, y, sample_weight=weight)


@every
@pytest.mark.parametrize("factor", (1e-290, 1e290))
def test_extreme_weights(kind, factor):
    X, y = table(kind)
    assert mistake(kind, make(kind).fit(X, y, np.full(80, factor)), X, y) < 0.15


@every
def test_rows_of_weight_zero_have_no_say(kind):
    X, y = table(kind, 160)
    weight = (np.arange(160) < 80).astype(float)
    spoiled_X, spoiled_y = X.copy(), y.copy()
    spoiled_X[80:] *= 1e3
    spoiled_y[80:] = spoiled_y[80:][::-1]
    model = make(kind).fit(spoiled_X, spoiled_y, weight)
    assert mistake(kind, model, X[:80], y[:80]) < 0.15
    if hasattr(model, "explain"):
        why = model.explain(X)
        assert np.all(why.rows[why.weight != 0.0] < 80)


@each_classifier
def test_class_of_weight_zero_is_never_predicted(kind):
    X, y = table(kind)
    model = make(kind).fit(X, y, np.where(y == 1, 0.0, 1.0))
    np.testing.assert_array_equal(model.classes_, [0, 1])
    np.testing.assert_array_equal(answers(model, X), 0)


@every
@pytest.mark.parametrize("n", (1, 2, 5))
def test_few_rows_of_weight(kind, n):
    X, y = table(kind)
    weight = np.zeros(80)
    weight[[0, 1, 2, 3, 4][:n]] = 1.0
    found = answers(make(kind).fit(X, y, weight), X)
    seen = y[:n]
    if kind in CLASSIFIERS:
        assert set(found) <= set(seen)
    else:
        slack = 2.0 * np.ptp(seen) + 1e-9
        assert np.all((found >= seen.min() - slack) & (found <= seen.max() + slack))


@every
@pytest.mark.parametrize(
    "groups, message",
    (
        (np.zeros(80), "single group; at least two"),
        (np.zeros(50), r"groups has shape \(50,\); one group for each of the 80 rows"),
        (np.zeros((80, 2)), r"groups has shape \(80, 2\)"),
        (np.where(np.arange(80) == 4, np.nan, 1.0), "groups contains NaN, inf or no value in row 4"),
        (np.array(["anna", None] * 40, dtype=object), "groups contains NaN, inf or no value in row 1"),
    ),
)
def test_bad_groups(kind, groups, message):
    X, y = table(kind)
    with pytest.raises(ValueError, match=message):
        make(kind).fit(X, y, groups=groups)


@every
@pytest.mark.parametrize(
    "groups",
    (
        np.arange(80) % 2,
        np.arange(80) % 23,
        np.array(["anna", "bert", "carl", "dora"])[np.arange(80) % 4],
        np.array(["anna", 1, 2.5, "dora"] * 20, dtype=object),
        (np.arange(80) == 0).astype(int),
    ),
    ids=("two", "many", "names", "mixed", "one row against all"),
)
def test_groups(kind, groups):
    X, y = table(kind)
    model = make(kind).fit(X, y, groups=groups)
    block = model.block_ if hasattr(model, "block_") else model.knowledge_.block
    for name in set(groups.tolist()):
        assert len(np.unique(block[[g == name for g in groups]])) == 1
    assert mistake(kind, model, X, y) < 0.3


# Parameters ---------------------------------------------------------------------------------------------------------

WRONG = {
    "n_estimators": (0, -1, 1.5, "many", None),
    "max_depth": (0, -3, "deep"),
    "min_samples_leaf": (0, -1, 1.5, "few"),
    "max_features": ("most", 0, -1, 1.5, True),
    "n_draws": (0, "x"),
    "C": (0, -1, np.nan, np.inf, "x", None),
    "cost": ("dear", 3, lambda p: -p),
    "threshold": ("x", None),
    "split_groups": ("x", None),
    "svr_epsilon": (-1, "x"),
    "label_density": ("x", lambda y: -y),
    "max_split_samples": (0, "x"),
    "bootstrap": ("x", 3, None),
    "metric_rounds": (-1, "x"),
    "scaling": ("x", None),
    "balance": (-1, 2, np.nan, "x"),
    "oob_score": ("x", 3),
    "forest": ("x", None, 3),
    "metric": ("x", None),
    "max_neighbors": (0, -1, 1.5, "x"),
    "proximity_weights": ("x", 2),
    "n_clusters": (0, 1.5, "x"),
    "overlap": (-1, "x"),
    "tau": (-1, "x"),
    "selection": ("x", None),
    "temperature": (0, "x"),
    "hull_energy": (-1, 2, "x"),
    "lam": (-1, "x"),
    "gamma": (-1, "x"),
    "bandwidth": (0, "x"),
    "radius": (-1, 2, "mean"),
    "sum_to_one": ("x", 2),
    "ridge": (-1, "x"),
    "max_iter": (-1, 1.5, "x"),
    "tol": (0, "x"),
    "blend": (-1, 2, "x"),
    "decision": ("x", None),
    "tune": ("x", True),
    "verbose": ("x", -1),
}
FREE = {"n_jobs", "random_state"}  # joblib and numpy refuse bad values of these


@every
def test_unknown_parameter_values(kind):
    X, y = table(kind, 30)
    accepted = []
    for name in inspect.signature(kind).parameters:
        if name in FREE or (name == "label_density" and kind in CLASSIFIERS):
            continue
        for value in WRONG[name]:
            try:
                make(kind, **{name: value}).fit(X, y)
            except ValueError as error:
                assert name in str(error), (name, value)  # noqa: PT017
            else:
                accepted.append((name, value))
    assert not accepted


@every
def test_messages_name_what_is_allowed(kind):
    X, y = table(kind, 30)
    with pytest.raises(ValueError, match=r"scaling='x' is unknown: use one of .*columns.*global.*none"):
        make(kind, scaling="x").fit(X, y)
    with pytest.raises(ValueError, match=r"cost='x' is unknown: use 'paper', 'inverse', None or a callable"):
        make(kind, cost="x").fit(X, y)
    with pytest.raises(ValueError, match=r"n_estimators=0 must be a whole number of at least 1"):
        make(kind, n_estimators=0).fit(X, y)
    with pytest.raises(TypeError, match="unexpected keyword argument 'lambda_'"):
        kind(lambda_=1.0)
    with pytest.raises(ValueError, match="Invalid parameter 'lambda_'"):
        kind().set_params(lambda_=1.0)
