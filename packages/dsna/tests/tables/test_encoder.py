"""TableEncoder against slow oracles; frames of every kind; what was not in training; scikit-learn's own checks."""

import datetime
import warnings
import zlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.tables.mixed_tables import FRAMES, every_frame, mixed

from dsna import DSNAError
from dsna.tables import TableEncoder, TableWarning


def oracle(train, new):
    """The same columns by pandas, for frames of `mixed`."""
    out = {}
    out["number"] = new["number"]
    out["number=(missing)"] = new["number"].isna()
    out["whole"] = new["whole"]
    out["as text"] = new["as text"].astype(float)
    out["flag"] = new["flag"]
    out["answer"] = new["answer"] == "yes"
    hot = pd.get_dummies(new["colour"])
    for colour in sorted(train["colour"].dropna().unique()):
        out[f"colour={colour}"] = hot.get(colour, 0.0)
    out["colour=(missing)"] = new["colour"].isna()
    out["size"] = new["size"].map({"low": 0, "medium": 1, "high": 2})
    known = sorted(train["day"].dropna())
    day = new["day"].fillna(known[len(known) // 2])
    out["day: year"], out["day: month"], out["day: weekday"] = day.dt.year, day.dt.month, day.dt.day_of_week
    out["day: age in days"] = (max(known) - day).dt.days
    out["day=(missing)"] = new["day"].isna()
    out["story: length"] = new["story"].str.len()
    out["story: number of words"] = new["story"].str.split().str.len()
    for place in range(16):
        counts = [sum(zlib.crc32(word.encode()) % 16 == place for word in text.split()) for text in new["story"]]
        out[f"story: words {place + 1}"] = np.log1p(counts)
    return pd.DataFrame(out).astype(float)


def filled(train, new):
    """Missing numbers by the conditional mean of normal columns, in loops."""
    names = ["number", "whole", "as text", "flag", "answer", "size"]
    mean, spread = train[names].mean(), train[names].std(ddof=0)
    standard = (train[names] - mean) / spread
    n, m = standard.shape
    covariance = np.eye(m)
    for i in range(m):
        for j in range(m):
            if i != j:
                products = (standard.iloc[:, i] * standard.iloc[:, j]).dropna()
                covariance[i, j] = products.mean() * n / (n + m)
    assert np.linalg.eigvalsh(covariance).min() > 0.01
    new = new.copy()
    for row in new.index[new["number"].isna()]:
        others = ((new.loc[row, names[1:]] - mean[names[1:]]) / spread[names[1:]]).to_numpy(dtype=float)
        guess = covariance[0, 1:] @ np.linalg.solve(covariance[1:, 1:], others) * spread["number"] + mean["number"]
        new.loc[row, "number"] = np.clip(guess, train["number"].min(), train["number"].max())
    return new


@every_frame
def test_columns_are_those_of_a_slow_oracle(made):
    train, new = mixed(0), mixed(1)
    encoder = TableEncoder(indicators=True)
    encoded = encoder.fit_transform(made(train))
    holes = oracle(train, train)
    expected = filled(holes, holes)
    assert encoder.get_feature_names_out().tolist() == expected.columns.tolist()
    np.testing.assert_allclose(encoded, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(encoder.transform(made(new)), filled(holes, oracle(train, new)), rtol=1e-9, atol=1e-9)
    sources = [list(train).index(name.split("=")[0].split(":")[0]) for name in expected]
    assert encoder.source_columns_.tolist() == sources
    assert encoder.types_["size"] == ["low", "medium", "high"]
    assert [note for note in encoder.notes_ if "'id' is left out: it identifies rows" in note]


@every_frame
def test_rows_are_encoded_one_by_one_as_together(made):
    train, new = mixed(0), mixed(1, n=30)
    encoder = TableEncoder().fit(made(train))
    together = encoder.transform(made(new))
    alone = np.vstack([encoder.transform(made(new.iloc[[row]])) for row in range(len(new))])
    np.testing.assert_array_equal(together, alone)


def test_frames_of_one_kind_serve_a_model_of_another():
    train, new = mixed(0), mixed(1)
    fitted = [TableEncoder().fit(made(train)) for made in FRAMES.values()]
    found = [encoder.transform(made(new)) for encoder in fitted for made in FRAMES.values()]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


def test_columns_of_text_serve_a_model_of_numbers():
    train = mixed(0, holes=False)
    encoder = TableEncoder().fit(train)
    text = train.astype(str)
    np.testing.assert_allclose(encoder.transform(text), encoder.transform(train), rtol=1e-12)


# What was not in training -------------------------------------------------------------------------------------------


def simple(**columns):
    return pd.DataFrame({"a": [1.0, 2.0, 4.0, 5.0], "b": ["x", "y", "x", "y"], **columns})


def test_missing_columns_are_refused_by_name():
    encoder = TableEncoder().fit(simple(c=[1, 2, 3, 9]))
    with pytest.raises(DSNAError, match="X lacks the training columns 'b', 'c'; it has 'a', 'd'"):
        encoder.transform(pd.DataFrame({"a": [1.0], "d": [2]}))


def test_further_columns_are_ignored_with_a_warning_and_order_does_not_matter():
    encoder = TableEncoder().fit(simple())
    with pytest.warns(TableWarning, match="columns that were not in the training data are ignored: 'new'"):
        found = encoder.transform(simple(new=1)[["new", "b", "a"]])
    with pytest.warns(TableWarning) as caught:
        make_pipeline(encoder, StandardScaler().fit(found)).transform(simple(new=1))
    assert [one.filename for one in caught] == [__file__]  # not a file of scikit-learn
    np.testing.assert_array_equal(found, encoder.transform(simple()))


def test_columns_of_another_kind_are_refused():
    encoder = TableEncoder().fit(simple(d=pd.date_range("2020-01-01", periods=4)))
    for column, values, held in (("a", ["p", "q", "p", "r"], "numbers"), ("d", [1.0, 2.0, 3.0, 4.0], "dates")):
        odd = simple(d=pd.date_range("2020-01-01", periods=4)).assign(**{column: values})
        with pytest.raises(DSNAError, match=f"Column '{column}' holds .* where training had {held}"):
            encoder.transform(odd)


def test_cells_of_another_kind_count_as_missing_with_a_warning():
    encoder = TableEncoder().fit(simple())
    odd = simple().assign(a=["1", "2", "four", "5"])
    with pytest.warns(TableWarning, match="column 'a': 1 of 4 cells cannot be read as numbers, 'four'"):
        found = encoder.transform(odd)
    assert found[:, 0].tolist() == [1.0, 2.0, 3.0, 5.0]


def test_new_and_rare_categories_share_a_column():
    train = pd.DataFrame({"a": range(9), "b": [*"xxxyyy", "p", "q", "r"]})
    encoder = TableEncoder().fit(train)
    assert encoder.get_feature_names_out().tolist() == ["a", "b=x", "b=y", "b=(other)"]
    found, notes = encoder.transform_with_notes(pd.DataFrame({"a": [1, 2, 3, 4], "b": ["x", "p", "new", None]}))
    assert found[:, 1:].tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0]]
    assert notes == [
        "column 'b': 1 rows hold categories not seen in training, such as 'new'",
        "column 'b': 1 missing values are filled in, although training had none",
    ]


def test_missing_values_that_training_had_not_are_filled_in():
    encoder = TableEncoder().fit(simple())
    found, notes = encoder.transform_with_notes(simple().assign(a=[np.nan, 2.0, np.inf, 5.0]))
    assert found[:, 0].tolist() == [3.0, 2.0, 3.0, 5.0]
    assert "column 'a': 2 missing values" in notes[0]


def test_thousands_of_categories_are_bounded_with_a_note():
    rng = np.random.RandomState(0)
    cells = np.array([f"k{i}" for i in np.minimum(rng.geometric(0.0005, 30_000), 10_000)])
    frame = pd.DataFrame({"a": rng.normal(size=30_000), "many": cells})
    encoder = TableEncoder(max_categories=5)
    found = encoder.fit_transform(frame)
    distinct, places, counts = np.unique(cells, return_inverse=True, return_counts=True)
    assert found.shape == (30_000, 1 + 5 + 1 + 1)
    assert f"column 'many' holds {len(distinct)} categories: the 5 most frequent" in encoder.notes_[0]
    np.testing.assert_allclose(found[:, -1], counts[places] / 30_000)
    assert np.all(found[:, 1:7].sum(axis=1) == 1.0)
    kept = sorted(sorted(distinct, key=lambda name: (-counts[list(distinct).index(name)], name))[:5])
    assert encoder.get_feature_names_out().tolist()[1:6] == [f"many={name}" for name in kept]


def test_all_missing_and_constant_columns_are_left_out():
    frame = simple(none=[None] * 4, nan=np.nan, same="s", number=7.0)
    encoder = TableEncoder().fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["a", "b=x", "b=y"]
    assert encoder.notes_ == [
        "column 'none' is left out: it holds no value",
        "column 'nan' is left out: it holds no value",
        "column 'same' is left out: it holds one value only",
        "column 'number' is left out: it holds one value only",
    ]
    with pytest.raises(DSNAError, match="No column is left to learn from"):
        TableEncoder().fit(frame[["none", "same"]])


@pytest.mark.parametrize("indicators, shown", [("auto", False), (True, True), (False, False)])
def test_gaps_at_random_have_no_column_unless_asked_for(indicators, shown):
    rng = np.random.RandomState(0)
    values = rng.normal(size=(400, 4))
    holes = np.where(rng.rand(400, 4) < 0.1, np.nan, values)
    encoder = TableEncoder(indicators=indicators).fit(holes)
    expected = [f"x{j}=(missing)" for j in range(4)] * shown
    assert [name for name in encoder.get_feature_names_out() if "missing" in name] == expected
    found, notes = encoder.transform_with_notes(holes)
    assert np.all(np.isfinite(found))
    assert notes == []


def test_gaps_that_go_with_other_columns_have_a_column():
    rng = np.random.RandomState(0)
    frame = pd.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400), "c": rng.choice(["u", "v"], 400)})
    frame["a"] = frame["a"].where((frame["b"] < 1.0) | (rng.rand(400) < 0.5))
    frame["b"] = frame["b"].where(rng.rand(400) < 0.9)
    encoder = TableEncoder().fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["a", "a=(missing)", "b", "c=u", "c=v"]
    assert "values are missing at random, as far as other columns tell, in 'b'" in encoder.notes_[0]


