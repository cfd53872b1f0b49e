"""Targets that leave little or nothing to learn: lonely classes, names, spellings of one class."""

import json

import numpy as np
import polars as pl
import pytest

pytest.importorskip("typer")

from dsna.app.target import read_target
from dsna.tables import FileTable
from tests.cli.tables.small_files import ask, done, model_file, refused, table, write


def coins(y, seed=0):
    """Two numbers that say nothing of ``y``."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"a": rng.normal(size=len(y)), "b": rng.normal(size=len(y)), "y": y})


def test_a_class_of_one_row_is_trained_and_noted(tmp_path):
    data = write(tmp_path, frame=coins(["no"] * 300 + ["yes"]))
    found = json.loads(done(ask("train", data, "--target", "y", "-o", tmp_path / "m.dsna", "--json")).stdout)
    assert set(found["scores"]["overall"]) == {"dsna", "random forest", "gradient boosting"}
    assert [note for note in found["notes"] if "one row only is yes" in note]


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
        (list(range(120)), ["--task", "classification"], ["identifies rows", "Remedy: --task regression"]),
        ([i / 7 for i in range(120)], ["--task", "classification"], ["identifies rows", "Remedy: --task regression"]),
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
    refused(ask(*words, "--task", "classification"), "not whole", "--task regression", "--types y=category")
    done(ask(*words, "--types", "y=category"))


def test_many_numbers_are_learned_as_before():
    frame = coins([i / 7 for i in range(120)])
    assert read_target(FileTable(name="t", frame=frame, types={}, notes=[]), "y").task == "regression"


def test_classes_that_only_their_spelling_tells_apart_are_noted(tmp_path):
    data = tmp_path / "data.parquet"
    coins(["no"] * 60 + ["yes"] * 40 + ["Yes"] * 20).write_parquet(data)
    found = json.loads(done(ask("train", data, "--target", "y", "-o", tmp_path / "m.dsna", "--json")).stdout)
    assert [note for note in found["notes"] if "'Yes' and 'yes' differ only in case or blanks" in note]


def test_rows_whose_classes_are_spelled_otherwise_are_not_added(tmp_path):
    model, out = model_file(tmp_path), tmp_path / "grown.dsna"
    more = write(tmp_path, frame=table(9, 2).with_columns(pl.lit("Yes").alias("rare")))
    refused(ask("add", model, more, "-o", out), "'rare'", "'Yes'", "knows 'yes'", "Remedy: spell classes as the model")
    assert not out.exists()
