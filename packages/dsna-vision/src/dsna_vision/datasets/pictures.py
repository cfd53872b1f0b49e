"""A folder of labelled pictures: labels in memory, pictures on disk until they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from dsna import DSNAError
from dsna.extend.files import reading_problem

from ..features.face import Face

_CHECKS = ("header", "full")


class UnusableFile(DSNAError):
    """A file of the collection cannot be used; the message says why."""


class MissingPictures(DSNAError, FileNotFoundError):
    """A folder that is not there, or that holds none of the files looked for; the message says what is expected.

    Examples
    --------
    >>> from dsna_vision.datasets import MissingPictures
    >>> issubclass(MissingPictures, FileNotFoundError)
    True
    """


@dataclass
class Record:
    """What a reader knows of one picture before it is opened."""

    path: Path
    label: Any
    group: str | None = None
    points: np.ndarray | None = None
    box: np.ndarray | None = None


class FilesOnDisk:
    """Base class of data classes whose rows are files: ``len`` is their number, ``subset(rows)`` gives some of them.

    ``_by_row`` names the fields that have a value for each row.
    """

    paths: list[Path]
    problems: list[str]
    _by_row: ClassVar[tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.paths)

    def subset(self, rows: ArrayLike) -> Self:
        """The files of some rows, given by number or by a mask, in that order."""
        wanted = np.asarray(rows)
        chosen = np.arange(len(self))[wanted if wanted.size else wanted.astype(np.int64)]
        parts = {name: _chosen(getattr(self, name), chosen) for name in self._by_row}
        return replace(self, **parts, problems=list(self.problems))  # type: ignore[type-var]


def _chosen(values: Any, rows: np.ndarray) -> Any:
    """Some of the values of an array or a list; None stays None."""
    return [values[i] for i in rows] if isinstance(values, list) else None if values is None else values[rows]


@dataclass
class PictureSet(FilesOnDisk):
    """Pictures on disk, with what is known of each of them.

    Attributes
    ----------
    paths : list of Path
        File of each picture.
    labels : array of shape (n,) or (n, n_outputs)
        Ages, or pitch and yaw.
    groups : array of shape (n,) or None
        Person on each picture, where known; for ``fit(..., groups=)`` and for person-disjoint folds.
    points : list of arrays (n_landmarks, 2) or None, of length n
        Landmarks of each picture, where known.
    boxes : array of shape (n, 4) or None
        Head box, where known: x and y of its centre, width, height.
    problems : list of str
        Files that were left out, and why.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> from dsna_vision.datasets import load_utkface
    >>> folder = tempfile.mkdtemp()
    >>> for name in ("31_0_2_20170101.jpg", "no_age.jpg"):
    ...     Image.new("L", (96, 96)).save(f"{folder}/{name}")
    >>> pictures = load_utkface(folder)
    >>> len(pictures), pictures.labels, pictures.image(0).shape
    (1, array([31.]), (96, 96))
    >>> pictures.problems
    ['no_age.jpg: the name does not follow AGE_gender_race_stamp.jpg']
    """

    paths: list[Path]
    labels: np.ndarray
    groups: np.ndarray | None = None
    points: list[np.ndarray | None] = field(default_factory=list)
    boxes: np.ndarray | None = None
    problems: list[str] = field(default_factory=list)

    _by_row = ("paths", "labels", "groups", "points", "boxes")

    def __repr__(self) -> str:
        return f"PictureSet({len(self)} pictures, {len(self.problems)} problems)"

    def image(self, row: int) -> np.ndarray:
        """Read a picture: (height, width) grey levels or (height, width, 3) colours, 0 to 255."""
        return _decoded(self.paths[row])

    def face(self, row: int) -> Face:
        """Picture and landmarks of a row."""
        points = self.points[row]
        if points is None:
            raise DSNAError(
                f"{self.paths[row].name} has no landmarks: put a .pts file beside it, or use "
                "dsna_vision.features.HOG, which needs none."
            )
        return Face(self.image(row), points)

    def faces(self, radius: float) -> list[Face]:
        """All faces in memory, shrunk to the ``radius`` of the ``AAM`` that will read them."""
        return [self.face(row).shrunk(radius) for row in range(len(self))]

    def crop(self, row: int, margin: float = 1.3) -> np.ndarray:
        """The head box of a picture, ``margin`` times as wide and high; beyond the picture its edge goes on."""
        if self.boxes is None:
            raise DSNAError("These pictures come without head boxes; use image(row), or faces if they have landmarks.")
        image = self.image(row)
        x, y, width, height = self.boxes[row]
        columns = np.arange(round(x - margin * width / 2), round(x + margin * width / 2))
        rows = np.arange(round(y - margin * height / 2), round(y + margin * height / 2))
        cropped: np.ndarray = image[np.clip(rows, 0, len(image) - 1)][:, np.clip(columns, 0, image.shape[1] - 1)]
        return cropped

    def crops(self, margin: float = 1.3) -> Iterator[np.ndarray]:
        """:meth:`crop` of each picture in turn, as :class:`dsna_vision.features.HOG` takes them."""
        return (self.crop(row, margin) for row in range(len(self)))


def collect(
    files: Iterable[Path],
    describe: Callable[[Path], Record],
    *,
    check: str,
    remedy: str,
    problems: Iterable[str] = (),
) -> PictureSet:
    """Describe files one by one; those that cannot be used are named among the problems.

    Parameters
    ----------
    describe : what the name and the files beside it say; raises UnusableFile.
    check : "header" looks whether a file begins as a picture, "full" decodes it.
    remedy : end of the message where no picture is found: the layout, where the data is had and on what terms.
    problems : what is known to be wrong before.
    """
    if check not in _CHECKS:
        raise DSNAError(f"check={check!r} is unknown: use 'header', or 'full' to decode every picture.")
    found: list[Record] = []
    unusable = list(problems)
    for path in sorted(files):
        try:
            record = describe(path)
            if check == "full":
                _decoded(path)
            else:
                with opened(path, "not a readable picture"):
                    pass  # the header has been read
            found.append(record)
        except UnusableFile as error:
            unusable.append(f"{path.name}: {error}")
    if not found:
        wrong = f" Problems: {'; '.join(unusable[:5])}." if unusable else ""
        raise MissingPictures(f"{remedy}{wrong}")
    boxes = [record.box for record in found]
    return PictureSet(
        [record.path for record in found],
        np.array([record.label for record in found], dtype=np.float64),
        None if found[0].group is None else np.array([record.group for record in found]),
        [record.points for record in found],
        None if boxes[0] is None else np.array(boxes, dtype=np.float64),
        unusable,
    )


def files_of(folder: str | Path, *endings: str) -> list[Path]:
    """Files below a folder whose names end so, in small or capital letters, sorted; no folder is an error."""
    root = Path(folder)
    if not root.is_dir():
        raise MissingPictures(f"{root} is not a folder; give the folder that holds the pictures.")
    return sorted(path for path in root.rglob("*") if path.name.lower().endswith(endings))


def check_usable(path: Path, what: str) -> None:
    """Refuse what is no regular file that may be read, before it is opened."""
    problem = reading_problem(path)
    if problem:
        raise UnusableFile(f"{what} ({problem[0]})")


@contextmanager
def opened(path: Path, what: str) -> Iterator[Any]:
    """A picture that Pillow has opened; ``what`` begins the message where that, or reading on, fails."""
    from PIL import Image

    check_usable(path, what)
    try:
        with Image.open(path) as picture:
            yield picture
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise UnusableFile(f"{what} ({error})") from error


def _decoded(path: Path) -> np.ndarray:
    gone = f"{path.name} is damaged or gone; load the pictures with check='full' to leave such files out"
    with opened(path, gone) as picture:
        return np.asarray(picture if picture.mode == "L" else picture.convert("RGB"))
