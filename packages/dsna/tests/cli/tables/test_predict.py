"""``dsna predict``: the same answers whole or in parts, from files or streams, safe to open in a spreadsheet."""

import errno
import gzip
import io
import json
import os

import numpy as np
import polars as pl
import pytest

pytest.importorskip("typer")

from tests.cli.tables.small_files import answers, ask, done, model_file, new_rows, refused, table, write

import dsna
from dsna._utils import atomic
from dsna.app.predict import decide_anew


@pytest.fixture
def files(tmp_path):
    return model_file(tmp_path), write(tmp_path, "new.csv", new_rows()), tmp_path / "out.csv"


def test_classes_probabilities_and_sets(files):
    model, new, out = files
    assert "40 rows answered" in done(ask("predict", model, new, "-o", out)).stdout
    found, own = answers(out), dsna.load(model)
    assert found.columns == ["row", "person", "prediction", "probability of no", "probability of yes", "set"]
    assert found["row"].to_list() == list(range(1, 41))
    assert found["person"].to_list() == new_rows()["person"].to_list()
    assert found["prediction"].to_list() == own.predict(new_rows()).tolist()
    np.testing.assert_allclose(found["probability of yes"], own.predict_proba(new_rows())[:, 1], rtol=1e-5)
    X = own.steps[0][1].transform(new_rows())
    sets = own.steps[1][1].predict_set(X)
    said = [" | ".join(name for name, there in zip(("no", "yes"), row, strict=True) if there) for row in sets]
    assert [one or "" for one in found["set"].fill_null("")] == said


def test_numbers_and_intervals(tmp_path):
    model, new, out = model_file(tmp_path, "cost"), write(tmp_path, "new.csv", new_rows()), tmp_path / "out.csv"
    done(ask("predict", model, new, "-o", out, "--coverage", "0.8"))
    found, own = answers(out), dsna.load(model)
    np.testing.assert_allclose(found["prediction"], own.predict(new_rows()), rtol=1e-5)
    last = own.steps[1][1]
    bounds = last.predict_interval(own.steps[0][1].transform(new_rows()), 0.8)
    np.testing.assert_allclose(found["low"], bounds[:, 0], rtol=1e-5)
    np.testing.assert_allclose(found["high"], bounds[:, 1], rtol=1e-5)


