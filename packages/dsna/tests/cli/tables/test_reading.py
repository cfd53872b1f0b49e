"""How commands read files: signs and dates as in training, cells that cannot be read, lines above the names."""

import functools
import gzip
import json
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

pytest.importorskip("typer")

from tests.cli.tables.small_files import ask, done, model_file, refused, table, write

import dsna

GERMAN = "amount;rate;day;town;kind"


def german(n=80, seed=0):
    """Lines of a file as spreadsheets write it in Germany."""
    rng = np.random.default_rng(seed)
    amounts, rates = rng.integers(100, 4000, n), rng.normal(3, 1, n)
    return [
        f"{amount // 1000}.{amount % 1000:03d};".lstrip("0.") * (amount >= 1000)
        + f"{amount};" * (amount < 1000)
        + f"{rate:.2f};".replace(".", ",")
        + f"{1 + i % 28:02d}.{1 + i % 12:02d}.2024;{'ABC'[i % 3]};{'high' if amount > 3000 else 'low'}"
        for i, (amount, rate) in enumerate(zip(amounts.tolist(), rates.tolist(), strict=True))
    ]


@functools.cache
def german_model():
    with tempfile.TemporaryDirectory() as folder:
        data, model = Path(folder) / "de.csv", Path(folder) / "de.dsna"
        data.write_text("\n".join([GERMAN, *german()]))
        said = done(ask("train", data, "--target", "kind", "-o", model)).stdout
        assert "stand between thousands" in said
        return model.read_bytes()


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "de.dsna"
    path.write_bytes(german_model())
    return path


def text_file(folder, *lines, name="new.csv"):
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


# Decimal signs and orders of dates ----------------------------------------------------------------------------------


def test_a_model_keeps_signs_and_orders_for_files_of_one_row(model, tmp_path):
    types = dsna.load(model).steps[0][1].types_
    assert types == {"amount": "number:comma", "rate": "number:comma", "day": "date:dmy", "town": "category"}
    one = text_file(tmp_path, GERMAN, "3.243;3;01.02.2024;A;high")
    found = json.loads(done(ask("explain", model, one, "--json")).stdout)
    assert found["prediction"] == "high"
    assert any("points as in 3.243 stand between thousands" in note for note in found["notes"])
    done(ask("predict", model, one, "-o", tmp_path / "a.csv", "--columns", "amount,day"))
    answer = pl.read_csv(tmp_path / "a.csv")
    assert (answer["amount"][0], answer["day"][0][:10], answer["prediction"][0]) == (3243, "2024-02-01", "high")
    scores = json.loads(done(ask("evaluate", model, one, "--json")).stdout)["scores"]["overall"]["dsna"]
    assert scores["accuracy"]["value"] == 1.0
    done(ask("add", model, one, "-o", tmp_path / "grown.dsna"))
    rows = dsna.load(tmp_path / "grown.dsna").steps[0][1].rows_
    assert rows.column("amount")[-1] == 3243
    assert str(rows.column("day")[-1])[:10] == "2024-02-01"


def test_a_file_that_is_written_otherwise_is_followed(model, tmp_path):
    new = text_file(tmp_path, "amount,rate,day,town", "3.243,3.5,01/25/2024,A", "3243,2,02/01/2024,B")
    done(ask("predict", model, new, "-o", tmp_path / "a.csv", "--columns", "amount,day"))
    answer = pl.read_csv(tmp_path / "a.csv")
    assert answer["amount"].to_list() == [3.243, 3243.0]
    assert [one[:10] for one in answer["day"]] == ["2024-01-25", "2024-02-01"]


@pytest.mark.parametrize("command", ["predict", "explain", "evaluate", "add"])
@pytest.mark.parametrize(
    "row, column",
    [
        ("1,5;3;01.02.2024;A;low\n1.5;3;01.02.2024;A;low", "amount"),
        ("7;3;13.02.2024;A;low\n7;3;02.13.2024;A;low", "day"),
    ],
)
def test_columns_that_contradict_themselves_are_refused(model, tmp_path, command, row, column):
    new, out = text_file(tmp_path, GERMAN, row), tmp_path / "out"
    more = ["-o", out] if command in ("predict", "add") else []
    refused(ask(command, model, new, *more), f"new.csv: column '{column}' holds", "Remedy: write it in one way")
    assert not out.exists()


