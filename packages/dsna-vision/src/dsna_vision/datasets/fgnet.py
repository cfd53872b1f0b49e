"""FG-NET ageing database."""

from __future__ import annotations

import re
from pathlib import Path

from .landmarks import read_pts
from .pictures import PictureSet, Record, UnusableFile, collect, files_of

_NAME = re.compile(r"(\d{3})a(\d{2})[a-z]?\.jpg", re.IGNORECASE)


def load_fgnet(folder: str | Path, *, check: str = "header") -> PictureSet:
    """Read the FG-NET ageing database: 1002 photos of 82 people aged 0 to 69, with 68 landmarks each.

    Parameters
    ----------
    folder : path
        Contains ``images/001A02.JPG`` (person 001 at the age of 2; a letter marks a second photo) and
        ``points/001a02.pts``.
    check : {"header", "full"}, default="header"
        Look at the beginning of each picture, or decode all of it, to find damaged ones.

    Returns
    -------
    PictureSet
        Labels are ages, groups are persons. Pictures without landmarks are left out and named in ``problems``.

    Notes
    -----
    The database was made by the FG-NET project for research on ageing; copies are at
    https://yanweifu.github.io/FG_NET_data. Use it for research only, and do not redistribute it.

    Examples
    --------
    >>> from dsna_vision.datasets import load_fgnet
    >>> load_fgnet("nowhere")
    Traceback (most recent call last):
    dsna_vision.datasets.pictures.MissingPictures: nowhere is not a folder; give the folder that holds the pictures.
    """
    root = Path(folder)
    points = {path.stem.lower(): path for path in files_of(root, ".pts")}

    def describe(path: Path) -> Record:
        name = _NAME.fullmatch(path.name)
        if name is None:
            raise UnusableFile("the name does not follow 001A02.JPG (person, A, age)")
        points_path = points.get(path.stem.lower(), root / "points" / f"{path.stem.lower()}.pts")
        return Record(path, int(name[2]), name[1], read_pts(points_path))

    return collect(
        files_of(root, ".jpg"),
        describe,
        check=check,
        remedy=f"No FG-NET photos with landmarks in {root}: images/001A02.JPG and points/001a02.pts are expected. "
        "The database is free for research (https://yanweifu.github.io/FG_NET_data) and may not be redistributed.",
    )
