"""What `save(compress=..., condense=...)` saves and costs: size of the file beside the table, and the score.

    python benchmarks/small_models.py                                    # made tables of 10,000 rows
    python benchmarks/small_models.py --rows 100000
    python benchmarks/small_models.py DIR --tables page-blocks0 cpuSm    # tables of a folder, two folds each

The score is balanced accuracy or R2 on rows that were not fitted on, by the model that was saved and loaded again.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measure import duration, seconds
from scale import CSRF, DSNA, arrays
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.model_selection import StratifiedKFold
from synthetic import KINDS, table

from dsna import load, save

WAYS: dict[str, dict[str, bool]] = {
    "as it is": {},
    "compress": {"compress": True},
    "condense": {"condense": True},
    "both": {"compress": True, "condense": True},
}
N_TEST = 2000


class Split(NamedTuple):
    """Rows to fit on and rows to predict."""

    X: np.ndarray
    y: np.ndarray
    others: np.ndarray
    truth: np.ndarray


def made(kind: str, n: int) -> list[Split]:
    """One split of a made table."""
    X, y = table(kind, n + N_TEST)
    return [Split(X[:n], y[:n], X[n:], y[n:])]


def found(folder: Path, names: list[str]) -> Iterator[tuple[str, str, list[Split]]]:
    """Name, kind and splits of the tables of a folder."""
    from dsna_studies.tables import find_tables

    for one in find_tables(folder, only=names):
        folds = StratifiedKFold(2, shuffle=True, random_state=0).split(one.X, one.strata(10))
        yield one.name, one.task, [Split(one.X[a], one.y[a], one.X[b], one.y[b]) for a, b in folds]


def compare(name: str, kind: str, splits: list[Split], n_trees: int) -> None:
    """One line for each way to save."""
    score = balanced_accuracy_score if kind == "classification" else r2_score
    figures: dict[str, list[tuple[float, ...]]] = {way: [] for way in WAYS}
    for split in splits:
        model = DSNA[kind](CSRF[kind](n_trees), random_state=0, n_jobs=1).fit(split.X, split.y)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.dsna"
            for way, how in WAYS.items():
                saving = seconds(lambda model=model, path=path, how=how: save(model, path, **how))[0]
                loading, again = seconds(load, path)
                held = sum(size for _, size in arrays(again)) / split.X.nbytes
                file = path.stat().st_size / split.X.nbytes
                kept = len(again._index.label) / len(split.X)
                right = score(split.truth, again.predict(split.others))
                figures[way].append((file, held, kept, right, saving, loading))
    for way, rows in figures.items():
        file, held, kept, right, saving, loading = np.mean(rows, axis=0)
        print(
            f"{name:<16} {len(splits[0].X):>9,} {way:<9} {file:>8.2f} {held:>8.2f} {kept:>7.2f} {right:>8.4f} "
            f"{duration(saving):>9} {duration(loading):>9}",
            flush=True,
        )


def main() -> None:
    """Compare on made tables or those of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--tables", nargs="*", default=[])
    parser.add_argument("--kinds", nargs="*", default=KINDS, help="of made tables")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--trees", type=int, default=100)
    options = parser.parse_args()
    print("file and memory in sizes of the table, rows as a share of those fitted on")
    print("table                 rows saved         file   memory    rows    score      save      load")
    cases: Any = ((kind, kind, made(kind, options.rows)) for kind in options.kinds)
    for name, kind, splits in cases if options.folder is None else found(options.folder, options.tables):
        compare(name, kind, splits, options.trees)


if __name__ == "__main__":
    main()
