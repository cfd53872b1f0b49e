"""Experiments on pictures, and the base class of the studies of ages and head poses."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from ..pages import QUICK
from ..results_file import Key
from ..running import Row, in_processes
from ..select_methods import select_methods
from ..study import Say, Study
from .jobs import LAYOUT, LabelledRows, SplitJob
from .shared_fits import SharedFit
from .splits import Split


@dataclass(frozen=True)
class Experiment:
    """Methods to evaluate under one protocol.

    Parameters
    ----------
    kind : str
        Purpose, such as "table", "gap" or "sweep".
    splits : sequence of Split
        Splits of one protocol.
    methods : tuple of str
    head : tuple of str
        First parts of the key of results, up to the protocol.

    Examples
    --------
    >>> experiment = Experiment("table", [], ("RF",), ("Pointing'04", "00", "full", "5 folds"))
    >>> experiment.key(Split("5 folds", "3", np.arange(4), np.arange(4, 6)), "RF")
    ("Pointing'04", '00', 'full', '5 folds', '3', 'RF')
    """

    kind: str
    splits: Sequence[Split]
    methods: tuple[str, ...]
    head: tuple[str, ...]

    @property
    def protocol(self) -> str:
        """Name of the protocol."""
        return self.head[-1]

    @property
    def folds(self) -> list[str]:
        """Names of the folds."""
        return [split.fold for split in self.splits]

    def key(self, split: Split, method: str) -> tuple[str, ...]:
        """Key of a result, in the order of the layout."""
        return (*self.head, split.fold, method)

    @property
    def every_key(self) -> list[Key]:
        """Keys of all results."""
        return [self.key(split, method) for split in self.splits for method in self.methods]

    def left(self, keys: Collection[Key]) -> Iterator[tuple[Split, tuple[str, ...]]]:
        """Yield splits with their methods whose keys are among ``keys``.

        Examples
        --------
        >>> split = Split("5 folds", "0", np.arange(4), np.arange(4, 6))
        >>> experiment = Experiment("table", [split], ("RF", "CS-RF"), ("Pointing'04", "00", "full", "5 folds"))
        >>> [methods for _, methods in experiment.left({experiment.key(split, "CS-RF")})]
        [('CS-RF',)]
        """
        for split in self.splits:
            methods = tuple(method for method in self.methods if self.key(split, method) in keys)
            if methods:
                yield split, methods

    def results(self, stored: pd.DataFrame) -> pd.DataFrame:
        """The stored results that belong to this experiment."""
        matching = [stored[name] == value for name, value in zip(LAYOUT.key, self.head, strict=False)]
        return stored[np.logical_and.reduce(matching)]


def of_kind(experiments: Iterable[Any], kind: str) -> list[Any]:
    """Select the experiments of one kind.

    Examples
    --------
    >>> len(of_kind([Experiment("gap", [], (), ())], "table"))
    0
    """
    return [experiment for experiment in experiments if experiment.kind == kind]


class PictureStudy(Study):
    """A study that fits methods on splits of labelled pictures, in processes of one thread each."""

    layout = LAYOUT
    #: Name of the page, of the command and of the task.
    name: ClassVar[str]
    title: ClassVar[str]
    reading: ClassVar[str]
    #: Methods of the tables, which messages list, and other methods that can be selected.
    table_methods: ClassVar[tuple[str, ...]]
    other_methods: ClassVar[tuple[str, ...]]
    fits_of: ClassVar[Callable[[Iterable[str]], list[SharedFit]]]

    @property
    def page(self) -> Path:
        """File of the page."""
        return Path(self.options.out / f"{self.name}.md")

    @abstractmethod
    def read(self) -> Sequence[Experiment]:
        """Read the pictures and plan all experiments."""

    @abstractmethod
    def data_of(self, experiment: Any) -> LabelledRows:
        """Rows and labels of an experiment."""

    @abstractmethod
    def sections(self, results: pd.DataFrame) -> tuple[list[str], Callable[[], list[str]]]:
        """Paragraphs of the page, and a function that writes the figures and returns the lines that show them."""

    def prepare(self, say: Say) -> None:
        """Read the pictures and select the requested methods."""
        self.experiments: Sequence[Any] = self.read()
        self.selected_experiments = select_methods(
            self.experiments, self.options.methods, self.table_methods, self.other_methods
        )

    def keys(self) -> list[Key]:
        """Keys of all requested results."""
        return [key for experiment in self.selected_experiments for key in experiment.every_key]

    def run(self, left: Sequence[Key]) -> Iterator[Row]:
        """Run a job for each split that has methods left."""
        missing = set(left)
        jobs = [
            SplitJob(
                experiment.key(split, "")[:-1],
                self.data_of(experiment),
                split,
                methods,
                self.options.quick,
                type(self).fits_of,
            )
            for experiment in self.selected_experiments
            for split, methods in experiment.left(missing)
        ]
        return in_processes(jobs, self.options.jobs)

    def describe(self, row: Mapping[str, Any]) -> str:
        """Method, collection and protocol."""
        return f"{row['method']} on {row['collection']}, {row['protocol']}"

    def report(self, results: pd.DataFrame, say: Say) -> list[str]:
        """Tables, then figures."""
        quick_run = self.options.quick
        command = f"python -m dsna_studies {self.name} --data DIR{' --quick' if quick_run else ''}"
        page, write_figures = self.sections(results)
        say("\n\n".join(page))
        head = [f"# {self.title}", f"Written by `{command}`.{QUICK if quick_run else ''}", self.reading]
        return [*head, *page, "## Figures", *write_figures()]
