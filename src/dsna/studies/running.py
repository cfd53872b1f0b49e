"""Work on several processes, with a progress bar; each result is filed at once, and a failure stops nothing else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from .results_file import Ledger
from .shared_fits import with_trees

Row = dict[str, Any]


def execute(
    work: Iterable[Callable[[], list[Row]]],
    total: int,
    ledger: Ledger,
    n_jobs: int,
    named: Callable[[Mapping[str, Any]], str],
) -> list[str]:
    """Do pieces of work and append their results to a file.

    Parameters
    ----------
    work : iterable of callables without arguments, that processes can be sent
        Each returns results, of which those that failed hold an ``error``.
    total : int
        Number of results, for the progress bar.
    ledger : Ledger
    n_jobs : int
        Processes.
    named : callable
        What a result is about, in a word or two.

    Returns
    -------
    list of str
        A line for each failure.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dsna.studies.results_file import Layout
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(Path(folder) / "results.csv", Layout(("method",), ("seconds",)))
    ...     execute([lambda: [{"method": "RF", "error": "no luck"}]], 1, ledger, 1, lambda row: row["method"])
    ['RF: no luck']
    """
    failures: list[str] = []
    finished = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")(joblib.delayed(_do)(one) for one in work)
    with ledger:
        for row in progress((row for rows in finished for row in rows), total, named):
            if "error" in row:
                failures.append(f"{named(row)}: {row['error']}")
            else:
                ledger.add(row)
    return failures


def _do(one: Callable[[], list[Row]]) -> list[Row]:
    return one()


def progress(finished: Iterable[Row], total: int, named: Callable[[Row], str], unit: str = "fit") -> Iterator[Row]:
    """Pass results through under a progress bar on stderr; a log gets a line now and then.

    Examples
    --------
    >>> list(progress([], 0, str))
    []
    """
    from tqdm import tqdm

    bar = tqdm(total=total, disable=not total, mininterval=0.1 if sys.stderr.isatty() else 15.0, unit=unit)
    with bar:
        for row in finished:
            yield row
            bar.set_postfix_str(named(row), refresh=False)
            bar.update()


def warm_up(model: Any, columns: int, regression: bool) -> None:
    """Load the compiled kernels of one of our estimators into this process, so that no time measured holds any of it.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> warm_up(Ridge(), 3, regression=True)  # not ours: nothing to do
    """
    if not type(model).__module__.startswith("dsna."):
        return
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, columns))
    y = X[:, 0] if regression else np.arange(60) % 2
    with_trees(clone(model), 2).fit(X, y).predict(X[:2])
