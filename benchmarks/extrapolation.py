"""Targets that training lacks: on made data whose truth is known, and on tables, beside peers.

    python benchmarks/extrapolation.py [--seeds 6] [--noise 0.1] [--useless 0] [--quick]
    python benchmarks/extrapolation.py --tables DIR [--seeds 1]

A made target is a function (linear, quadratic, saturating, exponential) of one direction in 1, 3 or 10 features, plus
noise, beside features that say nothing about it. The largest fifth of the targets is left out of training. Of the
regression tables of a folder of tables, at most 1,500 rows each, the largest tenth is. Errors are mean
absolute errors in standard deviations of the target, on the rows left out ("past") and on other rows that were not
trained on ("inside"); the mean over features and seeds, or over tables and seeds. The difference from ``trend=None`` is
paired, with the standard error over tables. Intervals of 90 %: share of the rows left out that they hold, and their
width there relative to the width inside.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import RidgeCV

from dsna import DSNARegressor
from dsna_studies.tables import find_tables

TRUTHS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": lambda u: u,
    "quadratic": lambda u: (u + 2.5) ** 2,
    "saturating": np.tanh,
    "exponential": np.exp,
}
METHODS: dict[str, Callable[[int], Any]] = {
    "DSNA, trend=None": lambda seed: DSNARegressor(trend=None, balance=0.0, random_state=seed),
    "DSNA": lambda seed: DSNARegressor(balance=0.0, random_state=seed),
    "DSNA, default balance": lambda seed: DSNARegressor(random_state=seed),
    "RandomForest": lambda seed: RandomForestRegressor(random_state=seed),
    "Ridge": lambda seed: RidgeCV(np.logspace(-3, 3, 13)),
}
_ROWS = 1500
_LAYOUT = "{:<12} {:<22} {:>6} {:>7} {:>16} {:>6} {:>7}"


def made_table(truth: str, n_features: int, noise: float, useless: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Features and targets."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(_ROWS, n_features + useless))
    direction = rng.normal(size=n_features)
    value = TRUTHS[truth](X[:, :n_features] @ direction / np.linalg.norm(direction))
    return X, value + noise * value.std() * rng.normal(size=_ROWS)


def real_tables(folder: Path) -> list[tuple[np.ndarray, np.ndarray]]:
    """Features and targets of the regression tables of a folder."""
    found = []
    for table in find_tables(folder):
        if table.task == "regression":
            some = np.random.RandomState(0).permutation(len(table.y))[:_ROWS]
            found.append((table.X[some], table.y[some]))
    return found


def errors(method: str, X: np.ndarray, y: np.ndarray, left_out: float, seed: int) -> list[float]:
    """Error past the targets seen and inside, share held by intervals past them, and their relative width."""
    past = y > np.quantile(y, 1.0 - left_out)
    inside = ~past & (np.random.RandomState(seed).rand(len(y)) < 0.25)
    train = ~past & ~inside
    model = METHODS[method](seed).fit(X[train], y[train])
    error = np.abs(model.predict(X) - y) / y.std()
    found = [error[past].mean(), error[inside].mean(), np.nan, np.nan]
    if hasattr(model, "predict_interval"):
        low, high = model.predict_interval(X).T
        found[2] = np.mean((low <= y) & (y <= high), where=past)
        found[3] = np.mean(high - low, where=past) / np.mean(high - low, where=inside)
    return found


def compare(name: str, tables: list[tuple[np.ndarray, np.ndarray]], left_out: float, seeds: list[int]) -> None:
    """Print one line for each method; ``seeds`` has one for each table."""
    found = {
        method: np.array([errors(method, *one, left_out, seed) for one, seed in zip(tables, seeds, strict=True)])
        for method in METHODS
    }
    plain = found["DSNA, trend=None"][:, 0]
    for method, rows in found.items():
        past, inside, held, width = rows.mean(axis=0)
        less = rows[:, 0] - plain
        noise = less.std(ddof=1) / np.sqrt(len(less)) if len(less) > 1 else np.nan
        shown = [f"{past:.3f}", f"{inside:.3f}", f"{less.mean():+.3f} +- {noise:.3f}"]
        print(_LAYOUT.format(name, method, *shown, f"{held:.2f}", f"{width:.2f}"), flush=True)


def main() -> None:
    """Print one line for each truth and method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=6, help="tables of each kind, or splits of a table (default 6)")
    parser.add_argument("--noise", type=float, default=0.1, help="standard deviation of the noise (default 0.1)")
    parser.add_argument("--useless", type=int, default=0, help="features that say nothing (default 0)")
    parser.add_argument("--tables", type=Path, help="folder of CSV files in place of made data")
    parser.add_argument("--quick", action="store_true", help="one seed, three features")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(1 if options.quick else options.seeds)
    print(_LAYOUT.format("truth", "method", "past", "inside", "past, difference", "held", "width"))
    if options.tables is not None:
        tables = real_tables(options.tables)
        compare("tables", [one for _ in seeds for one in tables], 0.1, [seed for seed in seeds for _ in tables])
        return
    widths = (3,) if options.quick else (1, 3, 10)
    for truth in TRUTHS:
        made = [made_table(truth, d, options.noise, options.useless, seed) for d in widths for seed in seeds]
        compare(truth, made, 0.2, [seed for _ in widths for seed in seeds])


if __name__ == "__main__":
    main()
