"""What the passes of a distributed model cost, per row, query and shard: CPU seconds and bytes, in this process.

``python benchmarks/distributed_costs.py --rows 100000`` prints a table of the costs, and what they add up to for 10^9
rows on 100 machines, as docs/large_tables_distributed.md quotes it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np

from dsna import CostSensitiveForestClassifier, DSNAClassifier
from dsna.distributed import DistributedDSNAClassifier
from dsna.distributed.asking.core import answer, prepare, shard_answer
from dsna.distributed.blocks import Roles
from dsna.distributed.engines.local import LocalEngine
from dsna.distributed.placed import Passes
from dsna.distributed.shards import ROWS

MACHINES, CORES, ROWS_OF_ALL, QUERIES = 100, 16, 10**9, 10**6
KEPT, SHARD = 32, 250_000  # rows of a leaf, and of a shard
HARD = 0.1  # leaves of a tree for each row that it is grown on, where hardly any leaf is pure


def table(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 20))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n)
    return X, (score > 4.2).astype(int)  # about one in 200


class Clock:
    """CPU seconds since it was asked last."""

    def __init__(self) -> None:
        self.last = time.process_time()

    def __call__(self) -> float:
        before, self.last = self.last, time.process_time()
        return self.last - before


class Timed:
    """A function, and the CPU seconds that it took."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.seconds = function, 0.0

    def __call__(self, *given: Any) -> Any:
        clock = Clock()
        found = self.function(*given)
        self.seconds += clock()
        return found


def answer_bytes(answer: Any) -> int:
    """Bytes of the arrays of an answer of a shard."""
    rows = answer.known.state.values()
    return sum(array.nbytes for array in (*answer.state.values(), *rows) if isinstance(array, np.ndarray))


def measure(n: int, trees: int, sample_size: int) -> dict[str, float]:
    X, y = table(n, 0)
    ordinary = DSNAClassifier(CostSensitiveForestClassifier(trees), random_state=0)
    parts: list[Any] = [(X[i : i + 20_000], y[i : i + 20_000]) for i in range(0, n, 20_000)]
    few = DistributedDSNAClassifier(ordinary, sample_size=1000).fit(parts[:1], None)
    few.predict(X[:10])  # kernels are compiled now
    passes = Passes(LocalEngine(), parts, 0, sample_size, 5_000)
    clock = Clock()
    totals, _ = passes.count(Roles(), True, "columns")
    count = clock()
    passes.sample(totals)
    sampled = clock()
    placing = Timed(Passes.place)
    with patch.object(Passes, "place", lambda *given: placing(*given)):
        model = DistributedDSNAClassifier(ordinary, sample_size=sample_size, shard_rows=5_000).fit(parts, None)
    fitted, placed = clock(), placing.seconds
    shards = model._placed.shards
    queries = table(2048, 1)[0]
    clock()
    asked = prepare(model._core, queries, 0, "X")
    prepared = clock()
    answers = [shard_answer(asked, shard) for shard in shards]
    answered = clock()
    answer(model._core, asked, "predict_proba", {}, *answers)
    solved = clock()
    leaves = model._core.forest.trees.n_leaves
    row_bytes = sum(getattr(shard, name).nbytes for shard in shards for name in ROWS)
    leaf_bytes = sum(shard.leaf_rows.nbytes for shard in shards)
    kept = sum(shard.n_rows for shard in shards)
    return {
        "count, CPU s a row": count / n,
        "sample, CPU s a row": sampled / n,
        "place, CPU s a row": placed / n,
        "grow and learn, CPU s a row of the sample": max(0.0, fitted - count - sampled - placed) / sample_size,
        "prepare, CPU s a query": prepared / len(queries),
        "ask, CPU s a query and shard": answered / len(queries) / len(shards),
        "merge and solve, CPU s a query": solved / len(queries),
        "rows kept, share": kept / n,
        "bytes of a row kept": row_bytes / kept,
        "bytes of its places in leaves": leaf_bytes / kept,
        "leaves a row of the sample and tree": leaves / trees / sample_size,
        "bytes of an answer, a query and shard": sum(map(answer_bytes, answers)) / len(queries) / len(shards),
        "shards": len(shards),
        "trees": trees,
        "sample": sample_size,
    }


def project(cost: dict[str, float], leaves_of_a_row: float, sample: int = 10**6) -> dict[str, float]:
    """10^9 rows on 100 machines of 16 cores, with trees grown on 10^6 rows."""
    leaves = leaves_of_a_row * cost["trees"] * sample
    kept = min(ROWS_OF_ALL, KEPT * leaves)  # at most: trees mostly keep the same rows
    shards = -(-kept // SHARD)
    passed = cost["count, CPU s a row"] + cost["sample, CPU s a row"] + cost["place, CPU s a row"]
    answers = cost["merge and solve, CPU s a query"] + shards * cost["ask, CPU s a query and shard"]
    return {
        "leaves a row of the sample and tree": leaves_of_a_row,
        "passes, minutes on all cores": ROWS_OF_ALL / MACHINES / CORES * passed / 60,
        "grow and learn, minutes on one core": sample * cost["grow and learn, CPU s a row of the sample"] / 60,
        "leaf sums of a partition, MB": leaves * 2 * 16 / 1e6,
        "rows kept, millions": kept / 1e6,
        "rows kept on a machine, GB": kept * cost["bytes of a row kept"] / MACHINES / 1e9,
        "shards": shards,
        "a million queries, core minutes": QUERIES * answers / 60,
        "a million queries, GB over the network": QUERIES
        * shards
        * cost["bytes of an answer, a query and shard"]
        / 1e9,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--sample", type=int, default=20_000)
    given = parser.parse_args()
    cost = measure(given.rows, given.trees, given.sample)
    found = {
        "measured": cost,
        "10^9 rows on 100 machines": project(cost, cost["leaves a row of the sample and tree"]),
        "the same where classes are hard to tell apart": project(cost, HARD),
    }
    for title, values in found.items():
        print(f"\n{title}")
        for name, value in values.items():
            print(f"  {name:<48} {value:.3g}")


if __name__ == "__main__":
    main()
