"""Tiny CSV files for the tests of the benchmark."""

from __future__ import annotations

import numpy as np

from dsna_studies.tables import NumericTable


def table(task, n=60, rare=3, seed=0, name="tiny"):
    """Rows whose first column tells the label; `rare` rows are of the rare class."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 10.0, 0.1] + [0.0, 50.0, 0.0]
    if task == "classification":
        y = (np.arange(n) >= n - rare).astype(int)
        X[:, 0] += 2 * y
    else:
        y = np.exp(X[:, 0])
    return NumericTable(name, task, X, y, "0")


def write(folder, name, task, **params):
    """A table as a CSV file; classes are words."""
    made = table(task, **params)
    y = np.where(made.y == 1, "rare", "common") if task == "classification" else made.y
    lines = [f"{a!r},{b!r},{c!r},{label}" for (a, b, c), label in zip(made.X.tolist(), y.tolist(), strict=True)]
    path = folder / f"{name}.csv"
    path.write_text("\n".join(["a,b,c,target", *lines]) + "\n")
    return path
