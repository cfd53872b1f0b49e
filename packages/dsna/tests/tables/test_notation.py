"""Decimal signs of a whole table: what its columns show, what a model knows, and what is refused."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dsna import DSNAError
from dsna.tables import ReadOptions, TableEncoder, TableError, read_chunks, read_file


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read(text, **options):
    Path("t.csv").write_text(text, "utf-8")
    return read_file("t.csv", ReadOptions(**options))


def chunks(text, rows=2, **options):
    Path("t.csv").write_text(text, "utf-8")
    return list(read_chunks("t.csv", ReadOptions(**options), rows=rows))


def both(one, two, header="amount;other"):
    """A table of two columns."""
    return "\n".join([header, *(f"{a};{b}" for a, b in zip(one, two, strict=True))]) + "\n"


AMOUNTS, THOUSANDS, DECIMALS = ["1.243", "464", "12.500"], [1243, 464, 12500], [1.243, 464.0, 12.5]

#: Tables whose first column could be read in two ways: what it is, and in which files.
READ = {
    "another column has decimal commas": (both(AMOUNTS, ["1,5", "2", "0,25"]), {}, THOUSANDS),
    "another column has decimal points": (both(AMOUNTS, ["1.5", "2", "12.25"]), {}, DECIMALS),
    "a zero before the comma": (both(AMOUNTS, ["0,125", "2", "3"]), {}, THOUSANDS),
    "a zero before the point": (both(AMOUNTS, ["0.125", "2", "3"]), {}, DECIMALS),
    "four digits before the point": (both(AMOUNTS, ["1234.567", "2", "3"]), {}, DECIMALS),
    "points between thousands": (both(AMOUNTS, ["1.234.567", "2", "3"]), {}, THOUSANDS),
    "blanks between thousands": (both(AMOUNTS, ["1 234,5", "2", "3"]), {}, THOUSANDS),
    "no-break spaces between thousands": (both(AMOUNTS, ["1\u00a0234,5", "2", "1\u202f000"]), {}, THOUSANDS),
    "apostrophes between thousands": (both(AMOUNTS, ["1'234.50", "2", "3"]), {}, DECIMALS),
    "currencies": (both([f"€ {one}" for one in AMOUNTS], ["1,5 %", "2 %", "3 %"]), {}, THOUSANDS),
    "negative": (both(["-1.243", "+464", "\u221212.500"], ["1,5", "2", "3"]), {}, [-1243, 464, -12500]),
    "one cell of its own, and no other": (both(["1.243", "12.500", "7,5"], "abc"), {}, [1243, 12500, 7.5]),
    "a slip, settled": (both(["1.243", "12.500", "7.5"], ["1,5", "2", "3"]), {"decimal": ","}, [1243, 12500, None]),
    "its own cells": (both(["1.243", "464", "12,5"], "abc"), {}, [1243, 464, 12.5]),
    "decimal comma said": (both(AMOUNTS, [1, 2, 3]), {"decimal": ","}, THOUSANDS),
    "decimal point said": (both(AMOUNTS, [1, 2, 3]), {"decimal": "."}, DECIMALS),
    "comma said beside coordinates": (both(AMOUNTS, ["52.5200", "1.5", "3.25"]), {"decimal": ","}, THOUSANDS),
    "said of the column": (both(AMOUNTS, [1, 2, 3]), {"types": {"amount": "number:comma"}}, THOUSANDS),
    "point said of the column": (
        both(AMOUNTS, ["1,5", "2,5", "0,5"]), {"types": {"amount": "number:point"}}, DECIMALS,
    ),
    "a number, told by another": (both(AMOUNTS, ["1,5", "2", "3"]), {"types": {"amount": "number"}}, THOUSANDS),
    "commas between cells": ("amount,other\n1.243,1\n464,2\n12.500,3\n", {}, DECIMALS),
    "commas between cells, and in others": ('amount,other\n1.243,"1,5"\n464,"2,5"\n12.500,3\n', {}, DECIMALS),
    "commas between cells, comma said": ("amount,other\n1.243,1\n464,2\n12.500,3\n", {"decimal": ","}, THOUSANDS),
    "quoted thousands between commas": ('amount,other\n"1,243",1\n464,2\n"12,500",3\n', {}, THOUSANDS),
    "quoted decimals between commas": ('amount,other\n"1,243","1,5"\n464,2\n"12,500",3\n', {}, DECIMALS),
    "constant": (both(["1.243"] * 3, [1, 2, 3]), {}, [1.243] * 3),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_a_column_is_read_as_the_table_shows(name):
    text, options, expected = READ[name]
    table = read(text, **options)
    assert table.frame["amount"].to_list() == expected
    if table.types["amount"].kind != "constant":
        as_learned = {column: kind.spec for column, kind in table.types.items()}
        parts = chunks(text, model_types=as_learned, decimal=options.get("decimal"))
        again = pl.concat([one.frame for one in parts], how="vertical_relaxed")
        assert again["amount"].to_list() == expected


REFUSED = {
    "alone": both(AMOUNTS, [1, 2, 3]),
    "alone, with a comma": both(["1,243", "464", "12,500"], [1, 2, 3]),
    "with currencies": both([f"{one} EUR" for one in AMOUNTS], [1, 2, 3]),
    "tabs": both(AMOUNTS, [1, 2, 3]).replace(";", "\t"),
    "versions and dates show nothing": both(AMOUNTS, ["1.2.3", "1.2.2020", "x"]),
    "two columns alike": both(AMOUNTS, AMOUNTS),
    "others show both": both(AMOUNTS, ["1,5;52.5200", "2,5;13.4", "0,5;0.25"], "amount;rate;lat"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_column_that_nothing_settles_is_refused_with_both_readings(name):
    for read_it in (read, lambda text: chunks(text, types={"amount": "number"})):
        with pytest.raises(TableError, match=r"t\.csv: column 'amount' can be read in two ways: '.*line 2.*1243"):
            read_it(REFUSED[name])
    with pytest.raises(TableError, match=r"decimal='\.' or decimal=',' for the whole file, or by types={'amount'"):
        read(REFUSED[name])


def test_one_slip_does_not_decide_against_the_other_columns():
    text = both(["1.243", "464", "12.500", "7.5"], ["1,5", "2", "3", "4"])
    with pytest.raises(
        TableError, match=r"two ways: '1.243' .* column 'other' has a decimal comma and '7.5' \(line 5\)"
    ):
        read(text)
    with pytest.raises(
        TableError, match=r"read with a decimal comma up to here, and .* a decimal point: '7.5' \(line 5\)"
    ):
        chunks(text, types={"amount": "number", "other": "number"})
    told = read(text, types={"amount": "number:comma"})
    assert told.frame["amount"].to_list() == [1243, 464, 12500, None]
    assert told.unreadable["amount"].cells == 1


def test_a_column_of_both_kinds_is_refused_where_it_is_said_to_be_numbers():
    text = both(["1,5", "12.34", "3,25", "1.75"], "abca")
    assert read(text).types["amount"].kind == "category"
    with pytest.raises(TableError, match=r"holds '12.34' \(line 3\) with a decimal point and '1,5' \(line 2\)"):
        read(text, types={"amount": "number"})


def test_coordinates_keep_their_points_beside_the_sign_that_is_said():
    table = read(both(["1,5", "2,5"], ["52.5200", "13.4"], "rate;lat"), decimal=",")
    assert table.frame["lat"].to_list() == [52.52, 13.4]
    assert "column 'lat': numbers have a decimal point, although decimal=','" in table.notes


def test_types_know_the_sign():
    table = read(both(AMOUNTS, ["1,5", "2", "0,25"], "amount;rate").replace("\n", ";7\n").replace("rate;7", "rate;n"))
    assert {name: kind.spec for name, kind in table.types.items()} == {
        "amount": "number:comma", "rate": "number:comma", "n": "constant",
    }  # fmt: skip
    encoder = TableEncoder({name: kind.spec for name, kind in table.types.items()}).fit(table.frame)
    assert encoder.types_["amount"] == "number:comma"


# Rows for a model ---------------------------------------------------------------------------------------------------

GERMAN = {"amount": "number:comma", "rate": "number:comma", "lat": "number:point", "day": "date:dmy", "n": "number"}


@pytest.mark.parametrize(
    "text, amount",
    [
        ("amount;rate\n1.243;3\n", 1243),  # nothing but the model tells
        ("amount;lat\n1.243;52.5200\n", 1243),  # written as in training
        ("amount;rate\n1.243;3,5\n", 1243),
        ("amount;rate\n1.243;3.5\n", 1.243),  # written otherwise than in training
        ("amount;lat\n1.243;52,5200\n", 1.243),
        ("amount,rate\n1.243,3\n", 1.243),  # a point between commas
        ("n;rate\n1.243;3,5\n", 1243),
        ("n;new\n1.243;3,5\n", 1243),  # a column that is not the model's shows it, too
    ],
)
def test_new_rows_are_read_as_they_show_or_as_training_was(text, amount):
    name = "n" if text.startswith("n") else "amount"
    assert chunks(text, model_types=GERMAN)[0].frame[name].to_list() == [amount]
    assert read(text, model_types=GERMAN).frame[name].to_list() == [amount]


@pytest.mark.parametrize(
    "text, said",
    [
        (
            "amount;rate;lat\n1.243;3.5;52.5200\n",
            "column 'amount' can be read in two ways.*training had a decimal comma",
        ),
        ("n;amount\n1.243;3\n", "column 'n' can be read in two ways.*no other column shows"),
        ("amount;new\n1.243;52.5200\n", "column 'amount'.*column 'new' has a decimal point and training had"),
        ("day;n\n25.01.2024;1\n01.25.2024;2\n", "column 'day' holds .* with the day before the month and .*date:dmy"),
        ("rate;n\n1,5;1\n1.5;2\n", "column 'rate' holds"),
    ],
)
def test_new_rows_that_contradict_training_or_themselves_are_refused(text, said):
    for read_it in (read, lambda text, **options: chunks(text, 9, **options)):
        with pytest.raises(TableError, match=said):
            read_it(text, model_types=GERMAN)


@pytest.mark.parametrize(
    "rows, column",
    [
        (["1.243;1", "2.500;2", "3.5;3"], "amount"),  # of itself
        (["1.243;1", "2.500;2", "464;3.5"], "amount"),  # of another column
        (["464;1,5", "12;2,5", "1;3.5"], "rate"),
    ],
)
def test_what_later_chunks_contradict_is_refused(rows, column):
    Path("t.csv").write_text("\n".join(["amount;rate", *rows]), "utf-8")
    parts = read_chunks("t.csv", ReadOptions(model_types=GERMAN), rows=2)
    next(parts)
    with pytest.raises(TableError, match=rf"column '{column}' was read with a decimal comma up to here, and .* point"):
        next(parts)


def test_dates_follow_the_file_or_the_model():
    for text, first in (("day;n\n01/02/2024;1\n", "2024-02-01"), ("day;n\n01/02/2024;1\n01/25/2024;2\n", "2024-01-02")):
        found = read(text, model_types=GERMAN).frame["day"].cast(pl.Date).cast(str).to_list()
        assert found[0] == first
        assert chunks(text, model_types=GERMAN)[0].frame["day"].cast(pl.Date).cast(str).to_list() == found
    assert read("day;n\n01.02.2024;1\n", model_types={"day": "date:mdy"}).frame["day"].cast(pl.Date)[0].month == 1
    with pytest.raises(TableError, match="column 'day' was read with the day before the month up to here"):
        chunks("day;n\n01/02/2024;1\n01/03/2024;2\n01/25/2024;3\n", model_types=GERMAN)


# Frames of text -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame])
def test_frames_of_text_are_read_as_a_whole(made):
    columns = {"amount": ["1.243", "464", "12.500", "77"], "rate": ["1,5", "2", "0,25", "7"]}
    encoder = TableEncoder().fit(made(columns))
    assert encoder.types_ == {"amount": "number:comma", "rate": "number:comma"}
    assert encoder.transform(made(columns))[:, 0].tolist() == [1243, 464, 12500, 77]
    alone = {"amount": ["1.243"], "rate": ["7"]}
    assert encoder.transform(made(alone))[0, 0] == 1243
    assert encoder.transform(made({**alone, "rate": ["7.5"]}))[0, 0] == 1.243
    with pytest.raises(DSNAError, match=r"column 'amount' can be read in two ways.*types={'amount': 'number:comma'}"):
        TableEncoder().fit(made({**columns, "rate": ["a", "b", "a", "b"]}))
    told = TableEncoder({"amount": "number:comma"}).fit(made({**columns, "rate": ["a", "b", "a", "b"]}))
    assert told.transform(made({"amount": ["1.243"], "rate": ["a"]}))[0, 0] == 1243


def test_text_for_a_model_of_typed_numbers():
    encoder = TableEncoder().fit(pd.DataFrame({"a": [1.5, 2.25, 3.0], "b": [1.0, 4.0, 2.0]}))
    assert encoder.types_ == {"a": "number", "b": "number"}
    new = encoder.transform(pd.DataFrame({"a": ["1.243", "2.5"], "b": ["1.243", "464"]}))
    assert new.tolist() == [[1.243, 1.243], [2.5, 464.0]]
    with pytest.raises(DSNAError, match="column 'a' can be read in two ways"):
        encoder.transform(pd.DataFrame({"a": ["1.243", "2"], "b": ["1.243", "464"]}))


def test_typed_files_are_no_question(tmp_path):
    pl.DataFrame({"amount": [1.243, 464.0], "n": [1, 2]}).write_parquet(tmp_path / "t.parquet")
    table = read_file(tmp_path / "t.parquet", ReadOptions(model_types=GERMAN))
    assert table.frame["amount"].to_list() == [1.243, 464.0]
    pl.DataFrame({"amount": ["1.243", "464"], "n": [1, 2]}).write_parquet(tmp_path / "text.parquet")
    with pytest.raises(TableError, match=r"column 'amount' can be read in two ways: '1.243' \(row 1\)"):
        read_file(tmp_path / "text.parquet")
    assert read_file(tmp_path / "text.parquet", ReadOptions(model_types=GERMAN)).frame["amount"][0] == 1243


# Declared categories ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([3, 1, 2, 3], dtype="category"),
        pd.Series([3.0, 1.0, np.nan, 3.0], dtype="category"),
        pd.Series(["3", "1", "2", "3"], dtype="category"),
        pd.Series([True, False, True, True], dtype="category"),
        pl.Series(["3", "1", "2", "3"], dtype=pl.Categorical),
        pl.Series(["3", "1", "2", "3"], dtype=pl.Enum(["1", "2", "3"])),
    ],
)
def test_a_declared_category_is_a_category(column):
    made = pd.DataFrame if isinstance(column, pd.Series) else pl.DataFrame
    frame = made({"code": column, "a": [1.0, 2.0, 4.0, 5.0]})
    encoder = TableEncoder(min_rows=1).fit(frame)
    assert encoder.types_ == {"code": "category", "a": "number"}
    shown = encoder.transform(frame)[:, :-1]
    assert np.all(np.isin(shown, (0.0, 1.0)))
    assert encoder.get_feature_names_out()[0] in ("code=1", "code=False")
    np.testing.assert_array_equal(shown[0], shown[3])


def test_arrow_dictionaries_and_files_keep_declared_categories(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    codes = arrow.array([30, 10, 20, 30]).dictionary_encode()
    encoder = TableEncoder(min_rows=1).fit(arrow.table({"code": codes, "a": [1.0, 2.0, 4.0, 5.0]}))
    assert encoder.types_["code"] == "category"
    plain = encoder.transform(pd.DataFrame({"code": [30, 10], "a": [1.0, 2.0]}))  # codes that were read from a file
    assert plain[:, :3].tolist() == [[0, 0, 1], [1, 0, 0]]
    frame = pl.DataFrame({"code": pl.Series(["3", "1", "2"], dtype=pl.Categorical), "a": [1, 2, 3]})
    frame.write_parquet(tmp_path / "t.parquet")
    assert read_file(tmp_path / "t.parquet").types["code"].kind == "category"
    told = read_file(tmp_path / "t.parquet", ReadOptions(types={"code": "number"}))
    assert told.frame["code"].to_list() == [3, 1, 2]


def test_ordered_codes_keep_their_order():
    codes = pd.Series(pd.Categorical([3, 1, 2, 3], categories=[3, 1, 2], ordered=True))
    encoder = TableEncoder().fit(pd.DataFrame({"code": codes, "a": [1.0, 2.0, 4.0, 5.0]}))
    assert encoder.types_["code"] == ["3", "1", "2"]
    assert encoder.transform(pd.DataFrame({"code": [3, 2], "a": [1.0, 1.0]}))[:, 0].tolist() == [0.0, 2.0]
    lonely = pd.Series(pd.Categorical([7, 7], categories=[7], ordered=True))
    assert TableEncoder().fit(pd.DataFrame({"code": lonely, "a": [1.0, 2.0]})).types_["code"] == "constant"
