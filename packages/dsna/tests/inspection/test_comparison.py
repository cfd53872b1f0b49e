"""Explanations show the neighbours' own values beside the query's, under their owner's names, and mark what differs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.small_models import build

from dsna import DSNAClassifier, DSNAError, DSNARegressor
from dsna.inspection.columns import Columns, as_numbers
from dsna.inspection.comparison import distance, said

NAMES = ["age", "weight", "income"]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.RandomState(0)
    table = pd.DataFrame({"age": rng.randint(18, 80, 90), "weight": rng.normal(70.0, 9.0, 90).round(1)})
    table["income"] = rng.lognormal(8.0, 0.4, 90).round(-1)
    table["customer"] = [f"C-{i:03d}" for i in range(90)]
    table["late"] = np.where(table["age"] + rng.normal(0, 5, 90) > 60, "yes", "no")
    return table


@pytest.fixture(scope="module")
def model(frame):
    return small(DSNAClassifier).fit(frame[NAMES][:80], frame["late"][:80])


def small(kind):
    return build(kind, n_estimators=8, random_state=0)


def test_rows_have_names_identifiers_and_values(model, frame):
    why = model.explain(frame[NAMES][80:], train=frame[:80], id="customer")
    rows = why.frame(2, largest=3)
    assert rows["id"].tolist() == frame["customer"][rows["row"]].tolist()
    shown = why.compare(2, largest=3)
    assert shown.columns.tolist() == ["query 2", *(f"row {row}" for row in rows["row"]), "differs"]
    assert shown.index.tolist() == ["customer", "class", "neighbour weight", *NAMES]
    assert shown.loc["class"].tolist()[:-1] == [why.predict()[2], *rows["label"]]
    assert shown.loc["neighbour weight"].tolist()[1:-1] == rows["weight"].tolist()
    assert shown["query 2"][NAMES].tolist() == frame[NAMES].iloc[82].tolist()
    for k, row in enumerate(rows["row"]):
        assert shown.iloc[0, 1 + k] == frame["customer"][row]
        assert shown[f"row {row}"][NAMES].tolist() == frame[NAMES].iloc[row].tolist()
    off = np.abs(frame[NAMES].iloc[rows["row"]] - frame[NAMES].iloc[82]) / frame[NAMES][:80].std(ddof=0)
    assert shown["differs"][NAMES].tolist() == np.sum(off > 0.5, axis=0).tolist()
    assert why.compare(2, largest=3, tolerance=0.0)["differs"]["income"] == np.sum(off["income"] > 0)


def test_all_kinds_of_tables_say_the_same(model, frame):
    expected = model.explain(frame[NAMES][80:], train=frame[:80], id="customer").compare(1)
    ids = frame["customer"][:80]
    given = [
        (frame[NAMES][80:], frame[NAMES][:80].to_numpy()),
        (pl.DataFrame(frame[NAMES][80:].to_dict("list")), pl.DataFrame(frame[:80].to_dict("list"))),
        (pl.DataFrame(frame[NAMES][80:].to_dict("list")), frame[[*NAMES[::-1], "late"]][:80]),
    ]
    for X, train in given:
        shown = model.explain(X, train=train, id=ids).compare(1)
        pd.testing.assert_frame_equal(shown.rename({"id": "customer"}), expected, check_dtype=False)


def test_names_come_from_the_model_the_queries_or_the_training_frame(model, frame):
    X, y = frame[NAMES].to_numpy(), frame["late"]
    plain = small(DSNAClassifier).fit(X[:80], y[:80])
    assert plain.explain(X[80:]).queries.names == ("x0", "x1", "x2")
    assert plain.explain(X[80:], train=frame[[*NAMES, "customer"]][:80], id="customer").queries.names == tuple(NAMES)
    with pytest.warns(UserWarning, match="valid feature names"):
        assert model.explain(X[80:]).queries.names == tuple(NAMES)


def test_report_marks_what_differs(model, frame):
    why = model.explain(frame[NAMES][80:], train=frame[:80], id="customer")
    lines = why.report(3, largest=2).splitlines()
    shown = why.compare(3, largest=2)
    assert lines[0].startswith(f"Query 3: predicted {why.predict()[3]} (probability ")
    assert lines[1].startswith("2 of ")
    assert lines[3].split() == ["customer", *shown.loc["customer"].tolist()[1:-1]]
    for name in NAMES:
        (line,) = (line for line in lines[6:] if line.startswith(name))
        assert line.count("*") == shown["differs"][name]
    assert str(why[3]).splitlines()[3:] == why.report(3).splitlines()[3:]
    assert str(why).count("predicted") == 5
    assert "5 more queries" in str(why)


def test_long_reports_keep_what_differs_most(frame):
    X = np.random.RandomState(1).randn(60, 30)
    model = small(DSNARegressor).fit(X, X[:, 0])
    query = X[:1].copy()
    query[0, 7] += 100.0
    report = model.explain(query, train=X).report(features=4)
    assert "\nx7 " in report
    assert "26 more features" in report
    # Two lines of heading, columns, target, carried, weight, a line between, features, two notes.
    assert len(report.splitlines()) == 2 + 4 + 1 + 4 + 2


def test_without_the_training_rows(model, frame):
    why = model.explain(frame[NAMES][80:])
    assert "train=frame" in why.report()
    assert str(why) == repr(why)
    with pytest.raises(DSNAError, match="pass train=frame to explain"):
        why.compare()
    named = model.explain(frame[NAMES][80:], id=frame["customer"][:80])
    assert named.frame()["id"].str.startswith("C-").all()
    assert "C-" in repr(named)
    assert named.report().splitlines()[3].startswith("id")


def test_parts_of_an_explanation_keep_their_queries(model, frame):
    why = model.explain(frame[NAMES][80:], train=frame[:80])
    part = why[[4, 2]]
    pd.testing.assert_frame_equal(part.compare(1).rename(columns={"query 1": "query 2"}), why.compare(2))
    pd.testing.assert_frame_equal(why.compare(-1), why.compare(9))


def test_the_explanation_keeps_values_and_the_model_does_not(frame):
    X = frame[NAMES][:80].copy()
    model = small(DSNAClassifier).fit(X, frame["late"][:80])
    before = set(vars(model))
    why = model.explain(X[:3], train=X)
    shown = why.compare()
    X.loc[:] = -1
    pd.testing.assert_frame_equal(why.compare(), shown)
    assert set(vars(model)) == before


def test_added_rows_are_shown_where_they_are_given(frame):
    X, y = frame[NAMES], frame["late"]
    model = small(DSNAClassifier).fit(X[:70], y[:70]).add_samples(X[70:80], y[70:80])
    for length in (70, 80):
        why = model.explain(X[70:80], train=frame[:length], id="customer")
        rows = why.frame()
        added = rows["row"] >= 70
        assert added.any()
        assert rows["id"][added].isna().all() == (length == 70)
        assert rows["id"][~added].tolist() == frame["customer"][rows["row"][~added]].tolist()
        query = int(rows["query"][added].iloc[0])
        shown = why.compare(query, largest=100)
        column = shown[f"row {rows['row'][added].iloc[0]}"]
        assert column[NAMES].isna().all() == (length == 70)
        assert isinstance(why.report(query, largest=100), str)
    with pytest.raises(DSNAError, match=r"train has 75 rows, but the model was fitted on 70 \(80 with"):
        model.explain(X[:2], train=frame[:75])


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda f: {"train": f[:79]}, r"train has 79 rows, but the model was fitted on 80: pass all rows given to fit"),
        (lambda f: {"id": f["customer"]}, r"id has 90 rows, but the model was fitted on 80"),
        (lambda f: {"id": "customer"}, r"id='customer' names a column, but train is None: pass train="),
        (lambda f: {"train": f[NAMES][:80].to_numpy(), "id": "customer"}, "train is an array: pass a data frame"),
        (
            lambda f: {"train": f[:80], "id": "client"},
            r"id='client' is not a column of train, which has age, weight, in",
        ),
        (lambda f: {"train": f[["age", "late"]][:80]}, r"train lacks the column weight, income, which the model was f"),
        (lambda f: {"train": f[NAMES[:2]][:80].to_numpy()}, r"train has 2 columns, but the model was fitted on 3"),
        (lambda f: {"train": f[:80].sample(frac=1.0, random_state=0)}, "Rows of train differ from those that"),
        (lambda f: {"train": f[:80].assign(age="old")}, "Rows of train differ from those that"),
        (lambda f: {"train": np.zeros((80, 3, 1))}, "train has 3 dimensions"),
    ],
)
def test_wrong_tables_are_explained(model, frame, change, message):
    with pytest.raises(DSNAError, match=message):
        model.explain(frame[NAMES][80:], **change(frame))


def test_other_queries_are_refused(model, frame):
    with pytest.raises(DSNAError, match="X has 2 rows, but the explanation covers 10"):
        model.explain(frame[NAMES][80:]).beside(frame[NAMES][:2])


def test_numbers_differ_by_the_spread_of_their_column():
    query = np.array([10.0])
    np.testing.assert_allclose(distance(query, np.array([10.0, 11.0, 6.0]), 2.0), [0.0, 0.5, 2.0])
    # In a column that is constant any difference counts, but rounding does not.
    np.testing.assert_array_equal(distance(query, np.array([10.0 + 1e-14, 10.1]), 0.0), [0.0, np.inf])
    dates = np.array(["2024-01-01", "2024-01-03", "NaT"], dtype="datetime64[D]")
    np.testing.assert_allclose(distance(dates[:1], dates, 86_400e6), [0.0, 2.0, np.inf])


def test_missing_values_and_text_differ_or_do_not():
    both = np.array([np.nan]), np.array([np.nan, 1.0])
    np.testing.assert_array_equal(distance(*both, 1.0), [0.0, np.inf])
    mixed = np.array([3, None, pd.NA, 3.5], dtype=object)
    np.testing.assert_array_equal(distance(np.array([3]), mixed, 1.0), [0.0, np.inf, np.inf, 0.5])
    words = np.array(["red", "blue", None], dtype=object)
    np.testing.assert_array_equal(distance(words[:1], words, np.nan), [0.0, np.inf, np.inf])
    np.testing.assert_array_equal(distance(words[2:], words, np.nan), [np.inf, np.inf, 0.0])
    assert as_numbers(words) is None
    assert as_numbers(np.array([True, False])) is None


def test_cells_for_readers():
    assert [said(v) for v in (1.0, np.float32(0.25), "red", 7, pd.NA, np.nan)] == [
        "1", "0.25", "red", "7", "missing", "missing",
    ]  # fmt: skip
    assert said(np.datetime64("2024-03-01T12:30:00")) == "2024-03-01T12:30:00"


def test_columns_of_odd_tables():
    assert Columns.read(["a text", "another"]).values[0].tolist() == ["a text", "another"]
    twice = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    assert [column.tolist() for column in Columns.read(twice).values] == [[1, 3], [2, 4]]


def test_several_outputs_and_empty_neighbourhoods():
    X = np.random.RandomState(2).randn(60, 2)
    model = small(DSNARegressor).fit(X, X)
    why = model.explain(X[:2], train=X)
    shown = why.compare(1, largest=1)
    assert shown.index.tolist() == ["target_0", "target_1", "carried_0", "carried_1", "weight", "x0", "x1"]
    assert shown.iloc[:2, 0].tolist() == why.predict()[1].tolist()
    why.size[:], why.weight[:], why.coefficient[:] = 0, 0.0, 0.0
    assert why.compare().columns.tolist() == ["query 0", "differs"]
    assert why.report().splitlines()[1] == "0 of 0 training rows, with 0% of the weight"


@pytest.mark.parametrize("first", ["2024-03-01", "2024-03-01T12:30"])
def test_dates_have_a_time_only_where_one_of_them_has(first):
    days = pd.to_datetime([first, *["2024-03-02", "2024-03-03", None] * 20], format="ISO8601")
    frame = pd.DataFrame({"day": days, "x": np.arange(61.0)})
    why = small(DSNAClassifier).fit(frame[["x"]], frame["x"] > 30).explain(frame[["x"]][:1]).beside(frame[:1], frame)
    cells = [str(cell) for cell in why.compare().loc["day"].iloc[:-1]]
    assert cells[0].startswith(first)
    assert {"T" in cell for cell in cells if cell != "NaT"} == {"T" in first}
