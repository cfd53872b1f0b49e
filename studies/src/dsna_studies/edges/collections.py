"""The photos in a folder: BSDS500 and, if available, NYUD."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dsna import DSNAError
from dsna_vision.datasets import load_bsds500, load_nyud
from dsna_vision.datasets.boundaries import BoundarySet
from dsna_vision.edges.planning import EdgesError

_QUICK = {"train": 8, "test": 4}
_DISTANCES = {"BSDS500": 0.0075, "NYUD": 0.011}


@dataclass(frozen=True)
class PhotoCollection:
    """Photos for training and photos for scoring.

    Parameters
    ----------
    name : {"BSDS500", "NYUD"}
    split : {"val", "test"}
        Part that is scored.
    train, test : BoundarySet

    Examples
    --------
    >>> nothing = BoundarySet([], [], [])
    >>> PhotoCollection("NYUD", "val", nothing, nothing).max_distance
    0.011
    """

    name: str
    split: str
    train: BoundarySet
    test: BoundarySet

    @property
    def max_distance(self) -> float:
        """Maximum distance between matched pixels, as a fraction of the photo's diagonal."""
        return _DISTANCES[self.name]


def find_collections(data: Path, split: str = "val", quick_run: bool = False) -> list[PhotoCollection]:
    """Read the collections in a folder; photos that cannot be used are reported on stderr and left out.

    Parameters
    ----------
    data : Path
        BSDS500, or a folder that holds ``bsds500`` and, optionally, ``nyud``.
    split : {"val", "test"}, default="val"
        Part that is scored.
    quick_run : bool, default=False
        Whether to use only a few photos.

    Returns
    -------
    list of PhotoCollection
        BSDS500 first.

    Raises
    ------
    EdgesError
        If BSDS500 is missing, or NYUD exists but cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> find_collections(Path("nowhere"))
    Traceback (most recent call last):
    dsna_vision.edges.planning.EdgesError: nowhere is not a folder; give the folder that holds images/ and groundTruth/.
    """
    subfolder = data / "bsds500"
    collections = [_read("BSDS500", load_bsds500, subfolder if subfolder.is_dir() else data, split, quick_run)]
    if (data / "nyud").is_dir():
        collections.append(_read("NYUD", load_nyud, data / "nyud", split, quick_run))
    return collections


def _read(name: str, reader: Callable[..., BoundarySet], folder: Path, split: str, quick_run: bool) -> PhotoCollection:
    photos_of_role = {}
    for role, split_name in (("train", "train"), ("test", split)):
        try:
            photos = reader(folder, split_name, check="full")
        except (OSError, DSNAError) as error:
            raise EdgesError(str(error)) from error
        for problem in photos.problems:
            print(f"{name}: left out {problem}", file=sys.stderr)
        if quick_run:
            photos = photos.subset(np.unique(np.linspace(0, len(photos) - 1, _QUICK[role]).astype(int)))
        photos_of_role[role] = photos
    return PhotoCollection(name, split, **photos_of_role)