@pytest.mark.parametrize("target", ["rare", "cost"])
@pytest.mark.parametrize("words", [[], ["--explain"]])
def test_parts_of_a_file_are_answered_as_the_whole_is(tmp_path, monkeypatch, target, words):
    model, new = model_file(tmp_path, target), write(tmp_path, "new.csv", new_rows())
    done(ask("predict", model, new, "-o", tmp_path / "whole.csv", *words))
    for name in ("_CHUNK_ROWS", "_EXPLAINED_CHUNK_ROWS"):
        monkeypatch.setattr(f"dsna.cli.tables.predict.{name}", 7)
    done(ask("predict", model, new, "-o", tmp_path / "parts.csv", *words, "--jobs", "2"))
    assert (tmp_path / "parts.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_streams_and_packed_files(files, tmp_path):
    model, new, out = files
    done(ask("predict", model, new, "-o", out))
    run = done(ask("predict", model, "-", "-o", "-", input=new.read_bytes()))
    assert run.stdout_bytes == out.read_bytes()
    assert "40 rows answered" in run.stderr
    (tmp_path / "new.csv.gz").write_bytes(gzip.compress(new.read_bytes()))
    done(ask("predict", model, tmp_path / "new.csv.gz", "-o", tmp_path / "packed.csv"))
    assert (tmp_path / "packed.csv").read_bytes() == out.read_bytes()
    new_rows().write_parquet(tmp_path / "new.parquet")
    done(ask("predict", model, tmp_path / "new.parquet", "-o", tmp_path / "columns.csv"))
    assert (tmp_path / "columns.csv").read_bytes() == out.read_bytes()


def test_another_decision_needs_no_training(files):
    model, new, out = files
    own = dsna.load(model)
    for words, decision in (
        (["--costs", "20:1"], (20.0, 1.0)),
        (["--costs", "[[0, 1], [20, 0]]"], [[0, 1], [20, 0]]),
        (["--decision", "precision>=.5"], "precision>=.5"),
    ):
        done(ask("predict", model, new, "-o", out, "--force", *words))
        assert answers(out)["prediction"].to_list() == decide_anew(own, decision).predict(new_rows()).tolist()
    done(ask("predict", model, new, "-o", out, "--force", "--balance", "0"))
    last = own.steps[1][1].with_decision(balance=0.0)
    expected = last.predict(own.steps[0][1].transform(new_rows())).tolist()
    assert answers(out)["prediction"].to_list() == expected


def test_the_rows_behind_an_answer(files):
    model, new, out = files
    done(ask("predict", model, new, "-o", out, "--explain"))
    found = answers(out)
    known = set(table()["person"])
    assert set(found["training row 1"]) <= known
    rows = table()
    kind = dict(zip(rows["person"], rows["rare"], strict=True))
    assert found["class 1"].to_list() == [kind[name] for name in found["training row 1"]]
    of, least = dsna.load(model).steps[1][1].decision_threshold_
    assert of == "yes"
    added = [
        found[f"weight {k}"].to_numpy() * np.where(found[f"class {k}"] == "yes", 1.0 - least, least) for k in (1, 2)
    ]
    assert (added[0] >= added[1] * (1.0 - 1e-5)).all()
    why = dsna.inspection.explain(dsna.load(model), new_rows())
    assert found["training row 1"][3] == why.row_names(3, why.ordered()[0][3, :1])[0]


def test_without_rows_numbers_of_rows_are_given(tmp_path):
    data, new, out = write(tmp_path), write(tmp_path, "new.csv", new_rows()), tmp_path / "out.csv"
    done(ask("train", data, "--target", "rare", "-o", tmp_path / "m.dsna", "--drop", "cost", "--no-rows"))
    assert b"P0042" not in (tmp_path / "m.dsna").read_bytes()
    done(ask("predict", tmp_path / "m.dsna", new, "-o", out, "--explain"))
    why = dsna.inspection.explain(dsna.load(tmp_path / "m.dsna"), new_rows())
    first = why.rows[np.arange(40), why.ordered()[0][:, 0]]
    assert answers(out)["training row 1"].cast(int).to_list() == (first + 1).tolist()
    assert "person" not in answers(out).columns
    run = done(ask("explain", tmp_path / "m.dsna", new, "--row", "4", "--largest", "1"))
    assert f"row {first[3] + 1}\n" in run.stdout


def test_training_rows_are_called_by_their_number_in_the_file(tmp_path):
    frame = table().drop("person")
    data = write(tmp_path, frame=frame.with_columns(pl.Series("rare", [None, *frame["rare"][1:]])))
    new, out, model = write(tmp_path, "new.csv", new_rows()), tmp_path / "out.csv", tmp_path / "m.dsna"
    page = tmp_path / "page.html"
    done(ask("train", data, "--target", "rare", "-o", model, "--drop", "cost", "--report", page))
    done(ask("predict", model, new, "-o", out, "--explain"))
    first = int(answers(out)["training row 1"][3])
    run = done(ask("explain", model, new, "--row", "4", "--largest", "1"))
    lines = run.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(" "))
    heading, called = lines[at : at + 2]
    assert heading.split()[-2:] == ["row", str(first)]
    assert called.split() == ["row", "in", "file", str(first)]
    size = next(line for line in run.stdout.splitlines() if line.startswith("visits")).split()[-1].strip("*")
    assert int(size) == frame["visits"][first - 1]
    held = json.loads(page.read_text("utf-8").split('id="report-data">')[1].split("</script>")[0])["why"]["rows"]
    assert held["id"] == [f"row {number + 2}" for number in held["number"]]  # the first row of the file has no target


def test_what_decides_is_said(files):
    model, new, out = files
    threshold = dsna.load(model).steps[1][1].decision_threshold_
    assert f"by probability, {threshold}" in done(ask("predict", model, new, "-o", out)).stdout
    assert f"; {threshold})" in done(ask("explain", model, new)).stdout.splitlines()[0]
    found = json.loads(done(ask("explain", model, new, "--json")).stdout)
    assert found["threshold"] == {"class": "yes", "probability": pytest.approx(threshold.probability)}


def test_a_wish_that_cannot_be_met_is_noted(files):
    model, new, out = files
    assert "cannot be reached" not in done(ask("predict", model, new, "-o", out, "--decision", "recall>=.5")).stdout
    pipeline = dsna.load(model)
    own = pipeline.steps[1][1]
    own.oob_decision_function_ = np.tile(own.class_prior_, (len(own.oob_rows_), 1))  # which tell nothing
    dsna.save(pipeline, model)
    run = done(ask("predict", model, new, "-o", out, "--decision", "precision>=.99", "--force"))
    assert "cannot be reached: out of bag the precision of yes is" in run.stdout


def test_text_is_safe_in_spreadsheets_unless_it_is_to_be_raw(files):
    model, new, out = files
    done(ask("predict", model, new, "-o", out, "--columns", "town,visits"))
    towns = answers(out)["town"].to_list()
    assert towns == [f"'{one}" if one[0] in "=-" else one for one in new_rows()["town"]]
    done(ask("predict", model, new, "-o", out, "--columns", "town,visits", "--raw", "--force"))
    assert answers(out)["town"].to_list() == new_rows()["town"].to_list()
    assert answers(out)["visits"].cast(int).to_list() == new_rows()["visits"].to_list()


