"""Work in several processes with a progress bar; results are stored at once, and a failure does not stop the others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import joblib

from .cli import REMEDY
from .results_file import ResultsFile

Row = dict[str, Any]
#: A picklable task that returns results; failed ones have an ``error``.
Work = Callable[[], list[Row]]


def in_processes(tasks: Iterable[Work], n_jobs: int) -> Iterator[Row]:
    """Run tasks in processes; yield their results in the order in which they finish.

    Examples
    --------
    >>> list(in_processes([lambda: [{"method": "RF"}]], n_jobs=1))
    [{'method': 'RF'}]
    """
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    for rows in parallel(joblib.delayed(_call)(task) for task in list(tasks)):
        yield from rows


def _call(task: Work) -> list[Row]:
    return task()


def collect(
    rows: Iterable[Row],
    total: int,
    file: ResultsFile,
    describe: Callable[[Mapping[str, Any]], str],
    unit: str = "fit",
) -> list[str]:
    """Append results to a file as they come, with a progress bar.

    Parameters
    ----------
    rows : iterable of dict
        Results; those with an ``error`` are not stored, and those without a key only show progress.
    total : int
        Number of rows.
    file : ResultsFile
    describe : callable
        Describes a row in a few words.
    unit : str, default="fit"
        Unit of the progress bar.

    Returns
    -------
    list of str
        A line for each failure.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dsna_studies.results_file import Layout
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = ResultsFile(Path(folder) / "results.csv", Layout(("method",), ("seconds",)))
    ...     collect([{"method": "RF", "error": "no luck"}], 1, file, lambda row: row["method"])
    ['RF: no luck']
    """
    failures: list[str] = []
    with file:
        for row in progress(rows, total, describe, unit):
            if "error" in row:
                failures.append(f"{describe(row)}: {row['error']}")
            elif row.keys() >= set(file.layout.key):
                file.add(row)
    return failures


def progress(rows: Iterable[Row], total: int, describe: Callable[[Row], str], unit: str = "fit") -> Iterator[Row]:
    """Yield rows with a progress bar on stderr; a log gets a line from time to time.

    Examples
    --------
    >>> list(progress([], 0, str))
    []
    """
    from tqdm import tqdm

    bar = tqdm(total=total, disable=not total, mininterval=0.1 if sys.stderr.isatty() else 15.0, unit=unit)
    with bar:
        for row in rows:
            yield row
            bar.set_postfix_str(describe(row), refresh=False)
            bar.update()


def failure(error: Exception) -> str:
    """Describe an exception in one line; for a missing package, with the remedy.

    Examples
    --------
    >>> failure(RuntimeError("no luck"))
    'RuntimeError: no luck'
    >>> failure(ModuleNotFoundError(name="lightgbm"))
    'lightgbm is not installed; pip install -e studies, from a clone'
    """
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"{error.name} is not installed; {REMEDY}"
    if isinstance(error, ImportError):
        return f"{error}; {REMEDY}"
    return f"{type(error).__name__}: {error}"
