"""``python -m dsna_studies ...``: the experiments of the paper; implementations are imported when a command runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dsna.extend.commands import LARGEST_SEED, exit_on_user_error, flag, folder, names, say
from dsna_vision.commands import Scales

from . import PROGRAM, REMEDY
from .options import RESUMED, Names, Processes, Redo


class Scored(StrEnum):
    """Photos on which a detector is scored."""

    val = "val"
    test = "test"


_Out = Annotated[Path, folder("Folder for results, page and pictures; a later run resumes from it.")]


def age(
    data: Annotated[Path, folder("Folder with fgnet/ and, optionally, utkface/ and morph/.")],
    out: _Out = Path("age"),
    methods: Names = None,
    quick: Annotated[
        bool, flag("--quick", "Few persons, folds, pictures and trees, no sweeps: some 50 s of CPU time.")
    ] = False,
    jobs: Processes = 1,
) -> None:
    """Age from faces: FG-NET, leaving one person out; MORPH, or UTKFace in its place, in three subsets.

    Compares our methods, also as in the paper, with forests, resampling, ordinal and kernel machines; also with ages
    missing from the training data, and with sweeps of parameters. Everything is learned from training persons only.
    Published results are shown next to measured ones.

    Writes results.csv, the page age.md and pictures into --out. An interrupted run resumes where it stopped. The
    pictures show faces: do not publish them, as the owners of the data require.

    For example:

    - `python -m dsna_studies age --data faces --quick` : a first look

    - `python -m dsna_studies age --data faces --jobs 2` : everything

    - `python -m dsna_studies age --data faces --methods CS-RF,CS-RF+DSNA` : these first
    """
    with exit_on_user_error("age", REMEDY, RESUMED.format(out), PROGRAM):
        from ..age.study import AgeStudy, Options, run_study

        code = run_study(AgeStudy(Options(data, out, names(methods), quick, jobs)), say)
    raise typer.Exit(code)


def pose(
    data: Annotated[Path, folder("Pointing'04: Person01/person01100-90+0.jpg and .txt, and so on.")],
    out: _Out = Path("pose"),
    methods: Names = None,
    quick: Annotated[
        bool, flag("--quick", "One series of pictures, few folds and trees, no sweeps: some 60 s of CPU time.")
    ] = False,
    jobs: Processes = 1,
) -> None:
    """Head pose on Pointing'04: pitch and yaw on five folds, and on five folds that share no person.

    Compares our methods with forests, SMOTE, RED-SVM, kernel ridge and kernel PLS; also with pictures removed toward a
    normal distribution of pitch, with angles missing from the training data, and with sweeps of parameters. Published
    results are shown next to measured ones.

    Writes results.csv, the page pose.md and pictures into --out. An interrupted run resumes where it stopped.

    For example:

    - `python -m dsna_studies pose --data pointing04 --quick` : a first look

    - `python -m dsna_studies pose --data pointing04 --jobs 2` : everything

    - `python -m dsna_studies pose --data pointing04 --methods CS-RF,CS-RF+DSNA` : these first
    """
    with exit_on_user_error("pose", REMEDY, RESUMED.format(out), PROGRAM):
        from ..pose.study import Options, PoseStudy, run_study

        code = run_study(PoseStudy(Options(data, out, names(methods), quick, jobs)), say)
    raise typer.Exit(code)


def edges(
    data: Annotated[Path, folder("BSDS500, or a folder with bsds500/ and, optionally, nyud/.")],
    out: Annotated[
        Path, folder("Folder for results, page, pictures, models and maps; a later run resumes from it.")
    ] = Path("edges"),
    methods: Annotated[list[str] | None, typer.Option(help="Methods: SE,SE+DSNA or repeated; default: all.")] = None,
    seeds: Annotated[
        list[str] | None, typer.Option("--seeds", "--seed", help="Seeds: 0,1,2 (the default) or repeated.")
    ] = None,
    levels: Annotated[
        int, typer.Option(min=1, max=2, help="2: second levels in place of single ones; hours of work.")
    ] = 1,
    patches: Annotated[int | None, typer.Option(min=100, help="Training patches of each tree.")] = None,
    scales: Annotated[
        Scales, typer.Option(help="two: half and full size; multi: also double size, slow.")
    ] = Scales.single,
    split: Annotated[Scored, typer.Option(help="Photos to score: tune on val, report on test.")] = Scored.val,
    quick: Annotated[
        bool, flag("--quick", "12 photos, two trees, one seed, two methods: some 20 s of CPU time.")
    ] = False,
    redo: Redo = False,
    jobs: Annotated[int, typer.Option(min=1, help="Threads: trees or photos processed in parallel.")] = 1,
) -> None:
    """Edges in photos: learned on the training photos of BSDS500, scored on its validation photos; also on NYUD.

    Structured edges (SE), and on top of them affine hulls (AH), kernel weights and sparse approximation (DSNA), all
    from equal numbers of patches. Published results are shown next to measured ones.

    Writes results.csv, the page edges.md and pictures into --out, and keeps forests, maps and counts there: an
    interrupted run resumes where it stopped, photo by photo. Photos that fail are reported and the others continue
    (exit code 1); invalid input ends the command before anything is run (exit code 2). Some pictures show photos: do
    not publish them, as the owners of the data require.

    For example:

    - `python -m dsna_studies edges --data BSDS500 --quick` : a first look

    - `python -m dsna_studies edges --data BSDS500 --jobs 2` : everything

    - `python -m dsna_studies edges --data BSDS500 --methods SE,SE+DSNA --seeds 0,1 --patches 40000` : these first

    - `python -m dsna_studies edges --data BSDS500 --levels 2 --jobs 2` : first levels at two sizes (SE@2, SE+DSNA@2)
      and second levels on top of them (SE@2+boosted, SE@2+perceptrons, ...)
    """
    numbers = names(seeds)
    if not all(number.isdecimal() and int(number) <= LARGEST_SEED for number in numbers):
        raise typer.BadParameter(f"--seeds: {', '.join(numbers)} are not all whole numbers from 0 to {LARGEST_SEED}.")
    with exit_on_user_error("edges", REMEDY, RESUMED.format(out), PROGRAM):
        from ..edges.study import EdgesStudy, Options, run_study

        options = Options(
            data=data,
            out=out,
            methods=names(methods),
            seeds=tuple(map(int, numbers)),
            patches=patches,
            scales=scales.value,
            split=split.value,
            levels=levels,
            quick=quick,
            redo=redo,
            jobs=jobs,
        )
        code = run_study(EdgesStudy(options), say)
    raise typer.Exit(code)
