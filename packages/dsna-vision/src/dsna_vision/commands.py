"""The commands of ``dsna edges ...``: names, options and help; implementations are imported when a command runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dsna.extend.commands import LARGEST_SEED, exit_on_user_error, flag, folder, say
from dsna.extend.optional import install_command

if TYPE_CHECKING:
    from .edges.batch import Detection

_REMEDY = install_command(package="dsna-vision")
_COUNTED = (
    "The counts of finished photos are in {}: the same command does not match these maps again, but a --model detects "
    "them again."
)

edges = typer.Typer(
    help="""Edges in photos: detect them, train your own detector, score maps as BSDS500 does.

    -o names the file of a single output, --out a folder for several.

    For example:

    - `dsna edges detect photo.jpg` : writes photo.edges.png, with the detector that comes with dsna

    - `dsna edges detect holiday --out holiday-edges --scales two --jobs 2` : all photos of a folder, at two scales

    - `dsna edges train --data BSDS500 -o mine.dsna` , then `dsna edges evaluate --model mine.dsna --data BSDS500`
    """,
    no_args_is_help=True,
)


class Scales(StrEnum):
    """Sizes at which a photo is processed."""

    single = "single"
    two = "two"
    multi = "multi"


class EdgeMethod(StrEnum):
    """Methods by which a detector predicts edges."""

    dsna = "dsna"
    se = "se"


class PhotoSplit(StrEnum):
    """Parts of BSDS500."""

    train = "train"
    val = "val"
    test = "test"


_Data = Annotated[Path, folder("BSDS500, with the folders images and groundTruth. Or your photos.")]
_Truth = Annotated[Path | None, folder("Ground truth of your photos: PNG or BSDS500's MAT files of the same names.")]
_Scales = Annotated[
    Scales | None,
    typer.Option(
        help="single; two: half and full size, better, 40 % slower; multi: also double size, slow. "
        "A two-level detector, such as the shipped one, then uses its first level only."
    ),
]
_Method = Annotated[
    EdgeMethod | None,
    typer.Option(
        help="dsna, if the detector keeps patches; se: one stored patch a leaf, not sparse approximation; faster. "
        "A two-level detector, such as the shipped one, then uses its first level only."
    ),
]


def _detection(
    model: str, scales: Scales | None, method: EdgeMethod | None, *, suppress: bool = True, jobs: int = 1
) -> Detection:
    """Return how to make maps; options of the first level select it alone."""
    from .edges.batch import SCALES, Detection

    sizes = SCALES[(scales or Scales.single).value]
    first_level_only = scales is not None or method is not None or not suppress
    return Detection(model, sizes, method and method.value, suppress, jobs, first_level_only)


@edges.command()
def detect(
    photos: Annotated[
        list[Path], typer.Argument(metavar="PHOTO", readable=False, help="Photos, or folders of photos.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File for the map of one photo: .png, .npy or .svg."),
    ] = None,
    out: Annotated[Path | None, folder("Folder for the maps of several photos, or of a folder.")] = None,
    model: Annotated[str, typer.Option(metavar="FILE", help="Detector made by `dsna edges train`.")] = "shipped",
    scales: _Scales = None,
    method: _Method = None,
    no_nms: Annotated[bool, flag("--no-nms", "Soft map: edges are not thinned.")] = False,
    invert: Annotated[bool, flag("--invert", "Dark edges on white.")] = False,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Draw edges from this strength on, from 0 to 1, all equally.")
    ] = None,
    overlay: Annotated[bool, flag("--overlay", "Draw edges in colour over the photo.")] = False,
    svg: Annotated[bool, flag("--svg", "Lines as vectors, for drawing programs.")] = False,
    min_length: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Leave out contours with fewer pixels; 1 keeps all. Default: 10, or 1 with --no-nms or for .npy.",
        ),
    ] = None,
    fast: Annotated[bool, flag("--fast", "Five to seven times as fast: --method se --scales single.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Threads.")] = 1,
) -> None:
    """Edge maps of photos, as grey PNG files: the brighter a pixel, the stronger the edge.

    Photos may have any size and type: colour, grey, 16 bits, CMYK, transparent (blended with white), rotated by their
    EXIF data; of an animation the first frame is used. The map of photo.jpg is photo.edges.png next to it. -o names
    another file; --out a folder for the maps of several photos or of a folder, named like the photos. Dots and short
    line fragments are left out, unless --min-length 1 keeps them.

    A photo that cannot be used is reported and the others are processed (exit code 1; 2 if none could be used).

    For example:

    - `dsna edges detect photo.jpg`

    - `dsna edges detect photo.jpg --overlay --threshold 0.3` : clear edges, in colour over the photo

    - `dsna edges detect photo.jpg --svg` : lines as vectors, in photo.edges.svg

    - `dsna edges detect photo.jpg -o sketch.png --invert` : like a drawing

    - `dsna edges detect a.jpg b.tif holiday --out maps --jobs 2` : photos and a folder of photos

    - `dsna edges detect photo.jpg -o soft.npy --no-nms` : numbers from 0 to 1, for numpy
    """
    svg = svg or (output is not None and output.suffix.lower() == ".svg")
    if svg and overlay:
        raise typer.BadParameter("give either --svg or --overlay.")
    if svg and no_nms:
        raise typer.BadParameter("--svg needs thin lines, which --no-nms does not give; choose one of them.")
    if invert and (svg or overlay):
        raise typer.BadParameter("--invert is for grey maps, not for --svg or --overlay.")
    if fast and (scales is not None or method is not None):
        raise typer.BadParameter("--fast means --method se --scales single; leave these out.")
    if fast:
        method = EdgeMethod.se
    with exit_on_user_error("edges detect", _REMEDY, "Nothing was written."):
        from .edges.batch import detect_photos
        from .edges.drawing.products import CRUMB, Product

        detection = _detection(model, scales, method, suppress=not no_nms, jobs=jobs)
        keep_all = no_nms or (output is not None and output.suffix.lower() == ".npy")
        min_pixels = min_length if min_length is not None else 1 if keep_all else CRUMB
        product = Product("svg" if svg else "overlay" if overlay else "map", threshold, min_pixels, invert)
        code = detect_photos(photos, detection, file=output, out=out, product=product, say=say)
    raise typer.Exit(code)


@edges.command()
def explain(
    photo: Annotated[Path, typer.Argument(metavar="PHOTO", help="The photo.")],
    at: Annotated[str, typer.Option(metavar="X,Y", help="Position of the edge, in pixels from the upper left.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="PNG file for the picture.")
    ] = None,
    model: Annotated[str, typer.Option(metavar="FILE", help="Detector made by `dsna edges train`.")] = "shipped",
    data: Annotated[
        Path | None, folder("BSDS500, on which the detector was trained, to show the patches themselves.")
    ] = None,
) -> None:
    """Explain an edge by the training patches that voted for it: their outlines and photo names.

    The edge is that of detect at --at or, if there is none, the strongest within three pixels. The explanation is that
    of the first level, at the photo's own size. The picture is photo.explained.png next to the photo, unless -o names
    another file. A model contains no pixels of its training photos: with --data the patches are cut out of them. A
    detector trained with --pool 0 keeps no patches to explain with.

    For example:

    - `dsna edges explain photo.jpg --at 120,64`

    - `dsna edges explain photo.jpg --at 120,64 --data BSDS500 -o why.png` : with pictures of the patches
    """
    numbers = at.split(",")
    if len(numbers) != 2 or not all(number.strip().isdecimal() for number in numbers):
        raise typer.BadParameter(f"--at takes two whole numbers separated by a comma, such as 120,64; got {at}.")
    with exit_on_user_error("edges explain", _REMEDY, "Nothing was written."):
        from .edges.explanation.command import explain_photo

        code = explain_photo(photo, (int(numbers[0]), int(numbers[1])), model, file=output, data=data, say=say)
    raise typer.Exit(code)


@edges.command()
def train(
    data: _Data,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File for the detector.")],
    truth: _Truth = None,
    trees: Annotated[int, typer.Option(min=1, help="Trees.")] = 8,
    patches: Annotated[int, typer.Option(min=100, help="Training patches of each tree.")] = 100_000,
    pool: Annotated[int, typer.Option(min=0, help="Patches stored in the leaves; 0: structured edges only.")] = 50_000,
    levels: Annotated[
        int, typer.Option(min=1, max=2, help="2: a second level scores the edges of the first again.")
    ] = 1,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The same seed gives the same detector.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Trees grown in parallel.")] = 1,
) -> None:
    """Train a detector on the training photos of BSDS500, or on your own photos and ground truth.

    Photos that cannot be used, for example because their ground truth has another size, are reported and left out (exit
    code 1).

    For example:

    - `dsna edges train --data BSDS500 -o quick.dsna --trees 4 --patches 10000` : a first look

    - `dsna edges train --data BSDS500 -o mine.dsna --jobs 2` : the defaults

    - `dsna edges train --data BSDS500 -o two.dsna --levels 2 --jobs 2` : takes several times as long

    - `dsna edges train --data photos --truth drawings -o mine.dsna` : your own
    """
    remedy = install_command(*["train"] * (levels == 2), package="dsna-vision")
    with exit_on_user_error("edges train", remedy, "Nothing was saved."):
        from .edges.batch import train_detector

        parameters = {
            "n_estimators": trees,
            "n_patches": patches,
            "n_pool": pool,
            "random_state": seed,
            "n_jobs": jobs,
            "verbose": True,
        }
        code = train_detector(data, truth, output, parameters, levels, say=say)
    raise typer.Exit(code)


@edges.command()
def evaluate(
    data: _Data,
    maps: Annotated[
        Path | None, typer.Argument(metavar="[MAPS]", help="Folder of PNG maps, named like the photos.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="FILE|shipped", help="Detect and score instead of reading maps.")
    ] = None,
    truth: _Truth = None,
    split: Annotated[PhotoSplit | None, typer.Option(help="Part of BSDS500; val by default.")] = None,
    scales: _Scales = None,
    method: _Method = None,
    out: Annotated[
        Path | None,
        folder(
            "Folder for scores.csv, photos.csv, pr.png and counts, from which a later run on the same maps resumes."
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Photos processed in parallel.")] = 1,
) -> None:
    """Score edge maps against ground truth as BSDS500 does: ODS, OIS, AP and R50.

    The maps come from a folder (of any program: grey PNG files named like the photos), or from a detector. Photos whose
    map is missing, damaged or of another size are reported and left out (exit code 1).

    For example:

    - `dsna edges evaluate --model shipped --data BSDS500 --jobs 2`

    - `dsna edges evaluate maps --data BSDS500 --split val --out scores` : also tables and a plot

    - `dsna edges evaluate --model shipped --data photos --truth drawings` : any photos with boundaries, also of
      another collection than the detector's training photos; or `maps` in place of `--model shipped`
    """
    if (maps is None) == (model is None):
        raise typer.BadParameter("give either a folder of maps or --model FILE (--model shipped: that of dsna).")
    if maps is not None and (scales is not None or method is not None):
        raise typer.BadParameter("--scales and --method are for --model, not for a folder of maps.")
    if truth is not None and split is not None:
        raise typer.BadParameter(
            "--split names a part of BSDS500; with --truth all photos are scored, so leave it out."
        )
    stop_message = "Nothing was written." if out is None else _COUNTED.format(out)
    with exit_on_user_error("edges evaluate", _REMEDY, stop_message):
        from .edges.scoring.command import score

        source = maps if maps is not None else _detection(str(model), scales, method)
        code = score(source, data, truth, (split or PhotoSplit.val).value, out=out, n_jobs=jobs, say=say)
    raise typer.Exit(code)
