"""Numbers outside the range of training are counted, and the furthest is named."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import dsna
from dsna.tables import TableEncoder
from dsna.tables.ranges import TrainingRanges

FRAME = pl.DataFrame(
    {
        "amount": [1.0, None, 400.0, 900.0],
        "town": ["a", "b", "a", "b"],
        "paid": [True, False, True, True],
        "age": [20, 30, 40, 60],
    }
)


def notes_of(*parts, encoder=None):
    encoder = encoder or TableEncoder().fit(FRAME)
    ranges = TrainingRanges(encoder)
    for part in parts:
        ranges.add(encoder.transform(part))
    return ranges.notes()


def rows(*amounts, age=30):
    frame = pl.DataFrame({"amount": amounts}, schema={"amount": pl.Float64})
    return frame.with_columns(town=pl.lit("c"), paid=pl.lit(False), age=pl.lit(age))


def test_training_itself_lies_within():
    assert notes_of(FRAME) == []
    assert notes_of(rows(1.0, 900.0, None)) == []


@pytest.mark.parametrize("amount", [1e308, -1e308, 900.0001, 0.999, -5.0, np.finfo(float).max, 1e-320])
def test_one_value_outside_is_named(amount):
    (note,) = notes_of(rows(amount))
    assert note.startswith(f"column 'amount': {amount:.6g} lies outside the training range 1 to 900, by ")


def test_the_furthest_of_all_parts_is_named():
    many = notes_of(rows(5.0, -898.0, None, 901.0), rows(902.0), rows(1e308, 3.0, age=61))
    assert many == [
        "column 'amount': 4 of 7 rows lie outside the training range 1 to 900: "
        "the furthest is 1e+308 in row 6, by 1.1e+305 times its width",
        "column 'age': 2 of 7 rows lie outside the training range 20 to 60: "
        "the furthest is 61 in row 6, by 0.025 times its width",
    ]
    assert notes_of(rows(5.0, -898.0)) == [
        "column 'amount': 1 of 2 rows lies outside the training range 1 to 900: -898 in row 2, by 1 times its width"
    ]


def test_parts_do_not_matter():
    values = np.random.default_rng(0).normal(size=300) * 1_000.0
    whole = rows(*values)
    assert notes_of(whole) == notes_of(*(whole[start : start + 7] for start in range(0, 300, 7)))


def test_ranges_without_a_finite_width_are_ranges():
    wide = TableEncoder().fit(FRAME.with_columns(amount=pl.Series([-1.7e308, 0.0, 1.0, 1.7e308])))
    assert notes_of(rows(1.75e308), encoder=wide) == [
        "column 'amount': 1.75e+308 lies outside the training range -1.7e+308 to 1.7e+308"
    ]


def test_ranges_are_part_of_a_model_file(tmp_path):
    encoder = TableEncoder().fit(FRAME)
    dsna.save(encoder, tmp_path / "encoder.dsna")
    assert notes_of(rows(1e9), encoder=dsna.load(tmp_path / "encoder.dsna")) == notes_of(rows(1e9), encoder=encoder)
