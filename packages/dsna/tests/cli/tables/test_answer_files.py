"""Files of answers: the name says the format, in which they are written whole or not at all."""

import gzip
import json
import os

import numpy as np
import polars as pl
import pytest

pytest.importorskip("typer")

from tests.cli.tables.small_files import answers, ask, done, model_file, new_rows, refused, table, write

import dsna


@pytest.fixture
def files(tmp_path):
    return model_file(tmp_path), write(tmp_path, "new.csv", new_rows()), tmp_path / "out.csv"


def text_of(path):
    """Content of a text file, unpacked by its ending."""
    content = path.read_bytes()
    if path.suffix.lower() == ".gz":
        return gzip.decompress(content)
    zstandard = pytest.importorskip("zstandard")
    return zstandard.ZstdDecompressor().decompressobj().decompress(content) if path.suffix == ".zst" else content


def columns_of(path):
    return (pl.read_parquet if path.suffix == ".parquet" else pl.read_ipc)(path)


@pytest.mark.parametrize("name", ["a.csv", "a.CSV", "a.txt", "a", "a.csv.gz", "a.csv.GZ", "a.txt.zst", "a.gz", "a."])
def test_names_of_text_files(files, tmp_path, name):
    model, new, out = files
    done(ask("predict", model, new, "-o", out))
    (tmp_path / "there").mkdir()
    done(ask("predict", model, new, "-o", tmp_path / "there" / name))
    assert text_of(tmp_path / "there" / name) == out.read_bytes()


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.zst"])
def test_cells_of_tsv_files_stand_between_tabs(files, tmp_path, name):
    model, new, out = files
    done(ask("predict", model, new, "-o", out, "--columns", "town"))
    done(ask("predict", model, new, "-o", tmp_path / name, "--columns", "town"))
    found = pl.read_csv(text_of(tmp_path / name), separator="\t", infer_schema_length=None)
    assert found.equals(answers(out))
    assert "'=A1+1" in found["town"]


@pytest.mark.parametrize("target", ["rare", "cost"])
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_columns_are_written_in_parts_as_text_is(tmp_path, monkeypatch, name, target):
    model, new, out = model_file(tmp_path, target), write(tmp_path, "new.csv", new_rows()), tmp_path / "out.csv"
    done(ask("predict", model, new, "-o", out, "--explain", "--raw"))
    monkeypatch.setattr("dsna.cli.tables.predict._EXPLAINED_CHUNK_ROWS", 7)
    monkeypatch.setattr("dsna.tables.files.write._PART_ROWS", 14)
    done(ask("predict", model, new, "-o", tmp_path / name, "--explain"))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["new.csv", model.name, out.name, name])
    found = columns_of(tmp_path / name)
    assert found.columns == answers(out).columns
    assert found["row"].to_list() == list(range(1, 41))
    assert found["prediction"].to_list() == answers(out)["prediction"].to_list()
    assert found["weight 1"].to_list() == answers(out)["weight 1"].to_list()


def test_what_is_written_can_be_answered_again(files, tmp_path):
    model, new, _ = files
    for name in ("a.tsv.gz", "a.parquet", "a.arrow", "a.zst"):
        words = ("--columns", "person,size,town,visits,since,smokes")
        done(ask("predict", model, new, "-o", tmp_path / name, "--raw", *words))
        run = done(ask("predict", model, tmp_path / name, "-o", tmp_path / "again.csv", "--force"))
        assert "40 rows answered" in run.stdout


@pytest.mark.parametrize(
    "name, part",
    [
        ("q.xlsx", ".xlsx. Remedy: choose a name in .csv, which spreadsheets open"),
        ("q.json", "not written as .json"),
        ("q.feather", "not written as .feather"),
        ("q.csv.bz2", "not written as .bz2"),
        ("q.csv.xz", "not written as .xz"),
        ("q.zip", "not written as .zip"),
        ("q.dsna", "not written as .dsna"),
        ("q.parquet.gz", "compressed internally. Remedy: leave .gz out"),
        ("q.arrow.zst", "compressed internally. Remedy: leave .zst out"),
        ("q.xlsx.gz", "not written as .xlsx"),
        ("q.csv.2024", "not written as .2024"),
    ],
)
def test_other_endings_are_refused_before_any_work(files, tmp_path, monkeypatch, name, part):
    model, new, _ = files
    monkeypatch.setattr("dsna.app.predict.load_model", lambda *_: pytest.fail("work was begun"))
    refused(ask("predict", model, new, "-o", tmp_path / name), name, part)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["q.csv.gz", "q.csv.zst", "q.parquet", "q.arrow"])
