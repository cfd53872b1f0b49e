"""Jobs that run a method on a fold of a table; a failure is reported and the other jobs continue."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from dsna.tables import TableError

from ..baselines import DecidedLater, PriorsDivided
from ..models import warm_up
from ..results_file import Layout
from ..running import Row, failure
from ..tables import NumericTable
from .folds import split
from .methods import maker
from .scores import METRICS, TIMES, classification_scores, regression_scores
from .search.spaces import space_of
from .search.tuning import make_search

#: One line per (table, fold, method); `settings` is the number that a random search has tried, 0 without a search.
LAYOUT = Layout(
    key=("task", "dataset", "checksum", "folds", "seed", "fold", "settings", "method"),
    values=(*METRICS["classification"], *METRICS["regression"], *TIMES),
    whole=("folds", "seed", "fold", "settings"),
)


class Design(NamedTuple):
    """Folds, seeds and numbers of settings with which each method is run.

    Attributes
    ----------
    folds : int
    seeds : tuple of int
    settings : tuple of int
        Numbers of settings to search; 0: the untuned method.
    """

    folds: int
    seeds: tuple[int, ...] = (0,)
    settings: tuple[int, ...] = (0,)


#: Fitted models by method, each with the seconds of its fit.
Fits = dict[str, tuple[Any, float]]


@dataclass(frozen=True)
class FoldJob:
    """A method on a fold of a table.

    Examples
    --------
    >>> import numpy as np
    >>> table = NumericTable("tiny", "regression", np.arange(20.0)[:, None], np.arange(20.0), "00")
    >>> job = FoldJob(table, 2, 0, 0, "kNN", np.arange(0, 20, 2), np.arange(1, 20, 2))
    >>> job.key
    ('regression', 'tiny', '00', 2, 0, 0, 0, 'kNN')
    >>> bool(job()[0]["mae"] < 1)
    True
    """

    table: NumericTable
    folds: int
    seed: int
    fold: int
    method: str
    train: np.ndarray
    test: np.ndarray
    settings: int = 0

    @property
    def key(self) -> tuple[Any, ...]:
        """Key of the result, in the order of the layout."""
        table = self.table
        run_key = (self.folds, self.seed, self.fold, self.settings, self.method)
        return (table.task, table.name, table.checksum, *run_key)

    @property
    def family(self) -> tuple[Any, ...]:
        """Key of the jobs that may share a fit: the key without the part of the method after a slash."""
        return (*self.key[:-1], self.method.partition("/")[0])

    def __call__(self, fits: Fits | None = None) -> list[Row]:
        """Return key, scores and CPU seconds, on one thread; or the key and an ``error``.

        Parameters
        ----------
        fits : dict or None, default=None
            Fits of other jobs of the family; this job adds its own.
        """
        row: Row = dict(zip(LAYOUT.key, self.key, strict=True))
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            try:
                return [row | self._scores({} if fits is None else fits)]
            except Exception as error:  # a failure of one method must not stop the others
                return [row | {"error": failure(error)}]

    def _scores(self, fits: Fits) -> Row:
        table, test = self.table, self.test
        model = maker(table.task, self.method, table.relevance)((self.seed + self.fold) % 2**32)
        warm_up(model, table.X.shape[1], table.task == "regression")
        fitted, seconds = self._fitted(model, fits)
        model = getattr(fitted, "best_estimator_", fitted)
        start = time.process_time()
        predicted = model.predict(table.X[test])
        times = {"fit_seconds": seconds, "predict_seconds": time.process_time() - start}
        scoring_arguments = (model, table.X[test], table.y[test], predicted)
        if table.task == "regression":
            return times | regression_scores(*scoring_arguments, train=table.y[self.train], relevance=table.relevance)
        return times | classification_scores(*scoring_arguments)

    def _fitted(self, model: Any, fits: Fits) -> tuple[Any, float]:
        """Return the fitted model and the seconds of its fit; models that only decide share a fit within the family."""
        X, y = self.table.X[self.train], self.table.y[self.train]
        if not isinstance(model, DecidedLater):
            fits[self.method] = timed(lambda: self._searched(model).fit(X, y))
            return fits[self.method]
        undecided_method = self.family[-1] + ("/priors" if self.settings else "")
        if undecided_method not in fits:
            # Settings are searched with priors divided out, whichever decision comes later.
            undecided_model = PriorsDivided(model.estimator) if self.settings else model.estimator
            fits[undecided_method] = timed(lambda: self._searched(undecided_model).fit(X, y))
        fitted, seconds = fits[undecided_method]
        if self.settings:
            fitted = fitted.best_estimator_.estimator_
            model.set_params(estimator=clone(fitted))
        decided_model, decision_seconds = timed(lambda: model.adopt(fitted, X, y))
        return decided_model, seconds + decision_seconds

    def _searched(self, model: Any) -> Any:
        """Return the model, inside a search if settings are searched."""
        if not self.settings:
            return model
        task, seed = self.table.task, (self.seed + self.fold) % 2**32
        return make_search(model, space_of(task, self.method), task, self.settings, seed)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of a function and the CPU seconds that it took, without other work on the machine.

    Examples
    --------
    >>> timed(lambda: "done")[0]
    'done'
    """
    start = time.process_time()
    return work(), time.process_time() - start


