"""Photos and the boundaries that people drew in them: BSDS500, NYUD, or folders of one's own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io

from dsna import DSNAError

from ..photos import PHOTO_ENDINGS, PhotoError, read_photo
from ..wording import width_by_height
from .pictures import FilesOnDisk, MissingPictures, UnusableFile, check_usable, opened

_SPLITS = ("train", "val", "test")
_MOST_BOUNDARY = 0.4  # of the pixels of a drawing; in BSDS500 no person drew more than 0.07
_ORIENTATION = 0x0112  # EXIF tag; from 5 on, width and height change places

_Drawing = tuple[Any, Any]  # segments and boundaries, None where they are not known


@dataclass
class BoundarySet(FilesOnDisk):
    """Photos on disk, and what each annotator drew in them.

    Attributes
    ----------
    names : list of str
        Names of the photos, without ending.
    paths : list of Path
        File of each photo.
    truths : list of lists of Path
        Files that hold the ground truth of each photo.
    problems : list of str
        Files that were left out, and why.
    size : (int, int) or None
        Height and width to which photos and ground truth are reduced.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from PIL import Image
    >>> from dsna_vision.datasets import load_boundaries
    >>> line = Image.new("L", (48, 48))
    >>> line.paste(255, (20, 0, 21, 48))
    >>> folders = mkdtemp(), mkdtemp()
    >>> for folder in folders:
    ...     line.save(f"{folder}/line.png")
    >>> photos = load_boundaries(*folders)
    >>> len(photos), photos.names, photos.image(0).shape, int(photos.boundaries(0)[0].sum())
    (1, ['line'], (48, 48, 3), 48)
    """

    names: list[str]
    paths: list[Path]
    truths: list[list[Path]]
    problems: list[str] = field(default_factory=list)
    size: tuple[int, int] | None = None

    _by_row = ("names", "paths", "truths")

    def __repr__(self) -> str:
        return f"BoundarySet({len(self)} photos, {len(self.problems)} problems)"

    def image(self, row: int) -> np.ndarray:
        """Read a photo: (height, width, 3) colours, uint8."""
        photo = _decoded(self.paths[row])
        if self.size is None or photo.shape[:2] == self.size:
            return photo
        from PIL import Image

        return np.asarray(Image.fromarray(photo).resize(self.size[::-1], Image.Resampling.BICUBIC))

    def segmentations(self, row: int) -> list[np.ndarray]:
        """Each annotator's segments, (height, width) whole numbers; an empty list where only boundaries are known."""
        return [_nearest(segments, self.size) for segments, _ in self._drawn(row) if segments is not None]

    def boundaries(self, row: int) -> list[np.ndarray]:
        """Each annotator's boundaries, (height, width) bool."""
        return [_boundary(segments, lines, self.size) for segments, lines in self._drawn(row)]

    def _drawn(self, row: int) -> list[_Drawing]:
        return [drawn for path in self.truths[row] for drawn in _read_truth(path)]


def load_boundaries(images: str | Path, truth: str | Path, *, check: str = "header") -> BoundarySet:
    """Read any folder of photos with boundaries that people drew in them.

    Parameters
    ----------
    images : path
        Folder of photos.
    truth : path
        Folder that holds, for the photo ``pond.jpg``, one of these: ``pond.mat`` in the format of BSDS500;
        ``pond.png``, as large as the photo, boundaries not zero; a folder ``pond`` of such files, one from each
        annotator.
    check : {"header", "full"}, default="header"
        Look at the beginning of each photo, or decode all of it, to find damaged ones.

    Returns
    -------
    BoundarySet
        Photos without ground truth, ground truth without a photo, files that cannot be read, and drawings of which more
        than 40 % is boundary, as black lines on white are read, are left out and named in ``problems``.

    Examples
    --------
    >>> import tempfile
    >>> from dsna_vision.datasets import load_boundaries
    >>> load_boundaries(tempfile.mkdtemp(), "nowhere")
    Traceback (most recent call last):
    dsna_vision.datasets.pictures.MissingPictures: nowhere is not a folder; give the folder that holds the ground truth.
    """
    photos, drawn = Path(images), Path(truth)
    for folder, what in ((photos, "photos"), (drawn, "ground truth")):
        if not folder.is_dir():
            raise MissingPictures(f"{folder} is not a folder; give the folder that holds the {what}.")
    if photos.resolve() == drawn.resolve():
        raise DSNAError(f"{photos} cannot hold both photos and ground truth; put them into folders of their own.")
    truths = {path.name: files_with(path, (".png",)) for path in drawn.iterdir() if path.is_dir()}
    for ending in (".png", ".mat"):
        truths.update({path.stem: [path] for path in files_with(drawn, (ending,))})
    remedy = f"No photo in {photos} has ground truth in {drawn}: pond.jpg needs pond.mat, pond.png or pond/*.png."
    return pair(files_with(photos, PHOTO_ENDINGS), truths, check=check, remedy=remedy)


