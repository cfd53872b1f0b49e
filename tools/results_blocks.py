"""Tables of results in README and docs, from the files that the benchmark and the other studies write.

python tools/results_blocks.py          # writes the tables anew
python tools/results_blocks.py --check  # exit code 1 where one is stale
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path
from typing import NamedTuple

try:
    from tools import study_tables
except ImportError:  # run as a script
    import study_tables

ROOT = Path(__file__).resolve().parents[1]
BENCHMARK_PAGES = (ROOT / "README.md", ROOT / "docs" / "studies" / "results.md")
STUDIES = ("age", "pose", "edges_reproduction", "howto/large_tables")
STUDY_PAGES = tuple(ROOT / "docs" / f"{name}.md" for name in STUDIES)
PAGES = (*BENCHMARK_PAGES, *STUDY_PAGES)
FOLDER = ROOT / "docs" / "benchmark"
_BLOCK = re.compile(r"(<!-- results: (\w+), ([^>\n]+) -->\n)(.*?)(<!-- end of results -->)", re.S)


class Column(NamedTuple):
    key: str  # in the CSV file
    title: str
    largest: bool  # the best value is the largest
    places: int = 3


COLUMNS = {
    "classification": [
        Column("balanced_accuracy", "balanced accuracy", True),
        Column("g_mean", "G-mean", True),
        Column("macro_f1_tuned", "F1", True),
        Column("auc", "AUC", True),
        Column("brier", "Brier score", False),
        Column("rank balanced_accuracy", "mean rank, balanced accuracy", False, 1),
    ],
    "regression": [
        Column("mae", "MAE", False),
        Column("rmse", "RMSE", False),
        Column("rare_mae", "rare-target MAE", False),
        Column("sera", "SERA", False),
    ],
}
#: Methods in the order of their rows: ours and what it is, then peers.
METHODS = {
    "classification": {
        "CS-RF+DSNA": "`DSNAClassifier()`",
        "CS-RF": "its forest alone",
        "CatBoost/thresholds": "tuned on inner folds",
        "CatBoost/priors": "probabilities divided by class shares",
        "RF/thresholds": "RandomForest",
        "BalancedRF": "",
        "SVC-RBF": "class weights",
        "CatBoost/weights": "class weights",
        "XGBoost/thresholds": "",
        "LightGBM/thresholds": "",
        "RF": "RandomForest, as it comes",
    },
    "regression": {
        "CS-RF+DSNA": "`DSNARegressor()`",
        "DSNA-balance-0": "`DSNARegressor(balance=0)`",
        "DSNA-balance-1": "`DSNARegressor(balance=1)`",
        "CatBoost": "",
        "ExtraTrees": "",
        "RF": "RandomForest",
        "XGBoost": "",
        "CatBoost-density": "rows weighted by one over the density",
        "SMOGN+RF": "",
        "RF-density": "",
    },
}
#: What the README shows of them.
SHORT = {
    "classification": ("CS-RF+DSNA", "CatBoost/thresholds", "BalancedRF", "LightGBM/thresholds", "RF"),
    "regression": ("CS-RF+DSNA", "DSNA-balance-0", "DSNA-balance-1", "CatBoost", "RF", "RF-density"),
}
OURS = ("CS-RF", "DSNA-")


def rows_of(name: str) -> list[dict[str, str]]:
    with open(FOLDER / f"benchmark_{name}.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def losses() -> str:
    """In words: the pairs that come closest, and the tables on which ours is furthest behind the best peer."""
    pairs = {(row["metric"], row["peer"]): row for row in rows_of("classification_pairs")}
    said = []
    for peer in ("CatBoost/thresholds", "CatBoost/priors"):
        row = pairs["balanced_accuracy", peer]
        said.append(f"{peer} {row['win']} won, {row['loss']} lost (p {_short(float(row['p_holm']))}, corrected)")
    ours: dict[str, float] = {}
    best: dict[str, tuple[float, str]] = {}
    for row in rows_of("classification_tables"):
        score = float(row["balanced_accuracy"])
        if row["method"] == "CS-RF+DSNA":
            ours[row["dataset"]] = score
        elif not row["method"].startswith(OURS):
            best[row["dataset"]] = max(best.get(row["dataset"], (0.0, "")), (score, row["method"]))
    behind = sorted(ours, key=lambda name: ours[name] - best[name][0])[:4]
    worst = [f"{name} by {_short(best[name][0] - ours[name])} ({best[name][1]})" for name in behind]
    return f"Tables, by balanced accuracy: {'; '.join(said)}. Furthest behind the best peer: {', '.join(worst)}.\n"


def _short(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def table(task: str, size: str) -> str:
    """The Markdown of one block; the best figure of each column is bold."""
    if task == "losses":
        return losses()
    if task in study_tables.STUDIES:
        return study_tables.section(task, size)
    found = {row["method"]: row for row in rows_of(task)}
    names = list(METHODS[task]) if size == "long" else SHORT[task]
    columns = COLUMNS[task]
    best = {}
    for column in columns:
        values = [float(found[name][column.key]) for name in names if found[name][column.key]]
        best[column.key] = shown(max(values) if column.largest else min(values), column)
    lines = [f"| {task} | {' | '.join(column.title for column in columns)} |", "|---" * (len(columns) + 1) + "|"]
    for name in names:
        cells = [shown(float(found[name][c.key]), c) if found[name][c.key] else "" for c in columns]
        cells = [f"**{cell}**" if cell == best[c.key] else cell for cell, c in zip(cells, columns, strict=True)]
        what = METHODS[task][name]
        title = (f"**{name}**" if name.startswith(OURS) else name) + (f": {what}" if what else "")
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def shown(value: float, column: Column) -> str:
    text = f"{value:.{column.places}f}"
    return text.removeprefix("0") if column.places > 1 else text


def fresh(text: str) -> str:
    """A page with every block written anew."""
    return _BLOCK.sub(lambda block: f"{block[1]}{table(block[2], block[3])}{block[5]}", text)


def main() -> int:
    stale = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if fresh(text) != text:
            stale.append(page.relative_to(ROOT).as_posix())
            if "--check" not in sys.argv:
                page.write_text(fresh(text), encoding="utf-8")
    print("\n".join(stale) or "all tables are fresh")
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
