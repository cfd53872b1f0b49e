"""What the commands on tables say: files by their names, remedies as one types them, warnings as notes."""

import json
import warnings

import polars as pl
import pytest

pytest.importorskip("typer")

from tests.cli.tables.small_files import ask, done, model_file, refused, table, write


@pytest.mark.parametrize("command", ["predict", "explain", "evaluate", "add"])
def test_files_that_lack_a_column_are_named(tmp_path, command):
    model, out = model_file(tmp_path), tmp_path / "out"
    more = ["-o", out] if command in ("predict", "add") else []
    new = write(tmp_path, "new.csv", table(30, 1).rename({"visits": "visit"}))
    run = ask(command, model, new, *more)
    refused(run, "new.csv: column 'visits', used in training, is missing (did you mean 'visit'?)", "Remedy: add")
    assert "the table has 'person', 'size'" in run.stderr
    assert "fit" not in run.stderr
    assert not out.exists()
    refused(ask(command, model, write(tmp_path, "new.csv", table(30, 1).drop("size", "town")), *more), "'size', 'town'")


def test_further_columns_are_noted_without_the_words_of_programs(tmp_path):
    new = write(tmp_path, "new.csv", table(30, 1).with_columns(colour=pl.lit("red")))
    run = done(ask("predict", model_file(tmp_path), new, "-o", tmp_path / "a.csv"))
    assert "columns that were not in the training data are ignored: 'colour'" in run.stdout


def test_remedies_are_options_as_one_types_them(tmp_path):
    frame = table().with_columns(visits=pl.Series(["many", *map(str, table()["visits"][1:])]))
    (tmp_path / "data.csv").write_text(frame.write_csv(separator=";"))
    words = ("--target", "rare", "-o", tmp_path / "m.dsna", "--no-rows")
    said = done(ask("train", tmp_path / "data.csv", *words)).stdout
    assert "cells are separated by semicolons (--separator ';')" in said
    assert "(or read it as text: --types visits=category)" in said
    refused(ask("train", tmp_path / "data.csv", *words, "--force", "--decision", "f2"), "--decision f2 is unknown")
    said = done(ask("explain", tmp_path / "m.dsna", write(tmp_path, "new.csv", table(9, 1)))).stdout
    assert "explain(" not in said
    assert "`dsna train` keeps them without --no-rows" in said


def test_models_in_the_place_of_tables_are_recognised(tmp_path):
    model, data, out = model_file(tmp_path), write(tmp_path), tmp_path / "out"
    refused(ask("train", model, "--target", "rare", "-o", out), "rare.dsna: this is a dsna model, not a table")
    refused(ask("predict", model, model, "-o", out), "rare.dsna: this is a dsna model, not a table")
    for more in ([], ["--target", "rare"]):
        refused(ask("evaluate", model, *more), "rare.dsna: no table to evaluate", "Remedy: name a table")
    for words in (("predict", data, model, "-o", out), ("explain", data, model), ("evaluate", data, model)):
        refused(ask(*words), "data.csv is not a model, but ", "rare.dsna is. Remedy: name the model first")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "manifest.json").write_text("{}")
    refused(ask("evaluate", tmp_path / "folder"), "folder: no table to evaluate the model on")


@pytest.mark.parametrize("command", ["predict", "evaluate", "train"])
def test_warnings_are_notes(tmp_path, command):
    model, data = model_file(tmp_path), write(tmp_path, "new.csv", table(90, 1))
    words = {
        "predict": [model, data, "-o", tmp_path / "a.csv"],
        "evaluate": [model, data],
        "train": [data, "--target", "rare", "--drop", "cost", "-o", tmp_path / "m.dsna"],
    }
    words = [command, *words[command], "--balance", "0.5", "--decision", "f1"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = done(ask(*words)).stdout
        found = json.loads(done(ask(*words, "--json", "--force")).stdout)
    note = "--balance 0.5 is ignored: --decision f1 is not balanced."
    assert said.count(f"Note: {note}") == 1
    assert note in found["notes"]
