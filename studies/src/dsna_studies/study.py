"""The driver that all studies share: options -> data -> results file -> page and figures -> exit code.

A study states what is its own, as a :class:`Study`: its data and methods, the results it wants, how they are computed
and what its page says. :func:`run_study` does the rest.
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
    """The data of a study cannot be used; the message names the folder, the problem and the remedy.

    Examples
    --------
    >>> raise DataError("faces is not a folder.")
    Traceback (most recent call last):
    dsna_studies.study.DataError: faces is not a folder.
    """


#: Takes a piece of text for the user.
Say = Callable[[str], None]


@dataclass(frozen=True)
class StudyOptions:
    """Options that all studies have.

    Parameters
    ----------
    data : Path
        Folder of the data.
    out : Path
        Folder for the results file and, in most studies, page and figures; created if it is missing.
    methods : tuple of str, default=()
        Names of methods; empty: all.
    quick : bool, default=False
        Little data, few folds and trees, to see that everything works.
    jobs : int, default=1
        Processes or threads.
    redo : bool, default=False
        Whether results that are in the file are computed again.

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
    """What is particular to a study.

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
    ...     def run(self, left):
    ...         return ({"method": method, "score": 0.5} for (method,) in left)
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
    #: What the progress bar counts.
    unit: ClassVar[str] = "fit"

    def __init__(self, options: Any) -> None:
        self.options = options

    @property
    def page(self) -> Path | None:
        """File of the page; None: no page is written."""
        return None

    @abstractmethod
    def prepare(self, say: Say) -> None:
        """Read the data and select methods; raise a DSNAError where that fails, and write nothing."""

    @abstractmethod
    def keys(self) -> Sequence[Key]:
        """Keys of all results asked for."""

    def finished(self, results: pd.DataFrame) -> set[Key]:
        """Keys of the results that need not be computed again."""
        return set(results[list(self.layout.key)].itertuples(index=False, name=None))

    def steps(self, left: Sequence[Key]) -> int:
        """Number of rows that :meth:`run` yields."""
        return len(left)

    @abstractmethod
    def run(self, left: Sequence[Key]) -> Iterator[Row]:
        """Compute results, a row each: key and values, or an ``error``; rows without a key only show progress."""

    @abstractmethod
    def describe(self, row: Mapping[str, Any]) -> str:
        """What a row is about, in a few words."""

    @abstractmethod
    def report(self, results: pd.DataFrame, say: Say) -> list[str]:
        """Paragraphs of the page, in Markdown; says the main tables and writes the figures."""


def run_study(study: Study, say: Say = print) -> int:
    """Compute the results that are not in the results file yet, then write page and figures.

    Parameters
    ----------
    study : Study
    say : callable, default=print
        Takes the tables, in pieces of text.

    Returns
    -------
    int
        Exit code: 0, or 1 where something failed.

    Raises
    ------
    DSNAError
        Where a folder, a name or the results file cannot be used; nothing has been run then.
    """
    options = study.options
    places = {options.out: [options.results.name]}
    if study.page is not None:
        places.setdefault(study.page.parent, []).append(study.page.name)
    for folder, names in places.items():
        check_results_folder(folder, *names)
    study.prepare(say)
    if study.page is not None:
        import_extra("matplotlib", "report")  # before hours of work, not after
    wanted = study.keys()
    done = study.finished(load_results(options.results, study.layout))
    left = [key for key in wanted if options.redo or key not in done]
    make_folder(options.out)
    say(f"{len(wanted) - len(left)} of {len(wanted)} results are in {options.results} already.")
    file = ResultsFile(options.results, study.layout)
    failures = collect(study.run(left), study.steps(left), file, study.describe, study.unit)
    page = study.report(load_results(options.results, study.layout), say)
    return close_page(study.page, page, failures, say)