@dataclass(frozen=True)
class JobFamily:
    """Jobs that may share a fit, such as a booster that decides in several ways.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 0, 0, 1] * 5)
    >>> table = NumericTable("tiny", "classification", np.arange(20.0)[:, None], y, "00")
    >>> jobs = [FoldJob(table, 2, 0, 0, name, np.arange(12), np.arange(12, 20)) for name in ("RF", "RF/priors")]
    >>> [row["method"] for row in JobFamily(tuple(jobs))()]
    ['RF', 'RF/priors']
    """

    jobs: tuple[FoldJob, ...]

    def __call__(self) -> list[Row]:
        """Return the results of all jobs, in order."""
        fits: Fits = {}
        return [row for job in self.jobs for row in job(fits)]


def families(jobs: Iterable[FoldJob]) -> list[JobFamily]:
    """Group neighbouring jobs that may share a fit.

    Examples
    --------
    >>> import numpy as np
    >>> table = NumericTable("tiny", "classification", np.zeros((8, 1)), np.array([0, 0, 0, 1] * 2), "00")
    >>> methods = {"classification": ["RF", "RF/priors", "kNN"]}
    >>> [len(family.jobs) for family in families(plan([table], methods, Design(2)))]
    [2, 1, 2, 1]
    """
    return [JobFamily(tuple(family_jobs)) for _, family_jobs in groupby(jobs, key=lambda job: job.family)]


def plan(tables: Sequence[NumericTable], methods: Mapping[str, Sequence[str]], design: Design) -> list[FoldJob]:
    """List all jobs: every method of a table's task on every fold of every seed; refuse tables that are too small.

    Seeds come one after another, so that an interrupted run has finished some of them.

    Examples
    --------
    >>> import numpy as np
    >>> table = NumericTable("tiny", "regression", np.zeros((4, 1)), np.arange(4.0), "00")
    >>> [(job.seed, job.fold, job.method) for job in plan([table], {"regression": ["RF"]}, Design(2, (0, 1)))]
    [(0, 0, 'RF'), (0, 1, 'RF'), (1, 0, 'RF'), (1, 1, 'RF')]
    """
    jobs: list[FoldJob] = []
    problems: list[str] = []
    for settings, seed, table in product(design.settings, design.seeds, tables):
        try:
            folds = split(table, design.folds, seed)
        except TableError as error:
            problems.append(str(error))
            continue
        jobs += [
            FoldJob(table, design.folds, seed, fold, method, train, test, settings)
            for fold, (train, test) in enumerate(folds)
            for method in methods[table.task]
        ]
    if problems:
        raise TableError("\n".join(dict.fromkeys(problems)))
    return jobs
