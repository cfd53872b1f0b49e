"""The face collections in a folder, and their sources."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dsna_vision.datasets import PictureSet, load_fgnet, load_morph, load_utkface

from ..study import DataError

#: Function that reads each collection.
READERS: dict[str, Callable[..., PictureSet]] = {"FG-NET": load_fgnet, "MORPH": load_morph, "UTKFace": load_utkface}
_FOLDERS = {"FG-NET": "fgnet", "MORPH": "morph", "UTKFace": "utkface"}
_EXPECTED_FOLDERS = (
    "Expected is a folder that holds fgnet/ (images/001A02.JPG, points/001a02.pts; free for research, "
    "https://yanweifu.github.io/FG_NET_data), and where there are any utkface/ (AGE_gender_race_stamp.jpg; research "
    "that is not commercial, https://susanqq.github.io/UTKFace) and morph/ (licensed by the University of North "
    "Carolina Wilmington, https://uncw.edu)."
)


@dataclass(frozen=True)
class FaceCollection:
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
    >>> collection = FaceCollection("UTKFace", Path("utkface"), pictures)
    >>> collection.has_landmarks, len(collection.checksum)
    (False, 12)
    """

    name: str
    folder: Path
    pictures: PictureSet

    @property
    def has_landmarks(self) -> bool:
        """Whether every picture has landmarks, which an appearance model needs."""
        return all(points is not None for points in self.pictures.points)

    @property
    def checksum(self) -> str:
        """Checksum of the names and ages of the pictures, part of the key of results."""
        text = "\n".join(
            f"{path.name} {age:g}" for path, age in zip(self.pictures.paths, self.pictures.labels, strict=True)
        )
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def find_collections(folder: Path) -> list[FaceCollection]:
    """Find collections in the subfolders fgnet, morph and utkface, or FG-NET in the folder itself.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of FaceCollection
        At least one.

    Raises
    ------
    DataError
        If there is no collection; names the expected folders and their sources.

    Examples
    --------
    >>> from pathlib import Path
    >>> find_collections(Path("nowhere"))
    Traceback (most recent call last):
    dsna_studies.study.DataError: nowhere is not a folder. Expected is a folder that holds fgnet/ ...
    """
    if not folder.is_dir():
        raise DataError(f"{folder} is not a folder. {_EXPECTED_FOLDERS}")
    folders = {name: folder / subfolder for name, subfolder in _FOLDERS.items() if (folder / subfolder).is_dir()}
    if not folders and (folder / "images").is_dir():
        folders = {"FG-NET": folder}
    if not folders:
        raise DataError(f"{folder} holds no faces. {_EXPECTED_FOLDERS}")
    return [FaceCollection(name, path, READERS[name](path)) for name, path in folders.items()]
