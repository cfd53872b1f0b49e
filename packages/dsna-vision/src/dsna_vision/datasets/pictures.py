"""Sets of labelled pictures: labels in memory, pictures read from disk on demand."""

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
    """A file of a collection cannot be used; the message gives the reason."""


class MissingPictures(DSNAError, FileNotFoundError):
    """A folder that is missing or contains none of the expected files; the message says what is expected.

    Examples
    --------
    >>> from dsna_vision.datasets import MissingPictures
    >>> issubclass(MissingPictures, FileNotFoundError)
    True
    """


@dataclass
class Record:
    """Metadata of a picture, known before it is opened."""

    path: Path
    label: Any
    group: str | None = None
    points: np.ndarray | None = None
    box: np.ndarray | None = None


class FilesOnDisk:
    """Base class of data classes whose rows are files, with ``len`` and ``subset(rows)``.

    ``_row_fields`` names the fields that have one value per row.
    """

    paths: list[Path]
    problems: list[str]
    _row_fields: ClassVar[tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.paths)

    def subset(self, rows: ArrayLike) -> Self:
        """Return the set of selected rows, by number, in that order, or by mask."""
        requested = np.asarray(rows)
        selected_rows = np.arange(len(self))[requested if requested.size else requested.astype(np.int64)]
        selected_fields = {name: _select(getattr(self, name), selected_rows) for name in self._row_fields}
        return replace(self, **selected_fields, problems=list(self.problems))  # type: ignore[type-var]


def _select(values: Any, rows: np.ndarray) -> Any:
    """Select values of an array or a list; None stays None."""
    return [values[i] for i in rows] if isinstance(values, list) else None if values is None else values[rows]


@dataclass
class PictureSet(FilesOnDisk):
    """Pictures on disk with their labels and annotations.

    Attributes
    ----------
    paths : list of Path
        File of each picture.
    labels : array of shape (n,) or (n, n_outputs)
        Ages, or pitch and yaw.
    groups : array of shape (n,) or None
        Person in each picture, if known; for ``fit(..., groups=)`` and person-disjoint folds.
    points : list of arrays (n_landmarks, 2) or None, of length n
        Landmarks of each picture, if known.
    boxes : array of shape (n, 4) or None
        Head box, if known: x and y of its centre, width, height.
    problems : list of str
        Files that were left out, with the reason.

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

    _row_fields = ("paths", "labels", "groups", "points", "boxes")

    def __repr__(self) -> str:
        return f"PictureSet({len(self)} pictures, {len(self.problems)} problems)"

    def image(self, row: int) -> np.ndarray:
        """Read a picture: (height, width) grey levels or (height, width, 3) colours, 0 to 255."""
        return _decoded(self.paths[row])

    def face(self, row: int) -> Face:
        """Read picture and landmarks of a row."""
        points = self.points[row]
        if points is None:
            raise DSNAError(
                f"{self.paths[row].name} has no landmarks: put a .pts file next to it, or use "
                "dsna_vision.features.HOG, which needs none."
            )
        return Face(self.image(row), points)

    def faces(self, radius: float) -> list[Face]:
        """Read all faces into memory, shrunk to the ``radius`` of the ``AAM`` that will use them."""
        return [self.face(row).shrunk(radius) for row in range(len(self))]

    def crop(self, row: int, margin: float = 1.3) -> np.ndarray:
        """Cut out the head box of a picture, enlarged by ``margin``; pixels outside the picture repeat its border."""
        if self.boxes is None:
            raise DSNAError("These pictures come without head boxes; use image(row), or faces if they have landmarks.")
        image = self.image(row)
        x, y, width, height = self.boxes[row]
        columns = np.arange(round(x - margin * width / 2), round(x + margin * width / 2))
        rows = np.arange(round(y - margin * height / 2), round(y + margin * height / 2))
        cropped: np.ndarray = image[np.clip(rows, 0, len(image) - 1)][:, np.clip(columns, 0, image.shape[1] - 1)]
        return cropped

    def crops(self, margin: float = 1.3) -> Iterator[np.ndarray]:
        """Yield :meth:`crop` of each picture, as input of :class:`dsna_vision.features.HOG`."""
        return (self.crop(row, margin) for row in range(len(self)))


def collect(
    files: Iterable[Path],
    describe: Callable[[Path], Record],
    *,
    check: str,
    remedy: str,
    problems: Iterable[str] = (),
) -> PictureSet:
    """Describe files one by one; unusable files are named in ``problems``.

    Parameters
    ----------
    describe : returns the record of a file from its name and the files next to it, or raises UnusableFile.
    check : "header" checks the beginning of each picture, "full" decodes it.
    remedy : error message if no picture is found: expected layout, source and terms of the data.
    problems : problems that are known before.
    """
    if check not in _CHECKS:
        raise DSNAError(f"check={check!r} is unknown: use 'header', or 'full' to decode every picture.")
    records: list[Record] = []
    unusable = list(problems)
    for path in sorted(files):
        try:
            record = describe(path)
            if check == "full":
                _decoded(path)
            else:
                with opened(path, "not a readable picture"):
                    pass  # the header has been read
            records.append(record)
        except UnusableFile as error:
            unusable.append(f"{path.name}: {error}")
    if not records:
        problem_text = f" Problems: {'; '.join(unusable[:5])}." if unusable else ""
        raise MissingPictures(f"{remedy}{problem_text}")
    boxes = [record.box for record in records]
    return PictureSet(
        [record.path for record in records],
        np.array([record.label for record in records], dtype=np.float64),
        None if records[0].group is None else np.array([record.group for record in records]),
        [record.points for record in records],
        None if boxes[0] is None else np.array(boxes, dtype=np.float64),
        unusable,
    )


def files_of(folder: str | Path, *endings: str) -> list[Path]:
    """List the files below a folder with these endings, in any case, sorted; raise an error if it does not exist."""
    root = Path(folder)
    if not root.is_dir():
        raise MissingPictures(f"{root} is not a folder; give the folder that holds the pictures.")
    return sorted(path for path in root.rglob("*") if path.name.lower().endswith(endings))


def check_usable(path: Path, message: str) -> None:
    """Raise UnusableFile unless a path is a readable regular file; it is not opened."""
    problem = reading_problem(path)
    if problem:
        raise UnusableFile(f"{message} ({problem[0]})")


@contextmanager
def opened(path: Path, message: str) -> Iterator[Any]:
    """Open a picture with Pillow; ``message`` is the beginning of the error if opening or reading it fails."""
    from PIL import Image

    check_usable(path, message)
    try:
        with Image.open(path) as picture:
            yield picture
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise UnusableFile(f"{message} ({error})") from error


def _decoded(path: Path) -> np.ndarray:
    message = f"{path.name} is damaged or missing; load the pictures with check='full' to leave such files out"
    with opened(path, message) as picture:
        return np.asarray(picture if picture.mode == "L" else picture.convert("RGB"))
