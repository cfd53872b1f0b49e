"""Are probabilities and intervals what they say? Checked on a folder of CSV files, beside RandomForest.

    python benchmarks/calibration.py DIR [--folds 5] [--seed 0] [--jobs 2] [--only NAME ...] [--figure reliability.png]

DIR is a folder of tables, as the benchmark takes it, and the folds are the same. Classification: Brier score and
expected calibration error of DSNAClassifier(balance=0) and RandomForestClassifier. Regression: how many targets the 90
% intervals of DSNARegressor hold, overall and by region of the target, and how wide they are beside those of a
RandomForest by plain split conformal prediction. Tables and a verdict on each target go to stdout, progress to stderr.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from scipy.stats import binom
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from dsna.metrics import expected_calibration_error
from dsna.tables import TASKS, TableError
from dsna_studies.running import progress
from dsna_studies.tables import Table, find_tables
from dsna_studies.tabular.folds import split

COVERAGE = 0.9
REGIONS = 10
MIN_ROWS = 50
BINS = 10


def dsna_probabilities(table: Table, train: np.ndarray, test: np.ndarray, seed: int) -> np.ndarray:
    from dsna import DSNAClassifier

    return probabilities(DSNAClassifier(balance=0.0, random_state=seed), table, train, test)


def forest_probabilities(table: Table, train: np.ndarray, test: np.ndarray, seed: int) -> np.ndarray:
    return probabilities(RandomForestClassifier(random_state=seed), table, train, test)


def probabilities(model: Any, table: Table, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    model.fit(table.X[train], table.y[train])
    proba = np.zeros((len(test), table.y.max() + 1))
    proba[:, model.classes_] = model.predict_proba(table.X[test])
    return proba


def dsna_intervals(table: Table, train: np.ndarray, test: np.ndarray, seed: int) -> np.ndarray:
    from dsna import DSNARegressor

    model = DSNARegressor(random_state=seed).fit(table.X[train], table.y[train])
    return model.predict_interval(table.X[test], COVERAGE)


def forest_intervals(table: Table, train: np.ndarray, test: np.ndarray, seed: int) -> np.ndarray:
    """Split conformal: the residuals of a quarter of the training rows set one width for all queries."""
    grow, hold = train_test_split(train, test_size=0.25, random_state=seed)
    model = RandomForestRegressor(random_state=seed).fit(table.X[grow], table.y[grow])
    residual = np.sort(np.abs(table.y[hold] - model.predict(table.X[hold])))
    width = residual[min(int(np.ceil(COVERAGE * (len(hold) + 1))), len(hold)) - 1]
    return model.predict(table.X[test])[:, None] + [-width, width]


METHODS: dict[str, dict[str, Callable[[Table, np.ndarray, np.ndarray, int], np.ndarray]]] = {
    "classification": {"DSNA": dsna_probabilities, "RF": forest_probabilities},
    "regression": {"DSNA": dsna_intervals, "RF": forest_intervals},
}


def run(table: Table, fold: int, method: str, train: np.ndarray, test: np.ndarray, seed: int) -> dict[str, Any]:
    """Answers of a method on a fold, on one thread; or an `error`."""
    row: dict[str, Any] = {"dataset": table.name, "fold": fold, "method": method, "test": test}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return row | {"answer": METHODS[table.task][method](table, train, test, seed + fold)}
        except Exception as error:
            return row | {"error": f"{type(error).__name__}: {error}"}


def pooled(rows: list[dict[str, Any]], table: Table, method: str) -> np.ndarray:
    """Out-of-fold answers of a method for all rows of a table."""
    parts = [row for row in rows if (row["dataset"], row["method"]) == (table.name, method)]
    answers = np.empty((len(table.y), parts[0]["answer"].shape[1]))
    for row in parts:
        answers[row["test"]] = row["answer"]
    return answers


def classification_table(tables: list[Table], rows: list[dict[str, Any]]) -> pd.DataFrame:
    lines = {}
    for table in tables:
        line: dict[str, float] = {"rows": len(table.y), "classes": table.y.max() + 1}
        for method in METHODS["classification"]:
            proba = pooled(rows, table, method)
            line[f"Brier {method}"] = brier_score_loss(table.y, proba, labels=np.arange(proba.shape[1]))
            line[f"ECE {method}"] = expected_calibration_error(table.y, proba, bins=BINS)
        lines[table.name] = line
    return pd.DataFrame.from_dict(lines, orient="index")


def region_coverage(y: np.ndarray, inside: np.ndarray) -> dict[str, tuple[float, int]]:
    """Coverage and rows of each of ten target regions of equal width that holds 50 rows."""
    edges = np.linspace(y.min(), y.max(), REGIONS + 1)
    region = np.searchsorted(edges[1:-1], y, side="right")
    found = {}
    for r in range(REGIONS):
        here = region == r
        if here.sum() >= MIN_ROWS:
            found[f"{edges[r]:.4g} to {edges[r + 1]:.4g}"] = (float(inside[here].mean()), int(here.sum()))
    return found


def regression_table(tables: list[Table], rows: list[dict[str, Any]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One line for each table; one line for each region of 50 rows."""
    lines, regions = {}, []
    for table in tables:
        line: dict[str, float] = {"rows": len(table.y), "noise": np.sqrt(COVERAGE * (1 - COVERAGE) / len(table.y))}
        width = {}
        for method in METHODS["regression"]:
            bounds = pooled(rows, table, method)
            inside = (bounds[:, 0] <= table.y) & (table.y <= bounds[:, 1])
            width[method] = np.diff(bounds, axis=1).mean()
            line[f"coverage {method}"] = inside.mean()
            found = region_coverage(table.y, inside)
            line[f"worst region {method}"] = min((share for share, _ in found.values()), default=np.nan)
            for name, (share, count) in found.items():
                regions.append((table.name, name, count, method, share))
        line["width DSNA / RF"] = width["DSNA"] / width["RF"]
        lines[table.name] = line
    wide = pd.DataFrame(regions, columns=["dataset", "region", "rows", "method", "coverage"])
    wide = wide.set_index(["dataset", "region", "rows", "method"])["coverage"].unstack(sort=False)
    wide = wide.reindex(columns=list(METHODS["regression"]))
    return pd.DataFrame.from_dict(lines, orient="index"), wide


