"""Imbalanced tables: our estimators beside the usual ones, on a folder of CSV files.

    python benchmarks/tabular.py DIR [--folds 5] [--seed 0] [--jobs 2] [--out results.csv] ...

DIR holds CSV files with a header, or subfolders `classification` and `regression` of such files. All methods
see the same stratified folds (regression: by label decile). Each finished (data set, fold, method) is added
to `--out` at once, so that an interrupted run goes on where it stopped. Tables go to stdout, progress to
stderr.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import accuracy_score, balanced_accuracy_score, brier_score_loss, f1_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

TASKS = ("classification", "regression")
KEY = ["task", "dataset", "checksum", "folds", "seed", "fold", "method"]
TIMES = ["fit_seconds", "predict_seconds"]
METRICS = {
    "classification": ["accuracy", "balanced_accuracy", "g_mean", "macro_f1", "auc", "brier"],
    "regression": ["mae", "rare_mae", "balanced_mae"],
}
COLUMNS = KEY + METRICS["classification"] + METRICS["regression"] + TIMES
MAX_LEVELS = 100


class InputError(Exception):
    """The folder, a file in it or an option cannot be used; the message says why."""


class PriorCorrectedForest(RandomForestClassifier):
    """RandomForest whose probabilities are divided by the class shares of the training rows."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> PriorCorrectedForest:
        self.priors_ = np.unique(y, return_counts=True)[1] / len(y)
        return super().fit(X, y)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        proba = super().predict_proba(X) / self.priors_
        return proba / proba.sum(axis=1, keepdims=True)