def test_targets_of_numbers_are_asked_about_too(tmp_path):
    lines = [f"{i % 7},5;{10 + i % 5};{500 + i * 37 % 400}" for i in range(60)]
    data = text_file(tmp_path, "a;b;cost", *lines, name="data.csv")
    done(ask("train", data, "--target", "cost", "--task", "regression", "-o", tmp_path / "m.dsna"))
    new, out = text_file(tmp_path, "a;b;cost", "3;11;1.243"), tmp_path / "g.dsna"
    refused(ask("add", tmp_path / "m.dsna", new, "-o", out), "column 'cost' can be read in two ways", "--decimal ,")
    done(ask("add", tmp_path / "m.dsna", new, "-o", out, "--decimal", ","))
    assert dsna.load(out).steps[1][1]._index.label[-1, 0] == 1243
    done(ask("add", tmp_path / "m.dsna", text_file(tmp_path, "a;b;cost", "3,7;11;1.243"), "-o", out, "--force"))
    assert dsna.load(out).steps[1][1]._index.label[-1, 0] == 1243


def test_what_nothing_settles_is_refused_before_the_training(tmp_path):
    data = text_file(tmp_path, "amount;kind", *(f"{1 + i % 4}.{100 + i};{'ab'[i % 2]}" for i in range(40)))
    words = ("train", data, "--target", "kind", "-o", tmp_path / "m.dsna")
    refused(ask(*words), "'1.100' (line 2) is 1.1 with a decimal point and 1100 with a decimal comma", "--decimal .")
    assert not (tmp_path / "m.dsna").exists()
    refused(ask(*words, "--types", "amount=number:dot"), "The type 'number:dot' of column 'amount' is unknown")
    for more, amount in ((["--types", "amount=number:point"], 1.1), (["--decimal", ","], 1100)):
        done(ask(*words, *more, "--force"))
        assert dsna.load(tmp_path / "m.dsna").steps[0][1].rows_.column("amount")[0] == amount


# Cells that cannot be read ------------------------------------------------------------------------------------------


def in_other_dates(n=50, odd=50):
    """New rows whose first dates are written in another way than in training."""
    frame = table(n, 1)
    other = frame["since"].dt.strftime("%d.%m.%Y")
    written = [other[i] if i < odd else str(frame["since"][i]) for i in range(n)]
    return frame.with_columns(since=pl.Series(written))


@pytest.mark.parametrize("command", ["predict", "explain", "evaluate", "add"])
def test_a_column_that_cannot_be_read_is_refused(tmp_path, command):
    model, new, out = model_file(tmp_path), write(tmp_path, "new.csv", in_other_dates()), tmp_path / "out"
    more = ["-o", out] if command in ("predict", "add") else []
    refused(
        ask(command, model, new, *more),
        "new.csv: column 'since': 50 of 50 cells cannot be read as dates, line 2 (",
        "and 47 more; in training 0% could not",
        "--types since=date:dmy",
        "--allow-unreadable",
    )
    assert not out.exists()
    said = done(ask(command, model, new, *more, "--allow-unreadable")).stdout
    assert "taken for missing values (100%)" in said
    done(ask(command, model, new, *more, "--types", "since=date:dmy", *["--force"] * bool(more)))


def test_dates_with_the_year_first_are_another_format(model, tmp_path):
    new = text_file(tmp_path, GERMAN, *(f"{i};3;2024-01-{10 + i};A;low" for i in range(6)))
    refused(ask("predict", model, new, "-o", tmp_path / "o.csv"), "'day': 6 of 6 cells", "such as --types day=date,")
    done(ask("predict", model, new, "-o", tmp_path / "o.csv", "--types", "day=date"))


