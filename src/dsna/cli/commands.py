"""The commands of ``dsna ...``: names, options and help; the work is imported when a command runs."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .edges import LARGEST_SEED, Scales, edges
from .errors import exit_on_user_error, say
from .main import REMEDY, VISION_REMEDY
from .warmup import warmup

_RESUMED = "What is finished is in {}; the same command goes on from there."

app = typer.Typer(
    help="Imbalanced classification and regression: compare methods on your own tables; find edges in photos.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
reproduce = typer.Typer(help="The experiments of the paper, on data of your own.", no_args_is_help=True)
app.command()(warmup)
app.add_typer(reproduce, name="reproduce")
app.add_typer(edges, name="edges")


class Task(StrEnum):
    """What tables are for."""

    classification = "classification"
    regression = "regression"


class Scored(StrEnum):
    """Which photos a detector is scored on."""

    val = "val"
    test = "test"


def _version(asked: bool) -> None:
    if asked:
        from .. import __version__

        typer.echo(f"dsna {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Imbalanced classification and regression: compare methods on your own tables; find edges in photos."""


def _names(values: Iterable[str] | None) -> tuple[str, ...]:
    """Names from options that were repeated, or hold several with commas between."""
    return tuple(name.strip() for value in values or () for name in value.split(",") if name.strip())