def test_columns_are_found_by_name(files, tmp_path):
    model, new, out = files
    done(ask("predict", model, new, "-o", out))
    mixed = new_rows().select(reversed(new_rows().columns)).with_columns(extra=pl.lit("=1"), rare=pl.lit("yes"))
    other = write(tmp_path, "mixed.csv", mixed)
    run = done(ask("predict", model, other, "-o", tmp_path / "mixed_out.csv"))
    assert "'extra'" in run.stdout
    assert "rare" not in run.stdout.replace("rare.dsna", "")
    assert (tmp_path / "mixed_out.csv").read_bytes() == out.read_bytes()
    fewer = write(tmp_path, "fewer.csv", new_rows().drop("size", "town"))
    refused(ask("predict", model, fewer, "-o", tmp_path / "n.csv"), "'size', 'town'")
    assert not (tmp_path / "n.csv").exists()


def test_what_is_found_late_leaves_nothing_half_written(files, tmp_path, monkeypatch):
    model, new, out = files
    monkeypatch.setattr("dsna.cli.tables.predict._CHUNK_ROWS", 5)
    new.write_bytes(new.read_bytes() + b"too,few\n")
    refused(ask("predict", model, new, "-o", out), "line 42")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.csv", "rare.dsna"]


def test_numbers_for_programs(files):
    model, new, out = files
    found = json.loads(done(ask("predict", model, new, "-o", out, "--json")).stdout)
    assert found["rows"] == 40
    assert found["answers"] == str(out)


def test_what_is_no_model_for_this_is_refused(files, tmp_path):
    _, new, out = files
    dsna.save(dsna.DSNAClassifier(), tmp_path / "bare.dsna")
    refused(ask("predict", tmp_path / "bare.dsna", new, "-o", out), "bare.dsna", "without the columns")
    refused(ask("predict", new, new, "-o", out), "not a dsna model file")
    refused(ask("predict", tmp_path / "gone.dsna", new, "-o", out), "gone.dsna: there is no such file")
    assert not out.exists()


@pytest.mark.parametrize(
    "words, parts",
    [
        (["--decision", "perfection"], ["perfection"]),
        (["--costs", "[[1]]"], ["2 x 2"]),
        (["--balance", "7"], ["balance"]),
        (
            ["--columns", "persn"],
            ["--columns persn: ", "did you mean 'person'?", "Remedy: name one of 'person', 'size'"],
        ),
        (["--coverage", "7"], ["--coverage"]),
    ],
)
def test_what_a_user_can_mend_is_told(files, words, parts):
    model, new, out = files
    refused(ask("predict", model, new, "-o", out, *words), *parts)
    assert not out.exists()


def test_numbers_do_not_take_costs(tmp_path):
    model, new = model_file(tmp_path, "cost"), write(tmp_path, "new.csv", new_rows())
    refused(ask("predict", model, new, "-o", tmp_path / "o.csv", "--costs", "20:1"), "costs apply to classes")
    refused(ask("predict", model, new, "-o", tmp_path / "o.csv", "--decision", "perfection"), "perfection")


def test_rows_with_gaps_new_categories_and_odd_numbers_are_answered_with_notes(files, tmp_path):
    model, _, out = files
    text = "person,size,town,visits,since,smokes\na,,New York,3,2022-01-01,true\nb,oops,Oslo,,,\n"
    (tmp_path / "odd.csv").write_text(text)
    run = done(ask("predict", model, tmp_path / "odd.csv", "-o", out))
    assert "New York" in run.stdout
    assert "oops" in run.stdout
    assert answers(io.BytesIO(out.read_bytes())).height == 2


def test_a_disk_that_is_full_before_all_is_written(files, monkeypatch):
    model, new, out = files

    class Full(io.FileIO):
        def write(self, content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    there = sorted(os.listdir(out.parent))
    monkeypatch.setattr(atomic, "open", Full, raising=False)
    refused(ask("predict", model, new, "-o", out), f"{out}: the disk is full. Remedy: make room")
    assert sorted(os.listdir(out.parent)) == there


def test_an_error_without_a_number_keeps_its_message(tmp_path):
    with pytest.raises(OSError, match=r"^broken data stream$"), atomic.whole_file(tmp_path / "a"):
        raise OSError("broken data stream")
    assert os.listdir(tmp_path) == []


def test_numbers_outside_the_training_range_are_noted(files, monkeypatch):
    model, new, out = files
    assert "'visits'" not in done(ask("predict", model, new, "-o", out)).output
    outside = new_rows().with_columns(
        pl.when(pl.col("visits") == 3).then(1e308).otherwise(pl.col("visits")).alias("visits")
    )
    count = (new_rows()["visits"] == 3).sum()
    outside.write_csv(new)
    monkeypatch.setattr("dsna.cli.tables.predict._CHUNK_ROWS", 7)
    run = done(ask("predict", model, new, "-o", out, "--force"))
    assert f"column 'visits': {count} of 40 rows lie outside the training range 0 to 8" in run.output
    assert run.output.count("'visits'") == 1
    run = done(ask("predict", model, new, "-o", "-"))
    assert "1e+308" in run.stderr
    assert "training range" not in run.stdout