def test_the_share_of_the_whole_file_counts(tmp_path, monkeypatch):
    model, out = model_file(tmp_path), tmp_path / "out.csv"
    monkeypatch.setattr("dsna.cli.tables.predict._CHUNK_ROWS", 10)
    few = write(tmp_path, "few.csv", in_other_dates(60, odd=10))  # a sixth of the file, all of its first part
    said = done(ask("predict", model, few, "-o", out)).stdout
    assert "10 of 60 cells cannot be read as dates" in said
    assert "(17%)" in said
    refused(ask("predict", model, few, "-o", "-"), "10 of 10 cells")
    assert ask("predict", model, few, "-o", "-").stdout == ""
    many = write(tmp_path, "many.csv", in_other_dates(60, odd=15))
    refused(ask("predict", model, many, "-o", out, "--force"), "15 of 60 cells")
    assert pl.read_csv(out).height == 60  # the answers of before
    there = sorted(tmp_path.iterdir())
    refused(ask("predict", model, many, "-o", tmp_path / "o.parquet"), "15 of 60 cells")
    assert sorted(tmp_path.iterdir()) == there
    late = write(tmp_path, "late.csv", in_other_dates(60, odd=20).reverse())
    run = ask("predict", model, late, "-o", "-")
    refused(run, "of 60 cells")
    assert run.stdout.count("\n") == 51  # all parts but the last


def test_training_that_could_not_read_all_allows_as_much(tmp_path):
    rng = np.random.default_rng(0)
    size = rng.normal(size=100)
    cells = [f"{one:.4f}" if i % 2 else "n.d." for i, one in enumerate(size)]
    frame = pl.DataFrame({"size": cells, "n": rng.normal(size=100), "y": np.where(size > 0.8, "yes", "no")})
    data, model, out = write(tmp_path, "data.csv", frame), tmp_path / "m.dsna", tmp_path / "o.csv"
    said = done(ask("train", data, "--target", "y", "-o", model, "--types", "size=number")).stdout
    assert "column 'size': 50 of 100 cells cannot be read as numbers, line 2 ('n.d.')" in said
    assert dsna.load(model).steps[0][1].unreadable_.tolist() == [0.5, 0.0]
    done(ask("predict", model, data, "-o", out))
    worse = frame.with_columns(size=pl.Series([cell if i % 4 == 1 else "?!" for i, cell in enumerate(cells)]))
    refused(ask("predict", model, write(tmp_path, "w.csv", worse), "-o", out, "--force"), "in training 50% could not")


def test_few_cells_are_said_and_not_refused(tmp_path):
    new = write(tmp_path, "new.csv", in_other_dates(4, odd=4))
    said = done(ask("predict", model_file(tmp_path), new, "-o", tmp_path / "o.csv")).stdout
    assert "column 'since': 4 of 4 cells cannot be read as dates" in said
    five = write(tmp_path, "new.csv", in_other_dates(5, odd=2))
    refused(ask("predict", model_file(tmp_path), five, "-o", tmp_path / "o.csv", "--force"), "2 of 5 cells")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_words_of_truth_and_columns_of_other_types_are_counted_too(tmp_path, ending):
    model, new = model_file(tmp_path), tmp_path / f"new.{ending}"
    odd = table(20, 1).with_columns(smokes=pl.lit("ja"))
    odd.write_csv(new) if ending == "csv" else odd.write_parquet(new)
    refused(ask("predict", model, new, "-o", tmp_path / "o.csv"), "column 'smokes': 20 of 20 cells", "booleans")
    done(ask("predict", model, new, "-o", tmp_path / "o.csv", "--allow-unreadable"))


