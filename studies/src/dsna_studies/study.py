"""The driver that all studies share: options -> data -> results file -> page and figures -> exit code.

A subclass of :class:`Study` defines its data and methods, the keys of its results, how they are computed, and its page.
:func:`run_study` does the rest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from dsna import DSNAError
from dsna.extend.files import check_results_folder, make_folder
from dsna.extend.optional import import_extra

from .pages import close_page
from .results_file import Key, Layout, ResultsFile, load_results
from .running import Row, collect


class DataError(DSNAError):
    """Data of a study that cannot be used; the message names the folder, the problem and the remedy.

    Examples
    --------
    >>> raise DataError("faces is not a folder.")
    Traceback (most recent call last):
    dsna_studies.study.DataError: faces is not a folder.
    """


#: Function that prints a text for the user.
Say = Callable[[str], None]


@dataclass(frozen=True)
class StudyOptions:
    """Options of all studies.

    Parameters
    ----------
    data : Path
        Folder of the data.
    out : Path
        Folder for the results file and, in most studies, page and figures; created if missing.
    methods : tuple of str, default=()
        Names of methods; empty: all.
    quick : bool, default=False
        Whether to use little data, few folds and few trees, to check that everything works.
    jobs : int, default=1
        Processes or threads.
    redo : bool, default=False
        Whether results in the file are computed again.

    Examples
    --------
    >>> from pathlib import Path
    >>> StudyOptions(Path("faces"), Path("age")).results.as_posix()
    'age/results.csv'
    """

    data: Path
    out: Path
    methods: tuple[str, ...] = ()
    quick: bool = False
    jobs: int = 1
    redo: bool = False

    @property
    def results(self) -> Path:
        """The results file."""
        return self.out / "results.csv"


class Study(ABC):
    """Base class of studies.

    Parameters
    ----------
    options : StudyOptions

    Examples
    --------
    >>> import tempfile
    >>> class Constant(Study):
    ...     layout = Layout(key=("method",), values=("score",))
    ...
    ...     def prepare(self, say):
    ...         pass
    ...
    ...     def keys(self):
    ...         return [("mean",), ("median",)]
    ...
    ...     def run(self, missing_keys):
    ...         return ({"method": method, "score": 0.5} for (method,) in missing_keys)
    ...
    ...     def describe(self, row):
    ...         return row["method"]
    ...
    ...     def report(self, results, say):
    ...         say(f"{len(results)} scores")
    ...         return ["# Constants"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run_study(Constant(StudyOptions(Path("data"), Path(folder))), say=lambda text: print(text[:16]))
    0 of 2 results a
    2 scores
    0
    """

    #: Columns of the results file.
    layout: ClassVar[Layout]
    #: Unit of the progress bar.
    unit: ClassVar[str] = "fit"

    def __init__(self, options: Any) -> None:
        self.options = options

    @property
    def page(self) -> Path | None:
        """File of the page; None if no page is written."""
        return None

    @abstractmethod
    def prepare(self, say: Say) -> None:
        """Read the data and select methods; raise a DSNAError if that fails, and write nothing."""

    @abstractmethod
    def keys(self) -> Sequence[Key]:
        """Return the keys of all results of the run."""

    def finished(self, results: pd.DataFrame) -> set[Key]:
        """Return the keys of the results that need not be computed again."""
        return set(results[list(self.layout.key)].itertuples(index=False, name=None))

    def steps(self, missing_keys: Sequence[Key]) -> int:
        """Return the number of rows that :meth:`run` yields."""
        return len(missing_keys)

    @abstractmethod
    def run(self, missing_keys: Sequence[Key]) -> Iterator[Row]:
        """Yield a row per result: key and values, or an ``error``; rows without a key only show progress."""

    @abstractmethod
    def describe(self, row: Mapping[str, Any]) -> str:
        """Describe a row in a few words."""

    @abstractmethod
    def report(self, results: pd.DataFrame, say: Say) -> list[str]:
        """Return the paragraphs of the page, in Markdown; print the main tables and write the figures."""


def run_study(study: Study, say: Say = print) -> int:
    """Compute the results that are missing in the results file, then write page and figures.

    Parameters
    ----------
    study : Study
    say : callable, default=print
        Prints a text.

    Returns
    -------
    int
        Exit code: 0, or 1 if something failed.

    Raises
    ------
    DSNAError
        If a folder, a name or the results file cannot be used; then nothing is run.
    """
    options = study.options
    names_by_folder = {options.out: [options.results.name]}
    if study.page is not None:
        names_by_folder.setdefault(study.page.parent, []).append(study.page.name)
    for folder, names in names_by_folder.items():
        check_results_folder(folder, *names)
    study.prepare(say)
    if study.page is not None:
        import_extra("matplotlib", "report")  # before hours of work, not after
    all_keys = study.keys()
    finished_keys = study.finished(load_results(options.results, study.layout))
    missing_keys = [key for key in all_keys if options.redo or key not in finished_keys]
    make_folder(options.out)
    say(f"{len(all_keys) - len(missing_keys)} of {len(all_keys)} results are in {options.results} already.")
    file = ResultsFile(options.results, study.layout)
    failures = collect(study.run(missing_keys), study.steps(missing_keys), file, study.describe, study.unit)
    page = study.report(load_results(options.results, study.layout), say)
    return close_page(study.page, page, failures, say)