class DensityWeightedForest(RandomForestRegressor):
    """RandomForest with rows weighted by one over the density of their labels."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> DensityWeightedForest:
        from dsna.costs import LabelDensity

        weight = 1 / LabelDensity(y).evaluate(y)
        return super().fit(X, y, sample_weight=weight / weight.mean())


def balanced_random_forest(seed: int) -> Any:
    from imblearn.ensemble import BalancedRandomForestClassifier

    return BalancedRandomForestClassifier(random_state=seed)


def ours(name: str, preset: str | None = None, **params: Any) -> Callable[[int], Any]:
    """Factory of `dsna.<name>`, optionally with a preset of `dsna.presets`; imported only when it is run."""

    def make(seed: int) -> Any:
        values = getattr(import_module("dsna.presets"), preset) if preset else {}
        return getattr(import_module("dsna"), name)(**values, **params, random_state=seed)

    return make


METHODS: dict[str, dict[str, Callable[[int], Any]]] = {
    "classification": {
        "RF": lambda seed: RandomForestClassifier(random_state=seed),
        "WRF": lambda seed: RandomForestClassifier(class_weight="balanced", random_state=seed),
        "BalancedRF": balanced_random_forest,
        "RF/priors": lambda seed: PriorCorrectedForest(random_state=seed),
        "CS-RF": ours("CostSensitiveForestClassifier"),
        "CS-RF+AH": ours("DSNAClassifier", "AFFINE_HULL"),
        "CS-RF+DSNA": ours("DSNAClassifier"),
        "DSNA-balance-0": ours("DSNAClassifier", balance=0.0),
        "DSNA-paper": ours("DSNAClassifier", "PAPER"),
    },
    "regression": {
        "RF": lambda seed: RandomForestRegressor(random_state=seed),
        "ExtraTrees": lambda seed: ExtraTreesRegressor(random_state=seed),
        "RF-density": lambda seed: DensityWeightedForest(random_state=seed),
        "CS-RF": ours("CostSensitiveForestRegressor"),
        "CS-RF+AH": ours("DSNARegressor", "AFFINE_HULL"),
        "CS-RF+DSNA": ours("DSNARegressor"),
        "DSNA-balance-0.5": ours("DSNARegressor", balance=0.5),
        "DSNA-paper": ours("DSNARegressor", "PAPER"),
    },
}
ON_REQUEST = {"DSNA-balance-0", "DSNA-balance-0.5", "DSNA-paper"}


@dataclass
class Table:
    name: str
    task: str
    X: np.ndarray
    y: np.ndarray
    checksum: str


def find_tables(args: argparse.Namespace) -> list[Table]:
    """All tables of the folder that are asked for, read and checked before anything is run."""
    folder, task, only = args.folder, args.task, args.only
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder.")
    sources: dict[Path, str | None] = {folder / name: name for name in TASKS if (folder / name).is_dir()}
    if sources:
        sources = {source: name for source, name in sources.items() if task in (None, name)}
    else:
        sources = {folder: task or (folder.resolve().name if folder.resolve().name in TASKS else None)}
    paths = [(path, name) for source, name in sources.items() for path in sorted(source.glob("*.csv"))]
    paths = [(path, name) for path, name in paths if path.resolve() != args.out.resolve()]
    if not paths:
        raise InputError(f"No CSV file {f'for {task} ' if task else ''}in {folder}.")
    if only:
        unknown = set(only) - {path.stem for path, _ in paths}
        if unknown:
            there = ", ".join(path.stem for path, _ in paths)
            raise InputError(f"--only names {', '.join(sorted(unknown))}; the folder has {there}.")
        paths = [(path, name) for path, name in paths if path.stem in only]
    return [read_table(path, name, args.target) for path, name in paths]


def read_table(path: Path, task: str | None = None, target: str | None = None) -> Table:
    """One CSV as numbers: text becomes 0/1 columns, and the labels tell the task where it is None."""
    raw = path.read_bytes()
    try:
        first, frame = pd.read_csv(path, header=None, nrows=1), pd.read_csv(path)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a CSV file that can be read ({error}).") from error
    if first.dtypes.map(pd.api.types.is_numeric_dtype).all():
        raise InputError(f"{path}: the first line holds numbers only; a header with column names is needed.")
    target = frame.columns[-1] if target is None else target
    if target not in frame.columns:
        raise InputError(f"{path}: no column {target!r}; there are {', '.join(frame.columns)}.")
    if frame.shape[1] < 2 or not len(frame):
        raise InputError(f"{path}: at least one row and one column beside the label {target!r} are needed.")
    missing = frame.columns[frame.isna().any()].tolist()
    if missing:
        raise InputError(f"{path}: missing values in {', '.join(missing)}; impute or drop them first.")

    label, features = frame[target], frame.drop(columns=target)
    text = [name for name in features if not pd.api.types.is_numeric_dtype(features[name])]
    for name in text:
        if features[name].nunique() > MAX_LEVELS:
            raise InputError(f"{path}: text column {name!r} has over {MAX_LEVELS} values; drop it.")
    X = pd.get_dummies(features, columns=text).to_numpy(dtype=np.float64)
    numeric = pd.api.types.is_numeric_dtype(label)
    if task is None:
        few = numeric and label.nunique() <= 10 and (label == np.round(label)).all()
        task = "classification" if few or not numeric else "regression"
    if task == "regression" and not numeric:
        raise InputError(f"{path}: the label {target!r} is not numeric, which regression needs.")
    y = label.to_numpy(dtype=np.float64) if task == "regression" else np.unique(label, return_inverse=True)[1]
    if not np.isfinite(X).all() or not np.isfinite(y).all():
        raise InputError(f"{path}: infinite values.")
    if len(np.unique(y)) < 2:
        raise InputError(f"{path}: all labels are equal.")
    return Table(path.stem, task, X, y, f"{zlib.crc32(raw):08x}")


def split(table: Table, folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Stratified folds: by class, or by label decile (fewer strata where rows are few)."""
    strata = table.y
    if table.task == "regression":
        n_strata = int(np.clip(len(table.y) // folds, 1, 10))
        cuts = np.quantile(table.y, np.arange(1, n_strata) / n_strata)
        strata = np.searchsorted(cuts, table.y, side="right")
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        try:
            return list(splitter.split(table.X, strata))
        except ValueError as error:
            raise InputError(f"{table.name}: cannot make {folds} folds ({error}).") from error


def run(key: dict[str, Any], table: Table, train: np.ndarray, test: np.ndarray) -> dict[str, Any]:
    """The key with scores and times of its method on its fold, on one thread; or with an `error`."""
    make, seed = METHODS[table.task][key["method"]], key["seed"] + key["fold"]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if make(seed).__module__.startswith("dsna."):
                warm_up(make(seed), table)
            start = time.perf_counter()
            model = make(seed).fit(table.X[train], table.y[train])
            fitted = time.perf_counter()
            predicted = model.predict(table.X[test])
            times = {"fit_seconds": fitted - start, "predict_seconds": time.perf_counter() - fitted}
            truth = table.y[test]
            if table.task == "regression":
                scores = regression_scores(truth, predicted, table.y[train])
            else:
                proba = np.zeros((len(test), table.y.max() + 1))
                proba[:, model.classes_] = model.predict_proba(table.X[test])
                scores = classification_scores(truth, predicted, proba)
            return key | {name: f"{value:.6g}" for name, value in (scores | times).items()}
        except Exception as error:
            return key | {"error": f"{type(error).__name__}: {error}"}


def warm_up(model: Any, table: Table) -> None:
    """Load the compiled kernels into this process, so that the time of a fold holds none of it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, table.X.shape[1]))
    y = X[:, 0] if table.task == "regression" else np.arange(60) % 2
    clone(model).set_params(n_estimators=2).fit(X, y).predict(X[:2])


def classification_scores(truth: np.ndarray, predicted: np.ndarray, proba: np.ndarray) -> dict[str, float]:
    from dsna.metrics import g_mean_score

    present = np.unique(truth)
    auc = [roc_auc_score(truth == label, proba[:, label]) for label in present if len(present) > 1]
    return {
        "accuracy": accuracy_score(truth, predicted),
        "balanced_accuracy": balanced_accuracy_score(truth, predicted),
        "g_mean": g_mean_score(truth, predicted),
        "macro_f1": f1_score(truth, predicted, average="macro", zero_division=0),
        "auc": float(np.mean(auc)) if auc else np.nan,
        "brier": brier_score_loss(truth, proba, labels=np.arange(proba.shape[1])),
    }


def regression_scores(truth: np.ndarray, predicted: np.ndarray, train: np.ndarray) -> dict[str, float]:
    """Errors in units of the standard deviation of the training labels."""
    from dsna.metrics import balanced_mae_score, rare_label_mae_score

    scale, edges = train.std(), np.linspace(train.min(), train.max(), 11)
    return {
        "mae": np.abs(truth - predicted).mean() / scale,
        "rare_mae": rare_label_mae_score(truth, predicted, y_train=train) / scale,
        "balanced_mae": balanced_mae_score(truth, predicted, edges) / scale,
    }


def load_cache(path: Path) -> pd.DataFrame:
    """Rows of earlier runs; the last of equal keys counts, and a line cut off by an interruption does not."""
    if not path.exists() or not path.stat().st_size:
        return pd.DataFrame(columns=COLUMNS)
    with path.open() as stream:
        header = stream.readline().strip()
    if header != ",".join(COLUMNS):
        raise InputError(f"{path} exists and is not a result file of this command; name another with --out.")
    frame = pd.read_csv(path, dtype={"dataset": str, "checksum": str, "method": str}, on_bad_lines="skip")
    whole = frame[TIMES[-1]].notna()
    return frame[whole].astype({"folds": int, "seed": int, "fold": int}).drop_duplicates(KEY, keep="last")


def execute(jobs: list[Any], out: Path, n_jobs: int) -> list[str]:
    """Run the delayed calls, append each result to `out`, and return the failures."""
    failures: list[str] = []
    finished = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs)
    torn = out.exists() and out.stat().st_size > 0 and not out.read_bytes().endswith(b"\n")
    with out.open("a", newline="") as stream:
        if torn:
            stream.write("\n")
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        if not stream.tell():
            writer.writeheader()
        for row in progress(finished, len(jobs)):
            if "error" in row:
                failures.append(f"{row['method']} on {row['dataset']}: {row['error']}")
            else:
                writer.writerow(row)
                stream.flush()
    return failures


def progress(finished: Iterator[Any], total: int) -> Iterator[Any]:
    """Pass results through with a progress line on stderr: rewritten on a terminal, now and then in a log."""
    start = shown = time.monotonic()
    live = sys.stderr.isatty()
    for done, row in enumerate(finished, start=1):
        yield row
        now = time.monotonic()
        if live or now - shown > 15 or done == total:
            left = (now - start) / done * (total - done)
            what = f"{row['dataset']} fold {row['fold']} {row['method']}"
            text = f"[{done}/{total}] {what}, about {left:.0f} s left"
            end = "" if live and done < total else "\n"
            print(f"\r{text:<78}" if live else text, end=end, file=sys.stderr, flush=True)
            shown = now


def report(rows: pd.DataFrame, task: str, methods: list[str], folds: int) -> str:
    """Mean over folds for each data set and method, then the mean over data sets for each method that ran."""
    methods = [name for name in methods if (rows["method"] == name).any()]
    columns = [*METRICS[task], "seconds"]
    rows = rows.assign(seconds=rows[TIMES].sum(axis=1))
    groups = rows.groupby(["dataset", "method"])
    means = groups[columns].mean()[groups.size() == folds]
    order = pd.MultiIndex.from_product([sorted(rows["dataset"].unique()), methods], names=means.index.names)
    means = means.reindex(order)
    complete = means["seconds"].notna().groupby("dataset").all()
    names = complete.index[complete]
    lines = [f"{task}: mean over {folds} folds" + (", errors / sd(y)" if task == "regression" else "")]
    lines.append(means.dropna(how="all").to_string(float_format="{:.3f}".format))
    which = "" if complete.all() else " that all methods finished"
    lines.append(f"\n{task}: mean over {len(names)} data sets{which}")
    total = means.loc[names].groupby("method").mean().reindex(methods)
    lines.append(total.to_string(float_format="{:.3f}".format))
    return "\n".join(lines)


def choose_methods(task: str, asked: list[str] | None) -> list[str]:
    names = list(METHODS[task])
    if asked is None:
        return [name for name in names if name not in ON_REQUEST]
    wanted = {name.lower() for name in asked}
    return [name for name in names if name.lower() in wanted]


def table_options(description: str | None) -> argparse.ArgumentParser:
    """A parser of the options that every command on a folder of tables has."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=description, formatter_class=raw)
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder of CSV files")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0, help="of the folds and the methods")
    parser.add_argument("--jobs", type=int, default=2, help="processes, of one thread each")
    parser.add_argument("--task", choices=TASKS, help="only this; overrides the guess from the labels")
    parser.add_argument("--target", help="label column (default: the last)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="data sets, by file name without .csv")
    return parser


def parse(argv: list[str] | None) -> argparse.Namespace:
    every = sorted({name for task in TASKS for name in METHODS[task]}, key=str.lower)
    parser = table_options(__doc__)
    parser.add_argument("--methods", nargs="+", metavar="METHOD", help=f"of: {', '.join(every)}")
    parser.add_argument("--out", type=Path, default=Path("results.csv"), help="appended to, resumed from")
    parser.add_argument("--redo", action="store_true", help="run again what --out already holds")
    args = parser.parse_args(argv)
    if args.folds < 2 or args.jobs < 1:
        raise InputError("--folds must be at least 2 and --jobs at least 1.")
    if not args.out.parent.is_dir():
        raise InputError(f"--out: there is no folder {args.out.parent}.")
    unknown = [name for name in args.methods or [] if name.lower() not in {known.lower() for known in every}]
    if unknown:
        raise InputError(f"--methods names {', '.join(unknown)}; there are {', '.join(every)}.")
    return args


def main(argv: list[str] | None = None) -> int:
    try:
        args = parse(argv)
        tables = find_tables(args)
        cache = load_cache(args.out)
        done = set() if args.redo else set(cache[KEY].itertuples(index=False, name=None))
        keys, jobs = [], []
        for table in tables:
            for fold, (train, test) in enumerate(split(table, args.folds, args.seed)):
                for method in choose_methods(table.task, args.methods):
                    key = (table.task, table.name, table.checksum, args.folds, args.seed, fold, method)
                    keys.append(key)
                    if key not in done:
                        jobs.append(joblib.delayed(run)(dict(zip(KEY, key, strict=True)), table, train, test))
        if not keys:
            raise InputError("None of --methods is meant for these tasks.")
    except InputError as error:
        print(f"tabular.py: {error}", file=sys.stderr)
        return 2

    failures = execute(jobs, args.out, args.jobs)
    rows = load_cache(args.out)
    rows = rows[pd.MultiIndex.from_frame(rows[KEY]).isin(keys)]
    for task in TASKS:
        if (rows["task"] == task).any():
            methods = choose_methods(task, args.methods)
            print(report(rows[rows["task"] == task], task, methods, args.folds), end="\n\n")
    print(f"{len(keys) - len(jobs)} of {len(keys)} results were in {args.out} before (--redo repeats them).")
    for failure, count in Counter(failures).items():
        print(f"failed on {count} folds: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
