"""Pipelines of an encoder of tables and a model come back exactly, with the rows they keep or without them."""

import copy
import datetime as dt
import json
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from tests.io.test_model_file import same
from tests.small_models import build

from dsna import CostSensitiveForestClassifier, DSNAClassifier, DSNAError, DSNARegressor, ModelFileError, load, save
from dsna._utils.invariants import InvariantError
from dsna.inspection import explain
from dsna.tables import TableEncoder
from dsna.tables.kept_rows import KeptColumn, KeptRows

N = 120


def frame(n=N, seed=0):
    """A table of every kind of column, with missing values and hostile text."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    day = dt.date(2020, 1, 1)
    return pl.DataFrame(
        {
            "who": [f"P{i:04d}" for i in range(n)],
            "size": [None if i % 11 == 0 else float(value) for i, value in enumerate(size)],
            "count": rng.integers(0, 9, n),
            "smokes": [None if i % 7 == 0 else bool(i % 3) for i in range(n)],
            "town": rng.choice(["=A1", "b\0", "é", "<script>"], n),
            "pain": rng.choice(["low", "medium", "high"], n),
            "seen": [None if i % 13 == 0 else day + dt.timedelta(days=int(i)) for i in range(n)],
            "says": [f"note {i} of a long text {i % 5} times" for i in range(n)],
            "fixed": ["x"] * n,
            "rare": size > 1.0,
            "cost": np.exp(size),
        }
    )


@pytest.fixture(scope="module")
def fitted():
    """A pipeline of each task, with the rows that it was fitted on."""
    table = frame()
    few = {"n_estimators": 8, "random_state": 0}
    models = {}
    for target, kind in (("rare", DSNAClassifier), ("cost", DSNARegressor)):
        other = "cost" if target == "rare" else "rare"
        encoder = TableEncoder(target=target, drop=[other], keep_rows=True)
        models[target] = make_pipeline(encoder, build(kind, **few)).fit(table, table[target].to_numpy())
    return models


@pytest.mark.parametrize("target", ["rare", "cost"])
def test_pipelines_come_back(fitted, tmp_path, target):
    model, table = fitted[target], frame(30, 1)
    save(model, tmp_path / "m.dsna")
    again = load(tmp_path / "m.dsna")
    assert [name for name, _ in again.steps] == [name for name, _ in model.steps]
    for (_, one), (_, other) in zip(model.steps, again.steps, strict=True):
        assert same(vars(one), vars(other))
    assert same(model.predict(table), again.predict(table))
    save(again, tmp_path / "again.dsna")
    assert (tmp_path / "again.dsna").read_bytes() == (tmp_path / "m.dsna").read_bytes()


def test_kept_rows_come_back_in_their_own_values(fitted, tmp_path):
    save(fitted["rare"], tmp_path / "m.dsna")
    rows = load(tmp_path / "m.dsna").steps[0][1].rows_
    table = frame()
    assert rows.names.tolist() == [name for name in table.columns if name != "rare"]
    assert rows.id_name == "who"
    assert rows.identifiers().tolist() == table["who"].to_list()
    for name in ("count", "smokes", "town", "pain", "seen", "says"):
        assert rows.column(name).tolist() == table[name].to_list(), name
    np.testing.assert_array_equal(rows.column("size"), table["size"].cast(float).to_numpy())


def test_rows_are_left_out_when_asked(fitted, tmp_path):
    model = fitted["rare"]
    save(model, tmp_path / "m.dsna", rows=False)
    again = load(tmp_path / "m.dsna")
    assert again.steps[0][1].rows_ is None
    assert model.steps[0][1].rows_ is not None
    data = (tmp_path / "m.dsna").read_bytes()
    assert b"P0042" not in data
    assert b"note 42 of" not in data
    assert same(again.predict(frame(9, 1)), model.predict(frame(9, 1)))


def test_unfitted_pipelines_come_back(tmp_path):
    save(make_pipeline(TableEncoder({"a": ["S", "M"]}, drop=["b"]), DSNAClassifier()), tmp_path / "m.dsna")
    again = load(tmp_path / "m.dsna")
    assert repr(again.steps[0][1]) == repr(TableEncoder({"a": ["S", "M"]}, drop=["b"]))


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(TableEncoder(), LogisticRegression()),
        make_pipeline(TableEncoder(), TableEncoder(), DSNAClassifier()),
        make_pipeline(DSNAClassifier(), TableEncoder()),
        Pipeline([("columns", TableEncoder()), ("model", "passthrough")]),
        make_pipeline(make_pipeline(TableEncoder()), DSNAClassifier()),
    ],
)
def test_other_pipelines_are_refused_in_a_sentence(tmp_path, model):
    with pytest.raises(TypeError, match=r"Pipeline of TableEncoder and one of .*DSNAClassifier.*joblib"):
        save(model, tmp_path / "m.dsna")
    assert list(tmp_path.iterdir()) == []


def test_steps_that_do_not_belong_together_are_refused(fitted, tmp_path):
    narrow = TableEncoder().fit(frame()[["size", "count"]])
    with pytest.raises(ValueError, match="differ in their numbers of columns"):
        save(make_pipeline(narrow, fitted["rare"].steps[1][1]), tmp_path / "m.dsna")
    with pytest.raises(ValueError, match="fitted and the other is not"):
        save(make_pipeline(narrow, DSNAClassifier()), tmp_path / "m.dsna")


def test_one_long_text_among_many_costs_what_it_is_long(tmp_path):
    n = 2000
    words = [f"word {i}" for i in range(n)]
    words[7] = "x" * 10_000
    table = pd.DataFrame({"a": np.arange(float(n)), "b": words})
    encoder = TableEncoder({"b": "category"}, keep_rows=True).fit(table)
    save(encoder, tmp_path / "m.dsna")
    assert (tmp_path / "m.dsna").stat().st_size < 400_000
    assert load(tmp_path / "m.dsna").rows_.column("b").tolist() == words


def forged(path, change):
    """Write the file again with its header changed."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(entries["header.json"])
    change(header)
    entries["header.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(zipfile.ZipInfo(name), data)


def _encoder(header):
    return header["steps"][0][1]["state"]["fitted"]


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda h: h["steps"].reverse(), "a pipeline of"),
        (lambda h: h["steps"].append(h["steps"][1]), "a pipeline of"),
        (lambda h: h["steps"][1].__setitem__(0, h["steps"][0][0]), "a pipeline of"),
        (lambda h: h["steps"][0].__setitem__(0, "a__b"), "are called"),
        (lambda h: h["steps"][0].__setitem__(1, copy.deepcopy(h)), "a pipeline of"),
        (lambda h: h.pop("steps"), "damaged"),
        (lambda h: _encoder(h).__setitem__("notes_", [1]), "other than strings"),
        (lambda h: _encoder(h).__setitem__("notes_", {"dict": []}), "not a list of strings"),
        (lambda h: _encoder(h)["types_"]["dict"].pop(), "TableEncoder"),
        (lambda h: _encoder(h)["types_"]["dict"][1].__setitem__(1, "category"), "_columns does not match types_"),
        (
            lambda h: _encoder(h)["types_"]["dict"][1].__setitem__(1, "number:comma"),
            "differ in how numbers or dates are read",
        ),
        (lambda h: _encoder(h)["types_"]["dict"][1].__setitem__(1, "number:dot"), "number:dot"),
        (lambda h: _encoder(h)["_columns"][1]["state"].__setitem__("decimal", ";"), "decimal is ';'"),
        (
            lambda h: _encoder(h)["_columns"][1]["state"].__setitem__("decimal", ","),
            "differ in how numbers or dates are read",
        ),
        (lambda h: _encoder(h).__setitem__("unreadable_", [0.0]), "unreadable_ is a list"),
        (lambda h: _encoder(h).__setitem__("unreadable_", _encoder(h)["source_columns_"]), "unreadable_ has dtype"),
        (lambda h: _encoder(h).pop("unreadable_"), "lacks unreadable_"),
        (lambda h: _encoder(h)["_columns"].pop(), "not a list of columns"),
        (lambda h: _encoder(h)["_columns"].__setitem__(0, _encoder(h)["rows_"]), "holds a KeptRows"),
        (lambda h: _encoder(h)["rows_"]["state"].__setitem__("id", 99), "id is not the index of a column"),
        (lambda h: _encoder(h)["rows_"]["state"]["parts"].pop(), "not a list of columns"),
        (lambda h: _encoder(h)["rows_"]["state"]["parts"][0]["state"].__setitem__("kind", "date"), "has dtype"),
    ],
)
def test_forged_pipelines_are_refused(fitted, tmp_path, change, words):
    save(fitted["rare"], tmp_path / "m.dsna")
    forged(tmp_path / "m.dsna", change)
    with pytest.raises(ModelFileError, match=words):
        load(tmp_path / "m.dsna")


