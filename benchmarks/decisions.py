"""Does a decision serve what it is chosen for? On a folder of CSV files, beside thresholds tuned by refitting.

    python benchmarks/decisions.py DIR [--folds 3] [--seed 0] [--max-rows 1500] [--only NAME ...]

DIR is a folder of tables, as the benchmark takes it; tables of classes are taken, with at most so many rows. One fit of
DSNAClassifier on each training part decides in several ways (`with_decision`). Of two classes,
TunedThresholdClassifierCV around the same model chooses a threshold for F1 on five inner folds. Scores are means over
tables of scores of out-of-fold predictions, F1 and recall those of the rarest class; differences are paired, with the
standard error over tables, and `seconds` are CPU seconds of the decision or of the tuning.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, f1_score, make_scorer, matthews_corrcoef, recall_score
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV

from dsna import DSNAClassifier
from dsna.metrics import g_mean_score
from dsna_studies.tables import Table, find_tables

DECISIONS = ("balanced", "population", "f1", "mcc", "gmean", "recall>=.9")
TUNED = "tuned for F1"
_LAYOUT = "{:<14}" + "{:>11}" * 6 + "{:>10}"


def scores(truth: np.ndarray, said: np.ndarray, rare: int) -> list[float]:
    """Balanced accuracy, G-mean, macro-F1, MCC, and of the rarest class F1 and recall."""
    return [
        balanced_accuracy_score(truth, said),
        g_mean_score(truth, said),
        f1_score(truth, said, average="macro", zero_division=0),
        matthews_corrcoef(truth, said),
        f1_score(truth == rare, said == rare, zero_division=0),
        recall_score(truth == rare, said == rare),
    ]


def thinned(table: Table, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and classes of a table; classes of fewer than five rows are left out."""
    some = np.random.RandomState(0).permutation(len(table.y))[:most]
    some = some[np.isin(table.y[some], np.flatnonzero(np.bincount(table.y[some]) >= 5))]
    return table.X[some], np.unique(table.y[some], return_inverse=True)[1]


def run(X: np.ndarray, y: np.ndarray, folds: int, seed: int) -> dict[str, list[float]]:
    """Scores of each decision and its seconds."""
    parts = StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, y)
    rare = int(np.argmin(np.bincount(y)))
    said: dict[str, np.ndarray] = {}
    seconds: dict[str, float] = {}

    def record(name: str, test: np.ndarray, begin: float, model: Any) -> None:
        seconds[name] = seconds.get(name, 0.0) + time.process_time() - begin
        said.setdefault(name, np.empty(len(y), dtype=np.int64))[test] = model.predict(X[test])

    for train, test in parts:
        model = DSNAClassifier(random_state=seed).fit(X[train], y[train])
        for name in DECISIONS:
            begin = time.process_time()
            view = model.with_decision(balance=0.0) if name == "population" else model.with_decision(name)
            record(name, test, begin, view)
        if y.max() == 1:
            begin = time.process_time()
            scorer = make_scorer(f1_score, pos_label=rare, zero_division=0)
            tuned = TunedThresholdClassifierCV(DSNAClassifier(random_state=seed), scoring=scorer, random_state=seed)
            record(TUNED, test, begin, tuned.fit(X[train], y[train]))
    return {name: [*scores(y, one, rare), seconds[name]] for name, one in said.items()}


def main() -> None:
    """Print one line for each decision, over all tables and over those of two classes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-rows", type=int, default=1500)
    parser.add_argument("--only", nargs="*", help="tables by file name without .csv")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = [t for t in find_tables(options.folder) if t.task == "classification"]
    tables = [t for t in tables if not options.only or t.name in options.only]
    found = [run(*thinned(table, options.max_rows), options.folds, options.seed) for table in tables]
    pairs = [one for one in found if TUNED in one]
    for title, kept in ((f"{len(found)} tables", found), (f"{len(pairs)} tables of two classes", pairs)):
        if not kept:
            continue
        print(f"\n{title}")
        print(_LAYOUT.format("decision", "balanced", "G-mean", "macro-F1", "MCC", "rare F1", "recall", "seconds"))
        for name in (*DECISIONS, *([TUNED] if kept is pairs else [])):
            print(_LAYOUT.format(name, *(f"{v:.3f}" for v in np.mean([one[name] for one in kept], axis=0))))
    if pairs:
        less = np.array([one["f1"][4] - one[TUNED][4] for one in pairs])
        error = less.std(ddof=1) / np.sqrt(len(less)) if len(less) > 1 else np.nan
        print(f'\nF1 by with_decision("f1") minus {TUNED}: {less.mean():+.4f} +- {error:.4f}')


if __name__ == "__main__":
    main()
