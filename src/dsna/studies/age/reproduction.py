"""The whole task: from options to an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..._utils.atomic import check_results_folder, make_folder
from ..jobs import LAYOUT
from ..pages import QUICK, close_page
from ..results_file import Ledger, load_ledger
from ..running import execute
from ..select_methods import choose
from ..shared_fits import QUICK_TREES, with_trees
from ..splits import person_folds
from .approximations import fit_split, plot_approximations, settling
from .collections import find_collections
from .figures import plot_embeddings, plot_settling
from .methods import GAP_METHODS, SWEEP_METHODS, TABLE_METHODS, family_of
from .page import READING, gap_section, main_table, section, sweep_section, write_figures
from .plan import Experiment, experiments, jobs_of
from .rows import FaceRows
from .scores import score

_PICTURED = 5


@dataclass(frozen=True)
class Options:
    """What to run.

    Parameters
    ----------
    data : Path
        See :func:`dsna.studies.age.collections.find_collections`.
    out : Path
        Folder for results, page and pictures; made where it is missing.
    methods : tuple of str, default=()
        Names; empty: all.
    quick : bool, default=False
        Few persons, folds, pictures and trees.
    jobs : int, default=1
        Processes, of one thread each.

    Examples
    --------
    >>> from pathlib import Path
    >>> Options(Path("data"), Path("age")).results.as_posix()
    'age/results.csv'
    """

    data: Path
    out: Path
    methods: tuple[str, ...] = ()
    quick: bool = False
    jobs: int = 1

    @property
    def results(self) -> Path:
        """The result file."""
        return self.out / "results.csv"


def reproduce(options: Options, say: Callable[[str], None] = print) -> int:
    """Run what is not in the result file yet, then write tables and figures.

    Parameters
    ----------
    options : Options
    say : callable, default=print
        Takes the tables, in pieces of text.

    Returns
    -------
    int
        0, or 1 where a method failed.

    Raises
    ------
    FacesError, MethodError, ResultsError
        Where the folder, a name or the result file cannot be used; nothing has been run then.

    Examples
    --------
    >>> from pathlib import Path
    >>> reproduce(Options(Path("nowhere"), Path("age")))
    Traceback (most recent call last):
    dsna.studies.age.collections.FacesError: nowhere is not a folder. ...
    """
    check_results_folder(options.out, options.results.name, "age.md")
    collections = find_collections(options.data)
    for collection in collections:
        for problem in collection.pictures.problems:
            print(f"{collection.name}: left out {problem}", file=sys.stderr)
    everything = experiments(collections, options.quick)
    wanted = choose(everything, options.methods, TABLE_METHODS, (*GAP_METHODS, *SWEEP_METHODS))
    make_folder(options.out)
    before = load_ledger(options.results, LAYOUT)
    done = set(before[list(LAYOUT.key)].itertuples(index=False, name=None))
    jobs = jobs_of(wanted, options.quick, done)
    left, total = sum(len(job.methods) for job in jobs), sum(len(one.methods) * len(one.splits) for one in wanted)
    say(f"{total - left} of {total} results are in {options.results} already.")
    failures = execute(jobs, left, Ledger(options.results, LAYOUT), options.jobs, _named)
    page = _page(options, everything, load_ledger(options.results, LAYOUT), say)
    return close_page(options.out / "age.md", page, failures, say)


def _named(row: Any) -> str:
    return f"{row['method']} on {row['collection']}, {row['protocol']}"


def _page(options: Options, everything: list[Experiment], filed: pd.DataFrame, say: Callable[[str], None]) -> list[str]:
    """Paragraphs of the page; writes the pictures."""
    command = f"dsna reproduce age --data DIR{' --quick' if options.quick else ''}"
    page = ["# Ages from faces", f"Written by `{command}`.{QUICK if options.quick else ''}", READING]
    kinds = {kind: [one for one in everything if one.kind == kind] for kind in ("table", "gap", "sweep")}
    tables = {one.collection.name: (one, main_table(one, filed, options.quick)) for one in kinds["table"]}
    for one, table in tables.values():
        page += section(one, table, options.quick)
    page += gap_section(kinds["gap"], filed, options.quick)
    sweep = None
    for one in kinds["sweep"]:
        sweep = one, score(one.results(filed, options.quick), SWEEP_METHODS, one.folds)
        page += sweep_section(*sweep)
    say("\n\n".join(page[3:]))
    drawn: dict[str, Any] = {}
    faces = [one for one in everything if one.collection.name == "FG-NET"]
    if faces:
        drawn = _fitted_pictures(faces[0], options.quick)
    pictures = write_figures(options.out, tables, sweep, drawn)
    return [*page, "## Pictures", *pictures]


def _fitted_pictures(one: Experiment, quick: bool) -> dict[str, Any]:
    """Plots that need a fitted model: one person-disjoint fold is asked about."""
    pictures = one.collection.pictures
    groups = np.asarray(pictures.groups)
    rows = FaceRows(one.collection.name, one.collection.folder)
    model = family_of("CS-RF").make(0)
    if quick:
        model = with_trees(model, QUICK_TREES)
    fitted = fit_split(rows, person_folds(groups)[0], pictures.labels, groups, model)
    oldest = np.argsort(-fitted.truth, kind="stable")[: 3 * _PICTURED : 3]
    return {
        "embedding.png": plot_embeddings(fitted.train, pictures.labels[fitted.split.train]),
        "convergence.png": plot_settling(settling(fitted), fitted.truth),
        "approximations.png": plot_approximations(fitted, rows, oldest.tolist()),
    }
