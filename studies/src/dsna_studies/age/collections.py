"""The face collections in a folder, and where they are had."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dsna_vision.datasets import PictureSet, load_fgnet, load_morph, load_utkface

from ..study import DataError

#: How each collection is read.
READERS: dict[str, Callable[..., PictureSet]] = {"FG-NET": load_fgnet, "MORPH": load_morph, "UTKFace": load_utkface}
_FOLDERS = {"FG-NET": "fgnet", "MORPH": "morph", "UTKFace": "utkface"}
_WHERE = (
    "Expected is a folder that holds fgnet/ (images/001A02.JPG, points/001a02.pts; free for research, "
    "https://yanweifu.github.io/FG_NET_data), and where there are any utkface/ (AGE_gender_race_stamp.jpg; research "
    "that is not commercial, https://susanqq.github.io/UTKFace) and morph/ (licensed by the University of North "
    "Carolina Wilmington, https://uncw.edu)."
)


@dataclass(frozen=True)
class Collection:
    """Labelled faces.

    Parameters
    ----------
    name : {"FG-NET", "MORPH", "UTKFace"}
    folder : Path
    pictures : PictureSet

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> pictures = PictureSet([Path("1.jpg"), Path("2.jpg")], np.array([1.0, 2.0]), points=[None, None])
    >>> collection = Collection("UTKFace", Path("utkface"), pictures)
    >>> collection.has_landmarks, len(collection.checksum)
    (False, 12)
    """

    name: str
    folder: Path
    pictures: PictureSet

    @property
    def has_landmarks(self) -> bool:
        """Whether every picture has landmarks, so that an appearance model can be made."""
        return all(points is not None for points in self.pictures.points)

    @property
    def checksum(self) -> str:
        """Changes with the names and ages of the pictures; part of the key of its results."""
        said = "\n".join(
            f"{path.name} {age:g}" for path, age in zip(self.pictures.paths, self.pictures.labels, strict=True)
        )
        return hashlib.sha256(said.encode()).hexdigest()[:12]


def find_collections(folder: Path) -> list[Collection]:
    """Collections in the folders fgnet, morph and utkface of a folder; or FG-NET, if the folder itself holds it.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of Collection
        At least one.

    Raises
    ------
    DataError
        Says what is expected, and where it is had.

    Examples
    --------
    >>> from pathlib import Path
    >>> find_collections(Path("nowhere"))
    Traceback (most recent call last):
    dsna_studies.study.DataError: nowhere is not a folder. Expected is a folder that holds fgnet/ ...
    """
    if not folder.is_dir():
        raise DataError(f"{folder} is not a folder. {_WHERE}")
    places = {name: folder / below for name, below in _FOLDERS.items() if (folder / below).is_dir()}
    if not places and (folder / "images").is_dir():
        places = {"FG-NET": folder}
    if not places:
        raise DataError(f"{folder} holds no faces. {_WHERE}")
    return [Collection(name, place, READERS[name](place)) for name, place in places.items()]