def test_missing_numbers_follow_the_others():
    rng = np.random.RandomState(0)
    x = rng.normal(size=500)
    table = np.column_stack([x, 10.0 - 3.0 * x, rng.normal(size=500)])
    holes = table.copy()
    holes[::5, 1] = np.nan
    found = TableEncoder().fit_transform(holes)
    np.testing.assert_allclose(found[::5, 1], table[::5, 1], atol=0.5)
    np.testing.assert_array_equal(found[:, [0, 2]], table[:, [0, 2]])


# Types --------------------------------------------------------------------------------------------------------------


def test_types_can_be_told():
    frame = pd.DataFrame(
        {"zip": [1, 2, 1, 3], "size": ["S", "XL", "M", "S"], "day": ["1/2/2020", "3/4/2020"] * 2, "n": [5] * 4}
    )
    types = {"zip": "category", "size": ["XL", "M", "S"], "day": "date:dmy", "n": "number"}
    encoder = TableEncoder(types, min_rows=1).fit(frame)
    assert encoder.types_ == types
    found = pd.DataFrame(encoder.transform(frame), columns=encoder.get_feature_names_out())
    assert found["zip=3"].tolist() == [0, 0, 0, 1]
    assert found["size"].tolist() == [2, 0, 1, 2]
    assert found["day: month"].tolist() == [2, 4, 2, 4]
    assert clone(encoder).types == types


