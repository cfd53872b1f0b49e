"""The whole task: from options to an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._utils.atomic import check_results_folder, make_folder
from ...vision.datasets import PictureSet
from ..crops import CropRows
from ..jobs import LAYOUT
from ..pages import QUICK, close_page, write_plots
from ..results_file import Ledger, load_ledger
from ..running import execute
from ..select_methods import choose
from ..shared_fits import FULL, QUICK_TREES, with_trees
from .heads import COMPONENTS, gradients, read_heads
from .methods import GAP_METHODS, SWEEP_METHODS, TABLE_METHODS, pose_families
from .neighbours import plot_neighbours, rare_and_common
from .page import READING, sections
from .plan import Experiment, experiments, jobs_of, left


@dataclass(frozen=True)
class Options:
    """What to run.

    Parameters
    ----------
    data : Path
        See :func:`dsna.studies.pose.heads.read_heads`.
    out : Path
        Folder for results, page and pictures; made where it is missing.
    methods : tuple of str, default=()
        Names; empty: all.
    quick : bool, default=False
        One series of pictures, few folds, settings and trees.
    jobs : int, default=1
        Processes, of one thread each.

    Examples
    --------
    >>> from pathlib import Path
    >>> Options(Path("pointing04"), Path("pose")).results.as_posix()
    'pose/results.csv'
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
    PoseError, MethodError, ResultsError
        Where the folder, a name or the result file cannot be used; nothing has been run then.

    Examples
    --------
    >>> from pathlib import Path
    >>> reproduce(Options(Path("nowhere"), Path("pose")))
    Traceback (most recent call last):
    dsna.studies.pose.heads.PoseError: nowhere is not a folder; give the folder that holds the pictures.
    """
    check_results_folder(options.out, options.results.name, "pose.md")
    heads = read_heads(options.data, options.quick)
    for problem in heads.problems:
        print(f"left out {problem}", file=sys.stderr)
    everything = experiments(heads, options.quick)
    wanted = choose(everything, options.methods, TABLE_METHODS, (*GAP_METHODS, *SWEEP_METHODS))
    make_folder(options.out)
    done = set(load_ledger(options.results, LAYOUT)[list(LAYOUT.key)].itertuples(index=False, name=None))
    missing = sum(len(methods) for one in wanted for _, methods in left(one, done))
    total = sum(len(one.methods) * len(one.splits) for one in wanted)
    say(f"{total - missing} of {total} results are in {options.results} already.")
    rows = gradients(heads, options.out / "gradients.npz")
    jobs = jobs_of(wanted, done, heads, rows, options.quick)
    failures = execute(jobs, missing, Ledger(options.results, LAYOUT), options.jobs, _named)
    page, plots = sections(everything, load_ledger(options.results, LAYOUT), options.quick)
    say("\n\n".join(page))
    plots["neighbours.png"] = _neighbours(heads, everything[0], CropRows(rows, COMPONENTS), options.quick)
    page += ["## Plots", *write_plots(options.out, plots)]
    command = f"dsna reproduce pose --data DIR{' --quick' if options.quick else ''}"
    page = ["# Head pose", f"Written by `{command}`.{QUICK if options.quick else ''}", READING, *page]
    return close_page(options.out / "pose.md", page, failures, say)


def _named(row: Mapping[str, Any]) -> str:
    return f"{row['method']}, {row['protocol']}"


def _neighbours(heads: PictureSet, one: Experiment, rows: CropRows, quick: bool) -> Any:
    """Plot of neighbours on the first fold."""
    split = one.splits[0]
    train, test = rows.of(split)
    model = pose_families([FULL])[0].make(0)
    model = with_trees(model, QUICK_TREES) if quick else model
    model.fit(train, heads.labels[split.train])
    return plot_neighbours(model, heads, split, test, rare_and_common(heads.labels[split.test]))
