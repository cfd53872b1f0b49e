"""Work of ``dsna edges explain``: explain one edge of a photo in words and in a picture."""

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
    "This model does not record which photos its patches came from, because an older version trained it; "
    "train a new one with `dsna edges train`."
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
    """Print and draw the training patches that contributed to an edge.

    Parameters
    ----------
    photo : Path
    at : (int, int)
        x and y of the edge, in pixels from the upper left corner.
    model : str
        File of a detector, or "shipped".
    file : Path or None, default=None
        PNG file for the picture; None means ``photo.explained.png`` beside the photo.
    data : Path or None, default=None
        Folder of the photos used to train the detector, to show its patches.
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
    picture_file = photo.with_name(f"{photo.stem}.explained.png") if file is None else file
    if picture_file.suffix.lower() != ".png":
        raise EdgesError(f"{picture_file}: pictures are written as .png. Remedy: use this ending.")
    check_outputs(files=[picture_file])
    colours = read_photo(photo)
    check_inside((at[1], at[0]), colours.shape)
    detector = Detection(model).load()
    if detector.pool_ is None:
        raise EdgesError(f"The model {model} stores no patches to explain edges with. Remedy: train one with --pool.")
    read_training_photo = None if data is None else _photo_reader(load_bsds500(data, "train"), detector.pool_.origins)
    with parts_shown(True):
        lines = detector.detect(colours) if isinstance(detector, TwoLevelDetector) else None
        first = detector.first_level_ if isinstance(detector, TwoLevelDetector) else detector
        explained = first.explain(colours, (at[1], at[0]), lines=lines)
    if not explained.patches:
        x, y = explained.place[::-1]
        raise EdgesError(f"No training patch voted for the edge at {x},{y}. Remedy: choose a place on a clearer edge.")
    for line in _describe(explained, lines):
        say(line)
    content = io.BytesIO()
    plot_explained(colours, explained, read_training_photo).savefig(content, format="png", dpi=150)
    write_atomically(picture_file, content.getvalue())
    say(f"Picture: {picture_file}")
    return 0


def _describe(explained: ExplainedEdge, lines: np.ndarray | None) -> list[str]:
    """Put the explanation into lines of text."""
    y, x = explained.place
    text_lines = [f"Edge at {x},{y}: {explained.strength:.2f} of 1"]
    if lines is not None:
        text_lines[0] += f" in the first level, {lines[y, x]:.2f} after the second"
    text_lines.append(
        f"Made of {number_of(explained.n_patches, 'training patch', 'training patches')}; the largest shares:"
    )
    text_lines += [f"{100 * patch.share:+5.0f} %  {patch.origin}".rstrip() for patch in explained.patches]
    return text_lines if explained.patches[0].origin else [*text_lines, _UNKNOWN]


def _photo_reader(photos: BoundarySet, origins: PatchOrigins | None) -> Callable[[str], np.ndarray]:
    """Return a function that reads a training photo by name, after checking that all photos of the model exist."""
    missing = [] if origins is None else sorted(set(origins.names) - set(photos.names))
    if missing:
        raise EdgesError(
            f"The data lacks {number_of(len(missing), 'photo')} that the model learned from, such as {missing[0]}. "
            "Remedy: give the folder that holds them."
        )
    return lambda name: photos.image(photos.names.index(name))
