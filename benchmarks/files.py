"""What `dsna train` and `dsna predict` cost on files: CPU seconds, peak memory, and the share of reading and writing.

    python benchmarks/files.py train            # 20,000 rows of 30 mixed columns
    python benchmarks/files.py predict          # the same rows
    python benchmarks/files.py predict --rows 500000 --packed

Each command runs in a process of its own, with a warm cache of compiled kernels after its first run.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

ROWS = 20_000
_BLOCK = 50_000  # rows that are written at a time


def mixed_rows(n: int, seed: int = 0, columns: int = 30) -> pl.DataFrame:
    """Numbers, booleans, categories, dates and gaps, with a rare class that depends on some of them."""
    rng = np.random.default_rng(seed)
    found: dict[str, object] = {"id": [f"R{seed:03d}-{i:06d}" for i in range(n)]}
    numbers = rng.normal(size=(n, columns - 9))
    for j, column in enumerate(numbers.T):
        gaps = rng.random(n) < (0.05 if j % 3 == 0 else 0.0)
        found[f"n{j}"] = pl.Series(np.where(gaps, np.nan, np.round(column, 4))).fill_nan(None)
    for j in range(5):
        found[f"c{j}"] = rng.choice([f"kind {k}" for k in range(4 + 6 * j)], n)
    found["flag"] = rng.random(n) < 0.3
    found["level"] = rng.choice(["low", "medium", "high"], n)
    found["day"] = np.datetime64("2020-01-01") + rng.integers(0, 2000, n)
    found["count"] = rng.integers(0, 50, n)
    score = numbers[:, 0] + 0.8 * numbers[:, 1] * (found["c0"] == "kind 1") + 0.5 * rng.normal(size=n)
    found["rare"] = np.where(score > 2.2, "yes", "no")
    found["cost"] = np.round(np.exp(score), 3)
    return pl.DataFrame(found)


def write_rows(path: Path, n: int, *, target: str | None, packed: bool = False) -> None:
    """A CSV file of mixed rows, written a block at a time."""
    with gzip.open(path, "wb", compresslevel=1) if packed else path.open("wb") as stream:
        for block, first in enumerate(range(0, n, _BLOCK)):
            rows = mixed_rows(min(_BLOCK, n - first), block + 7 * (target is None))
            rows = rows.drop([name for name in ("rare", "cost") if name != target])
            rows.write_csv(stream, include_header=first == 0)


def run(*words: object) -> dict[str, float]:
    """Run a command; CPU seconds of it and its children, and peak memory in MB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    command = [sys.executable, "-m", "dsna", *map(str, words)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "wall_seconds": time.perf_counter() - start,
        "peak_MB": after.ru_maxrss / 1024,
    }


def reading_and_writing(data: Path, folder: Path) -> float:
    """CPU seconds of reading a file in chunks and writing as many answers, without predicting."""
    code = """
import sys, time
from dsna.app.predict import load_model
from dsna.cli.tables.predict import parts
from dsna.tables import CsvWriter, ReadOptions
import numpy as np, polars as pl
model = load_model(sys.argv[2])
start = time.process_time()
with open(sys.argv[3], "wb") as stream:
    writer = CsvWriter(stream)
    for chunk in parts(model.steps[0][1], sys.argv[1], ReadOptions(), 20_000):
        n = chunk.frame.height
        numbers = np.round(np.linspace(0, 1, n), 6)
        text = pl.Series(["no"] * n)
        answers = {"prediction": text, "p": numbers, "q": numbers, "set": text}
        writer.write(pl.DataFrame({"row": range(n), "id": chunk.frame["id"], **answers}))
print(time.process_time() - start)
"""
    command = [sys.executable, "-c", code, str(data), str(folder / "model.dsna"), str(folder / "nothing.csv")]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["train", "predict"])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--target", choices=["rare", "cost"], default="rare")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--packed", action="store_true", help="a .csv.gz file")
    asked = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        training = asked.rows if asked.what == "train" else ROWS
        write_rows(folder / "train.csv", training, target=asked.target)
        words = ("train", folder / "train.csv", "--target", asked.target, "-o", folder / "model.dsna", "--force")
        found = {"train": run(*words, "--jobs", asked.jobs)}
        if asked.what == "predict":
            data = folder / ("new.csv.gz" if asked.packed else "new.csv")
            write_rows(data, asked.rows, target=None, packed=asked.packed)
            words = ("predict", folder / "model.dsna", data, "-o", folder / "out.csv", "--force", "--jobs", asked.jobs)
            found["predict"] = run(*words)
            found["predict"]["read_and_write_seconds"] = reading_and_writing(data, folder)
            found["predict"]["file_MB"] = data.stat().st_size / 2**20
        print(json.dumps({"rows": asked.rows, **found}, indent=1))


if __name__ == "__main__":
    main()
