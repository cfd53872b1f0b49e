"""Processor time of regression fits, beside scikit-learn's forests, on a folder of tables; and their errors.

    python benchmarks/regression_fits.py DIR [--rows 1500] [--folds 3] [--seed 0]

Each fit runs on one thread with default parameters.  Times are means over all tables, and so are errors, in standard
deviations of the training targets.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.model_selection import StratifiedKFold
from synthetic import table as made_table

from dsna import CostSensitiveForestRegressor, DSNARegressor
from dsna.metrics import rare_target_absolute_error
from dsna_studies.tables import Table, find_tables

METHODS: dict[str, Callable[..., Any]] = {
    "RandomForest": RandomForestRegressor,
    "ExtraTrees": ExtraTreesRegressor,
    "CS-RF, both": lambda **params: CostSensitiveForestRegressor(splits="both", **params),
    "CS-RF": CostSensitiveForestRegressor,
    "DSNA": DSNARegressor,
}
FIGURES = ("fit, s", "MAE", "rare MAE", "RMSE")


def figures(make: Callable[..., Any], table: Table, n_folds: int, seed: int) -> np.ndarray:
    """Mean figures of a method over the folds of a table."""
    found = []
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    for train, test in folds.split(table.X, table.strata(10)):
        model = make(random_state=seed, n_jobs=1)
        start = time.process_time()
        model.fit(table.X[train], table.y[train])
        took = time.process_time() - start
        error = model.predict(table.X[test]) - table.y[test]
        rare = rare_target_absolute_error(table.y[test], error + table.y[test], y_train=table.y[train])
        errors = np.array([np.abs(error).mean(), rare, np.sqrt((error**2).mean())]) / table.y[train].std()
        found.append([took, *errors])
    return np.mean(found, axis=0)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of CSV files whose last column is the target")
    parser.add_argument("--rows", type=int, default=1500, help="rows of a table, at most; rare ones are kept")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    tables = [table.thinned(options.rows) for table in find_tables(options.folder, task="regression")]
    DSNARegressor(random_state=0).fit(*made_table("regression", 300))  # compile or load all kernels
    print(f"{len(tables)} tables\n{'':<16}" + "".join(f"{name:>10}" for name in FIGURES), flush=True)
    for name, make in METHODS.items():
        mean = np.mean([figures(make, table, options.folds, options.seed) for table in tables], axis=0)
        print(f"{name:<16}" + "".join(f"{value:>10.4f}" for value in mean), flush=True)


if __name__ == "__main__":
    main()