@pytest.mark.parametrize(
    "types, said",
    [
        ({"z": "number"}, "types names 'z', which is not among the columns a, b"),
        ({"a": "colour"}, "The type 'colour' of column 'a' is unknown: use one of number"),
        ({"a": ["S", "S"]}, "name one twice"),
        ({"b": "number"}, "Column 'b' holds 'x', 'y', where training had numbers"),
    ],
)
def test_types_that_cannot_be_are_refused(types, said):
    with pytest.raises(DSNAError, match=said):
        TableEncoder(types).fit(simple())


def test_ordered_categoricals_keep_their_order():
    levels = pd.Categorical(["b", "a", "c", "a"], categories=["c", "a", "b"], ordered=True)
    assert TableEncoder().fit(simple(grade=levels)).types_["grade"] == ["c", "a", "b"]


def test_dates_with_zones_and_hours():
    frame = pd.DataFrame(
        {
            "a": range(3),
            "t": pd.to_datetime(["2020-01-01T23:30+02:00", "2020-01-02T00:00Z", "2020-06-01T12:00Z"], utc=True),
        }
    )
    found = pd.DataFrame((encoder := TableEncoder()).fit_transform(frame), columns=encoder.get_feature_names_out())
    assert found["t: hour"].tolist() == [21.5, 0.0, 12.0]
    assert found["t: weekday"].tolist() == [datetime.date(2020, 1, day).weekday() for day in (1, 2)] + [0]
    assert "t: year" not in found


