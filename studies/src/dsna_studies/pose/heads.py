"""Features of heads: oriented gradients of several crops, the same for every split."""

from __future__ import annotations

import hashlib
import io
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np

from dsna.extend.files import write_atomically
from dsna_vision.datasets import PictureSet, load_pointing04
from dsna_vision.features import HOG

from ..study import DataError

#: Sizes of the crops relative to head boxes: from the face alone to the head with its outline.
MARGINS = (1.0, 1.3, 1.6)
COMPONENTS = 100


def read_heads(folder: Path, quick_run: bool = False) -> PictureSet:
    """Read Pointing'04.

    The folder holds ``Person01/person01100-90+0.jpg`` and ``.txt``, or a folder ``pointing04`` that does. With
    ``quick_run``, only the first series of each person is read.

    Examples
    --------
    >>> from pathlib import Path
    >>> read_heads(Path("nowhere"))
    Traceback (most recent call last):
    dsna_vision.datasets.pictures.MissingPictures: nowhere is not a folder; give the folder that holds the pictures.
    """
    subfolder = folder / "pointing04"
    heads = load_pointing04(subfolder if subfolder.is_dir() else folder)
    if quick_run:
        heads = heads.subset([path.name[8] == "1" for path in heads.paths])
    persons = 0 if heads.groups is None else len(np.unique(heads.groups))
    if persons < 2:
        raise DataError(
            f"{folder} holds pictures of {persons} persons; at least two are needed for folds that share no person."
        )
    return heads


def checksum(heads: PictureSet) -> str:
    """Checksum of the names and head boxes of the pictures, part of the key of results.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> len(checksum(PictureSet([Path("1.jpg")], np.array([[0.0, 15.0]]), boxes=np.ones((1, 4)))))
    12
    """
    text = "\n".join(f"{path.name} {box}" for path, box in zip(heads.paths, np.asarray(heads.boxes), strict=True))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def gradients(heads: PictureSet, cache: Path) -> np.ndarray:
    r"""Compute oriented gradients of all heads, in crops of several sizes.

    Parameters
    ----------
    heads : PictureSet
    cache : Path
        File that stores the gradients, and from which they are read if it is of the same pictures.

    Returns
    -------
    float32 array of shape (n, n_features)

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("person01100-90+0", "person02100+0+15"):
    ...     Image.fromarray(np.zeros((72, 96), dtype=np.uint8)).save(folder / f"{name}.jpg")
    ...     _ = (folder / f"{name}.txt").write_text("Face\n48\n36\n40\n40\n")
    >>> gradients(read_heads(folder), folder / "gradients.npz").shape
    (2, 2700)
    """
    hog = HOG()
    name = f"{checksum(heads)} {hog} {MARGINS}"
    # A missing or damaged file is written again.
    if cache.is_file():
        with suppress(OSError, KeyError, ValueError, zipfile.BadZipFile), np.load(cache) as stored:
            if str(stored["name"]) == name:
                return np.asarray(stored["rows"])
    rows = np.hstack([hog.transform(heads.crops(margin)) for margin in MARGINS]).astype(np.float32)
    stream = io.BytesIO()
    np.savez(stream, name=np.array(name), rows=rows)
    write_atomically(cache, stream.getvalue())
    return rows