def test_what_is_found_late_leaves_nothing_half_written_in_any_format(files, tmp_path, monkeypatch, name):
    model, new, _ = files
    monkeypatch.setattr("dsna.cli.tables.predict._CHUNK_ROWS", 5)
    monkeypatch.setattr("dsna.tables.files.write._PART_ROWS", 10)
    (tmp_path / name).write_bytes(b"as it was")
    new.write_bytes(new.read_bytes() + b"too,few\n")
    refused(ask("predict", model, new, "-o", tmp_path / name, "--force"), "line 42")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["new.csv", "rare.dsna", name])
    assert (tmp_path / name).read_bytes() == b"as it was"


@pytest.mark.parametrize("name, method", [("q.parquet", "sink_parquet"), ("q.arrow", "sink_ipc")])
def test_a_disk_that_is_full_at_the_end_of_a_file_of_columns(files, tmp_path, monkeypatch, name, method):
    model, new, _ = files

    def full(*_, **__):
        raise pl.exceptions.ComputeError("underlying IO error: No space left on device (os error 28)")

    monkeypatch.setattr(pl.LazyFrame, method, full)
    there = sorted(os.listdir(tmp_path))
    refused(ask("predict", model, new, "-o", tmp_path / name), f"{name}: the disk is full. Remedy: make room")
    assert sorted(os.listdir(tmp_path)) == there


@pytest.fixture(scope="module")
def prices(tmp_path_factory):
    """A model of prices of about a million, with two decimals."""
    folder = tmp_path_factory.mktemp("prices")
    price = (1e6 + 98765.4321 * table()["cost"]).round(2)
    data = write(folder, frame=table().drop("rare", "cost").with_columns(price=price))
    done(ask("train", data, "--target", "price", "-o", folder / "m.dsna"))
    return folder / "m.dsna"


def test_answers_of_regressions_have_the_decimals_of_the_targets(prices, tmp_path):
    new, out = write(tmp_path, "new.csv", new_rows()), tmp_path / "out.csv"
    done(ask("predict", prices, new, "-o", out, "--explain"))
    found = pl.read_csv(out, infer_schema_length=0)
    for name in ("prediction", "low", "high", "target 1"):
        assert max(len(cell.partition(".")[2]) for cell in found[name]) == 2
        assert min(len(cell.replace(".", "")) for cell in found[name]) >= 7
    exact = dsna.load(prices).predict(new_rows())
    np.testing.assert_allclose(found["prediction"].cast(float), exact, atol=0.00501, rtol=0.0)
    assert exact.tolist() != np.round(exact, 2).tolist()
    first = found["prediction"][0].rstrip("0").rstrip(".")
    run = done(ask("explain", prices, new))
    assert run.stdout.startswith(f"New row 1: predicted {first}")
    assert f" {first} " in next(line for line in run.stdout.splitlines() if line.startswith("target"))
    assert "e+06" not in run.stdout
    assert json.loads(done(ask("explain", prices, new, "--json")).stdout)["prediction"] == float(first)


def test_answers_of_other_regressions_have_six_digits(tmp_path):
    rng = np.random.default_rng(0)
    frame = table().drop("rare").with_columns(cost=table()["cost"] + pl.Series(rng.normal(size=120)))
    data, out = write(tmp_path, frame=frame), tmp_path / "out.csv"
    done(ask("train", data, "--target", "cost", "-o", tmp_path / "m.dsna"))
    done(ask("predict", tmp_path / "m.dsna", data, "-o", out))
    found = pl.read_csv(out, infer_schema_length=0)
    for name in ("prediction", "low", "high"):
        digits = [cell.lstrip("-0.").replace(".", "").rstrip("0") for cell in found[name]]
        assert max(map(len, digits)) == 6
