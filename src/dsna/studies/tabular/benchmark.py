"""The whole benchmark: from options to an exit code."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ..._utils.atomic import check_results_folder, make_folder
from ..._utils.optional import import_extra
from ...tables import Table, TableError, find_tables
from ...tables.read import TASKS
from .methods import ablation_rows, choose_methods
from .report import PAGE, Verdict, write_report
from .results import KEY, load_results
from .running import execute, plan
from .summary import compare

_QUICK_TABLES, _QUICK_ROWS, _QUICK_FOLDS, _FOLDS = 3, 1000, 2, 5


@dataclass(frozen=True)
class Options:
    """What to run.

    Parameters
    ----------
    folder : Path
        Tables, see :func:`dsna.vision.datasets.find_tables`.
    out : Path
        Folder for the result file, which is appended to and resumed from; made where it is missing.
    target, task, only
        See :func:`dsna.vision.datasets.find_tables`.
    folds : int or None, default=None
        None: 5, or 2 where `quick`.
    seeds : tuple of int, default=(0,)
        Of the folds and, plus the number of the fold, of the methods; results are averaged over all.
    jobs : int, default=1
        Processes, of one thread each.
    methods : tuple of str, default=()
        Names; empty: all, or few where `quick`.
    max_rows : int or None, default=None
        Larger tables are thinned out to as many rows; see :meth:`dsna.vision.datasets.Table.thinned`.
    quick : bool, default=False
        Three smallest tables of each task, 1000 rows, two folds, six methods; what is named otherwise counts.
    redo : bool, default=False
        Whether results that are there are computed again.
    ablation : bool, default=False
        Whether the stages of our method are run too.
    report : Path or None, default=None
        Folder for the page, the pictures and the tables.

    Examples
    --------
    >>> from pathlib import Path
    >>> Options(Path("tables"), Path("benchmark"), quick=True).n_folds
    2
    """

    folder: Path
    out: Path
    target: str | None = None
    task: str | None = None
    only: tuple[str, ...] = ()
    folds: int | None = None
    seeds: tuple[int, ...] = (0,)
    jobs: int = 1
    methods: tuple[str, ...] = ()
    max_rows: int | None = None
    quick: bool = False
    redo: bool = False
    ablation: bool = False
    report: Path | None = None

    @property
    def results(self) -> Path:
        """The result file."""
        return self.out / "results.csv"

    @property
    def n_folds(self) -> int:
        """Folds that are used."""
        return self.folds or (_QUICK_FOLDS if self.quick else _FOLDS)

    def settings(self) -> str:
        """What was run, in a sentence, with no path of this machine."""
        seeds = f"seed{'s' if len(self.seeds) > 1 else ''} {', '.join(map(str, self.seeds))}"
        return f"{self.n_folds} folds, {seeds}" + (", a quick run on few rows" if self.quick else "") + "."


def benchmark(options: Options, say: Callable[[str], None] = print) -> int:
    r"""Run what is not in the result file yet, tell the verdict, and write the report.

    Parameters
    ----------
    options : Options
    say : callable, default=print
        Takes the verdict, in pieces of text.

    Returns
    -------
    int
        0, or 1 where a method failed on a table.

    Raises
    ------
    TableError, ResultsError, FileError
        Where the options, a folder or the result file cannot be used; nothing has been run then.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> rows = "\n".join(f"{i},{i % 7},{i / 3}" for i in range(40))
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     _ = (folder / "tiny.csv").write_text("a,b,y\n" + rows)
    ...     options = Options(folder, folder / "found", methods=("kNN",), folds=2)
    ...     benchmark(options, say=lambda text: None)
    0
    """
    check_results_folder(options.out, options.results.name)
    if options.report:
        check_results_folder(options.report, PAGE)
        import_extra("matplotlib", "report")  # before hours of work, not after
    whole = _tables(options)
    rows = options.max_rows or (_QUICK_ROWS if options.quick else None)
    tables = [table.thinned(rows) for table in whole] if rows else whole
    used = rows_used(tables, whole)
    methods = {task: choose_methods(task, options.methods, options.quick) for task in TASKS}
    stages = {task: ablation_rows(task) if options.ablation else [] for task in TASKS}
    wanted = {task: list(dict.fromkeys([*methods[task], *stages[task]])) for task in TASKS}
    jobs = plan(tables, wanted, options.n_folds, options.seeds)
    if not jobs:
        raise TableError("None of the methods asked for is meant for the tasks of these tables.")
    before = load_results(options.results)
    done = set() if options.redo else set(before[list(KEY)].itertuples(index=False, name=None))
    left = [job for job in jobs if job.key not in done]

    make_folder(options.out)
    say(f"{used.to_string()}\n")
    failures = execute(left, options.results, options.jobs)
    results = load_results(options.results)
    results = results[pd.MultiIndex.from_frame(results[list(KEY)]).isin([job.key for job in jobs])]
    runs = options.n_folds * len(options.seeds)
    verdicts = {}
    for task in TASKS:
        compared = compare(results, task, methods[task], runs)
        if compared.datasets:
            staged = compare(results, task, stages[task], runs) if stages[task] else None
            rare = sum(table.positives for table in tables if table.task == task and table.name in compared.datasets)
            verdicts[task] = Verdict(compared, staged if staged and staged.datasets else None, rare)
            say(verdicts[task].text() + "\n")
    say(f"{len(jobs) - len(left)} of {len(jobs)} results were in {options.results} before (--redo repeats them).")
    told = [f"{failure} ({count} of {runs} folds)" for failure, count in Counter(failures).items()]
    if options.report:
        say(f"Report: {write_report(options.report, verdicts, options.settings(), told, used)}")
    for line in told:
        print(f"failed: {line}", file=sys.stderr)
    return 1 if failures else 0


def _tables(options: Options) -> list[Table]:
    tables = find_tables(
        options.folder, task=options.task, target=options.target, only=options.only, skip=[options.results]
    )
    if options.quick and not options.only:
        by_size = sorted(tables, key=lambda table: table.X.size)
        tables = [table for task in TASKS for table in [t for t in by_size if t.task == task][:_QUICK_TABLES]]
    return tables


def rows_used(tables: Sequence[Table], whole: Sequence[Table]) -> pd.DataFrame:
    """How many rows of each table are used, and how many of these are of the rarest class or have rare labels.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table("tiny", "classification", np.zeros((500, 1)), np.repeat([0, 1], [480, 20]), "0")
    >>> rows_used([table.thinned(100)], [table])
          rows  rows used  rare rows  rare rows used
    tiny   500        100         20              20
    """
    return pd.DataFrame(
        {
            "rows": [len(table.y) for table in whole],
            "rows used": [len(table.y) for table in tables],
            "rare rows": [table.positives for table in whole],
            "rare rows used": [table.positives for table in tables],
        },
        index=[table.name for table in tables],
    )