def test_a_type_that_empties_a_column_is_explained(tmp_path):
    data = write(tmp_path, "data.csv", table().with_columns(crp=pl.Series([f"{i % 9},0 mg/l" for i in range(120)])))
    words = ("train", data, "--target", "rare", "-o", tmp_path / "m.dsna", "--drop", "cost")
    said = done(ask(*words, "--types", "crp=number")).stdout
    found = "120 of 120 cells cannot be read as numbers, line 2 ('0,0 mg/l'), line 3 ('1,0 mg/l'), line 4 ('2,0 mg/l')"
    assert f"column 'crp': {found} and 117 more: taken for missing values" in said
    assert f"column 'crp' is left out: {found} and 117 more (--types crp=category reads it as text)" in said
    assert "--keep crp" not in said


# Lines above the names ----------------------------------------------------------------------------------------------


def titled(frame, padded=True):
    """A table under a title, as spreadsheets export it."""
    text = frame.write_csv()
    return f"People, 2024{',' * (frame.width - 2) * padded}\n{',' * (frame.width - 1) * padded}\n{text}"


@pytest.mark.parametrize("padded", [True, False])
def test_titles_are_found_and_left_out_by_every_command(tmp_path, padded):
    data, new = tmp_path / "data.csv", tmp_path / "new.csv"
    data.write_text(titled(table(), padded))
    new.write_text(titled(table(30, 1), padded))
    model, plain, out = tmp_path / "m.dsna", model_file(tmp_path), tmp_path / "o"
    words = ("train", data, "--target", "rare", "--drop", "cost", "-o", model)
    refused(ask(*words), "line 3 looks like the", "--skip-lines 2")
    said = done(ask(*words, "--skip-lines", 2)).stdout
    assert "lines 1 to 2 are left out (--skip-lines 2)" in said
    new_rows = write(tmp_path, "plain.csv", table(30, 1))
    for command in ("predict", "explain", "evaluate", "add"):
        more = ["-o", out, "--force"] if command in ("predict", "add") else []
        refused(ask(command, plain, new, *more), "line 3 looks like the", "--skip-lines 2")
        found = done(ask(command, plain, new, *more, "--skip-lines", 2, "--json")).stdout
        as_plain = json.loads(done(ask(command, plain, new_rows, *more, "--json")).stdout)
        assert {**json.loads(found), "notes": []} == {**as_plain, "notes": []}
    assert done(ask("evaluate", data, "--target", "rare", "--skip-lines", "2", "--folds", 2)).stdout
    assert done(ask("predict", model, new_rows, "-o", out, "--force"))


def test_titles_of_streams_and_packed_files(tmp_path):
    model, plain = model_file(tmp_path), write(tmp_path, "plain.csv", table(30, 1))
    done(ask("predict", model, plain, "-o", tmp_path / "a.csv"))
    content = titled(table(30, 1)).encode()
    refused(ask("predict", model, "-", "-o", "-", input=content), "standard input: line 1", "--skip-lines 2")
    run = done(ask("predict", model, "-", "-o", "-", "--skip-lines", 2, input=content))
    assert run.stdout_bytes == (tmp_path / "a.csv").read_bytes()
    (tmp_path / "new.csv.gz").write_bytes(gzip.compress(content))
    done(ask("predict", model, tmp_path / "new.csv.gz", "-o", tmp_path / "b.csv", "--skip-lines", 2))
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()


def test_lines_that_cannot_be_left_out(tmp_path):
    data, out = write(tmp_path), tmp_path / "m.dsna"
    words = ("--target", "rare", "-o", out)
    refused(ask("train", data, *words, "--skip-lines", 500), "there are fewer than 500 lines")
    refused(ask("train", data, *words, "--skip-lines", 1), "there is no column 'rare'")
    refused(ask("train", data, *words, "--skip-lines", "-1"), "--skip-lines")
    table().write_parquet(tmp_path / "t.parquet")
    for more in ([], ["--out-of-core"]):
        refused(
            ask("train", tmp_path / "t.parquet", *words, "--skip-lines", 2, *more), "parquet file has no lines above"
        )
    words = ("predict", model_file(tmp_path), tmp_path / "t.parquet", "-o", tmp_path / "o.csv")
    refused(ask(*words, "--skip-lines", 1), "no lines above")
    assert not out.exists()
    assert not (tmp_path / "o.csv").exists()
