"""Features of faces, learned from the training faces of each split."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from dsna_vision.features import AAM, HOG, Face

from ..pictures.crops import CropRows
from ..pictures.splits import Split
from .collections import READERS, FaceCollection

RADIUS = 32
_CELL = (12, 12)


@lru_cache(maxsize=1)
def _faces(name: str, folder: Path) -> list[Face]:
    """Faces of a collection, read once per process."""
    return READERS[name](folder).faces(RADIUS)


@dataclass(frozen=True)
class FaceRows:
    """Appearance parameters of faces with landmarks, from a model of the training faces only.

    Parameters
    ----------
    name : {"FG-NET", "MORPH", "UTKFace"}
    folder : Path

    Examples
    --------
    >>> from pathlib import Path
    >>> FaceRows("FG-NET", Path("fgnet")).name
    'FG-NET'
    """

    name: str
    folder: Path

    @property
    def faces(self) -> list[Face]:
        """All faces, downscaled, in memory."""
        return _faces(self.name, self.folder)

    def of(self, split: Split) -> tuple[np.ndarray, np.ndarray]:
        """Features of the training and the test faces."""
        return self.model(split)[1:]

    def model(self, split: Split) -> tuple[AAM, np.ndarray, np.ndarray]:
        """Appearance model, and features of the training and the test faces."""
        model = AAM(radius=RADIUS)
        train = model.fit_transform([self.faces[i] for i in split.train])
        return model, train, model.transform([self.faces[i] for i in split.test])


def rows_of(collection: FaceCollection) -> FaceRows | CropRows:
    """Use appearance parameters if all pictures have landmarks, and oriented gradients otherwise.

    Examples
    --------
    >>> from pathlib import Path
    >>> from types import SimpleNamespace
    >>> rows_of(SimpleNamespace(name="FG-NET", folder=Path("fgnet"), has_landmarks=True))
    FaceRows(name='FG-NET', folder=...Path('fgnet'))
    """
    if collection.has_landmarks:
        return FaceRows(collection.name, collection.folder)
    pictures = collection.pictures
    crops = (pictures.image(row) for row in range(len(pictures)))
    return CropRows(HOG(pixels_per_cell=_CELL).transform(crops).astype(np.float32))