# Hostile tables -----------------------------------------------------------------------------------------------------

HOSTILE = [
    "<script>alert(1)</script>",
    "🎈",
    "x" * 10_000,
    "שלום",
    "=1+1",
    "",
    "a\nb",
    "'; DROP",
    "col\0umn",
    "a=(missing)",
]


@every_frame
def test_hostile_names_and_values(made):
    frame = pd.DataFrame({f"{name}{place}": HOSTILE * 3 for place, name in enumerate(HOSTILE)})
    encoder = TableEncoder().fit(made(frame))
    found = encoder.transform(made(frame))
    assert np.all(np.isfinite(found))
    names = encoder.get_feature_names_out()
    assert len(set(names)) == len(names) == found.shape[1]
    assert sum(len(name) > 200 for name in names) <= len(HOSTILE) + 1  # of the long name alone


def test_names_do_not_clash():
    frame = pd.DataFrame({"a": ["b", "c"] * 4, "a=b": range(8)})
    names = TableEncoder().fit(frame).get_feature_names_out()
    assert len(set(names)) == 3


def test_frames_with_two_columns_of_a_name_are_refused():
    with pytest.raises(DSNAError, match="share a name"):
        TableEncoder().fit(pd.DataFrame(np.zeros((3, 2)), columns=["a", "a"]))


CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats(), st.text(max_size=12), st.dates()
)


@pytest.mark.property
@given(
    st.lists(st.tuples(CELLS, CELLS), min_size=3, max_size=30),
    st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5),
)
def test_any_cells_give_finite_numbers_or_a_clear_error(train, new):
    said, found = "", []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        encoder = TableEncoder()
        try:
            found = [encoder.fit_transform(np.array([*train, (None, None)], dtype=object)[:-1])]
            found.append(encoder.transform(np.array([*new, (None, None)], dtype=object)[:-1]))
        except DSNAError as error:
            said = str(error)
    assert len(found) == 2 or "column" in said.lower()
    for one in found:
        assert one.shape[1] == len(encoder.get_feature_names_out())
        assert np.all(np.isfinite(one))
