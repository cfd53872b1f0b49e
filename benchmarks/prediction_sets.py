"""Sizes of prediction sets at equal coverage, beside crepes' class-conditional sets around LightGBM.

    python benchmarks/prediction_sets.py DIR [--coverage .9] [--folds 5] [--seed 0] [--max-rows N] [--only NAME ...]

DIR is a folder of tables, as the benchmark takes it; tables of classes are taken. DSNAClassifier calibrates its sets
on out-of-bag scores, so it learns from all training rows. crepes needs rows that the model has not seen: a quarter of
the training rows, stratified, calibrate, and LightGBM learns from the others. Both ask for the same coverage of every
class. For each table, over all folds: the share of rows whose set holds their class, the mean of this share over
classes, that of the rarest class, the mean number of classes in a set, and the share of sets of exactly one class that
is right.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

from dsna import DSNAClassifier
from dsna_studies.tables import Table, find_tables

CALIBRATION = 0.25
_LAYOUT = "{:<18}{:<6}" + "{:>9}" * 5 + "{:>10}"


class Found(NamedTuple):
    """Sets of all rows of a table, out of fold, and the CPU seconds they took."""

    sets: np.ndarray  # (n, n_classes) boolean
    seconds: float

    def scores(self, y: np.ndarray) -> list[float]:
        """Coverage of rows, of classes, of the rarest class; mean size; share of rows told by a set of one class."""
        held = self.sets[np.arange(len(y)), y]
        by_class = [float(held[y == c].mean()) for c in np.unique(y)]
        size = self.sets.sum(axis=1)
        rare = by_class[int(np.argmin(np.unique(y, return_counts=True)[1]))]
        told = float(np.mean(held & (size == 1)))
        return [float(held.mean()), float(np.mean(by_class)), rare, float(size.mean()), told]


def ours(X: np.ndarray, y: np.ndarray, new: np.ndarray, coverage: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes and sets of DSNAClassifier."""
    model = DSNAClassifier(random_state=seed).fit(X, y)
    return model.classes_, model.predict_set(new, coverage=coverage)


def crepes(X: np.ndarray, y: np.ndarray, new: np.ndarray, coverage: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes and sets of crepes around LightGBM."""
    from crepes import WrapClassifier
    from lightgbm import LGBMClassifier

    single = np.flatnonzero(np.bincount(y)[y] < 2)  # cannot be on both sides: they are learned from
    some = np.setdiff1d(np.arange(len(y)), single)
    learn, keep = train_test_split(some, test_size=CALIBRATION, stratify=y[some], random_state=seed)
    learn = np.concatenate([learn, single])
    model = WrapClassifier(LGBMClassifier(n_jobs=1, verbosity=-1, random_state=seed))
    model.fit(X[learn], y[learn])
    # crepes takes classes as they come out of the model: rows of one that it has not learned cannot calibrate.
    keep = keep[np.isin(y[keep], model.learner.classes_)]
    model.calibrate(X[keep], y[keep], class_cond=True, seed=seed)
    sets = model.predict_set(new, labels=False, confidence=coverage, seed=seed)
    return model.learner.classes_, np.asarray(sets, dtype=bool)


METHODS = {"dsna": ours, "crepes": crepes}


def run(table: Table, coverage: float, folds: int, seed: int) -> dict[str, Found]:
    """Sets of both methods on the same folds."""
    X, y = table.X, table.y
    sets = {name: np.zeros((len(y), int(y.max()) + 1), dtype=bool) for name in METHODS}
    seconds = dict.fromkeys(METHODS, 0.0)
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, y):
        for name, make in METHODS.items():
            begin = time.process_time()
            classes, found = make(X[train], y[train], X[test], coverage, seed)
            sets[name][np.ix_(test, classes)] = found
            seconds[name] += time.process_time() - begin
    return {name: Found(sets[name], seconds[name]) for name in METHODS}


def main() -> None:
    """Print a line for each table and method, then means over tables and paired differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--coverage", type=float, default=0.9)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-rows", type=int)
    parser.add_argument("--only", nargs="*", default=[], help="tables by file name without .csv")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = [table for table in find_tables(options.folder, only=options.only) if table.task == "classification"]
    print(_LAYOUT.format("table", "sets", "rows", "classes", "rarest", "size", "told", "seconds"))
    lines: dict[str, list[list[float]]] = {name: [] for name in METHODS}
    for table in tables:
        thinned = table.thinned(options.max_rows) if options.max_rows else table
        for name, found in run(thinned, options.coverage, options.folds, options.seed).items():
            lines[name].append([*found.scores(thinned.y), found.seconds])
            print(_LAYOUT.format(table.name, name, *(f"{value:.3f}" for value in lines[name][-1])), flush=True)
    for name, values in lines.items():
        print(_LAYOUT.format(f"mean of {len(tables)}", name, *(f"{value:.3f}" for value in np.mean(values, axis=0))))
    less = np.array(lines["dsna"])[:, 3] - np.array(lines["crepes"])[:, 3]
    error = less.std(ddof=1) / np.sqrt(len(less)) if len(less) > 1 else np.nan
    smaller, larger = int((less < -0.001).sum()), int((less > 0.001).sum())
    print(f"\nsize of ours minus crepes': {less.mean():+.3f} +- {error:.3f}; smaller on {smaller}, larger on {larger}")


if __name__ == "__main__":
    main()
