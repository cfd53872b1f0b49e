"""Pointing'04 head pose database."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from .pictures import PictureSet, Record, UnusableFile, check_usable, collect, files_of

# Person, series, number of the picture, pitch, yaw.
_NAME = re.compile(r"person(\d{2})(\d)(\d{2})([+-]\d+)([+-]\d+)\.jpg", re.IGNORECASE)


def load_pointing04(folder: str | Path, *, check: str = "header") -> PictureSet:
    r"""Read the Pointing'04 head pose database: 15 people, two series each, in 93 poses.

    Parameters
    ----------
    folder : path
        Contains ``Person01/person01100-90+0.jpg`` (person 01, series 1, picture 00, pitch -90, yaw 0) and a ``.txt``
        of the same name, whose last four numbers are the head box: centre x, centre y, width, height.
    check : {"header", "full"}, default="header"
        Look at the beginning of each picture, or decode all of it, to find damaged ones.

    Returns
    -------
    PictureSet
        Labels are pitch and yaw in degrees, groups are persons; ``crops()`` cuts out the heads.

    Notes
    -----
    The database is at http://www-prima.inrialpes.fr/perso/Gourier/Faces/HPDatabase.html and may be used for any
    purpose if Gourier, Hall and Crowley, "Estimating face orientation from robust detection of salient facial
    structures", 2004, is cited.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from PIL import Image
    >>> from dsna_vision.datasets import load_pointing04
    >>> folder = Path(mkdtemp())
    >>> _ = (folder / "person01100-90+15.txt").write_text("person01100-90+15.jpg\n\nFace\n192\n137\n60\n80\n")
    >>> Image.new("RGB", (384, 288)).save(folder / "person01100-90+15.jpg")
    >>> pictures = load_pointing04(folder)
    >>> pictures.labels, pictures.groups, pictures.crop(0, margin=1.5).shape
    (array([[-90.,  15.]]), array(['01'], ...), (120, 90, 3))
    """
    return collect(
        files_of(folder, ".jpg"),
        _describe,
        check=check,
        remedy=f"No Pointing'04 pictures with head boxes in {folder}: Person01/person01100-90+0.jpg and .txt are "
        "expected. The database is free: http://www-prima.inrialpes.fr/perso/Gourier/Faces/HPDatabase.html",
    )


def _describe(path: Path) -> Record:
    name = _NAME.fullmatch(path.name)
    if name is None:
        raise UnusableFile("the name does not follow person01100-90+0.jpg (person, series, number, pitch, yaw)")
    check_usable(path.with_suffix(".txt"), f"no head box in {path.with_suffix('.txt').name}")
    text = path.with_suffix(".txt").read_text(encoding="latin-1")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    try:
        box = np.array(lines[-4:], dtype=np.float64)
    except ValueError:
        box = np.empty(0)
    if box.shape != (4,) or not (box[2:] > 0).all():
        raise UnusableFile(f"damaged head box ({path.with_suffix('.txt').name})")
    return Record(path, (int(name[4]), int(name[5])), name[1], box=box)
