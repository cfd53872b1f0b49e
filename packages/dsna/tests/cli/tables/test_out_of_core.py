"""``dsna train --out-of-core`` and ``dsna predict`` with the folder that it makes."""

import json
import os

import numpy as np
import polars as pl
import pytest

pytest.importorskip("typer")

from tests.cli.tables.small_files import ask, done, refused

from dsna.app import out_of_core
from dsna.app.predict import load_model
from dsna.serve.service import Question, Service
from dsna.tables.files.parquet import ParquetFile


def frame(n=600, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    town = rng.choice(["Ulm", "Bonn", None], n)
    rare = np.where(size + (town == "Ulm") + 0.3 * rng.normal(size=n) > 1.9, "yes", "no")
    columns = {"size": size, "town": town.tolist(), "noise": rng.normal(size=n), "rent": np.exp(size)}
    return pl.DataFrame({**columns, "rare": rare.tolist()})


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setattr(ParquetFile, "slice_rows", 250)  # three slices
    frame().write_parquet(tmp_path / "huge.parquet")
    return tmp_path / "huge.parquet"


def test_classes(data, tmp_path):
    model = tmp_path / "model"
    run = done(ask("train", data, "--target", "rare", "-o", model, "--drop", "rent", "--out-of-core"))
    assert "all 600 rows with a target are in the leaves" in run.stdout
    assert "balanced accuracy" in run.stdout
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]  # nothing is left beside it
    new = frame(200, seed=1)
    new.write_parquet(tmp_path / "new.parquet")
    done(ask("predict", model, tmp_path / "new.parquet", "-o", tmp_path / "a.csv", "--explain"))
    answers = pl.read_csv(tmp_path / "a.csv")
    right = answers["prediction"].to_numpy() == new["rare"].to_numpy()
    assert np.mean([right[new["rare"].to_numpy() == one].mean() for one in ("yes", "no")]) > 0.85
    assert answers["training row 1"].max() < 600
    costly = done(ask("predict", model, tmp_path / "new.parquet", "-o", tmp_path / "b.csv", "--costs", "50:1"))
    assert "200 rows answered" in costly.stdout
    wary = pl.read_csv(tmp_path / "b.csv")["prediction"]
    assert (wary == "yes").sum() > (answers["prediction"] == "yes").sum()
    refused(ask("train", data, "--target", "rare", "-o", model, "--out-of-core"), "already exists")
    another = ("train", data, "--target", "rare", "-o", tmp_path / "another", "--out-of-core")
    refused(ask(*another, "--sample", "100"), "--sample and --out-of-core exclude each other")
    refused(ask(*another, "--id", "size"), "--id names rows")
    # Other commands take such a folder, too.
    why = json.loads(done(ask("explain", model, tmp_path / "new.parquet", "--row", "3", "--json")).stdout)
    assert why["prediction"] == answers["prediction"][2]
    assert str(why["training_rows"][0]["row"]) == str(answers["training row 1"][2])
    scores = json.loads(done(ask("evaluate", model, tmp_path / "new.parquet", "--json")).stdout)["scores"]
    assert scores["overall"]["dsna"]["accuracy"]["value"] == pytest.approx(right.mean())
    assert "training rows: 600" in done(ask("info", model)).stdout
    refused(ask("add", model, tmp_path / "new.parquet", "-o", tmp_path / "grown"), "rows cannot be added")
    case, _ = Service(load_model(model)).case_of_form({}, Question(), 3, lambda: None)
    assert case.answer["prediction"] in ("yes", "no")
    assert [one.row < 600 for one in case.neighbors] == [True] * 3


def test_numbers(data, tmp_path):
    model = tmp_path / "model"
    run = done(ask("train", data, "--target", "rent", "-o", model, "--drop", "rare,size", "--out-of-core", "--json"))
    assert json.loads(run.stdout)["task"] == "regression"
    done(ask("predict", model, data, "-o", tmp_path / "a.csv"))
    answers = pl.read_csv(tmp_path / "a.csv")
    scores = json.loads(done(ask("evaluate", model, data, "--json")).stdout)
    assert scores["covered"]["all"] > 0.8
    assert (answers["low"] <= answers["high"]).all()


def test_rows_without_a_target_are_those_of_the_file(data, tmp_path, monkeypatch):
    monkeypatch.setattr(out_of_core, "SAMPLED_ROWS", 300)
    without = np.isin(np.arange(600), [0, 7, 299, 300, 599])
    frame().with_columns(rare=pl.when(~pl.Series(without)).then(pl.col("rare"))).write_parquet(data)
    run = done(ask("train", data, "--target", "rare", "-o", tmp_path / "m", "--drop", "rent", "--out-of-core"))
    assert "rows without a target ('rare') are left out: 5, row 1, row 8, row 300" in run.stdout
    assert run.stdout.count("without a target") == 1
    assert "595 rows with a target" in run.stdout
    pl.read_parquet(data).with_columns(rare=pl.lit(None, dtype=pl.String)).write_parquet(data)
    given = ("--target", "rare", "-o", tmp_path / "m2", "--drop", "rent", "--out-of-core")
    refused(ask("train", data, *given), "the target 'rare' holds no value")


def as_text(values, sign=","):
    return pl.Series([f"{one:.4f}".replace(".", sign) for one in values])


