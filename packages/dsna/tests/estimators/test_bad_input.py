"""Values and labels that cannot be learned from, or hardly: each a clear error or a right answer."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from tests.small_models import CLASSIFIERS, answers, build, each_classifier, each_regressor, every, make, table

from dsna import DSNAClassifier, DSNAError, DSNARegressor
from dsna.tables import TableEncoder


@every
@pytest.mark.parametrize("value, word", ((np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")))
def test_columns_that_are_not_finite_are_named(kind, value, word):
    X, y = table(kind)
    bad = X.copy()
    bad[3, 1] = value
    message = rf"contains {word} in column 1\..*TableEncoder"
    with pytest.raises(ValueError, match=message):
        make(kind).fit(bad, y)
    model = make(kind).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.predict(bad)
    with pytest.raises(ValueError, match=rf"contains {word} in column age\..*TableEncoder"):
        make(kind).fit(pd.DataFrame(bad, columns=["height", "age", "sex"]), y)


@every
def test_many_columns_that_are_not_finite(kind):
    X, y = table(kind, d=9)
    X[0, 1:8] = np.nan
    X[1, 8] = np.inf
    with pytest.raises(ValueError, match=r"NaN in column 1, 2, 3, 4, 5 and 2 more and inf in column 8\."):
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
    with pytest.raises(ValueError, match=r"X contains text in column city\..*TableEncoder"):
        make(kind).fit(pd.DataFrame({"city": ["paris", "rome"] * 30, "b": range(60)}), y)


@each_classifier
@pytest.mark.parametrize("n", (1, 60))
def test_one_class(kind, n):
    with pytest.raises(ValueError, match=r"one class only \(7\); .*at least 2 classes"):
        make(kind).fit(np.zeros((n, 3)), np.full(n, 7))


@each_classifier
def test_classes_that_are_unknown_or_mixed(kind):
    X, _ = table(kind, 60)
    for y in ([0.0, 1.0, np.nan] * 20, ["a", None, "b"] * 20, pd.Series(["a", None, "b"] * 20)):
        with pytest.raises(ValueError, match=r"y contains NaN, inf or a missing value in row \d; drop the rows"):
            make(kind).fit(X, y)
    with pytest.raises(ValueError, match="y mixes classes"):
        make(kind).fit(X, np.array(["a", 1, "b"] * 20, dtype=object))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        make(kind).fit(X, np.linspace(0, 1, 60))
    with pytest.raises(ValueError, match=r"shape \(60, 2\); one class for each row"):
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


@pytest.mark.parametrize("labels", [[1, 0], [np.int64(7), np.int64(3)], [True, False], [np.True_, np.False_]])
def test_whole_numbers_in_arrays_of_objects_are_classes(labels):
    X = np.random.RandomState(0).normal(size=(60, 3))
    y = np.array(labels * 30, dtype=object)
    found = build(DSNAClassifier, n_estimators=3, random_state=0).fit(X, y)
    plain = build(DSNAClassifier, n_estimators=3, random_state=0).fit(X, np.array(labels * 30))
    np.testing.assert_array_equal(found.classes_, plain.classes_)
    np.testing.assert_array_equal(found.predict(X), plain.predict(X))


@pytest.mark.parametrize("estimator", [DSNAClassifier, DSNARegressor])
def test_dates_are_named_with_a_remedy(estimator):
    when = pd.Series(pd.date_range("2020-01-01", periods=20))
    frame = pd.DataFrame({"size": np.arange(20.0), "day": when})
    y = np.arange(20) % 2
    for X, column in ((frame, "day"), (frame.astype(object), "day"), (frame.to_numpy(), "1")):
        with pytest.raises(ValueError, match=rf"contains dates in column {column}\..*TableEncoder"):
            estimator().fit(X, y)
    polars = pytest.importorskip("polars")
    with pytest.raises(ValueError, match="contains dates in column day"):
        estimator().fit(polars.DataFrame({"size": np.arange(20.0), "day": when.to_numpy()}), y)


def odd_frame(kind="pandas"):
    """A frame of all that is refused: dates, text, categories, gaps and numbers without end."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "since": pd.Series(pd.date_range("2020-01-01", periods=60)),
            "town": rng.choice(["Oslo", "Rome"], 60),
            "kind": pd.Categorical(rng.choice(["u", "v"], 60)),
            "size": rng.normal(size=60),
            "visits": pd.Series(rng.integers(0, 3, 60)).astype("Int64"),
        }
    )
    frame.loc[3, ["since", "size", "visits"]] = [pd.NaT, np.nan, pd.NA]
    frame.loc[4, "town"] = None
    frame.loc[5, "size"] = np.inf
    return pytest.importorskip("polars").from_pandas(frame) if kind == "polars" else frame


@every
@pytest.mark.parametrize("frame", ["pandas", "polars", "objects"])
def test_a_frame_that_is_refused_gets_one_remedy_that_works(kind, frame):
    X = odd_frame().to_numpy() if frame == "objects" else odd_frame(frame)
    y = np.arange(60) % 2
    with pytest.raises(DSNAError) as refused:
        make(kind).fit(X, y)
    told = str(refused.value)
    columns = range(5) if frame == "objects" else odd_frame().columns
    assert [str(name) for name in columns if str(name) not in told] == []
    assert told.count("TableEncoder()") == 1
    for other in ("SimpleImputer", "OneHotEncoder", "days since", "drop"):
        assert other not in told
    assert told.endswith(f"make_pipeline(TableEncoder(), {kind.__name__}()).")
    pipeline = make_pipeline(TableEncoder(), make(kind))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert len(pipeline.fit(X, y).predict(X)) == 60


@pytest.mark.parametrize("cells", [["1.5", "x"], [None, "x"], [pd.Timestamp("2020-01-01"), 1.0], [1.0, b"x"]])
def test_columns_of_mixed_cells_are_named(cells):
    X = pd.DataFrame({"a": np.arange(60.0), "odd": pd.Series(cells * 30, dtype=object)})
    with pytest.raises(DSNAError, match=r"in column odd.*TableEncoder"):
        DSNAClassifier().fit(X, np.arange(60) % 2)


def test_text_far_down_is_refused_too(monkeypatch):
    monkeypatch.setattr("dsna._utils.validation._ROWS_SEARCHED", 5)
    X = pd.DataFrame({"a": [1.0] * 59 + ["x"]})
    with pytest.raises(DSNAError, match=r"contains text in column a\..*TableEncoder"):
        DSNAClassifier().fit(X, np.arange(60) % 2)
