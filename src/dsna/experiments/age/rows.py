"""Faces as rows of numbers, learned anew from the training faces of each split."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA

from ...features import AAM, HOG, Face
from .collections import READERS, Collection
from .protocols import Split

RADIUS = 32
COMPONENTS = 200
_CELL = (12, 12)


@lru_cache(maxsize=1)
def _faces(name: str, folder: Path) -> list[Face]:
    """Faces of a collection, read once in each process."""
    return READERS[name](folder).faces(RADIUS)


@dataclass(frozen=True)
class FaceRows:
    """Appearance parameters of faces with landmarks, by a model of the training faces alone.

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
        """All faces, shrunk, in memory."""
        return _faces(self.name, self.folder)

    def of(self, split: Split) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the training and of the test faces."""
        return self.model(split)[1:]

    def model(self, split: Split) -> tuple[AAM, np.ndarray, np.ndarray]:
        """The appearance model too."""
        model = AAM(radius=RADIUS)
        train = model.fit_transform([self.faces[i] for i in split.train])
        return model, train, model.transform([self.faces[i] for i in split.test])


@dataclass(frozen=True)
class CropRows:
    """Principal components of oriented gradients, by the gradients of the training crops alone.

    Parameters
    ----------
    gradients : array of shape (n, n_features)
        Histograms of all crops, which look at one crop at a time.
    components : int, default=200
        Less where there are fewer rows or columns.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.experiments.age.protocols import three_subsets
    >>> rows = CropRows(np.random.default_rng(0).normal(size=(30, 6)).astype(np.float32))
    >>> [part.shape for part in rows.of(three_subsets(30)[0])]
    [(10, 6), (20, 6)]
    """

    gradients: np.ndarray
    components: int = COMPONENTS

    def of(self, split: Split) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the training and of the test crops."""
        train, test = self.gradients[split.train], self.gradients[split.test]
        most = min(self.components, *train.shape)
        components = PCA(most, random_state=0).fit(train)
        return components.transform(train).astype(np.float64), components.transform(test).astype(np.float64)


def rows_of(collection: Collection) -> FaceRows | CropRows:
    """Appearance parameters where all pictures have landmarks, oriented gradients otherwise.

    Parameters
    ----------
    collection : Collection

    Returns
    -------
    FaceRows or CropRows

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from PIL import Image
    >>> from dsna.experiments.age.collections import find_collections
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "utkface").mkdir()
    >>> Image.fromarray(np.zeros((96, 96), dtype=np.uint8)).save(folder / "utkface" / "31_0_2_20170101.jpg")
    >>> rows_of(find_collections(folder)[0]).gradients.shape
    (1, 1764)
    """
    if collection.has_landmarks:
        return FaceRows(collection.name, collection.folder)
    pictures = collection.pictures
    crops = (pictures.image(row) for row in range(len(pictures)))
    return CropRows(HOG(pixels_per_cell=_CELL).transform(crops).astype(np.float32))
