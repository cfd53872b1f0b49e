"""What ``dsna edges explain`` does: one edge of one photo, in words and in a picture."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dsna.extend.files import check_outputs, write_atomically
from dsna.extend.parallel import parts_shown

from ...datasets.boundaries import BoundarySet, load_bsds500
from ...photos import read_photo
from ...wording import number_of
from ..batch import Detection
from ..planning import EdgesError
from ..pool import PatchOrigins
from ..second_level.detector import TwoLevelDetector
from .edge import ExplainedEdge, check_inside
from .picture import plot_explained

_UNKNOWN = (
    "This model does not know which photos its patches are from, as models trained by older versions; "
    "`dsna edges train` makes one that does."
)


def explain_photo(
    photo: Path,
    at: tuple[int, int],
    model: str,
    *,
    file: Path | None = None,
    data: Path | None = None,
    say: Callable[[str], None] = print,
) -> int:
    """Say and draw what an edge of a photo was made of.

    Parameters
    ----------
    photo : Path
    at : (int, int)
        x and y of the edge, in pixels from the upper left.
    model : str
        File of a detector, or "shipped".
    file : Path or None, default=None
        PNG file for the picture; None: ``photo.explained.png`` beside the photo.
    data : Path or None, default=None
        The photos that the detector has learned from, to show its patches.
    say : callable, default=print

    Returns
    -------
    int
        Exit code 0.

    Examples
    --------
    >>> from pathlib import Path
    >>> explain_photo(Path("a.jpg"), (0, 0), "shipped", file=Path("a.txt"))
    Traceback (most recent call last):
    dsna_vision.edges.planning.EdgesError: a.txt: pictures are written as .png. Remedy: use this ending.
    """
    place = photo.with_name(f"{photo.stem}.explained.png") if file is None else file
    if place.suffix.lower() != ".png":
        raise EdgesError(f"{place}: pictures are written as .png. Remedy: use this ending.")
    check_outputs(files=[place])
    colours = read_photo(photo)
    check_inside((at[1], at[0]), colours.shape)
    detector = Detection(model).loaded()
    if detector.pool_ is None:
        raise EdgesError(f"The model {model} keeps no patches to explain edges with. Remedy: train one with --pool.")
    cut = None if data is None else _patches_of(load_bsds500(data, "train"), detector.pool_.origins)
    with parts_shown(True):
        lines = detector.detect(colours) if isinstance(detector, TwoLevelDetector) else None
        first = detector.first_level_ if isinstance(detector, TwoLevelDetector) else detector
        found = first.explain(colours, (at[1], at[0]), lines=lines)
    if not found.patches:
        x, y = found.place[::-1]
        raise EdgesError(f"No training patch spoke for the edge at {x},{y}. Remedy: choose a place on a clearer edge.")
    for line in _told(found, lines):
        say(line)
    content = io.BytesIO()
    plot_explained(colours, found, cut).savefig(content, format="png", dpi=150)
    write_atomically(place, content.getvalue())
    say(f"Picture: {place}")
    return 0


def _told(found: ExplainedEdge, lines: np.ndarray | None) -> list[str]:
    """The explanation in lines of text."""
    y, x = found.place
    told = [f"Edge at {x},{y}: {found.strength:.2f} of 1"]
    if lines is not None:
        told[0] += f" in the first level, {lines[y, x]:.2f} after the second"
    told.append(f"Made of {number_of(found.n_patches, 'training patch', 'training patches')}; the largest shares:")
    told += [f"{100 * patch.share:+5.0f} %  {patch.origin}".rstrip() for patch in found.patches]
    return told if found.patches[0].origin else [*told, _UNKNOWN]


def _patches_of(photos: BoundarySet, origins: PatchOrigins | None) -> Callable[[str], np.ndarray]:
    """From the name of a training photo to its colours; all that the model knows must be there."""
    missing = [] if origins is None else sorted(set(origins.names) - set(photos.names))
    if missing:
        raise EdgesError(
            f"The data lacks {number_of(len(missing), 'photo')} that the model learned from, such as {missing[0]}. "
            "Remedy: give the folder that holds them."
        )
    return lambda name: photos.image(photos.names.index(name))
