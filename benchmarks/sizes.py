"""Tables from 10^4 to 10^7 rows: time, memory, model size and accuracy beside other forests and boosting.

    python benchmarks/sizes.py --out sizes.csv                      # 10^4 to 10^7 rows x 20, and 10^6 x 100
    python benchmarks/sizes.py --out sizes.csv --rows 10000 100000  # only these, x 20
    python benchmarks/sizes.py --out sizes.csv --show               # what the file holds, without running anything

One row in 200 is of the rare class. Each fit runs in a process of its own on one core, with a limit on the memory that
it may allocate; the table is mapped from a file and does not count. An interrupted run goes on where it stopped.
Forests have as many trees, of the same depth and leaves; LightGBM has its 100 rounds. Peers weigh classes inversely to
their shares, without which they hardly ever predict the rare one. Model size is that of the saved or pickled model.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from measure import duration, megabytes

SIZES = ((10_000, 20), (100_000, 20), (1_000_000, 20), (1_000_000, 100), (10_000_000, 20))
METHODS = ("DSNA", "RandomForest", "BalancedRandomForest", "LightGBM")
VALUES = (
    "fit_seconds", "query_seconds", "peak_bytes", "model_bytes", "balanced_accuracy", "trees", "limit_gb",
)  # fmt: skip
FITTED, NO_MEMORY, NO_TIME, FAILED = "fitted", "out of memory", "out of time", "failed"
RARE = 0.005
N_QUERIES = 20_000
_DEPTH, _LEAF = 20, 4  # as our forest has by default
_BLOCK = 100_000
_EVERY = 0.01  # seconds between two looks at the memory


def write_table(folder: Path, n: int, n_columns: int) -> None:
    """Rows to fit on, and then the queries, as files of arrays; written a block at a time."""
    rng = np.random.default_rng(0)
    slope = rng.normal(size=8)
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float64, (n + N_QUERIES, n_columns))
    y = np.empty(n + N_QUERIES, dtype=np.int64)
    bound = None
    for first in range(0, len(X), _BLOCK):
        some = rng.normal(size=(min(_BLOCK, len(X) - first), n_columns))
        score = some[:, :8] @ slope + some[:, 8] * some[:, 9] + rng.normal(size=len(some))
        bound = np.quantile(score, 1.0 - RARE) if bound is None else bound
        X[first : first + len(some)] = some
        y[first : first + len(some)] = score > bound
    X.flush()
    np.save(folder / "y.npy", y)


def estimator(method: str, n_trees: int) -> Any:
    """An unfitted estimator; only what it needs is imported, so that nothing else counts as its memory."""
    alike = {"max_depth": _DEPTH, "min_samples_leaf": _LEAF, "n_jobs": 1, "random_state": 0}
    if method == "DSNA":
        from dsna import CostSensitiveForestClassifier, DSNAClassifier

        forest = CostSensitiveForestClassifier(n_trees, max_depth=_DEPTH, min_samples_leaf=_LEAF)
        return DSNAClassifier(forest, n_jobs=1, random_state=0)
    if method == "RandomForest":
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(n_trees, class_weight="balanced", **alike)
    if method == "BalancedRandomForest":
        from imblearn.ensemble import BalancedRandomForestClassifier

        return BalancedRandomForestClassifier(n_trees, **alike)
    from lightgbm import LGBMClassifier

    return LGBMClassifier(class_weight="balanced", n_jobs=1, random_state=0, verbose=-1)


def anonymous_bytes() -> int:
    """Memory of this process that is not mapped from files."""
    with open("/proc/self/status", encoding="utf-8") as lines:
        return 1024 * int(next(line for line in lines if line.startswith("RssAnon")).split()[1])


class Peak:
    """Largest anonymous memory inside a ``with`` block, beyond what there was before."""

    def __enter__(self) -> Peak:
        self.most = self.before = anonymous_bytes()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._over.wait(_EVERY):
            self.most = max(self.most, anonymous_bytes())

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()
        self.most = max(self.most, anonymous_bytes())

    @property
    def bytes(self) -> int:
        """The difference."""
        return self.most - self.before


class Counter(io.RawIOBase):
    """A stream that only counts what is written."""

    size = 0

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: Any) -> int:
        """Count."""
        length = memoryview(data).nbytes
        self.size += length
        return length


def saved_bytes(model: Any, folder: Path) -> int:
    """Size of the model as it is usually kept."""
    if type(model).__module__.startswith("dsna"):
        from dsna import save

        save(model, folder / "model.dsna")
        return (folder / "model.dsna").stat().st_size
    counter = Counter()
    pickle.dump(model, counter, protocol=5)
    return counter.size


def fit_here(method: str, folder: Path, n_trees: int, limit_gb: float) -> dict[str, Any]:
    """What a fit in this process takes, which is limited in memory from now on."""
    import resource

    from sklearn.metrics import balanced_accuracy_score

    rng = np.random.default_rng(1)
    few = rng.normal(size=(400, 20))
    estimator(method, 5).fit(few, few[:, 0] > 1).predict(few)  # all imports, and kernels compiled
    most = int(limit_gb * 2**30) + anonymous_bytes()
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    X, y = np.load(folder / "X.npy", mmap_mode="r"), np.load(folder / "y.npy")
    n = len(X) - N_QUERIES
    model = estimator(method, n_trees)
    with Peak() as peak:
        start = time.process_time()
        model.fit(X[:n], y[:n])
        took = time.process_time() - start
    start = time.process_time()
    said = model.predict(np.array(X[n:]))
    asked = (time.process_time() - start) / N_QUERIES
    return {
        "outcome": FITTED,
        "fit_seconds": took,
        "query_seconds": asked,
        "peak_bytes": peak.bytes,
        "model_bytes": saved_bytes(model, folder),
        "balanced_accuracy": balanced_accuracy_score(y[n:], said),
    }


def fit_apart(method: str, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """The same in a process of its own, which may run out of memory or time."""
    words = ["--fit", method, "--folder", str(folder), "--trees", str(options.trees), "--limit", str(options.limit)]
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--out", str(options.out), *words]
    try:
        run = subprocess.run(command, capture_output=True, text=True, env=alone, timeout=60 * options.minutes)
    except subprocess.TimeoutExpired:
        return {"outcome": NO_TIME}
    if run.returncode == 0:
        return dict(json.loads(run.stdout.splitlines()[-1]))
    if any(word in run.stderr for word in ("MemoryError", "bad_alloc", "Cannot allocate", "failed to allocate")):
        return {"outcome": NO_MEMORY}
    print(run.stderr, file=sys.stderr)
    return {"outcome": FAILED}


def show(found: pd.DataFrame, limit_gb: float) -> None:
    """The results, how ours grow, and where each method stops fitting into the memory."""
    line = "{:>12} x {:<4} {:<22} {:<14} {:>10} {:>10} {:>10} {:>10} {:>9}"
    print(line.format("rows", "cols", "method", "", "CPU fit", "a query", "peak", "model", "balanced"))
    for one in found.sort_values(["columns", "rows"], kind="stable").itertuples():
        numbers = ["", "", "", "", ""]
        if one.outcome == FITTED:
            numbers = [
                duration(one.fit_seconds), duration(one.query_seconds), megabytes(one.peak_bytes),
                megabytes(one.model_bytes), f"{one.balanced_accuracy:.3f}",
            ]  # fmt: skip
        print(line.format(f"{one.rows:,}", one.columns, one.method, one.outcome, *numbers))
    for method in METHODS:
        narrow = found[(found.method == method) & (found["columns"] == 20)]
        good = narrow[narrow.outcome == FITTED].sort_values("rows")
        if len(good) < 2:
            continue
        first, last = good.iloc[-2], good.iloc[-1]
        grown = np.log(last.rows / first.rows)
        powers = {
            name: np.log(last[column] / first[column]) / grown
            for name, column in (("fit", "fit_seconds"), ("query", "query_seconds"), ("peak", "peak_bytes"))
        }
        per_row = (last.peak_bytes - first.peak_bytes) / (last.rows - first.rows)
        room = last.rows + (limit_gb * 2**30 - last.peak_bytes) / max(per_row, 1.0)
        print(
            f"{method}: between the last two sizes, fit grows as N^{powers['fit']:.2f}, a query as "
            f"N^{powers['query']:.2f}, peak memory by {per_row:.0f} bytes a row: about {room:.2g} rows x 20 fit into "
            f"{limit_gb:g} GB"
        )


def main() -> None:
    """Run what the results file lacks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="results file, which a later run goes on with")
    parser.add_argument("--rows", type=int, nargs="+", help="numbers of rows; default: 10^4 to 10^7")
    parser.add_argument("--columns", type=int, default=20, help="columns, where --rows is given")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--trees", type=int, default=20, help="trees of each forest")
    parser.add_argument("--limit", type=float, default=16.0, help="GB of memory that a fit may allocate")
    parser.add_argument("--minutes", type=float, default=90.0, help="minutes after which a fit is ended")
    parser.add_argument("--show", action="store_true", help="only show what the results file holds")
    parser.add_argument("--fit", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit:
        print(json.dumps(fit_here(options.fit, options.folder, options.trees, options.limit)))
        return
    from dsna_studies.results_file import Layout, ResultsFile, load_results

    layout = Layout(("rows", "columns", "method"), VALUES, ("rows", "columns"), ("outcome",))
    before = load_results(options.out, layout)
    done = {(one.rows, one.columns, one.method) for one in before[before.outcome != FAILED].itertuples()}
    sizes = [(rows, options.columns) for rows in options.rows] if options.rows else SIZES
    for rows, columns in [] if options.show else sizes:
        missing = [method for method in options.methods if (rows, columns, method) not in done]
        with tempfile.TemporaryDirectory() as folder:
            if missing:
                write_table(Path(folder), rows, columns)
            for method in missing:
                print(f"{rows:,} x {columns}: {method}", file=sys.stderr, flush=True)
                found = fit_apart(method, Path(folder), options)
                key = {"rows": rows, "columns": columns, "method": method}
                with ResultsFile(options.out, layout) as results:
                    results.add({**key, **found, "trees": options.trees, "limit_gb": options.limit})
    show(load_results(options.out, layout), options.limit)


if __name__ == "__main__":
    main()