def test_text_is_read_as_in_the_sample_or_refused(data, tmp_path):
    plain = frame().drop("rent")
    plain.with_columns(size=as_text(plain["size"])).write_parquet(data)
    words = ("train", data, "--target", "rare", "-o", tmp_path / "m", "--out-of-core")
    done(ask(*words))
    assert load_model(tmp_path / "m").steps[0][1].types_["size"] == "number:comma"
    new = plain[:9].with_columns(size=pl.Series(["1.243", *as_text(plain["size"][1:9])]))
    new.write_parquet(tmp_path / "new.parquet")
    done(ask("predict", tmp_path / "m", tmp_path / "new.parquet", "-o", tmp_path / "a.csv", "--columns", "size"))
    assert pl.read_csv(tmp_path / "a.csv")["size"][0] == 1243
    last = pl.concat([as_text(plain["size"][:500]), as_text(plain["size"][500:], ".")])
    plain.with_columns(size=last).write_parquet(data)
    refused(ask(*words, "--force", "--types", "size=number"), "column 'size' holds", "with a decimal point and")
    assert load_model(tmp_path / "m").steps[0][1].types_["size"] == "number:comma"  # the model of before


def test_a_slice_that_contradicts_the_sample_is_refused(data, tmp_path, monkeypatch):
    plain = frame().drop("rent")
    last = pl.concat([as_text(plain["size"][:500]), as_text(plain["size"][500:], ".")])
    plain.with_columns(size=last).write_parquet(data)
    whole = ParquetFile.sample
    monkeypatch.setattr(ParquetFile, "starts", lambda file: iter([0, 250] if not drawn else [0, 250, 500]))
    drawn = []
    monkeypatch.setattr(ParquetFile, "sample", lambda file, *given: drawn.append(whole(file, *given)) or drawn[0])
    words = ("train", data, "--target", "rare", "-o", tmp_path / "m", "--out-of-core")
    refused(ask(*words), "column 'size' is number:comma in a sample of the rows, and number:point from row 501 on")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["huge.parquet"]


def test_what_is_refused(data, tmp_path):
    frame().write_csv(tmp_path / "t.csv")
    given = ("--target", "rare", "-o", tmp_path / "m", "--out-of-core")
    refused(ask("train", tmp_path / "t.csv", *given), "only Parquet files")
    refused(ask("train", data, *given, "--report", tmp_path / "p.html"), "--report needs all rows in memory")
    assert not (tmp_path / "m").exists()


def test_places_are_refused_before_the_training(data, tmp_path, monkeypatch):
    monkeypatch.setattr(out_of_core, "train_on_disk", lambda *_, **__: pytest.fail("trained"))
    given = ("train", data, "--target", "rare", "--out-of-core", "--force", "-o")
    (tmp_path / "photos").mkdir()
    refused(ask(*given, tmp_path / "photos"), "not a folder of a distributed model")
    refused(ask(*given, tmp_path / "nowhere" / "m"), f"{tmp_path / 'nowhere'}: there is no such folder")
    assert sorted(os.listdir(tmp_path)) == ["huge.parquet", "photos"]


def test_a_file_that_is_too_large_is_trained_on_out_of_core(data, tmp_path, monkeypatch):
    monkeypatch.setattr(out_of_core, "memory_allowed", lambda: 1000)
    monkeypatch.setattr(out_of_core, "train_to_folder", lambda *_: (_ for _ in ()).throw(SystemExit(7)))
    run = ask("train", data, "--target", "rare", "-o", tmp_path / "m")
    assert run.exit_code == 7
    assert "too large for the available memory" in run.stdout


def spelled(folder, *option):
    """Train on a file whose last slice alone holds another spelling."""
    rows = frame().with_columns(pl.Series("rare", [*frame()["rare"][:-5], *["Yes"] * 4, "NO"]))
    rows.write_parquet(folder / "spelled.parquet")
    words = ("--target", "rare", "-o", folder / "spelled", "--drop", "rent", "--out-of-core")
    return ask("train", folder / "spelled.parquet", *words, *option, "--json")


def test_spellings_of_a_class_in_any_slice(data, tmp_path, monkeypatch):
    monkeypatch.setattr(out_of_core, "SAMPLED_ROWS", 100)
    refused(spelled(tmp_path), "classes that may be one", "'Yes' (4 rows)", "'NO' (1 rows)", "--merge-labels")
    assert not (tmp_path / "spelled").exists()
    found = json.loads(done(spelled(tmp_path, "--merge-labels")).stdout)
    assert [note for note in found["notes"] if "merged into the most frequent spelling" in note]
    model = load_model(tmp_path / "spelled")
    assert model.steps[1][1].classes_.tolist() == ["no", "yes"]
    new = frame(50, seed=1).with_columns(pl.col("rare").str.to_uppercase())
    new.write_parquet(tmp_path / "new.parquet")
    done(ask("evaluate", tmp_path / "spelled", tmp_path / "new.parquet"))


def test_spellings_of_a_class_are_kept(data, tmp_path):
    done(spelled(tmp_path, "--keep-labels"))
    assert load_model(tmp_path / "spelled").steps[1][1].classes_.tolist() == ["NO", "Yes", "no", "yes"]


def test_copies_of_rows_are_held_out_together(data, tmp_path):
    pl.concat([frame()] * 2).write_parquet(data)
    words = ("--target", "rare", "-o", tmp_path / "model", "--drop", "rent", "--out-of-core", "--json")
    found = json.loads(done(ask("train", data, *words)).stdout)
    assert [note for note in found["notes"] if "too many for a coincidence: they are held out together" in note]
    assert not [note for note in found["notes"] if "may be a coincidence" in note]
