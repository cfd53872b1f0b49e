"""Targets that leave little or nothing to learn: lonely classes, names, spellings of one class."""

import json

import numpy as np
import polars as pl
import pytest

pytest.importorskip("typer")

from tests.cli.tables.small_files import ask, done, model_file, refused, table, write

import dsna
from dsna.app.target import read_target
from dsna.tables import FileTable


def coins(y, seed=0):
    """Two numbers that say nothing of ``y``."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"a": rng.normal(size=len(y)), "b": rng.normal(size=len(y)), "y": y})


def test_a_class_of_one_row_is_trained_and_noted(tmp_path):
    data = write(tmp_path, frame=coins(["no"] * 300 + ["yes"]))
    found = json.loads(done(ask("train", data, "--target", "y", "-o", tmp_path / "m.dsna", "--json")).stdout)
    assert set(found["scores"]["overall"]) == {"dsna", "random forest", "gradient boosting"}
    assert [note for note in found["notes"] if "fewer than 10 rows of yes (1)" in note]


def test_a_class_of_one_group_is_held_out_as_a_whole(tmp_path):
    group = [0] * 4 + [i // 3 for i in range(4, 120)]
    frame = coins(["yes"] * 4 + ["no"] * 116).with_columns(pl.Series("day", group))
    words = ("--target", "y", "--groups", "day", "-o", tmp_path / "m.dsna", "--json")
    found = json.loads(done(ask("train", write(tmp_path, frame=frame), *words)).stdout)
    assert found["scores"]["overall"]["gradient boosting"]["recall of yes"]["value"] == 0.0


NAMES = [f"{first} {last}" for first in ("Ann", "Bo", "Cy", "Di", "Ed", "Flo") for last in "ABCDEFGHIJKLMNOPQRST"]


@pytest.mark.parametrize("command", ["train", "evaluate", "out of core"])
@pytest.mark.parametrize(
    "y, words, parts",
    [
        (NAMES, [], ["'y' identifies rows", "120 different values in 120 rows", "Remedy: name another column"]),
        ([NAMES[0], *NAMES[:-1]], [], ["identifies rows", "119 different values in 120 rows"]),
        (NAMES * 3, [], ["120 classes in 360 rows", "under 5 rows each", "put classes together"]),
        (list(range(120)), ["--task", "classification"], ["identifies rows", "Remedy: use --task regression"]),
        (
            [i / 7 for i in range(120)],
            ["--task", "classification"],
            ["identifies rows", "Remedy: use --task regression"],
        ),
    ],
)
def test_what_names_rows_is_no_target(tmp_path, monkeypatch, command, y, words, parts):
    monkeypatch.setattr("dsna.classifier.DSNAClassifier.fit", lambda *_, **__: pytest.fail("a model was fitted"))
    data = tmp_path / "data.parquet"
    coins(y).write_parquet(data)
    more = {
        "train": ["-o", tmp_path / "m.dsna"],
        "evaluate": [],
        "out of core": ["-o", tmp_path / "m", "--out-of-core"],
    }
    name = "evaluate" if command == "evaluate" else "train"
    refused(ask(name, data, "--target", "y", *words, *more[command]), "data.parquet: the target 'y' ", *parts)
    assert [path.name for path in tmp_path.iterdir()] == ["data.parquet"]


def test_halves_are_classes_only_as_text(tmp_path):
    data = write(tmp_path, frame=coins([i % 4 / 2 for i in range(120)]))
    words = ("train", data, "--target", "y", "-o", tmp_path / "m.dsna")
    refused(ask(*words, "--task", "classification"), "fractional numbers", "--task regression", "--types y=category")
    done(ask(*words, "--types", "y=category"))


def test_many_numbers_are_learned_as_before():
    frame = coins([i / 7 for i in range(120)])
    assert read_target(FileTable(name="t", frame=frame, types={}, notes=[]), "y").task == "regression"


SPELLED = ["no"] * 60 + ["yes"] * 40 + ["Yes"] * 15 + [" yés "] * 5


def spelled_model(folder, option, y=SPELLED):
    data, model = write(folder, frame=coins(y)), folder / "m.dsna"
    return done(ask("train", data, "--target", "y", "-o", model, option, "--json")), model


@pytest.mark.parametrize(
    "y, shown",
    [
        (SPELLED, "'yes' (40 rows) and 'Yes' (15 rows) and 'yés' (5 rows)"),
        (["no"] * 60 + ["ill"] * 40 + ["il l"] * 20, "'ill' (40 rows) and 'il l' (20 rows)"),
        (["no"] * 60 + ["Stra\u00dfe"] * 40 + ["STRASSE"] * 20, "'Straße' (40 rows) and 'STRASSE' (20 rows)"),
        (["no"] * 60 + ["caf\u00e9"] * 40 + ["cafe\u0301"] * 20, "(40 rows) and"),
        (["a", "A", "b", "B"] * 30, "'A' (30 rows) and 'a' (30 rows); 'B' (30 rows) and 'b' (30 rows)"),
    ],
)
@pytest.mark.parametrize("command", ["train", "evaluate", "out of core"])
def test_classes_that_only_their_spelling_tells_apart_are_refused(tmp_path, monkeypatch, command, y, shown):
    monkeypatch.setattr("dsna.classifier.DSNAClassifier.fit", lambda *_, **__: pytest.fail("a model was fitted"))
    data = tmp_path / "data.parquet"
    coins([name.strip() for name in y]).write_parquet(data)
    more = {"train": ["-o", tmp_path / "m"], "evaluate": [], "out of core": ["-o", tmp_path / "m", "--out-of-core"]}
    run = ask("evaluate" if command == "evaluate" else "train", data, "--target", "y", *more[command])
    refused(run, "the target 'y' holds classes that may be one", shown, "--merge-labels", "--keep-labels")
    assert [path.name for path in tmp_path.iterdir()] == ["data.parquet"]


def test_merged_classes_are_spelled_as_most_often_and_the_model_remembers(tmp_path):
    run, model = spelled_model(tmp_path, "--merge-labels")
    assert [note for note in json.loads(run.stdout)["notes"] if "merged into the most frequent spelling" in note]
    assert dsna.load(model).steps[1][1].classes_.tolist() == ["no", "yes"]
    held_out = write(tmp_path, "new.csv", coins(["YES", "no", "Yes", "NO"] * 5, 1))
    scores = json.loads(done(ask("evaluate", model, held_out, "--json")).stdout)["scores"]["parts"]["dsna"]
    assert {name: figure["cases"] for name, figure in scores.items()} == {"no": 10, "yes": 10}
    grown = tmp_path / "grown.dsna"
    more = write(tmp_path, "more.csv", coins(["YES", "maybe", "Maybe", "maybe"], 2))
    done(ask("add", model, more, "-o", grown))
    assert dsna.load(grown).steps[1][1].classes_.tolist() == ["maybe", "no", "yes"]
    done(ask("add", grown, write(tmp_path, "again.csv", coins(["MAYBE"], 3)), "-o", tmp_path / "again.dsna"))
    assert dsna.load(tmp_path / "again.dsna").steps[1][1].class_prior_.tolist() == [4 / 125, 60 / 125, 61 / 125]


def test_kept_classes_stay_apart_and_the_model_remembers(tmp_path):
    run, model = spelled_model(tmp_path, "--keep-labels", ["a"] * 60 + ["A"] * 60)
    assert [note for note in json.loads(run.stdout)["notes"] if "kept apart, as --keep-labels says" in note]
    assert dsna.load(model).steps[1][1].classes_.tolist() == ["A", "a"]
    done(ask("evaluate", model, write(tmp_path, "new.csv", coins(["A", "a"] * 10, 1))))
    done(ask("add", model, write(tmp_path, "more.csv", coins(["á", "A"], 2)), "-o", tmp_path / "grown.dsna"))
    assert dsna.load(tmp_path / "grown.dsna").steps[1][1].classes_.tolist() == ["A", "a", "á"]
    refused(ask("evaluate", model, write(tmp_path, "odd.csv", coins(["á", "A"] * 10, 1))), "the model does not know")


def test_new_classes_that_only_their_spelling_tells_apart_are_not_added(tmp_path):
    more = write(tmp_path, frame=table(9, 2).with_columns(pl.Series("rare", ["maybe", "Maybe", "no"] * 3)))
    refused(
        ask("add", model_file(tmp_path), more, "-o", tmp_path / "m"), "'Maybe'", "'maybe'", "case, blanks or accents"
    )


@pytest.mark.parametrize(
    "words, parts",
    [
        (["--merge-labels", "--keep-labels"], ["exclude each other"]),
        (["--merge-labels", "--target", "a"], ["--merge-labels applies to classes", "leave the option"]),
        (["--keep-labels", "--target", "y", "--task", "regression"], ["--keep-labels applies to classes"]),
    ],
)
@pytest.mark.parametrize("command", ["train", "evaluate"])
def test_spelling_options_that_say_nothing_are_refused(tmp_path, command, words, parts):
    data = write(tmp_path, frame=coins(SPELLED))
    target = [] if "--target" in words else ["--target", "y"]
    output = ["-o", tmp_path / "m.dsna"] if command == "train" else []
    refused(ask(command, data, *target, *words, *output), *parts)
    assert not (tmp_path / "m.dsna").exists()


def test_a_model_that_remembers_something_else_is_no_model(tmp_path):
    model = dsna.load(spelled_model(tmp_path, "--merge-labels")[1])
    model.steps[0][1].label_spelling_ = "guess"
    with pytest.raises(ValueError, match="label_spelling_ is 'guess', not one of"):
        dsna.save(model, tmp_path / "odd.dsna")


def test_one_class_in_several_spellings_is_refused(tmp_path):
    data = write(tmp_path, frame=coins(["yes", "Yes"] * 60))
    refused(ask("train", data, "--target", "y", "-o", tmp_path / "m.dsna", "--merge-labels"), "a single class")


def test_a_model_remembers_what_its_classes_are(tmp_path):
    model = model_file(tmp_path)
    refused(ask("evaluate", model, write(tmp_path), "--merge-labels"), "stores it", "Remedy: leave it out")


TAKEN = "treated as 4 classes, because it holds 4 distinct integers only; --task regression predicts numbers"


@pytest.mark.parametrize("command", ["train", "evaluate"])
def test_whole_numbers_that_are_taken_for_classes_are_said(tmp_path, monkeypatch, command):
    for module in ("evaluate", "peers"):  # which takes the name from the other
        monkeypatch.setattr(f"dsna.app.{module}.peers", lambda *_: {})
    data = write(tmp_path, frame=coins([i % 4 for i in range(120)]))
    more = ["-o", tmp_path / "m.dsna"] if command == "train" else ["--folds", "2"]
    found = json.loads(done(ask(command, data, "--target", "y", *more, "--json")).stdout)
    assert [note for note in found["notes"] if TAKEN in note]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_task_that_is_named_is_not_explained(task):
    table = FileTable(name="t", frame=coins([i % 4 for i in range(120)]), types={}, notes=[])
    assert [TAKEN in note for note in read_target(table, "y").notes] == [True]
    assert read_target(table, "y", task).notes == []


@pytest.mark.parametrize("y", [[0, 1] * 60, ["a", "b"] * 60, [True, False] * 60, [i / 7 for i in range(120)]])
def test_targets_that_leave_no_doubt_are_not_spoken_of(y):
    target = read_target(FileTable(name="t", frame=coins(y), types={}, notes=[]), "y")
    assert target.notes == []


def test_rows_whose_classes_are_spelled_otherwise_are_not_added(tmp_path):
    model, out = model_file(tmp_path), tmp_path / "grown.dsna"
    more = write(tmp_path, frame=table(9, 2).with_columns(pl.lit("Yes").alias("rare")))
    refused(ask("add", model, more, "-o", out), "'rare'", "'Yes'", "knows 'yes'", "Remedy: spell classes as the model")
    assert not out.exists()
