"""Rows that a model holds already: noted where they are to judge it, refused where they would be added."""

import json

import numpy as np
import polars as pl
import pytest

pytest.importorskip("typer")

from tests.cli.tables.small_files import ask, done, model_file, refused, table, write

import dsna
from dsna.tables.kept_rows import KeptRows

HELD = "rows equal rows that the model holds"


@pytest.mark.parametrize("target", ["rare", "cost"])
def test_scores_of_training_rows_come_with_a_note(tmp_path, target):
    model = model_file(tmp_path, target)
    own, new = write(tmp_path, "own.csv", table()[::-1]), write(tmp_path, "new.csv", table(80, 5))
    mixed = pl.concat([table()[:30], table(80, 5)])
    found = json.loads(done(ask("evaluate", model, own, "--json")).stdout)
    assert [note for note in found["notes"] if f"120 of 120 {HELD}" in note]
    for data in (new, write(tmp_path, "mixed.csv", mixed)):
        assert HELD not in done(ask("evaluate", model, data)).stdout


def test_columns_that_are_not_used_need_not_be_there(tmp_path):
    own = write(tmp_path, "own.csv", table().drop("person", "cost"))
    assert f"120 of 120 {HELD}" in done(ask("evaluate", model_file(tmp_path), own)).stdout


def test_rows_are_not_added_twice(tmp_path):
    model, own, more = model_file(tmp_path), write(tmp_path, "own.csv"), write(tmp_path, "more.csv", table(20, 5))
    refused(ask("add", model, own, "-o", tmp_path / "a.dsna"), f"own.csv: 120 of 120 {HELD}", "Remedy: leave these out")
    done(ask("add", model, more, "-o", model, "--force"))
    before = model.read_bytes()
    refused(ask("add", model, more, "-o", model, "--force"), f"20 of 20 {HELD}")
    assert model.read_bytes() == before


def test_a_model_without_rows_cannot_tell(tmp_path):
    dsna.save(dsna.load(model_file(tmp_path)), tmp_path / "bare.dsna", rows=False)
    assert HELD not in done(ask("evaluate", tmp_path / "bare.dsna", write(tmp_path))).stdout


def test_rows_like_many_others_are_no_rows_of_the_model():
    frame = pl.DataFrame({"smokes": [True, False, None] * 20, "town": ["A", "B", "C"] * 20})
    assert not KeptRows.of(frame).knows(frame).any()
    once = frame.with_columns(size=pl.Series(np.arange(60.0)))
    rows = KeptRows.of(once)
    assert rows.knows(once).all()
    assert rows.knows(once.with_columns(pl.col("size").cast(pl.Int64))).all()
    assert not rows.knows(once.with_columns(pl.col("size") + 0.5)).any()
    assert not rows.knows(once.select(other="size")).any()
    assert len(rows.knows(once[:0])) == 0