@pytest.mark.parametrize("number", [0, -1, 2**63 - 1])
def test_numbers_of_rows_leave_room_for_more(number):
    rows = KeptRows.of(frame(5))
    with pytest.raises(InvariantError, match=r"KeptRows\.number ranges"):
        rows.numbered(np.full(5, number))
    assert rows.numbered(np.full(5, 2**53 - 2)).extended(frame(2)).number[-1] == 2**53
    with pytest.raises(DSNAError, match=r"no numbers are left for 2 more rows after row 9007199254740991.*Train again"):
        rows.numbered(np.full(5, 2**53 - 1)).extended(frame(2))


def test_columns_grow_by_rows_of_other_types():
    rows = KeptRows.of(frame(5)).identified_by("who")
    more = frame(3, 1).with_columns(pl.col("count").cast(pl.String) + "x", pl.col("size") * 2).drop("pain")
    grown = rows.extended(more)
    assert len(grown) == 8
    assert grown.column("count").tolist()[-3:] == more["count"].to_list()
    assert grown.column("pain").tolist()[-3:] == [None] * 3
    assert grown.column("seen").tolist() == [*frame(5)["seen"], *more["seen"]]
    assert grown.number.tolist() == list(range(1, 9))


def test_a_forest_behind_an_encoder_comes_back(tmp_path):
    table = frame()
    forest = CostSensitiveForestClassifier(5, random_state=0)
    model = make_pipeline(TableEncoder(target="rare", drop=["cost"]), forest).fit(table, table["rare"].to_numpy())
    save(model, tmp_path / "m.dsna")
    assert same(load(tmp_path / "m.dsna").predict_proba(table), model.predict_proba(table))


def test_dates_past_all_calendars_are_refused():
    with pytest.raises(ValueError, match="dates outside the years"):
        KeptColumn("time", np.array([2**62]), np.array([True]))


def test_explanations_of_a_loaded_model_are_in_the_words_of_its_table(fitted, tmp_path):
    save(fitted["rare"], tmp_path / "m.dsna")
    why = explain(load(tmp_path / "m.dsna"), frame(3, 1))
    text = why.report(0, largest=2)
    assert "who" in text.splitlines()[3]
    named = why.compare(0, largest=3)
    assert {"who", "class", "weight", "size", "town", "seen"} <= set(named.index)
    row = int(why.ordered()[0][0, 0])
    assert named.loc["who"].iloc[1] == frame()["who"][int(why.rows[0, row])]
    assert named.loc["town"].iloc[1] == frame()["town"][int(why.rows[0, row])]
    assert "cost" not in named.index
    assert "smokes=" not in text


def test_without_rows_explanations_give_numbers_only(fitted, tmp_path):
    save(fitted["cost"], tmp_path / "m.dsna", rows=False)
    why = explain(load(tmp_path / "m.dsna"), frame(3, 1))
    assert why.train is None
    assert "P0" not in why.report(0)
