"""``python -m dsna_studies benchmark``: methods compared on tables; the implementation is imported on demand."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dsna.extend.commands import LARGEST_SEED, exit_on_user_error, flag, folder, names, say

from . import PROGRAM, REMEDY
from .options import RESUMED, Names, Processes, Redo


class TableTask(StrEnum):
    """Tasks of tables."""

    classification = "classification"
    regression = "regression"


class Relevance(StrEnum):
    """Which targets matter."""

    auto = "auto"
    high = "high"
    low = "low"


def benchmark(
    tables: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of CSV files, or of subfolders of such files.")],
    target: Annotated[str | None, typer.Option(help="Target column; default: the last.")] = None,
    task: Annotated[TableTask | None, typer.Option(help="Only this task; overrides the guess from the target.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Names of tables, without .csv: a,b or repeated.")] = None,
    methods: Names = None,
    folds: Annotated[int | None, typer.Option(min=2, help="Folds; default: 5, or 2 with --quick.")] = None,
    seed: Annotated[
        list[int] | None,
        typer.Option(min=0, max=LARGEST_SEED, help="Seed of folds and methods; default: 0; repeat it for several."),
    ] = None,
    jobs: Processes = 1,
    max_rows: Annotated[
        int | None, typer.Option(min=20, help="Thin larger tables to this many rows; rare rows are kept.")
    ] = None,
    relevance: Annotated[
        Relevance, typer.Option(help="Which targets of regressions matter: to SERA, to rare errors and to DSNA.")
    ] = Relevance.auto,
    out: Annotated[Path, folder("Folder for results.csv, to which results are appended.")] = Path("benchmark"),
    redo: Redo = False,
    quick: Annotated[bool, flag("--quick", "Few tables, rows, folds and methods: some 15 s of CPU time.")] = False,
    tuned: Annotated[
        bool,
        flag("--tuned", "Also tune every method by random search over 30 settings, with --max-rows 2000. Takes hours."),
    ] = False,
    ablation: Annotated[bool, flag("--ablation", "Also run our method stage by stage.")] = False,
    report: Annotated[Path | None, folder("Folder for the page benchmark.md, PNG and CSV files.")] = None,
    summary_only: Annotated[
        bool,
        flag("--summary-only", "Run nothing: summarise the given methods and seeds in results.csv."),
    ] = False,
) -> None:
    """Compare our methods with common alternatives on every table of a folder.

    Each CSV file has a header; its last column (or --target) is the target. Text, or at most ten whole numbers, are
    classes; other targets are regressed; subfolders named `classification` and `regression` override this. All methods
    use the same stratified folds.

    Results are appended to results.csv in --out: an interrupted run resumes where it stopped, and a table that has
    changed is run again. A method that fails is reported (exit code 1) and the others continue; invalid input ends the
    command before anything is run (exit code 2).

    For example:

    - `python -m dsna_studies benchmark tables --quick` : a first look

    - `python -m dsna_studies benchmark tables --jobs 4 --report report` : everything, with a page, plots and tables

    - `python -m dsna_studies benchmark tables --methods RF,BalancedRF,CS-RF+DSNA --only bank,fraud --seed 0 --seed 1`

    - `python -m dsna_studies benchmark tables --tuned --methods CatBoost/priors,CS-RF+DSNA --report tuned` :
      settings searched for each

    - `python -m dsna_studies benchmark tables --task regression --target price --ablation`
    """
    with exit_on_user_error("benchmark", REMEDY, RESUMED.format(out), PROGRAM):
        from ..tabular.benchmark import Benchmark, BenchmarkOptions, run_study

        options = BenchmarkOptions(
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