def load_bsds500(folder: str | Path, split: str = "train", *, check: str = "header") -> BoundarySet:
    """Read the Berkeley Segmentation Data Set: photos of 481 x 321 pixels, each segmented by about five persons.

    Parameters
    ----------
    folder : path
        Holds ``images/train/*.jpg`` and ``groundTruth/train/*.mat``, and likewise ``val`` and ``test``; the folder
        above it (``BSDS500`` or ``BSR``, as unpacked) serves as well.
    split : {"train", "val", "test"}, default="train"
        200, 100 and 200 photos.
    check : {"header", "full"}, default="header"
        Look at the beginning of each photo, or decode all of it, to find damaged ones.

    Returns
    -------
    BoundarySet
        Photos without ground truth, and files that cannot be read, are left out and named in ``problems``.

    Notes
    -----
    P. Arbelaez, M. Maire, C. Fowlkes and J. Malik, "Contour detection and hierarchical image segmentation", PAMI
    2011. Had from https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/resources.html for research
    and education, not for passing on.

    Examples
    --------
    >>> from dsna_vision.datasets import load_bsds500
    >>> load_bsds500("nowhere", "val")
    Traceback (most recent call last):
    dsna_vision.datasets.pictures.MissingPictures: nowhere is not a folder; give the folder that holds images/ ...
    """
    check_split(split)
    root = photo_root(folder, ("", "data", "BSDS500/data", "BSR/BSDS500/data"))
    remedy = (
        f"No photos with ground truth of the split {split!r} in {root}: images/{split}/*.jpg and "
        f"groundTruth/{split}/*.mat are expected. BSDS500 is free for research: "
        "https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/resources.html"
    )
    truths = {path.stem: [path] for path in files_with(root / "groundTruth" / split, (".mat",))}
    return pair(files_with(root / "images" / split, PHOTO_ENDINGS), truths, check=check, remedy=remedy)


def check_split(split: str) -> None:
    """Refuse a split that no collection has."""
    if split not in _SPLITS:
        raise DSNAError(f"split={split!r} is unknown: use 'train', 'val' or 'test'.")


def photo_root(folder: str | Path, places: Iterable[str]) -> Path:
    """The first of some places below a folder that holds photos."""
    root = Path(folder)
    if not root.is_dir():
        raise MissingPictures(f"{root} is not a folder; give the folder that holds images/ and groundTruth/.")
    return next(
        (root / place for place in places if any((root / place / name).is_dir() for name in ("images", "colorImage"))),
        root,
    )


