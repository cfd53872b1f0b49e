"""Columns that give the answer away; CSV that spreadsheets take for text; round trips."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsna import DSNAError
from dsna.tables import CsvWriter, find_leaks, read_file

N = 60


def frame(seed=0):
    rng = np.random.RandomState(seed)
    y = rng.choice(["a", "b", "c"], N)
    return pd.DataFrame(
        {"x": rng.normal(size=N), "whole": rng.randint(0, 10**6, N), "kind": rng.choice(["u", "v"], N), "y": y}
    )


@pytest.mark.parametrize(
    "values, reason",
    [
        ([f"K{i}" for i in range(N)], "identifies rows"),
        (np.arange(N), "numbers the rows"),
        (np.random.RandomState(1).permutation(N) + 5000, "numbers the rows"),
        (["same"] * N, "holds one value only"),
        ([None] * N, "holds no value"),
        ("copy", "gives the target away"),
        ("codes", "gives the target away"),
        (np.random.RandomState(1).normal(size=N), None),
        (np.random.RandomState(1).randint(0, 10**9, N), None),
        (np.random.RandomState(1).randint(0, 4, N), None),
    ],
)
def test_columns_that_tell_all_or_nothing(values, reason):
    table = frame()
    named = {"copy": table["y"], "codes": table["y"].map({"a": 3, "b": 1, "c": 2})}
    table["odd"] = named[values] if isinstance(values, str) else values
    found = find_leaks(table, "y")
    assert [leak.column for leak in found] == (["odd"] if reason else [])
    assert not reason or reason in found[0].reason
    assert find_leaks(table, "y", keep=["odd"]) == []
    assert find_leaks(pl.from_pandas(table.drop(columns="y")), table["y"].to_numpy()) == [
        leak._replace(reason=leak.reason.replace("'y'", "the target")) for leak in found
    ]


@pytest.mark.parametrize(
    "change, told", [(lambda y: 3 * y - 1, True), (np.exp, True), (lambda y: -y, True), (np.abs, False)]
)
def test_numbers_that_follow_the_target(change, told):
    rng = np.random.RandomState(0)
    y = rng.normal(size=N)
    found = find_leaks(pd.DataFrame({"x": rng.normal(size=N), "odd": change(y), "y": y}), "y")
    assert [leak.column for leak in found] == (["odd"] if told else [])


def test_whole_numbers_are_identifiers_by_their_name():
    table = frame().assign(**{"patient_id": np.random.RandomState(1).permutation(10**6)[:N]})
    assert [leak.column for leak in find_leaks(table, "y")] == ["patient_id"]


@pytest.mark.parametrize("target, keep", [("z", ()), ("y", ("z",))])
def test_columns_that_are_not_there_are_refused(target, keep):
    with pytest.raises(DSNAError, match="'z'"):
        find_leaks(frame(), target, keep)


def written(table, **options):
    stream = io.BytesIO()
    writer = CsvWriter(stream, **options)
    writer.write(table[:1])
    writer.write(table[1:])
    return stream.getvalue().decode()


def test_formulas_become_text_and_numbers_stay():
    table = pl.DataFrame({"=name": ["=1+1", "@x", "-y", "+z", "-5", "ok", None], "n": [-1.5, 2, -3, 4, 5, 6, 7]})
    assert written(table).splitlines() == [
        "'=name,n",
        "'=1+1,-1.5",
        "'@x,2.0",
        "'-y,-3.0",
        "'+z,4.0",
        "-5,5.0",
        "ok,6.0",
        ",7.0",
    ]
    assert written(table, raw=True).splitlines()[:3] == ["=name,n", "=1+1,-1.5", "@x,2.0"]


WORD = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r\n", exclude_categories=("Cs", "Zs", "Zl", "Zp", "Cc")),
    min_size=1,
    max_size=20,
)
WORDS = WORD.filter(
    lambda word: word.strip() == word and not word[0].isdigit() and word[0] not in "?+-.,$€£¥−NnfFtTyY<#"
)


@pytest.mark.property
@given(
    st.lists(st.tuples(st.integers(-(10**12), 10**12), st.floats(-1e9, 1e9), WORDS), min_size=2, max_size=40),
)
def test_what_is_written_is_read_again(tmp_path_factory, rows):
    table = pl.DataFrame(rows, schema={"whole": pl.Int64, "real": pl.Float64, "word": pl.String}, orient="row")
    path = tmp_path_factory.mktemp("trip") / "t.csv"
    path.write_text(written(table, raw=True), encoding="utf-8")
    again = read_file(path).frame
    assert again["whole"].to_list() == table["whole"].to_list()
    np.testing.assert_allclose(again["real"].to_numpy(), table["real"].to_numpy(), rtol=1e-15)
    assert again["word"].cast(pl.String).to_list() == table["word"].to_list()
