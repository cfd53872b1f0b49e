"""``python -m dsna_studies benchmark``: methods compared on tables; the work is imported when the command runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dsna.extend.commands import LARGEST_SEED, exit_on_user_error, flag, folder, names, say

from . import PROGRAM, REMEDY
from .options import RESUMED, Names, Processes, Redo


class Task(StrEnum):
    """What tables are for."""

    classification = "classification"
    regression = "regression"


class Relevance(StrEnum):
    """Which targets matter."""

    auto = "auto"
    high = "high"
    low = "low"


def benchmark(
    tables: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of CSV files, or of subfolders of such files.")],
    target: Annotated[str | None, typer.Option(help="Target column; the last if not named.")] = None,
    task: Annotated[Task | None, typer.Option(help="Only this task; overrides the guess from the target.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Tables, by file name without .csv: a,b or repeated.")] = None,
    methods: Names = None,
    folds: Annotated[int | None, typer.Option(min=2, help="Folds; 5 if not named, 2 with --quick.")] = None,
    seed: Annotated[
        list[int] | None,
        typer.Option(min=0, max=LARGEST_SEED, help="Seed of folds and methods, 0 if not named; repeat it for several."),
    ] = None,
    jobs: Processes = 1,
    max_rows: Annotated[
        int | None, typer.Option(min=20, help="Thin out larger tables to as many rows, common ones before rare ones.")
    ] = None,
    relevance: Annotated[
        Relevance, typer.Option(help="Which targets of regressions matter: to SERA, to rare errors and to DSNA.")
    ] = Relevance.auto,
    out: Annotated[Path, folder("Folder for results.csv, to which results are appended.")] = Path("benchmark"),
    redo: Redo = False,
    quick: Annotated[bool, flag("--quick", "Few tables, rows, folds and methods: some 15 s of CPU time.")] = False,
    tuned: Annotated[
        bool,
        flag("--tuned", "Also tune every method: 30 settings of random search; --max-rows is 2000 then. Takes hours."),
    ] = False,
    ablation: Annotated[bool, flag("--ablation", "Also run our method stage by stage.")] = False,
    report: Annotated[Path | None, folder("Folder for the page benchmark.md, PNG and CSV files.")] = None,
    summary_only: Annotated[
        bool, flag("--summary-only", "Run nothing: summarise what results.csv holds of the methods and seeds named.")
    ] = False,
) -> None:
    """Compare our methods with common alternatives on every table of a folder.

    Each CSV file has a header; its last column (or --target) is the target. Text, or at most ten whole numbers, are
    classes, other targets are regressed; subfolders named `classification` and `regression` settle it. All methods see
    the same stratified folds.

    Results go to results.csv in --out one by one: a run that is interrupted goes on where it stopped, and a table that
    has changed is run again. A method that fails is reported (exit code 1) and the others go on; input that cannot be
    used ends the command before anything is run (exit code 2).

    For example:

    - `python -m dsna_studies benchmark tables --quick` : a first look

    - `python -m dsna_studies benchmark tables --jobs 4 --report report` : everything, with a page, plots and tables

    - `python -m dsna_studies benchmark tables --methods RF,BalancedRF,CS-RF+DSNA --only bank,fraud --seed 0 --seed 1`

    - `python -m dsna_studies benchmark tables --tuned --methods CatBoost/priors,CS-RF+DSNA --report tuned` :
      settings searched for each

    - `python -m dsna_studies benchmark tables --task regression --target price --ablation`
    """
    with exit_on_user_error("benchmark", REMEDY, RESUMED.format(out), PROGRAM):
        from ..tabular.benchmark import Benchmark, Options, run_study

        options = Options(
            data=tables,
            out=out,
            target=target,
            task=task.value if task else None,
            only=names(only),
            folds=folds,
            seeds=tuple(dict.fromkeys(seed or [0])),
            jobs=jobs,
            methods=names(methods),
            max_rows=max_rows,
            relevance=relevance.value,
            quick=quick,
            redo=redo,
            tuned=tuned,
            ablation=ablation,
            report=report,
            summary_only=summary_only,
        )
        code = run_study(Benchmark(options), say)
    raise typer.Exit(code)
