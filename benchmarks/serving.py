"""Serving one model from many processes and threads: load time, memory, and how predicting scales with threads.

``python benchmarks/serving.py`` fits a model, saves it, and loads it in one process and in eight at once, read into
memory and mapped from the file. Memory is what the processes have after loading and predicting beyond what they had
before (Linux: the proportional set size, in which pages that processes share count once).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from measure import Report, duration, megabytes
from scale import CSRF, DSNA
from synthetic import N_FEATURES, table

from dsna import load, save

N_QUERIES = 1000


def proportional_bytes() -> int:
    """Memory of this process; a page that k processes share counts 1 / k."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="utf-8").splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("Pss:")).split()[1])


def serve(path: str, mapped: bool) -> None:
    """One process: load the model, predict, and tell what it took, in step with the others by lines on stdin."""
    queries = np.random.default_rng(0).normal(size=(N_QUERIES, N_FEATURES))
    # The compiler and its kernels are no part of the model.
    small = DSNA["classification"](CSRF["classification"](5), random_state=0)
    small.fit(queries[:60], queries[:60, 0] > 1).predict(queries)
    input()  # all have imported what they need
    before = proportional_bytes()
    print("ready", flush=True)
    input()
    start = time.process_time()
    model = load(path, mmap=mapped)
    took = time.process_time() - start
    model.set_params(n_jobs=1).predict(queries)
    print("loaded", flush=True)
    input()  # all have loaded and hold their model
    print(json.dumps({"seconds": took, "bytes": proportional_bytes() - before}), flush=True)
    input()


def run(path: Path, n_processes: int, mapped: bool) -> tuple[float, int]:
    """(CPU seconds of a load, bytes of all processes together)."""
    command = [sys.executable, __file__, "--serve", str(path), *(["--mapped"] * mapped)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, **pipes) for _ in range(n_processes)]
    told: list[list[str]] = []
    for _ in range(3):
        for one in processes:
            one.stdin.write("\n")
            one.stdin.flush()
        told.append([one.stdout.readline() for one in processes])
    for one in processes:
        one.communicate("\n")
    found = [json.loads(line) for line in told[-1]]
    return float(np.median([one["seconds"] for one in found])), sum(one["bytes"] for one in found)


def threads(report: Report, model: Any, queries: np.ndarray, n_threads: int) -> None:
    """Time of as many calls of predict by one thread and by several; the GIL would keep several on one core."""
    model.set_params(n_jobs=1).predict(queries)
    cores = []
    for workers in (1, n_threads):
        with ThreadPoolExecutor(workers) as pool:
            wall, cpu = time.perf_counter(), time.process_time()
            list(pool.map(model.predict, [queries] * 2 * n_threads))
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        cores.append(cpu / wall)
        report.add(f"{2 * n_threads} calls of predict, {workers} threads", duration(wall))
    more = cores[1] / cores[0]
    report.add(f"cores in use, {n_threads} threads beside one", f"{cores[1]:.2f}", f"{cores[0]:.2f}", more)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--mapped", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.mapped)
        return
    report = Report()
    report.title(f"serving: DSNA fitted on {options.rows:,} x {N_FEATURES}, {options.trees} trees")
    X, y = table("classification", options.rows)
    model = DSNA["classification"](CSRF["classification"](options.trees), random_state=0, n_jobs=1).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.dsna"
        save(model, path)
        report.add("model file", megabytes(path.stat().st_size), megabytes(X.nbytes), path.stat().st_size / X.nbytes)
        report.note("peer: the training table")
        for mapped in (False, True):
            way = "mapped" if mapped else "read"
            one, many = run(path, 1, mapped), run(path, options.processes, mapped)
            report.add(f"{way}: CPU time of a load, {options.processes} at once (peer: alone)", duration(many[0]),
                       duration(one[0]), many[0] / one[0])  # fmt: skip
            report.add(f"{way}: memory of {options.processes} processes (peer: of one)", megabytes(many[1]),
                       megabytes(one[1]), many[1] / one[1])  # fmt: skip
        threads(report, load(path, mmap=True), X[:N_QUERIES], options.threads)


if __name__ == "__main__":
    main()
