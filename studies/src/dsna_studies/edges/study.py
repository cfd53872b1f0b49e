"""The study of edges in photos."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

from dsna.extend.files import write_atomically
from dsna_vision.edges import BoundaryScores
from dsna_vision.edges.second_level.rescorers.choices import check_trainable

from ..pages import QUICK, write_plots
from ..results_file import Key
from ..running import Row, failure
from ..study import Say, Study, StudyOptions, run_study
from .collections import find_collections
from .comparison import Scored, pairs_of
from .illustrations import illustrate
from .methods import METHODS, methods_to_run
from .page import (
    READING,
    comparison_section,
    cross_section,
    halves_section,
    halves_table,
    main_section,
    of_method,
    published_section,
    rare_section,
    table,
)
from .rare.comparison import rare_pairs
from .runs import LAYOUT, Run, planned
from .store import Store

__all__ = ["EdgesStudy", "Options", "run_study"]

_SEEDS, _QUICK_SEEDS = (0, 1, 2), (0,)


@dataclass(frozen=True)
class Options(StudyOptions):
    """Options of the study; those of all studies are in :class:`dsna_studies.study.StudyOptions`.

    Parameters
    ----------
    seeds : tuple of int, default=()
        Seeds to run; empty: three, or one with `quick`.
    patches : int or None, default=None
        Number of patches per tree; None: the default of EdgeDetector.
    scales : {"single", "two", "multi"}, default="single"
    split : {"val", "test"}, default="val"
        Photos that are scored.
    levels : {1, 2}, default=1
        Default methods: those of one level, or first levels at two sizes and second levels.

    Examples
    --------
    >>> from pathlib import Path
    >>> options = Options(Path("bsds500"), Path("edges"), patches=400)
    >>> options.command, options.all_seeds
    ('python -m dsna_studies edges --data DIR --patches 400', (0, 1, 2))
    """

    seeds: tuple[int, ...] = ()
    patches: int | None = None
    scales: str = "single"
    split: str = "val"
    levels: int = 1

    @property
    def command(self) -> str:
        """Command that reproduces the tables."""
        values = {"--levels": self.levels, "--patches": self.patches, "--scales": self.scales, "--split": self.split}
        defaults = {"--levels": 1, "--patches": None, "--scales": "single", "--split": "val"}
        options = [f"{name} {value}" for name, value in values.items() if value != defaults[name]]
        return " ".join(["python -m dsna_studies edges --data DIR", *(["--quick"] if self.quick else []), *options])

    @property
    def all_seeds(self) -> tuple[int, ...]:
        """Seeds to run."""
        return tuple(dict.fromkeys(self.seeds)) or (_QUICK_SEEDS if self.quick else _SEEDS)


class EdgesStudy(Study):
    """Structured edges and our method, on BSDS500 and, if available, NYUD.

    Examples
    --------
    >>> from pathlib import Path
    >>> study = EdgesStudy(Options(data=Path("BSDS500"), out=Path("edges"), quick=True))
    >>> study.page.as_posix(), study.options.all_seeds
    ('edges/edges.md', (0,))
    """

    layout = LAYOUT
    unit = "photo"

    @property
    def page(self) -> Path:
        """File of the page."""
        return Path(self.options.out / "edges.md")

    def prepare(self, say: Say) -> None:
        """Read the photos and select the requested methods."""
        options = self.options
        methods = methods_to_run(options.methods, options.quick, options.levels)
        collections = find_collections(options.data, options.split, options.quick)
        plan = partial(planned, collections, patches=options.patches, scales=options.scales, quick_run=options.quick)
        self.runs = {run.key: run for run in plan(methods=methods, seeds=options.all_seeds)}
        levels = [run.level for run in self.runs.values() if run.level is not None]
        for rescorer in {level.rescorer for level in levels}:
            check_trainable(rescorer)  # before hours of work
        self.all_method_runs = plan(methods=METHODS, seeds=options.all_seeds[:1])
        self.store = Store(options.out, options.jobs)

    def keys(self) -> list[Key]:
        """Keys of all runs."""
        return list(self.runs)

    def finished(self, results: pd.DataFrame) -> set[Key]:
        """Runs whose scores cover all photos, with the counts behind them on disk."""
        photos = results.set_index(list(LAYOUT.key))["photos"].to_dict()
        return {
            key
            for key, run in self.runs.items()
            if photos.get(key) == len(run.test.test) and self.store.scores(run) is not None
        }

    def steps(self, left: Sequence[Key]) -> int:
        """Number of photos to process and score, including training photos of second levels, and one step to store."""
        runs = [self.runs[key] for key in left]
        return sum(2 * len(run.test.test) + 1 + (run.level is not None) * len(run.train.train) for run in runs)

    def run(self, left: Sequence[Key]) -> Iterator[Row]:
        """Train, detect and score, one run after another, each on several threads."""
        runs = [self.runs[key] for key in left]
        if self.options.redo:
            for run in runs:
                self.store.forget(run)
        with threadpool_limits(self.options.jobs):
            for run in runs:
                yield from self._scored(run)

    def _scored(self, run: Run) -> Iterator[Row]:
        try:
            yield from self.store.detect(run)
            yield from self.store.score(run)
        except (ImportError, MemoryError):
            raise
        except Exception as error:  # the failure of one forest leaves the others running
            yield {"run": run, "error": failure(error)}
            return
        scores = self.store.scores(run)
        if scores is not None:
            row = dict(zip(LAYOUT.key, run.key, strict=True)) | {"run": run}
            row |= {"trees": run.detector.n_estimators, "patches": run.detector.n_patches}
            row |= {name: getattr(scores, name) for name in ("ods", "ois", "ap", "r50")}
            yield row | {"seconds_a_photo": self.store.seconds(run), "photos": len(scores.names)}

    def describe(self, row: Mapping[str, Any]) -> str:
        """Method, seed and collections of a run."""
        run = row["run"]
        return f"{run.method}, seed {run.seed}, {run.train.name}/{run.test.name}"

    def report(self, results: pd.DataFrame, say: Say) -> list[str]:
        """Write scores, pairs of methods, rare structures and other collections, over all seeds of each method."""
        quick_run, runs, first_run = self.options.quick, self.all_method_runs, self.all_method_runs[0]
        collection_runs = [run for run in runs if run.test is run.train and run.test is first_run.test]
        test_name = f"{first_run.test.name} {first_run.test.split}"
        measured = table(collection_runs, results)
        page = main_section(measured, test_name, with_published=not quick_run)
        scored = stored_scores(collection_runs, results, self.store)
        compared = pairs_of(scored)
        self._write_csv("pairs.csv", compared)
        page += comparison_section(compared, measured)
        halves = halves_table(scored)
        self._write_csv("halves.csv", halves.rename_axis("method").reset_index())
        page += halves_section(halves)
        with threadpool_limits(self.options.jobs):
            rare, figures = illustrate(collection_runs, scored, self.store, quick_run)
        rare_gains = rare_pairs(rare, scored)
        self._write_csv("rare.csv", rare_gains)
        page += rare_section(rare_gains)
        say("\n\n".join(page))
        if not quick_run:
            page += published_section(measured, test_name)
        page += cross_section([run for run in runs if run.test.name == "NYUD"], results, with_published=not quick_run)
        page += ["## Figures", *write_plots(self.options.out, figures)] if figures else []
        trees, photos = first_run.detector.n_estimators, len(first_run.train.train)
        training_summary = f"{trees} trees, each of {first_run.detector.n_patches} patches of {photos} training photos"
        provenance = f"Written by `{self.options.command}`: {training_summary}.{QUICK if quick_run else ''}"
        return ["# Edges", provenance, READING, *page]

    def _write_csv(self, name: str, compared: pd.DataFrame) -> None:
        write_atomically(self.options.out / name, compared.to_csv(index=False, float_format="%.6g").encode())


def stored_scores(runs: Iterable[Run], results: pd.DataFrame, store: Store) -> Scored:
    """Read the scores of each method and seed that are on disk.

    Examples
    --------
    >>> from pathlib import Path
    >>> stored_scores([], pd.DataFrame(columns=LAYOUT.columns), Store(Path("edges")))
    {}
    """
    scored: dict[str, dict[int, BoundaryScores]] = {}
    for run in runs:
        for seed in of_method(run, results)["seed"]:
            scores = store.scores(run.of_seed(seed))
            if scores is not None:
                scored.setdefault(run.method, {})[int(seed)] = scores
    return scored