@app.command()
def benchmark(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of CSV files, or of subfolders of such files.")],
    target: Annotated[str | None, typer.Option(help="Label column; the last if not named.")] = None,
    task: Annotated[Task | None, typer.Option(help="Only this task; overrides the guess from the labels.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Tables, by file name without .csv: a,b or repeated.")] = None,
    methods: Annotated[
        list[str] | None, typer.Option(help="Methods: RF,CS-RF+DSNA or repeated; all if not named.")
    ] = None,
    folds: Annotated[int | None, typer.Option(min=2, help="Folds; 5 if not named, 2 with --quick.")] = None,
    seed: Annotated[
        list[int] | None,
        typer.Option(min=0, max=LARGEST_SEED, help="Seed of folds and methods, 0 if not named; repeat it for several."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes, of one thread each.")] = 1,
    max_rows: Annotated[
        int | None, typer.Option(min=20, help="Thin out larger tables to as many rows, common ones before rare ones.")
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for results.csv: appended to as results come, resumed from.")
    ] = Path("benchmark"),
    redo: Annotated[bool, typer.Option("--redo", help="Run again what --out holds already.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few small tables, rows, folds and methods: some 15 s of CPU time.")
    ] = False,
    ablation: Annotated[bool, typer.Option("--ablation", help="Also run our method stage by stage.")] = False,
    report: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the page benchmark.md, PNG and CSV files.")
    ] = None,
) -> None:
    """Our methods beside what people use, on every table of a folder.

    Each CSV file has a header; its last column (or --target) is the label. Text labels, or at most ten whole numbers,
    are classes, others are regressed; subfolders named `classification` and `regression` settle it. All methods see
    the same stratified folds.

    Results go to results.csv in --out one by one: a run that is interrupted goes on where it stopped, and a table that
    has changed is run again. A method that fails is reported (exit code 1) and the others go on; input that cannot be
    used ends the command before anything is run (exit code 2).

    For example:

    - `dsna benchmark tables --quick` : a first look

    - `dsna benchmark tables --jobs 4 --report verdict` : everything, with a page, plots and tables

    - `dsna benchmark tables --methods RF,BalancedRF,CS-RF+DSNA --only bank,fraud --seed 0 --seed 1`

    - `dsna benchmark tables --task regression --target price --ablation`
    """
    with exit_on_user_error("benchmark", REMEDY, _RESUMED.format(out)):
        from ..studies.tabular.benchmark import Options
        from ..studies.tabular.benchmark import benchmark as run

        given = Options(
            folder=folder,
            out=out,
            target=target,
            task=task.value if task else None,
            only=_names(only),
            folds=folds,
            seeds=tuple(dict.fromkeys(seed or [0])),
            jobs=jobs,
            methods=_names(methods),
            max_rows=max_rows,
            quick=quick,
            redo=redo,
            ablation=ablation,
            report=report,
        )
        code = run(given, say=say)
    raise typer.Exit(code)


@reproduce.command()
def age(
    data: Annotated[
        Path, typer.Option(metavar="DIR", help="Holds fgnet/ and, where there are any, utkface/ and morph/.")
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for results, page and pictures; resumed from.")
    ] = Path("age"),
    methods: Annotated[
        list[str] | None, typer.Option(help="Methods of the tables: CS-RF,RF or repeated; all if not named.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few persons, folds, pictures and trees, no sweeps: some 50 s of CPU time.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes, of one thread each.")] = 1,
) -> None:
    """Ages from faces: FG-NET, one person left out at a time; MORPH, or UTKFace in its place, in three subsets.

    Our methods, also in the paper's form, beside forests, resampling, ordinal and kernel machines; ages that training
    lacks; sweeps of parameters. Everything is learned from training persons only. Published figures stand beside those
    measured.

    Writes results.csv, the page age.md and pictures into --out. A run that is interrupted goes on where it stopped. The
    pictures show faces: keep them to yourself, as the owners of the data ask.

    For example:

    - `dsna reproduce age --data faces --quick` : a first look

    - `dsna reproduce age --data faces --jobs 2` : everything

    - `dsna reproduce age --data faces --methods CS-RF,CS-RF+DSNA` : these first
    """
    with exit_on_user_error("reproduce age", VISION_REMEDY, _RESUMED.format(out)):
        from ..studies.age.reproduction import Options
        from ..studies.age.reproduction import reproduce as run

        code = run(Options(data, out, _names(methods), quick, jobs), say=say)
    raise typer.Exit(code)


@reproduce.command()
def pose(
    data: Annotated[
        Path, typer.Option(metavar="DIR", help="Pointing'04: Person01/person01100-90+0.jpg and .txt, and so on.")
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for results, page and pictures; resumed from.")
    ] = Path("pose"),
    methods: Annotated[
        list[str] | None, typer.Option(help="Methods of the tables: CS-RF,RF or repeated; all if not named.")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="One series of pictures, few folds and trees, no sweeps: some 60 s of CPU time."),
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes, of one thread each.")] = 1,
) -> None:
    """Head pose on Pointing'04: pitch and yaw on five folds, and on five folds that share no person.

    Our methods beside forests, SMOTE, RED-SVM and kernel ridge; pictures removed toward a normal distribution of pitch;
    angles that training lacks; sweeps of parameters. Published figures stand beside those measured.

    Writes results.csv, the page pose.md and pictures into --out. A run that is interrupted goes on where it stopped.

    For example:

    - `dsna reproduce pose --data pointing04 --quick` : a first look

    - `dsna reproduce pose --data pointing04 --jobs 2` : everything

    - `dsna reproduce pose --data pointing04 --methods CS-RF,CS-RF+DSNA` : these first
    """
    with exit_on_user_error("reproduce pose", VISION_REMEDY, _RESUMED.format(out)):
        from ..studies.pose.reproduction import Options
        from ..studies.pose.reproduction import reproduce as run

        code = run(Options(data, out, _names(methods), quick, jobs), say=say)
    raise typer.Exit(code)


@reproduce.command("edges")
def reproduce_edges(
    data: Annotated[
        Path, typer.Option(metavar="DIR", help="BSDS500, or a folder that holds bsds500/ and, if to be had, nyud/.")
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for results, page, pictures, models and maps; resumed from.")
    ] = Path("edges"),
    methods: Annotated[
        list[str] | None, typer.Option(help="Methods: SE,CS-SE+DSNA or repeated; all if not named.")
    ] = None,
    seeds: Annotated[
        list[str] | None, typer.Option("--seeds", "--seed", help="Seeds: 0,1,2 or repeated; these three if not named.")
    ] = None,
    patches: Annotated[int | None, typer.Option(min=100, help="Patches that each tree learns from.")] = None,
    scales: Annotated[
        Scales, typer.Option(help="two: half and full size; multi: also double size, slow.")
    ] = Scales.single,
    split: Annotated[Scored, typer.Option(help="Photos to score: choose on val, tell of test.")] = Scored.val,
    quick: Annotated[
        bool, typer.Option("--quick", help="12 photos, two trees, one seed, three methods: some 20 s of CPU time.")
    ] = False,
    redo: Annotated[bool, typer.Option("--redo", help="Run again what --out holds already.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Threads: trees grown, photos looked at or scored at a time.")] = 1,
) -> None:
    """Edges in photos: learned on the training photos of BSDS500, scored on its validation photos; also on NYUD.

    Structured edges (SE), the same with weights (WRF), cost-sensitive splits (CS-SE), and on top of these affine hulls
    (AH), kernel weights and sparse approximation (DSNA), all from equally many patches. Published figures stand beside
    those measured.

    Writes results.csv, the page edges.md and pictures into --out, and keeps forests, maps and counts there: a run that
    is interrupted goes on where it stopped, photo by photo. Photos that fail are named and the others go on (exit code
    1); input that cannot be used ends the command before anything is run (exit code 2). Some pictures show photos: keep
    them to yourself, as the owners of the data ask.

    For example:

    - `dsna reproduce edges --data BSDS500 --quick` : a first look

    - `dsna reproduce edges --data BSDS500 --jobs 2` : everything

    - `dsna reproduce edges --data BSDS500 --methods SE,CS-SE+DSNA --seeds 0,1 --patches 40000` : these first
    """
    numbers = _names(seeds)
    if not all(number.isdecimal() and int(number) <= LARGEST_SEED for number in numbers):
        raise typer.BadParameter(f"--seeds: {', '.join(numbers)} are not all whole numbers from 0 to {LARGEST_SEED}.")
    with exit_on_user_error("reproduce edges", VISION_REMEDY, _RESUMED.format(out)):
        from ..studies.edges.reproduction import Options
        from ..studies.edges.reproduction import reproduce as run

        given = Options(
            data=data,
            out=out,
            methods=_names(methods),
            seeds=tuple(map(int, numbers)),
            patches=patches,
            scales=scales.value,
            split=split.value,
            quick=quick,
            redo=redo,
            jobs=jobs,
        )
        code = run(given, say=say)
    raise typer.Exit(code)
