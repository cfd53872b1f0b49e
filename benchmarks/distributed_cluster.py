"""A distributed model beside one machine: balanced accuracy, and the memory of every worker process.

``python benchmarks/distributed_cluster.py --rows 200000`` writes a table as Parquet files, shuffled and sorted by its
target, fits it on one machine, on a Dask ``LocalCluster`` and on a local Ray of four worker processes each, and prints
balanced accuracies on new rows and the largest anonymous memory of each worker before and during ``fit`` and
``predict``; that of Ray's own tasks, which read the files, apart from ours. docs/large_tables_distributed.md quotes it.
"""

from __future__ import annotations

import argparse
import logging
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from distributed_costs import table
from sklearn.metrics import balanced_accuracy_score

from dsna import CostSensitiveForestClassifier, DSNAClassifier
from dsna.distributed import DistributedDSNAClassifier

MB = 1e6
DRAWN, COMMON = 300_000, 5_000  # rows of which all rare ones are asked about, and so many common ones


def anonymous_memory(pid: int) -> float:
    """Bytes that a process alone holds; mapped files and memory that processes share do not count."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    except OSError:
        return 0.0
    return next((1024.0 * int(line.split()[1]) for line in lines if line.startswith("RssAnon")), 0.0)


Workers = Callable[[], dict[int, bool]]  # process numbers, and whether they are at work of ours


class Watch:
    """The largest memory of processes while they do work of ours, and while they do other work."""

    def __init__(self, workers: Workers):
        self.workers = workers
        self.before = max(map(anonymous_memory, workers()), default=0.0)
        self._peak: dict[tuple[int, bool], float] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def _look(self) -> None:
        while not self._over.wait(0.02):
            for one in self.workers().items():
                self._peak[one] = max(self._peak.get(one, 0.0), anonymous_memory(one[0]))

    def peaks(self, ours: bool) -> str:
        """Of all processes, in MB."""
        found = sorted(peak for (_, working), peak in self._peak.items() if working == ours)
        return ", ".join(f"{peak / MB:.0f}" for peak in found)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


@contextmanager
def dask_workers(n: int, folder: Path) -> Iterator[tuple[Callable[[Path], Any], Workers]]:
    import dask.dataframe as dd
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=n,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
            local_directory=str(folder),
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = dict.fromkeys(client.run(os.getpid).values(), True)
        yield lambda path: dd.read_parquet(sorted(path.glob("*.parquet"))), lambda: workers


@contextmanager
def ray_workers(n: int, folder: Path) -> Iterator[tuple[Callable[[Path], Any], Workers]]:
    import psutil
    import ray

    ray.init(num_cpus=n, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False

    def workers() -> dict[int, bool]:
        found = {}
        for process in psutil.Process().children(recursive=True):
            try:
                if process.name().startswith("ray::") and "Agent" not in process.name():
                    found[process.pid] = process.name().startswith("ray::on_worker")
            except psutil.Error:
                continue
        return found

    try:
        yield lambda path: ray.data.read_parquet(str(path)), workers
    finally:
        ray.shutdown()


def write(path: Path, X: np.ndarray, y: np.ndarray, order: np.ndarray, parts: int) -> None:
    path.mkdir()
    for k, some in enumerate(np.array_split(order, parts)):
        frame = pd.DataFrame(X[some], columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y[some])
        frame.to_parquet(path / f"part-{k:03d}.parquet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--sample", type=int, default=50_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--engines", nargs="*", choices=["dask", "ray"], default=["dask", "ray"])
    given = parser.parse_args()
    # Ray lets its workers wait for everything else otherwise.
    os.environ.setdefault("RAY_worker_niceness", "0")
    X, y = table(given.rows, 0)
    queries, truth = table(DRAWN, 1)
    asked_about = np.append(np.flatnonzero(truth), np.flatnonzero(truth == 0)[:COMMON])
    queries, truth = queries[asked_about], truth[asked_about]
    ordinary = DSNAClassifier(CostSensitiveForestClassifier(given.trees), random_state=0)
    expected = balanced_accuracy_score(truth, ordinary.fit(X, y).predict(queries))
    print(f"{given.rows} x {X.shape[1]} rows, {np.mean(y):.2%} rare; one machine: {expected:.4f}", flush=True)
    print(f"on {np.count_nonzero(truth)} rare and {COMMON} common rows", flush=True)
    few = np.append(np.flatnonzero(y)[:200], np.flatnonzero(y == 0)[:2000])
    orders = {"shuffled": np.arange(len(y)), "sorted by target": np.argsort(y, kind="stable")}
    started = {"dask": dask_workers, "ray": ray_workers}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, order in {"few": few, **orders}.items():
            write(folder / name, X, y, order, 4 * given.workers)
        share = X.nbytes / given.workers / MB
        del X, y
        asked = pd.DataFrame(queries, columns=[f"x{j}" for j in range(queries.shape[1])])
        for engine in given.engines:
            for name in orders:
                with started[engine](given.workers, folder) as (read, workers):
                    small = DistributedDSNAClassifier(ordinary, sample_size=500, shard_rows=100)
                    small.fit(read(folder / "few"), "y").predict(asked[:5])  # kernels are loaded now
                    begin = time.perf_counter()
                    with Watch(workers) as watch:
                        model = DistributedDSNAClassifier(ordinary, sample_size=given.sample)
                        found = model.fit(read(folder / name), "y").predict(asked)
                    score = balanced_accuracy_score(truth, found)
                    others = watch.peaks(ours=False)
                    apart = f" ({others} MB in other tasks)" * bool(others)
                    print(
                        f"{engine}, {name}: {score:.4f} ({score - expected:+.4f}); a worker holds at most "
                        f"{watch.before / MB:.0f} MB before, {watch.peaks(ours=True)} MB meanwhile{apart}; its share "
                        f"of the rows is {share:.1f} MB; {time.perf_counter() - begin:.0f} s",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
