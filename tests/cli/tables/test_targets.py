"""Targets that leave little or nothing to learn: lonely classes, names, spellings of one class."""

import json

import numpy as np
import polars as pl
import pytest

pytest.importorskip("typer")

from tests.cli.tables.small_files import ask, done, write


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
