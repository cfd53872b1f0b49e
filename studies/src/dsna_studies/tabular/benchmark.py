"""The benchmark on tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dsna import DSNAError
from dsna.tables import TASKS, TableError

from ..results_file import Key
from ..running import Row, in_processes
from ..study import Say, Study, StudyOptions, run_study
from ..tables import NumericTable, find_tables
from .jobs import LAYOUT, Design, families, plan
from .methods import ablation_rows, methods_of
from .report import PAGE, TaskSummary, report_page
from .search.tuning import INNER_FOLDS, SETTINGS
from .summary import compare

__all__ = ["Benchmark", "BenchmarkOptions", "run_study"]

_QUICK_TABLES, _QUICK_ROWS, _QUICK_FOLDS, _QUICK_SETTINGS = 3, 1000, 2, 3
_FOLDS, _TUNED_ROWS = 5, 2000


@dataclass(frozen=True)
class BenchmarkOptions(StudyOptions):
    """Options of the benchmark; those of all studies are in :class:`dsna_studies.study.StudyOptions`.

    `data` holds the tables, see :func:`dsna_studies.tables.find_tables`. With `quick` the three smallest tables of each
    task, 1000 rows, two folds and six methods are used, unless other options override them.

    Parameters
    ----------
    target, task, only
        See :func:`dsna_studies.tables.find_tables`.
    folds : int or None, default=None
        None: 5, or 2 if `quick`.
    seeds : tuple of int, default=(0,)
        Seeds of the folds and, plus the fold number, of the methods; results are averaged over all.
    max_rows : int or None, default=None
        Larger tables are thinned to this many rows; see :meth:`dsna_studies.tables.NumericTable.thinned`.  None: all
        rows, or 2000 if `tuned`, or 1000 if `quick`.
    relevance : {"auto", "high", "low"}, default="auto"
        Which regression targets matter, to the scores and to our methods.
    tuned : bool, default=False
        Whether each method is also run in a random search over 30 settings (3 if `quick`).
    ablation : bool, default=False
        Whether the stages of our method are also run.
    report : Path or None, default=None
        Folder for the page, the figures and the tables.
    summary_only : bool, default=False
        Whether the results file is summarised without running anything.

    Examples
    --------
    >>> from pathlib import Path
    >>> BenchmarkOptions(Path("tables"), Path("benchmark"), quick=True).n_folds
    2
    """

    target: str | None = None
    task: str | None = None
    only: tuple[str, ...] = ()
    folds: int | None = None
    seeds: tuple[int, ...] = (0,)
    max_rows: int | None = None
    relevance: str = "auto"
    tuned: bool = False
    ablation: bool = False
    report: Path | None = None
    summary_only: bool = False

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return self.folds or (_QUICK_FOLDS if self.quick else _FOLDS)

    @property
    def rows(self) -> int | None:
        """Number of rows to which larger tables are thinned."""
        return self.max_rows or (_QUICK_ROWS if self.quick else _TUNED_ROWS if self.tuned else None)

    @property
    def design(self) -> Design:
        """Folds, seeds and settings."""
        n_settings = _QUICK_SETTINGS if self.quick else SETTINGS
        return Design(self.n_folds, self.seeds, (0, n_settings) if self.tuned else (0,))

    def settings(self) -> str:
        """Describe the settings of the run in a sentence, without paths."""
        seeds = f"seed{'s' if len(self.seeds) > 1 else ''} {', '.join(map(str, self.seeds))}"
        text = f"{self.n_folds} folds, {seeds}"
        if self.rows:
            text += f", tables thinned to {self.rows} rows (rare ones are kept)"
        if self.tuned:
            text += f"; untuned methods, and with {self.design.settings[-1]} settings of random search"
            text += f" on {INNER_FOLDS} inner folds"
        if self.relevance != "auto":
            text += f"; {self.relevance} targets matter"
        return text + ("; a quick run on few rows" if self.quick else "") + "."


class Benchmark(Study):
    r"""Our methods and their peers on tables.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> rows = "\n".join(f"{i},{i % 7},{i / 3}" for i in range(40))
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     _ = (folder / "tiny.csv").write_text("a,b,y\n" + rows)
    ...     options = BenchmarkOptions(folder, folder / "results", methods=("kNN",), folds=2)
    ...     run_study(Benchmark(options), say=lambda text: None)
    0
    """

    layout = LAYOUT

    @property
    def page(self) -> Path | None:
        """File of the page, if a report is written."""
        return self.options.report / PAGE if self.options.report else None

    def prepare(self, say: Say) -> None:
        """Read the tables and plan all fits."""
        options = self.options
        if options.tuned and options.ablation:
            raise DSNAError("Stages of the ablation cannot be tuned: run --tuned and --ablation separately.")
        all_tables = [table.with_relevance(options.relevance) for table in self._read()]
        rows = options.rows
        self.tables = [table.thinned(rows) for table in all_tables] if rows else all_tables
        self.used = rows_used(self.tables, all_tables)
        self.methods = {task: methods_of(task, options.methods, options.quick) for task in TASKS}
        self.stages = {task: ablation_rows(task) if options.ablation else [] for task in TASKS}
        selected_methods = {task: list(dict.fromkeys([*self.methods[task], *self.stages[task]])) for task in TASKS}
        self.jobs = {job.key: job for job in plan(self.tables, selected_methods, options.design)}
        if not self.jobs:
            raise TableError("None of the selected methods is for the tasks of these tables.")
        say(f"{self.used.to_string()}\n")

    def _read(self) -> list[NumericTable]:
        options = self.options
        tables = find_tables(
            options.data, task=options.task, target=options.target, only=options.only, skip=[options.results]
        )
        if options.quick and not options.only:
            by_size = sorted(tables, key=lambda table: table.X.size)
            tables = [table for task in TASKS for table in [t for t in by_size if t.task == task][:_QUICK_TABLES]]
        return tables

    def keys(self) -> list[Key]:
        """Keys of all fits."""
        return list(self.jobs)

    def run(self, keys_to_run: Sequence[Key]) -> Iterator[Row]:
        """Run the fits in processes; each covers one method, with all its decisions, on one fold of a table."""
        return in_processes(families(self.jobs[key] for key in self._to_run(keys_to_run)), self.options.jobs)

    def steps(self, keys_to_run: Sequence[Key]) -> int:
        """Number of fits."""
        return len(self._to_run(keys_to_run))

    def _to_run(self, keys_to_run: Sequence[Key]) -> Sequence[Key]:
        return () if self.options.summary_only else keys_to_run

    def describe(self, row: Mapping[str, Any]) -> str:
        """Name method and table."""
        return f"{row['method']} on {row['dataset']}"

    def report(self, results: pd.DataFrame, say: Say) -> list[str]:
        """Report means, ranks and tests for each task."""
        options = self.options
        own_results = results[pd.MultiIndex.from_frame(results[list(LAYOUT.key)]).isin(self.keys())]
        summaries: dict[str, TaskSummary] = {}
        for task in TASKS:
            for settings in options.design.settings:
                summary = self._summary(own_results[own_results["settings"] == settings], task)
                if summary is not None:
                    summaries[f"{task} tuned" if settings else task] = summary
        for name, summary in summaries.items():
            say(summary.text(name) + "\n")
        return report_page(options.report, summaries, options.settings(), self.used) if options.report else []

    def _summary(self, results: pd.DataFrame, task: str) -> TaskSummary | None:
        """Summarise a task; None if no table is finished."""
        folds = self.options.n_folds
        compared = compare(results, task, self.methods[task], folds)
        if not compared.datasets:
            return None
        stages = compare(results, task, self.stages[task], folds) if self.stages[task] else None
        rare = sum(table.n_rare for table in self.tables if table.task == task and table.name in compared.datasets)
        return TaskSummary(compared, stages if stages and stages.datasets else None, rare)


def rows_used(tables: Sequence[NumericTable], all_tables: Sequence[NumericTable]) -> pd.DataFrame:
    """Count the rows and rare rows of each table before and after thinning; rare: of the rarest class or target.

    Examples
    --------
    >>> import numpy as np
    >>> table = NumericTable("tiny", "classification", np.zeros((500, 1)), np.repeat([0, 1], [480, 20]), "0")
    >>> rows_used([table.thinned(100)], [table])
          rows  rows used  rare rows  rare rows used
    tiny   500        100         20              20
    """
    return pd.DataFrame(
        {
            "rows": [len(table.y) for table in all_tables],
            "rows used": [len(table.y) for table in tables],
            "rare rows": [table.n_rare for table in all_tables],
            "rare rows used": [table.n_rare for table in tables],
        },
        index=[table.name for table in tables],
    )
