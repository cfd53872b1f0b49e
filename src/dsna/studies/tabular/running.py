"""Methods on the folds of tables, each as a job whose failure is told while the rest goes on."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ...tables import Table, TableError
from .. import running
from .folds import split
from .methods import maker
from .results import KEY, ResultsWriter
from .scores import classification_scores, regression_scores


@dataclass(frozen=True)
class Job:
    """A method on a fold of a table.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table("tiny", "regression", np.zeros((4, 1)), np.arange(4.0), "00")
    >>> Job(table, 5, 0, 2, "RF", np.arange(3), np.arange(3, 4)).key
    ('regression', 'tiny', '00', 5, 0, 2, 'RF')
    """

    table: Table
    folds: int
    seed: int
    fold: int
    method: str
    train: np.ndarray
    test: np.ndarray

    @property
    def key(self) -> tuple[Any, ...]:
        """What the result is filed under, in the order of ``KEY``."""
        table = self.table
        return (table.task, table.name, table.checksum, self.folds, self.seed, self.fold, self.method)


def plan(tables: Iterable[Table], methods: Mapping[str, Sequence[str]], folds: int, seeds: Sequence[int]) -> list[Job]:
    """All jobs: every method of a table's task on every fold of every seed; tables too small for that are refused.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table("tiny", "regression", np.zeros((4, 1)), np.arange(4.0), "00")
    >>> [(job.seed, job.fold, job.method) for job in plan([table], {"regression": ["RF"]}, 2, [0, 1])]
    [(0, 0, 'RF'), (0, 1, 'RF'), (1, 0, 'RF'), (1, 1, 'RF')]
    """
    jobs: list[Job] = []
    problems: list[str] = []
    for table in tables:
        try:
            jobs += [
                Job(table, folds, seed, fold, method, train, test)
                for seed in seeds
                for fold, (train, test) in enumerate(split(table, folds, seed))
                for method in methods[table.task]
            ]
        except TableError as error:
            problems.append(str(error))
    if problems:
        raise TableError("\n".join(problems))
    return jobs


def run(job: Job) -> dict[str, Any]:
    """Key, scores and times of a job, on one thread; or the key and an ``error``.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table("tiny", "regression", np.arange(20.0)[:, None], np.arange(20.0), "00")
    >>> row = run(Job(table, 2, 0, 0, "kNN", np.arange(0, 20, 2), np.arange(1, 20, 2)))
    >>> row["method"], bool(row["mae"] < 1)
    ('kNN', True)
    """
    table, train, test = job.table, job.train, job.test
    row: dict[str, Any] = dict(zip(KEY, job.key, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = maker(table.task, job.method)((job.seed + job.fold) % 2**32)
            with threadpool_limits(1):
                running.warm_up(model, table.X.shape[1], table.task == "regression")
                start = time.perf_counter()
                model.fit(table.X[train], table.y[train])
                fitted = time.perf_counter()
                predicted = model.predict(table.X[test])
                row |= {"fit_seconds": fitted - start, "predict_seconds": time.perf_counter() - fitted}
                asked = (model, table.X[test], table.y[test], predicted)
                if table.task == "regression":
                    return row | regression_scores(*asked, train=table.y[train])
                return row | classification_scores(*asked)
        except ModuleNotFoundError as error:
            return row | {"error": f"{error}; pip install 'dsna[cli,bench,report]'"}
        except Exception as error:  # any failure of one method must leave the others running
            return row | {"error": f"{type(error).__name__}: {error}"}


def execute(jobs: Sequence[Job], out: Path, n_jobs: int) -> list[str]:
    """Run jobs and append each result to a file.

    Parameters
    ----------
    jobs : sequence of Job
    out : Path
        Result file (see :class:`dsna.studies.tabular.results.ResultsWriter`).
    n_jobs : int
        Processes.

    Returns
    -------
    list of str
        A line for each failure.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     execute([], Path(folder) / "results.csv", n_jobs=1)
    []
    """
    work = [partial(_rows, run, job) for job in jobs]
    return running.execute(work, len(jobs), ResultsWriter(out), n_jobs, lambda r: f"{r['method']} on {r['dataset']}")


def _rows(run: Callable[[Job], dict[str, Any]], job: Job) -> list[dict[str, Any]]:
    return [run(job)]