def files_with(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    """Files in a folder whose names end so, in small or capital letters; none where there is no folder."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in endings)


def pair(
    photos: Iterable[Path],
    truths: dict[str, list[Path]],
    *,
    check: str,
    remedy: str,
    size: tuple[int, int] | None = None,
) -> BoundarySet:
    """Put photos and ground truth of the same name together; what cannot be used is named among the problems."""
    if check not in ("header", "full"):
        raise DSNAError(f"check={check!r} is unknown: use 'header', or 'full' to decode every photo.")
    look: Callable[[Path], tuple[int, ...]] = _measured if check == "header" else lambda path: _decoded(path).shape[:2]
    found = BoundarySet([], [], [], [], size)
    left = dict(truths)
    blank: list[str] = []
    for path in photos:
        try:
            if path.stem in found.names:
                raise UnusableFile("another photo has the same name")
            if not left.pop(path.stem, None):
                raise UnusableFile("no ground truth of this name")
            shape = look(path)
            shares = [_checked_share(truth, shape) for truth in truths[path.stem]]
            if not max(shares):
                blank.append(path.name)
        except UnusableFile as error:
            found.problems.append(f"{path.name}: {error}")
            continue
        found.names.append(path.stem)
        found.paths.append(path)
        found.truths.append(truths[path.stem])
    if blank and len(blank) == len(found):
        raise DSNAError(
            f"No boundary is drawn in the ground truth of {', '.join(blank[:3])}: draw boundaries light on black."
        )
    if blank:
        warnings.warn(f"No boundary is drawn in the ground truth of {', '.join(blank)}.", stacklevel=3)
    found.problems += [f"{name}: ground truth without a photo" for name in sorted(left)]
    if not found.names:
        wrong = f" Problems: {'; '.join(found.problems[:5])}." if found.problems else ""
        raise MissingPictures(f"{remedy}{wrong}")
    return found


def _checked_share(path: Path, shape: tuple[int, ...]) -> float:
    """Largest share of boundary in the drawings of a file; those that cannot be of this photo are refused."""
    shares = [0.0]
    for segments, lines in _read_truth(path):
        for drawn in (segments, lines):
            if drawn is not None and drawn.shape != shape:
                raise UnusableFile(
                    f"the photo has {width_by_height(shape)} pixels, its ground truth {path.name} "
                    f"{width_by_height(drawn.shape)}"
                )
        shares.append(float(_boundary(segments, lines, None).mean()))
    if max(shares) > _MOST_BOUNDARY:
        raise UnusableFile(
            f"{100 * max(shares):.0f} % of {path.name} is boundary: draw boundaries light on black, or invert it"
        )
    return max(shares)


def _measured(path: Path) -> tuple[int, ...]:
    with opened(path, "not a readable picture") as picture:
        width, height = picture.size
        if picture.getexif().get(_ORIENTATION, 1) < 5:
            return height, width
        if picture.format != "TIFF":
            return width, height
    return _decoded(path).shape[:2]  # some versions of Pillow tell the turned size of a TIFF file, others do not


def _decoded(path: Path) -> np.ndarray:
    try:
        return read_photo(path)
    except PhotoError as error:
        raise UnusableFile(f"{path.name} is damaged or gone; check='full' leaves such files out ({error})") from error


def _read_truth(path: Path) -> list[_Drawing]:
    """Segments and boundaries of each annotator, None where the file does not say."""
    if path.suffix.lower() != ".mat":
        with opened(path, f"its ground truth {path.name} is damaged") as picture:
            grey = picture.mode in ("1", "L", "I", "I;16", "F")
            lines = np.asarray(picture if grey else picture.convert("RGB")) != 0
        return [(None, lines if grey else lines.any(axis=2))]
    check_usable(path, f"its ground truth {path.name} cannot be read")
    try:
        cells = scipy.io.loadmat(path)["groundTruth"].ravel()
        drawn = [(_entry(cell, "Segmentation"), _entry(cell, "Boundaries")) for cell in cells]
    except Exception as error:  # scipy raises many kinds on damaged files
        reason = f"{type(error).__name__}: {error}"
        raise UnusableFile(f"its ground truth {path.name} is not in the format of BSDS500 ({reason})") from error
    if not drawn or any(segments is None and lines is None for segments, lines in drawn):
        raise UnusableFile(f"its ground truth {path.name} holds neither Boundaries nor Segmentation")
    return drawn


def _entry(cell: Any, name: str) -> np.ndarray | None:
    return np.asarray(cell[name].flat[0]) if name in cell.dtype.names else None


def _nearest(drawn: np.ndarray, size: tuple[int, int] | None) -> np.ndarray:
    """Every pixel of a smaller map takes the value in the middle of its place."""
    if size is None or drawn.shape == size:
        return drawn
    rows, columns = (
        ((np.arange(new) + 0.5) * old / new).astype(int) for new, old in zip(size, drawn.shape, strict=True)
    )
    return drawn[np.ix_(rows, columns)]


def _boundary(segments: np.ndarray | None, lines: np.ndarray | None, size: tuple[int, int] | None) -> np.ndarray:
    """Boundaries as drawn; where they are reduced, between reduced segments if these are known."""
    if lines is not None and (size is None or lines.shape == size):
        return lines > 0
    if segments is None:
        return _fewer_pixels(lines, size)
    small = _nearest(segments, size)
    found = np.zeros(small.shape, dtype=bool)
    found[:, :-1] |= small[:, :-1] != small[:, 1:]
    found[:-1] |= small[:-1] != small[1:]
    return found


def _fewer_pixels(lines: Any, size: Any) -> np.ndarray:
    """Lines of one pixel's width wherever the smaller pixels hold any."""
    from .._kernels.thinning import thin

    small = np.zeros((size[0] + 2, size[1] + 2), dtype=np.uint8)
    rows, columns = (where * new // old for where, new, old in zip(np.nonzero(lines), size, lines.shape, strict=True))
    small[1 + rows, 1 + columns] = 1
    thin(small)
    return small[1:-1, 1:-1] > 0
