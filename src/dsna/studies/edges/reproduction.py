"""The whole task: from options to an exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

from ..._utils.atomic import check_results_folder, make_folder
from ..._utils.optional import import_extra
from ...vision.edges import BoundaryScores
from ..pages import QUICK, close_page, write_plots
from ..results_file import Ledger, load_ledger
from ..running import Row, progress
from .collections import find_collections
from .comparison import Scored
from .illustrations import illustrate
from .methods import METHODS, chosen
from .page import READING, comparison_section, cross_section, main_section, of_method, published_section, table
from .runs import LAYOUT, Run, planned
from .store import Store

_SEEDS, _QUICK_SEEDS = (0, 1, 2), (0,)


@dataclass(frozen=True)
class Options:
    """What to run.

    Parameters
    ----------
    data : Path
        See :func:`dsna.studies.edges.collections.find_collections`.
    out : Path
        Folder for results, page, pictures and what is kept for the next run; made where it is missing.
    methods : tuple of str, default=()
        Names; empty: all, or few if it is to be quick.
    seeds : tuple of int, default=()
        Empty: three, or one if it is to be quick.
    patches : int or None, default=None
        Patches of each tree; None: as EdgeDetector has it.
    scales : {"single", "two", "multi"}, default="single"
    split : {"val", "test"}, default="val"
        Which photos are scored.
    quick : bool, default=False
        Few photos, trees, patches and methods.
    redo : bool, default=False
        Whether to run again what the folder holds already.
    jobs : int, default=1
        Threads.

    Examples
    --------
    >>> from pathlib import Path
    >>> Options(Path("bsds500"), Path("edges")).results.as_posix()
    'edges/results.csv'
    """

    data: Path
    out: Path
    methods: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    patches: int | None = None
    scales: str = "single"
    split: str = "val"
    quick: bool = False
    redo: bool = False
    jobs: int = 1

    @property
    def results(self) -> Path:
        """The result file."""
        return self.out / "results.csv"

    @property
    def command(self) -> str:
        """What to type for the same tables, for any data."""
        said = {"--patches": self.patches, "--scales": self.scales, "--split": self.split}
        usual = {"--patches": None, "--scales": "single", "--split": "val"}
        asked = [f"{name} {value}" for name, value in said.items() if value != usual[name]]
        return " ".join(["dsna reproduce edges --data DIR", *(["--quick"] if self.quick else []), *asked])

    @property
    def all_seeds(self) -> tuple[int, ...]:
        """The seeds that are run."""
        return tuple(dict.fromkeys(self.seeds)) or (_QUICK_SEEDS if self.quick else _SEEDS)


def reproduce(options: Options, say: Callable[[str], None] = print) -> int:
    """Run what is not in the folder yet, then write tables and figures.

    Parameters
    ----------
    options : Options
    say : callable, default=print
        Takes the tables, in pieces of text.

    Returns
    -------
    int
        0, or 1 where something failed.

    Raises
    ------
    EdgesError, ResultsError
        Where a folder, a name or the result file cannot be used; nothing has been run then.

    Examples
    --------
    >>> from pathlib import Path
    >>> reproduce(Options(Path("nowhere"), Path("edges")))
    Traceback (most recent call last):
    dsna.vision.edges.planning.EdgesError: nowhere is not a folder; give the folder that holds images/ and groundTruth/.
    """
    import_extra("matplotlib", "report")  # before hours of work, not after
    check_results_folder(options.out, options.results.name, "edges.md")
    methods = chosen(options.methods, options.quick)
    collections = find_collections(options.data, options.split, options.quick)
    plan = partial(planned, collections, patches=options.patches, scales=options.scales, quick=options.quick)
    runs = plan(methods=methods, seeds=options.all_seeds)
    make_folder(options.out)
    before = load_ledger(options.results, LAYOUT)
    store = Store(options.out, options.jobs)
    left = runs if options.redo else [run for run in runs if not _is_done(run, before, store)]
    say(f"{len(runs) - len(left)} of {len(runs)} results are in {options.results} already.")
    if options.redo:
        for run in left:
            store.forget(run)
    with threadpool_limits(options.jobs):
        failures = carry_out(left, store, Ledger(options.results, LAYOUT))
        shown = plan(methods=METHODS, seeds=options.all_seeds[:1])
        page, figures = _page(shown, load_ledger(options.results, LAYOUT), store, options.quick, say)
    page += ["## Figures", *write_plots(options.out, figures)] if figures else []
    made = f"Written by `{options.command}`: {_learned(shown[0])}.{QUICK if options.quick else ''}"
    page = ["# Edges", made, READING, *page]
    return close_page(options.out / "edges.md", page, failures, say)


def carry_out(runs: Sequence[Run], store: Store, ledger: Ledger) -> list[str]:
    """Train, detect and score under a progress bar; scores are filed as they come.

    Returns
    -------
    list of str
        A line for each failure.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     carry_out([], Store(Path(folder)), Ledger(Path(folder) / "results.csv", LAYOUT))
    []
    """
    photos = 2 * sum(len(run.test.test) for run in runs)  # each is looked at, then scored
    failures = []
    with ledger:
        for row in progress(_work(runs, store, ledger), photos, lambda row: _named(row["run"]), unit="photo"):
            if "error" in row:
                failures.append(f"{_named(row['run'])}: {row['error']}")
    return failures


def _work(runs: Iterable[Run], store: Store, ledger: Ledger) -> Iterator[Row]:
    for run in runs:
        try:
            yield from store.detect(run)
            yield from store.score(run)
        except (ImportError, MemoryError):
            raise
        except Exception as error:  # what befalls one forest leaves the others running
            yield {"run": run, "error": f"{type(error).__name__}: {error}"}
            continue
        scores = store.scores(run)
        if scores is not None:
            row = dict(zip(LAYOUT.key, run.key, strict=True))
            row |= {"trees": run.detector.n_estimators, "patches": run.detector.n_patches}
            row |= {name: getattr(scores, name) for name in ("ods", "ois", "ap", "r50")}
            ledger.add(row | {"seconds_a_photo": store.seconds(run), "photos": len(scores.names)})


def _named(run: Run) -> str:
    return f"{run.method}, seed {run.seed}, {run.train.name}/{run.test.name}"


def _learned(run: Run) -> str:
    photos = len(run.train.train)
    return f"{run.detector.n_estimators} trees, each of {run.detector.n_patches} patches of {photos} training photos"


def _is_done(run: Run, filed: pd.DataFrame, store: Store) -> bool:
    """Whether the scores of all photos are filed, with the counts behind them."""
    mine = of_method(run, filed)
    mine = mine[mine["seed"] == run.seed]
    return bool(len(mine)) and mine["photos"].iloc[0] == len(run.test.test) and store.scores(run) is not None


def _page(
    runs: list[Run], filed: pd.DataFrame, store: Store, quick: bool, say: Callable[[str], None]
) -> tuple[list[str], dict[str, Any]]:
    """Paragraphs of the page, and figures; a run stands for all seeds of its method."""
    own = [run for run in runs if run.test is run.train and run.test is runs[0].test]
    where = f"{own[0].test.name} {own[0].test.split}"
    measured = table(own, filed)
    page = main_section(measured, where, beside=not quick)
    scored = _scored(own, filed, store)
    page += comparison_section(scored, measured)
    rare, figures = illustrate(own, scored, store, quick)
    page += rare
    say("\n\n".join(page))
    if not quick:
        page += published_section(measured, where)
    return page + cross_section([run for run in runs if run.test.name == "NYUD"], filed, beside=not quick), figures


def _scored(runs: Iterable[Run], filed: pd.DataFrame, store: Store) -> Scored:
    """Scores of each method and seed that are on disk."""
    found: dict[str, dict[int, BoundaryScores]] = {}
    for run in runs:
        for seed in of_method(run, filed)["seed"]:
            scores = store.scores(run.of_seed(seed))
            if scores is not None:
                found.setdefault(run.method, {})[int(seed)] = scores
    return found
