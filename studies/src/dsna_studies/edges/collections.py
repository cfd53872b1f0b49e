"""The photos in a folder: BSDS500, and NYUD where it is there."""

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
class Collection:
    """Photos to learn from, and photos to be scored on.

    Parameters
    ----------
    name : {"BSDS500", "NYUD"}
    split : {"val", "test"}
        Which part is scored.
    train, test : BoundarySet

    Examples
    --------
    >>> nothing = BoundarySet([], [], [])
    >>> Collection("NYUD", "val", nothing, nothing).max_distance
    0.011
    """

    name: str
    split: str
    train: BoundarySet
    test: BoundarySet

    @property
    def max_distance(self) -> float:
        """How far apart predicted and true pixels may be, in diagonals of the photo."""
        return _DISTANCES[self.name]


def find_collections(data: Path, split: str = "val", quick: bool = False) -> list[Collection]:
    """Read what a folder holds; photos that cannot be used are named on stderr and left out.

    Parameters
    ----------
    data : Path
        BSDS500, or a folder that holds ``bsds500`` and, where it is to be had, ``nyud``.
    split : {"val", "test"}, default="val"
        Which part is scored.
    quick : bool, default=False
        Whether a few photos are enough.

    Returns
    -------
    list of Collection
        BSDS500 first.

    Raises
    ------
    EdgesError
        Where the photos of BSDS500 are not there, or NYUD is there and cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> find_collections(Path("nowhere"))
    Traceback (most recent call last):
    dsna_vision.edges.planning.EdgesError: nowhere is not a folder; give the folder that holds images/ and groundTruth/.
    """
    inside = data / "bsds500"
    found = [_read("BSDS500", load_bsds500, inside if inside.is_dir() else data, split, quick)]
    if (data / "nyud").is_dir():
        found.append(_read("NYUD", load_nyud, data / "nyud", split, quick))
    return found


def _read(name: str, reader: Callable[..., BoundarySet], folder: Path, split: str, quick: bool) -> Collection:
    parts = {}
    for part, wanted in (("train", "train"), ("test", split)):
        try:
            photos = reader(folder, wanted, check="full")
        except (OSError, DSNAError) as error:
            raise EdgesError(str(error)) from error
        for problem in photos.problems:
            print(f"{name}: left out {problem}", file=sys.stderr)
        if quick:
            photos = photos.subset(np.unique(np.linspace(0, len(photos) - 1, _QUICK[part]).astype(int)))
        parts[part] = photos
    return Collection(name, split, **parts)
