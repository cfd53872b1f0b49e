"""What messy tables cost: DSNA behind TableEncoder beside a random forest behind a careful scikit-learn pipeline.

    python benchmarks/messy.py DIR [--folds 5] [--seed 0] [--only NAME ...] [--most-rows 2000]

DIR is a folder of tables, as the benchmark takes it. Each table is scored as it is, and as a messy CSV file: 10 % of
the values are missing at random (empty, NA or ?), numbers are text, and there are two more columns: a category, made
of the fifths of one of the columns, and an identifier. Ours is what a user gets who says nothing: `read_file`,
`find_leaks`, `TableEncoder`, DSNA. The random forest's columns are treated by hand: the identifier is dropped, numbers
are imputed by the median with an indicator, the category is one-hot encoded with a category for missing values.

The forest decides for the most probable class, which costs balanced accuracy so much that little is left to lose; so
"RF/prior" is the same forest with its probabilities divided by the class shares of training.

Printed are balanced accuracy or rare-target error (of the tenth of rarest targets), clean and messy, and what is lost;
folds are those of the benchmark. Types are those of the whole file; all else is learned from training rows.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from dsna import DSNAClassifier, DSNARegressor
from dsna.metrics import rare_target_absolute_error
from dsna.tables import TableEncoder, TableWarning, find_leaks, read_file, split_target
from dsna_studies.tables import Table, find_tables
from dsna_studies.tabular.folds import split

MISSING_SHARE = 0.1
SPELLINGS = ("", "NA", "?")
CATEGORY, IDENTIFIER, TARGET = "group", "record", "target"


def messy(table: Table, seed: int) -> pd.DataFrame:
    """The table as text, with holes, a category and an identifier."""
    rng = np.random.RandomState(seed)
    columns = {
        f"x{j}": np.array([f"{value:.10g}" for value in column], dtype=object) for j, column in enumerate(table.X.T)
    }
    source = table.X[:, rng.randint(table.X.shape[1])]
    fifths = np.searchsorted(np.quantile(source, [0.2, 0.4, 0.6, 0.8]), source)
    columns[CATEGORY] = np.array(["amber", "blue", "coral", "denim", "ecru"], dtype=object)[fifths]
    for column in columns.values():
        holes = rng.rand(len(column)) < MISSING_SHARE
        column[holes] = rng.choice(SPELLINGS, holes.sum())
    columns[IDENTIFIER] = np.array([f"R{number:06d}" for number in rng.permutation(len(table.y))], dtype=object)
    return pd.DataFrame(columns).assign(**{TARGET: table.y})


def model_of(ours: bool, task: str, seed: int) -> Any:
    if task == "classification":
        return DSNAClassifier(random_state=seed) if ours else RandomForestClassifier(random_state=seed)
    return DSNARegressor(random_state=seed) if ours else RandomForestRegressor(random_state=seed)


def loss(table: Table, train: np.ndarray, test: np.ndarray, predicted: np.ndarray) -> float:
    """Balanced accuracy, or rare-target absolute error."""
    if table.task == "classification":
        return float(balanced_accuracy_score(table.y[test], predicted))
    return float(rare_target_absolute_error(table.y[test], predicted, y_train=table.y[train]))


def answers(model: Any, X: Any, y_train: np.ndarray) -> dict[str, np.ndarray]:
    """Predictions, by the name of the method."""
    last = model[-1] if hasattr(model, "steps") else model
    if isinstance(last, DSNAClassifier | DSNARegressor):
        return {"DSNA": model.predict(X)}
    found = {"RF": model.predict(X)}
    if isinstance(last, RandomForestClassifier):
        shares = np.unique(y_train, return_counts=True)[1] / len(y_train)
        found["RF/prior"] = last.classes_[(model.predict_proba(X) / shares).argmax(axis=1)]
    return found


def ours_on(path: Path, train: np.ndarray, test: np.ndarray, model: Any) -> dict[str, np.ndarray]:
    """As a user who says nothing would: types and leaks from the file of training rows, then the pipeline."""
    found = split_target(read_file(path), TARGET)
    leaks = [leak.column for leak in find_leaks(found.table.frame[train], found.y[train])]
    frame = found.table.frame.drop(leaks)
    types = {name: kind.spec for name, kind in found.table.types.items() if name not in leaks}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        fitted = make_pipeline(TableEncoder(types), model).fit(frame[train], found.y[train])
        return answers(fitted, frame[test], found.y[train])


def careful_on(path: Path, train: np.ndarray, test: np.ndarray, model: Any) -> dict[str, np.ndarray]:
    """As somebody would who looks at each column."""
    frame = pd.read_csv(path, na_values=["?"])
    numbers = [name for name in frame if name not in (CATEGORY, IDENTIFIER, TARGET)]
    one_hot = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"),
        OneHotEncoder(handle_unknown="ignore", min_frequency=2),
    )
    columns = make_column_transformer(
        (SimpleImputer(strategy="median", add_indicator=True), numbers), (one_hot, [CATEGORY])
    )
    fitted = make_pipeline(columns, model).fit(frame.iloc[train], frame[TARGET].iloc[train])
    return answers(fitted, frame.iloc[test], frame[TARGET].to_numpy()[train])


def scores(table: Table, folds: int, seed: int) -> dict[str, float]:
    """Means over folds, by method and kind of table."""
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "messy.csv"
        messy(table, seed).to_csv(path, index=False)
        for train, test in split(table, folds, seed):
            for ours, on in ((True, ours_on), (False, careful_on)):
                clean = model_of(ours, table.task, seed).fit(table.X[train], table.y[train])
                kinds = {
                    "clean": answers(clean, table.X[test], table.y[train]),
                    "messy": on(path, train, test, model_of(ours, table.task, seed)),
                }
                for kind, by_method in kinds.items():
                    for name, predicted in by_method.items():
                        found.setdefault(f"{name} {kind}", []).append(loss(table, train, test, predicted))
    return {name: float(np.mean(values)) for name, values in found.items()}


def report(task: str, rows: pd.DataFrame) -> None:
    """Scores and losses by table, and whether ours is larger."""
    names = [name.removesuffix(" clean") for name in rows if name.endswith(" clean")]
    if task == "classification":
        lost = {name: rows[f"{name} clean"] - rows[f"{name} messy"] for name in names}
        what = "balanced accuracy"
    else:
        lost = {name: rows[f"{name} messy"] / rows[f"{name} clean"] - 1.0 for name in names}
        what = "rare-target absolute error (lost: relative)"
    shown = rows.assign(**{f"{name} lost": values for name, values in lost.items()})
    shown.loc["mean"] = shown.mean()
    print(f"\n{task}: {what}\n{shown.to_string(float_format=lambda value: f'{value:.3f}')}")
    for name in names[1:]:
        more = lost["DSNA"] - lost[name]
        error = more.std(ddof=1) / np.sqrt(len(more)) if len(more) > 1 else np.nan
        print(
            f"DSNA loses {lost['DSNA'].mean():.4f}, {name} {lost[name].mean():.4f}: "
            f"difference {more.mean():+.4f} +- {error:.4f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--most-rows", type=int, default=2000)
    options = parser.parse_args()
    found: dict[str, dict[str, dict[str, float]]] = {}
    for table in find_tables(options.folder, only=options.only):
        if len(table.y) <= options.most_rows:
            found.setdefault(table.task, {})[table.name] = scores(table, options.folds, options.seed)
            print(table.name, found[table.task][table.name], file=sys.stderr, flush=True)
    for task, rows in found.items():
        report(task, pd.DataFrame(rows).T)


if __name__ == "__main__":
    main()