def report_classification(tables: list[Table], rows: list[dict[str, Any]], figure: Path | None) -> None:
    scores = classification_table(tables, rows)
    print("classification at balance 0: out-of-fold probabilities")
    print(with_mean(scores).to_string(float_format="{:.4f}".format), end="\n\n")
    gap = scores["Brier DSNA"] - scores["Brier RF"]
    verdict(gap.mean() <= 0, f"mean Brier score {scores['Brier DSNA'].mean():.4f}, RF {scores['Brier RF'].mean():.4f}")
    print(f"      lower than RF on {(gap < 0).sum()} of {len(gap)} sets; worst by {gap.max():+.4f} ({gap.idxmax()})")
    if figure:
        draw(tables, rows, figure)
        print(f"      reliability of the rarest class of each set, all rows pooled: {figure}")
    print()


def draw(tables: list[Table], rows: list[dict[str, Any]], figure: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from dsna.inspection.reliability import plot_reliability

    rare = [int(np.bincount(table.y).argmin()) for table in tables]
    truth = np.concatenate([table.y == label for table, label in zip(tables, rare, strict=True)])
    truth = np.where(truth, "rarest", "other")
    models = {}
    for method in METHODS["classification"]:
        shown = [pooled(rows, table, method)[:, label] for table, label in zip(tables, rare, strict=True)]
        models[method] = np.concatenate(shown)
    axes = plot_reliability(models, None, truth, bins=20, positive="rarest")
    axes[0].figure.savefig(figure, dpi=150)


def report_regression(tables: list[Table], rows: list[dict[str, Any]]) -> None:
    scores, regions = regression_table(tables, rows)
    print(f"regression: out-of-fold {COVERAGE:.0%} intervals")
    print(with_mean(scores).to_string(float_format="{:.3f}".format), end="\n\n")
    print(f"coverage by target region ({REGIONS} of equal width, those of {MIN_ROWS} rows or more)")
    print(regions.to_string(float_format="{:.3f}".format), end="\n\n")
    covered = scores["coverage DSNA"]
    verdict(abs(covered.mean() - COVERAGE) <= 0.02, f"mean coverage {covered.mean():.3f} (.88 to .92)")
    off = covered[(covered - COVERAGE).abs() > 0.02]
    chance = sum(1 - binom.cdf(0.92 * n, n, COVERAGE) + binom.cdf(0.88 * n - 1e-9, n, COVERAGE) for n in scores["rows"])
    listed = ", ".join(f"{name} {share:.3f}" for name, share in off.items())
    verdict(off.empty, f"coverage .88 to .92 on {len(covered) - len(off)} of {len(covered)} sets" + listing(listed))
    print(f"      the noise of the test rows alone would put {chance:.1f} sets off at true coverages of {COVERAGE:.0%}")
    low = regions["DSNA"][regions["DSNA"] < 0.87]
    listed = ", ".join(f"{key[0]} {key[1]} ({key[2]} rows) {share:.3f}" for key, share in low.items())
    verdict(low.empty, f"coverage .87 or more in {len(regions) - len(low)} of {len(regions)} regions" + listing(listed))
    chance = sum(binom.cdf(0.87 * n - 1e-9, n, COVERAGE) for n in regions.index.get_level_values("rows"))
    print(
        f"      the noise of the test rows alone would put {chance:.1f} regions off at true coverages of {COVERAGE:.0%}"
    )
    ratio = scores["width DSNA / RF"]
    middle = np.exp(np.log(ratio).mean())
    print(f"      width beside RF by split conformal: mean {ratio.mean():.3f}, geometric mean {middle:.3f}")


def listing(text: str) -> str:
    return f"; off: {text}" if text else ""


def with_mean(frame: pd.DataFrame) -> pd.DataFrame:
    mean = frame.mean().to_frame("mean").T
    return pd.concat([frame, mean]).astype({"rows": int})


def verdict(reached: Any, text: str) -> None:
    print(f"{'ok' if reached else 'MISS':<6}{text}")


def parse(argv: list[str] | None) -> argparse.Namespace:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder of CSV files")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0, help="of the folds and the methods")
    parser.add_argument("--jobs", type=int, default=2, help="processes, of one thread each")
    parser.add_argument("--task", choices=TASKS, help="only this; overrides the guess from the targets")
    parser.add_argument("--target", help="target column (default: the last)")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="data sets, by file name without .csv")
    parser.add_argument("--figure", type=Path, help="reliability diagram to write (.png, .pdf, .svg)")
    args = parser.parse_args(argv)
    if args.folds < 2 or args.jobs < 1:
        raise TableError("--folds must be at least 2 and --jobs at least 1.")
    if args.figure and not args.figure.parent.is_dir():
        raise TableError(f"--figure: there is no folder {args.figure.parent}.")
    return args


def main(argv: list[str] | None = None) -> int:
    try:
        args = parse(argv)
        tables = find_tables(args.folder, task=args.task, target=args.target, only=args.only)
        jobs = [
            joblib.delayed(run)(table, fold, method, train, test, args.seed)
            for table in tables
            for fold, (train, test) in enumerate(split(table, args.folds, args.seed))
            for method in METHODS[table.task]
        ]
    except TableError as error:
        print(f"calibration.py: {error}", file=sys.stderr)
        return 2

    finished = joblib.Parallel(n_jobs=args.jobs, return_as="generator_unordered")(jobs)
    rows = list(progress(finished, len(jobs), lambda row: f"{row['method']} on {row['dataset']}"))
    failed = {row["dataset"]: f"{row['method']} on {row['dataset']}: {row['error']}" for row in rows if "error" in row}
    tables = [table for table in tables if table.name not in failed]
    for task in TASKS:
        some = [table for table in tables if table.task == task]
        if some and task == "classification":
            report_classification(some, rows, args.figure)
        elif some:
            report_regression(some, rows)
    for failure in failed.values():
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
