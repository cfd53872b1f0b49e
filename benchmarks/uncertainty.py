"""Intervals in the top tenth of the targets, and quantiles: checked on a folder of CSV files, beside peers.

    python benchmarks/uncertainty.py DIR [--folds 5] [--seeds 3] [--most-rows 2000] [--only NAME ...]

DIR is a folder of tables, as the benchmark takes it; regression tables are taken, with at most so many rows, and the
folds are those of the benchmark. Intervals of 90 %, of DSNARegressor (D) and of a RandomForest by split conformal
prediction (RF): share of the out-of-fold targets that they hold, over all rows and over the tenth of the largest
targets (of which "top rows" are in a training part), and the width of D beside RF. Quantiles, of DSNARegressor (D) and
quantile-forest's RandomForestQuantileRegressor (QRF): mean pinball loss over the levels .05, .10, ... .95 in standard
deviations of the target, and the share of targets up to the quantiles .05 and .95. One line for each table as it is
done, then means.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from calibration import forest_intervals
from quantile_forest import RandomForestQuantileRegressor

from dsna import DSNARegressor
from dsna.metrics import interval_coverage_score
from dsna_studies.tables import Table, find_tables
from dsna_studies.tabular.folds import split

LEVELS = np.arange(1, 20) / 20
HEAD = (
    "held D", "held RF", "top D", "top RF", "width D/RF", "pinball D", "pinball QRF", "D/QRF",
    "to .05 D", "to .95 D", "to .05 QRF", "to .95 QRF",
)  # fmt: skip
_FEWEST = 30


def pinball(y: np.ndarray, quantiles: np.ndarray) -> float:
    """Mean over rows and levels."""
    off = y[:, None] - quantiles
    return float(np.maximum(LEVELS * off, (LEVELS - 1.0) * off).mean())


def answers(table: Table, train: np.ndarray, test: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """Intervals and quantiles of all methods on a test part."""
    model = DSNARegressor(random_state=seed).fit(table.X[train], table.y[train])
    peer = RandomForestQuantileRegressor(random_state=seed).fit(table.X[train], table.y[train])
    return {
        "D": model.predict_interval(table.X[test]),
        "RF": forest_intervals(table, train, test, seed),
        "quantiles D": model.predict_quantiles(table.X[test], LEVELS),
        "quantiles QRF": peer.predict(table.X[test], quantiles=LEVELS.tolist()),
    }


def line(table: Table, folds: int, seeds: int) -> tuple[int, list[float]]:
    """Rows of the top tenth in a training part, and the figures of ``HEAD``, pooled over folds and seeds."""
    found: list[dict[str, np.ndarray]] = []
    truth: list[np.ndarray] = []
    for seed in range(seeds):
        for fold, (train, test) in enumerate(split(table, folds, seed)):
            found.append(answers(table, train, test, seed + fold))
            truth.append(table.y[test])
    said, y = {name: np.concatenate([one[name] for one in found]) for name in found[0]}, np.concatenate(truth)
    most = np.sort(table.y)[-max(len(table.y) // 10, 1)]  # targets that equal it are counted
    top = y >= most
    held = [interval_coverage_score(y[rows], said[one][rows]) for rows in (y == y, top) for one in ("D", "RF")]
    width = [np.diff(said[one], axis=1).mean() for one in ("D", "RF")]
    loss = [pinball(y, said[f"quantiles {one}"]) / table.y.std() for one in ("D", "QRF")]
    upto = [np.mean(y <= said[f"quantiles {one}"][:, k]) for one in ("D", "QRF") for k in (0, -1)]
    figures = [*held, width[0] / width[1], *loss, loss[0] / loss[1], *upto]
    return int(np.sum(table.y >= most) * (folds - 1) / folds), [float(one) for one in figures]


def thinned(table: Table, most: int) -> Table:
    """A table with at most so many rows."""
    some = np.sort(np.random.RandomState(0).permutation(len(table.y))[:most])
    return replace(table, X=table.X[some], y=table.y[some])


def main() -> None:
    """Print one line for each table, and means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder of CSV files")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=3, help="of the folds and the methods (default 3)")
    parser.add_argument("--most-rows", type=int, default=2000, help="of a table (default 2000)")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="data sets, by file name without .csv")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    layout = "{:<12} {:>9}" + " {:>11}" * len(HEAD)
    print(layout.format("table", "top rows", *HEAD))
    rows, supported = [], []
    for table in sorted(find_tables(options.folder, only=options.only), key=lambda one: len(one.y)):
        if table.task != "regression":
            continue
        n_top, figures = line(thinned(table, options.most_rows), options.folds, options.seeds)
        rows.append(figures)
        supported.append(n_top >= _FEWEST)
        print(layout.format(table.name, n_top, *(f"{one:.3f}" for one in figures)), flush=True)
    print(layout.format("mean", "", *(f"{one:.3f}" for one in np.mean(rows, axis=0))))
    if any(supported):
        some = np.mean([row for row, enough in zip(rows, supported, strict=True) if enough], axis=0)
        print(layout.format(f"{_FEWEST} top rows", "", *(f"{one:.3f}" for one in some)))
    ratios = np.array(rows)[:, HEAD.index("D/QRF")]
    print(f"pinball D/QRF: geometric mean {np.exp(np.log(ratios).mean()):.3f}, below 1 on {np.sum(ratios < 1)}")


if __name__ == "__main__":
    main()
