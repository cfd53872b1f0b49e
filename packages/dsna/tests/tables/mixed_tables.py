"""A table with a column of each kind, as frames of every kind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

N = 120
FRAMES = {"pandas": lambda frame: frame, "polars": pl.from_pandas, "Arrow": pa.Table.from_pandas}
every_frame = pytest.mark.parametrize("made", FRAMES.values(), ids=FRAMES)


def mixed(seed=0, n=N, holes=True):
    """A column of each kind, with missing values."""
    rng = np.random.RandomState(seed)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "whole": rng.randint(0, 50, n),
            "as text": rng.normal(size=n).round(3).astype(str),
            "flag": rng.rand(n) < 0.3,
            "answer": rng.choice(["yes", "no"], n),
            "colour": rng.choice(["red", "green", "blue"], n, p=[0.6, 0.3, 0.1]),
            "size": rng.choice(["low", "medium", "high"], n),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.randint(0, 1000, n), unit="D"),
            "story": [f"the {rng.choice(['cat', 'dog'])} number {i} sat on a mat" for i in range(n)],
            "id": [f"K{i:05d}" for i in rng.permutation(n)],
        }
    )
    if holes:
        frame["number"] = frame["number"].where(rng.rand(n) > 0.1)
        frame["colour"] = frame["colour"].astype(object).where(rng.rand(n) > 0.1, None)
        frame["day"] = frame["day"].where(rng.rand(n) > 0.1)
    return frame
