"""Methods on the folds of tables, each as a job whose failure is reported while the others go on."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ...tables import Table, TableError
from ..models import warm_up
from ..results_file import Layout
from ..running import Row, failure
from .folds import split
from .methods import maker
from .scores import METRICS, TIMES, classification_scores, regression_scores

#: One line for each (table, fold, method).
LAYOUT = Layout(
    key=("task", "dataset", "checksum", "folds", "seed", "fold", "method"),
    values=(*METRICS["classification"], *METRICS["regression"], *TIMES),
    whole=("folds", "seed", "fold"),
)


@dataclass(frozen=True)
class Job:
    """A method on a fold of a table.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table("tiny", "regression", np.arange(20.0)[:, None], np.arange(20.0), "00")
    >>> job = Job(table, 2, 0, 0, "kNN", np.arange(0, 20, 2), np.arange(1, 20, 2))
    >>> job.key
    ('regression', 'tiny', '00', 2, 0, 0, 'kNN')
    >>> bool(job()[0]["mae"] < 1)
    True
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
        """What the result is stored under, in the order of the layout."""
        table = self.table
        return (table.task, table.name, table.checksum, self.folds, self.seed, self.fold, self.method)

    def __call__(self) -> list[Row]:
        """Key, scores and times, on one thread; or the key and an ``error``."""
        row: Row = dict(zip(LAYOUT.key, self.key, strict=True))
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            try:
                return [row | self._scores()]
            except Exception as error:  # any failure of one method must leave the others running
                return [row | {"error": failure(error, "cli", "bench", "report")}]

    def _scores(self) -> Row:
        table, train, test = self.table, self.train, self.test
        model = maker(table.task, self.method, table.relevance)((self.seed + self.fold) % 2**32)
        warm_up(model, table.X.shape[1], table.task == "regression")
        start = time.perf_counter()
        model.fit(table.X[train], table.y[train])
        fitted = time.perf_counter()
        predicted = model.predict(table.X[test])
        times = {"fit_seconds": fitted - start, "predict_seconds": time.perf_counter() - fitted}
        asked = (model, table.X[test], table.y[test], predicted)
        if table.task == "regression":
            return times | regression_scores(*asked, train=table.y[train], relevance=table.relevance)
        return times | classification_scores(*asked)


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
