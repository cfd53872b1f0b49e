"""UTKFace and other collections whose file names begin with an age."""

from __future__ import annotations

import re
from pathlib import Path

from .landmarks import read_pts_of
from .pictures import PictureSet, Record, UnusableFile, collect, files_of

# Some original names lack the race, so only age and stamp are required.
_NAME = re.compile(r"(\d{1,3})_(?:\d+_)*\d+\.jpe?g(?:\.chip\.jpg)?", re.IGNORECASE)


def load_utkface(folder: str | Path, *, check: str = "header") -> PictureSet:
    """Read pictures of faces with UTKFace's file names.

    Parameters
    ----------
    folder : path
        Contains ``AGE_gender_race_stamp.jpg``, also in subfolders; landmarks are read from ``.pts`` files of the
        same name next to the pictures, if there are any.
    check : {"header", "full"}, default="header"
        Look at the beginning of each picture, or decode all of it, to find damaged ones.

    Returns
    -------
    PictureSet
        Labels are ages. Persons are not known, so there are no groups.

    Notes
    -----
    UTKFace is given out at https://susanqq.github.io/UTKFace for research that is not commercial; the copyright of
    the photos stays with their owners.

    Examples
    --------
    See :class:`PictureSet`, which reads such a folder.

    >>> from dsna_vision.datasets import load_utkface
    >>> load_utkface("nowhere")
    Traceback (most recent call last):
    dsna_vision.datasets.pictures.MissingPictures: nowhere is not a folder; give the folder that holds the pictures.
    """

    def describe(path: Path) -> Record:
        name = _NAME.fullmatch(path.name)
        if name is None:
            raise UnusableFile("the name does not follow AGE_gender_race_stamp.jpg")
        return Record(path, int(name[1]), points=read_pts_of(path))

    return collect(
        files_of(folder, ".jpg", ".jpeg"),
        describe,
        check=check,
        remedy=f"No pictures named AGE_gender_race_stamp.jpg in {folder}. UTKFace is free for research that is not "
        "commercial: https://susanqq.github.io/UTKFace",
    )
