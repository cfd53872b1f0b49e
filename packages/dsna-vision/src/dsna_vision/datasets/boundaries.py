"""Photos with boundaries drawn by annotators: BSDS500, NYUD, or folders of the user."""

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
_MAX_BOUNDARY_SHARE = 0.4  # of the pixels of an annotation; in BSDS500 at most 0.07
_ORIENTATION = 0x0112  # EXIF tag; values from 5 swap width and height

_Annotation = tuple[Any, Any]  # segments and boundaries, None where unknown


@dataclass
class BoundarySet(FilesOnDisk):
    """Photos on disk with the boundaries of each annotator.

    Attributes
    ----------
    names : list of str
        Names of the photos, without extension.
    paths : list of Path
        File of each photo.
    truths : list of lists of Path
        Ground-truth files of each photo.
    problems : list of str
        Files that were left out, with the reason.
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

    _row_fields = ("names", "paths", "truths")

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
        """Return the segments of each annotator, (height, width) integers; empty if only boundaries are known."""
        return [_nearest(segments, self.size) for segments, _ in self._annotations(row) if segments is not None]

    def boundaries(self, row: int) -> list[np.ndarray]:
        """Return the boundaries of each annotator, (height, width) bool."""
        return [_boundary(segments, lines, self.size) for segments, lines in self._annotations(row)]

    def _annotations(self, row: int) -> list[_Annotation]:
        return [annotation for path in self.truths[row] for annotation in _read_truth(path)]


def load_boundaries(images: str | Path, truth: str | Path, *, check: str = "header") -> BoundarySet:
    """Read a folder of photos and a folder of boundaries drawn by annotators.

    Parameters
    ----------
    images : path
        Folder of photos.
    truth : path
        Folder that holds, for a photo ``pond.jpg``, one of these: ``pond.mat`` in the format of BSDS500;
        ``pond.png`` of the size of the photo, not zero on boundaries; a folder ``pond`` of such PNG files, one from
        each annotator.
    check : {"header", "full"}, default="header"
        Look at the beginning of each photo, or decode all of it, to find damaged ones.

    Returns
    -------
    BoundarySet
        Photos without ground truth, ground truth without a photo, unreadable files, and ground truth with more than
        40 % boundary (such as black lines on white) are left out and named in ``problems``.

    Examples
    --------
    >>> import tempfile
    >>> from dsna_vision.datasets import load_boundaries
    >>> load_boundaries(tempfile.mkdtemp(), "nowhere")
    Traceback (most recent call last):
    dsna_vision.datasets.pictures.MissingPictures: nowhere is not a folder; give the folder that holds the ground truth.
    """
    photos, truth_folder = Path(images), Path(truth)
    for folder, content in ((photos, "photos"), (truth_folder, "ground truth")):
        if not folder.is_dir():
            raise MissingPictures(f"{folder} is not a folder; give the folder that holds the {content}.")
    if photos.resolve() == truth_folder.resolve():
        raise DSNAError(f"{photos} cannot hold both photos and ground truth; put them into folders of their own.")
    truths = {path.name: files_with(path, (".png",)) for path in truth_folder.iterdir() if path.is_dir()}
    for ending in (".png", ".mat"):
        truths.update({path.stem: [path] for path in files_with(truth_folder, (ending,))})
    remedy = (
        f"No photo in {photos} has ground truth in {truth_folder}: pond.jpg needs pond.mat, pond.png or pond/*.png."
    )
    return pair_by_name(files_with(photos, PHOTO_ENDINGS), truths, check=check, remedy=remedy)


def load_bsds500(folder: str | Path, split: str = "train", *, check: str = "header") -> BoundarySet:
    """Read the Berkeley Segmentation Data Set: photos of 481 x 321 pixels, each segmented by about five people.

    Parameters
    ----------
    folder : path
        Contains ``images/train/*.jpg`` and ``groundTruth/train/*.mat``, and likewise ``val`` and ``test``; a folder
        above it (``BSDS500`` or ``BSR``, as unpacked) works as well.
    split : {"train", "val", "test"}, default="train"
        200, 100 and 200 photos.
    check : {"header", "full"}, default="header"
        Look at the beginning of each photo, or decode all of it, to find damaged ones.

    Returns
    -------
    BoundarySet
        Photos without ground truth and unreadable files are left out and named in ``problems``.

    Notes
    -----
    P. Arbelaez, M. Maire, C. Fowlkes and J. Malik, "Contour detection and hierarchical image segmentation", PAMI
    2011. Available from https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/resources.html for research
    and education; redistribution is not allowed.

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
    return pair_by_name(files_with(root / "images" / split, PHOTO_ENDINGS), truths, check=check, remedy=remedy)


def check_split(split: str) -> None:
    """Raise a DSNAError if a split is unknown."""
    if split not in _SPLITS:
        raise DSNAError(f"split={split!r} is unknown: use 'train', 'val' or 'test'.")


def photo_root(folder: str | Path, subfolders: Iterable[str]) -> Path:
    """Return the first of the subfolders that contains photos, or the folder itself."""
    root = Path(folder)
    if not root.is_dir():
        raise MissingPictures(f"{root} is not a folder; give the folder that holds images/ and groundTruth/.")
    return next(
        (
            root / subfolder
            for subfolder in subfolders
            if any((root / subfolder / name).is_dir() for name in ("images", "colorImage"))
        ),
        root,
    )


def files_with(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    """List the files in a folder with these extensions, in any case; none if the folder does not exist."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in endings)


def pair_by_name(
    photos: Iterable[Path],
    truths: dict[str, list[Path]],
    *,
    check: str,
    remedy: str,
    size: tuple[int, int] | None = None,
) -> BoundarySet:
    """Pair photos and ground truth by name; unusable files are named in ``problems``."""
    if check not in ("header", "full"):
        raise DSNAError(f"check={check!r} is unknown: use 'header', or 'full' to decode every photo.")
    full = check == "full"
    shape_of: Callable[[Path], tuple[int, ...]] = (lambda path: _decoded(path).shape[:2]) if full else _shape_in_header
    photo_set = BoundarySet([], [], [], [], size)
    unpaired = dict(truths)
    blank_photos: list[str] = []
    for path in photos:
        try:
            if path.stem in photo_set.names:
                raise UnusableFile("another photo has the same name")
            if not unpaired.pop(path.stem, None):
                raise UnusableFile("no ground truth of this name")
            shape = shape_of(path)
            shares = [_checked_share(truth, shape) for truth in truths[path.stem]]
            if not max(shares):
                blank_photos.append(path.name)
        except UnusableFile as error:
            photo_set.problems.append(f"{path.name}: {error}")
            continue
        photo_set.names.append(path.stem)
        photo_set.paths.append(path)
        photo_set.truths.append(truths[path.stem])
    if blank_photos and len(blank_photos) == len(photo_set):
        raise DSNAError(
            f"The ground truth of {', '.join(blank_photos[:3])} has no boundary: draw boundaries light on black."
        )
    if blank_photos:
        warnings.warn(f"The ground truth of {', '.join(blank_photos)} has no boundary.", stacklevel=3)
    photo_set.problems += [f"{name}: ground truth without a photo" for name in sorted(unpaired)]
    if not photo_set.names:
        problem_text = f" Problems: {'; '.join(photo_set.problems[:5])}." if photo_set.problems else ""
        raise MissingPictures(f"{remedy}{problem_text}")
    return photo_set


def _checked_share(path: Path, shape: tuple[int, ...]) -> float:
    """Return the largest boundary share in a file; raise UnusableFile if it does not fit the photo."""
    shares = [0.0]
    for segments, lines in _read_truth(path):
        for annotation in (segments, lines):
            if annotation is not None and annotation.shape != shape:
                raise UnusableFile(
                    f"the photo has {width_by_height(shape)} pixels, its ground truth {path.name} "
                    f"{width_by_height(annotation.shape)}"
                )
        shares.append(float(_boundary(segments, lines, None).mean()))
    if max(shares) > _MAX_BOUNDARY_SHARE:
        raise UnusableFile(
            f"{100 * max(shares):.0f} % of {path.name} is boundary: draw boundaries light on black, or invert it"
        )
    return max(shares)


def _shape_in_header(path: Path) -> tuple[int, ...]:
    with opened(path, "not a readable picture") as picture:
        width, height = picture.size
        if picture.getexif().get(_ORIENTATION, 1) < 5:
            return height, width
        if picture.format != "TIFF":
            return width, height
    return _decoded(path).shape[:2]  # Pillow versions differ on the size of a rotated TIFF file


def _decoded(path: Path) -> np.ndarray:
    try:
        return read_photo(path)
    except PhotoError as error:
        raise UnusableFile(
            f"{path.name} is damaged or missing; check='full' leaves such files out ({error})"
        ) from error


def _read_truth(path: Path) -> list[_Annotation]:
    """Read segments and boundaries of each annotator, None where the file does not contain them."""
    if path.suffix.lower() != ".mat":
        with opened(path, f"its ground truth {path.name} is damaged") as picture:
            is_grey = picture.mode in ("1", "L", "I", "I;16", "F")
            lines = np.asarray(picture if is_grey else picture.convert("RGB")) != 0
        return [(None, lines if is_grey else lines.any(axis=2))]
    check_usable(path, f"its ground truth {path.name} cannot be read")
    try:
        cells = scipy.io.loadmat(path)["groundTruth"].ravel()
        annotations = [(_entry(cell, "Segmentation"), _entry(cell, "Boundaries")) for cell in cells]
    except Exception as error:  # scipy raises many types of errors on damaged files
        reason = f"{type(error).__name__}: {error}"
        raise UnusableFile(f"its ground truth {path.name} is not in the format of BSDS500 ({reason})") from error
    if not annotations or any(segments is None and lines is None for segments, lines in annotations):
        raise UnusableFile(f"its ground truth {path.name} holds neither Boundaries nor Segmentation")
    return annotations


def _entry(cell: Any, name: str) -> np.ndarray | None:
    return np.asarray(cell[name].flat[0]) if name in cell.dtype.names else None


def _nearest(label_map: np.ndarray, size: tuple[int, int] | None) -> np.ndarray:
    """Reduce a map of labels; each pixel takes the value at its centre."""
    if size is None or label_map.shape == size:
        return label_map
    rows, columns = (
        ((np.arange(new) + 0.5) * old / new).astype(int) for new, old in zip(size, label_map.shape, strict=True)
    )
    return label_map[np.ix_(rows, columns)]


def _boundary(segments: np.ndarray | None, lines: np.ndarray | None, size: tuple[int, int] | None) -> np.ndarray:
    """Return boundaries at the given size: those of the annotator, or those of the reduced segments."""
    if lines is not None and (size is None or lines.shape == size):
        return lines > 0
    if segments is None:
        return _thin_reduced(lines, size)
    small = _nearest(segments, size)
    boundaries = np.zeros(small.shape, dtype=bool)
    boundaries[:, :-1] |= small[:, :-1] != small[:, 1:]
    boundaries[:-1] |= small[:-1] != small[1:]
    return boundaries


def _thin_reduced(lines: Any, size: Any) -> np.ndarray:
    """Reduce lines, and thin them to a width of one pixel."""
    from .._kernels.thinning import thin

    reduced = np.zeros((size[0] + 2, size[1] + 2), dtype=np.uint8)
    rows, columns = (
        indices * new // old for indices, new, old in zip(np.nonzero(lines), size, lines.shape, strict=True)
    )
    reduced[1 + rows, 1 + columns] = 1
    thin(reduced)
    return reduced[1:-1, 1:-1] > 0
