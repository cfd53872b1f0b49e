"""Agreement of predicted boundaries with those that people drew, by the counting rules of BSDS500."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike

from dsna import DSNAError
from dsna.extend.files import make_folder, write_atomically

from ...datasets.boundaries import BoundarySet
from ...datasets.pictures import MissingPictures, UnusableFile, opened
from ...wording import width_by_height
from .scores import BoundaryScores

_COUNTING = 1  # version of the counting rules; stored counts of another version are not reused
_UNIT = 1e6  # distances are stored as integers in this unit, so that ties and sums are exact

Predictions = str | Path | Iterable[ArrayLike] | Callable[[int], ArrayLike]
Truth = BoundarySet | Sequence[Sequence[ArrayLike]]
_ReadDrawings = Callable[[], Sequence[ArrayLike]]


def evaluate(
    predictions: Predictions,
    truth: Truth,
    *,
    thresholds: int | ArrayLike = 99,
    max_distance: float = 0.0075,
    thin: bool = True,
    n_jobs: int | None = None,
    out: str | Path | None = None,
) -> BoundaryScores:
    """Score predicted boundaries against ground truth.

    At each threshold the map is cut, thinned to lines one pixel wide and matched, pixel by pixel, to the boundaries
    of each annotator: at most one partner each, no farther than ``max_distance``, as many pairs as possible and
    then as near as possible. A true pixel counts once for each annotator; a predicted one is right if any annotator
    matches it.

    Parameters
    ----------
    predictions : iterable of (height, width) arrays, folder, or callable
        Maps with values from 0 to 1, one for each photo in order; or a folder of PNG files named after the photos;
        or a function from a photo's number to its map, called from several threads if ``n_jobs`` is not 1.
    truth : BoundarySet, or list of lists of (height, width) arrays
        For each photo, the boundaries that each annotator drew.
    thresholds : int or array, default=99
        Number of thresholds, evenly spaced between 0 and 1, or the thresholds themselves.
    max_distance : float, default=0.0075
        Maximum distance between matched pixels, as a fraction of the photo's diagonal. NYUD usually uses 0.011.
    thin : bool, default=True
        Whether to thin the predicted maps; the ground truth is not thinned.
    n_jobs : int or None, default=None
        Photos scored at the same time, in threads; None means 1, -1 one for each processor.
    out : path or None, default=None
        Folder in which the counts of each photo are stored. A second call reuses the counts of the same photo, map,
        ground truth and settings.

    Returns
    -------
    BoundaryScores
        Photos whose map is missing, damaged or of another size are left out and listed in ``problems``.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_vision.edges import evaluate
    >>> drawn = np.eye(60, dtype=bool)
    >>> print(evaluate([drawn], [[drawn, drawn]]))
    1 photo   ODS 1.000 (P 1.00, R 1.00 at 0.01)   OIS 1.000   AP 1.000   R50 1.000
    """
    levels = _levels(thresholds)
    if not 0 < max_distance < 1:
        raise DSNAError(f"max_distance={max_distance!r} must be a share of the diagonal, between 0 and 1.")
    names, drawings = _truth(truth)
    folder = None if out is None else Path(out)
    if folder is not None:
        make_folder(folder)
    count = partial(_count_photo, levels=levels, max_distance=float(max_distance), thin=bool(thin), folder=folder)
    jobs = (
        delayed(count)(name, get_map, boundaries)
        for name, get_map, boundaries in zip(names, _maps(predictions, names), drawings, strict=True)
    )
    return _scores(names, levels, jobs, n_jobs)


def human_consistency(truth: Truth, *, max_distance: float = 0.0075, n_jobs: int | None = None) -> BoundaryScores:
    """Score each annotator against the others of the same photo.

    Parameters
    ----------
    truth : BoundarySet, or list of lists of (height, width) arrays
        For each photo, the boundaries that each annotator drew. Photos of a single annotator are left out.
    max_distance : float, default=0.0075
        Maximum distance between matched pixels, as a fraction of the photo's diagonal.
    n_jobs : int or None, default=None
        Photos scored at the same time, in threads; None means 1, -1 one for each processor.

    Returns
    -------
    BoundaryScores
        Scores at a single threshold: ``ods`` is F of ``ods_precision`` and ``ods_recall``.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_vision.edges import human_consistency
    >>> first, second = np.zeros((2, 60, 60), dtype=bool)
    >>> first[30, :40] = second[31, :20] = True
    >>> scores = human_consistency([[first, second]], max_distance=0.02)
    >>> round(scores.ods_precision, 2), round(scores.ods_recall, 2)
    (0.67, 0.67)
    """
    names, drawings = _truth(truth)
    levels = np.array([0.5])
    jobs = (
        delayed(_agreement)(name, boundaries, levels, float(max_distance))
        for name, boundaries in zip(names, drawings, strict=True)
    )
    return _scores(names, levels, jobs, n_jobs)


def _scores(names: list[str], levels: np.ndarray, jobs: Iterable[Any], n_jobs: int | None) -> BoundaryScores:
    """Run one job for each name; a job that returns text instead of counts reports a problem."""
    results = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(jobs)
    counts_by_photo: list[tuple[str, np.ndarray]] = []
    problems = []
    for name, result in zip(names, results, strict=True):
        if isinstance(result, str):
            problems.append(f"{name}: {result}")
        else:
            counts_by_photo.append((name, result))
    if not counts_by_photo:
        raise DSNAError(f"No photo could be scored. {'; '.join(problems[:5])}")
    return BoundaryScores(
        [name for name, _ in counts_by_photo], levels, np.stack([counts for _, counts in counts_by_photo]), problems
    )


def _levels(thresholds: Any) -> np.ndarray:
    if np.ndim(thresholds) == 0:
        n = int(thresholds)
        if n < 1 or n != thresholds:
            raise DSNAError(f"thresholds={thresholds!r} must be a whole number, at least 1, or an array.")
        return np.arange(1, n + 1) / (n + 1)
    levels = np.array(thresholds, dtype=np.float64)
    if levels.ndim != 1 or not levels.size or not np.all(np.diff(levels) > 0) or not 0 <= levels[0] <= levels[-1] <= 1:
        raise DSNAError("thresholds must be ascending numbers from 0 to 1, or how many to use.")
    return levels


def _truth(truth: Truth) -> tuple[list[str], Iterable[_ReadDrawings]]:
    """Names of the photos, and functions that return the boundaries of each."""
    if isinstance(truth, BoundarySet):
        return truth.names, (partial(truth.boundaries, row) for row in range(len(truth)))
    if not len(truth):
        raise DSNAError("truth is empty; a list of boundaries for each photo is needed.")
    return [f"{row:05d}" for row in range(len(truth))], (partial(list, drawings) for drawings in truth)


def _maps(predictions: Predictions, names: list[str]) -> Iterator[Callable[[], ArrayLike]]:
    """Yield for each photo a function that returns its map."""
    if isinstance(predictions, str | Path):
        folder = Path(predictions)
        if not folder.is_dir():
            raise MissingPictures(f"{folder} is not a folder; give one that holds a PNG file for each photo.")
        yield from (partial(read_map, folder / f"{name}.png") for name in names)
    elif callable(predictions):
        yield from (partial(predictions, row) for row in range(len(names)))
    else:
        n = 0
        for edges in predictions:
            n += 1
            if n > len(names):
                raise DSNAError(f"There are more predictions than photos ({len(names)}); one for each is needed.")
            yield partial(np.asarray, edges)
        if n < len(names):
            raise DSNAError(f"There are {n} predictions for {len(names)} photos; one for each is needed.")


def read_map(path: Path) -> np.ndarray:
    """Read a map with values from 0 to 1 from a grey picture of any bit depth; raise UnusableFile if that fails."""
    if not path.is_file():
        raise UnusableFile(f"{path.name} is missing")
    with opened(path, f"{path.name} is damaged; write it anew") as picture:
        values = np.asarray(picture if picture.mode in ("1", "I", "I;16", "F") else picture.convert("L"))
    full_scale = {"b": 1.0, "u": 255.0 if values.dtype.itemsize == 1 else 65535.0, "i": 65535.0, "f": 1.0}
    return values / full_scale[values.dtype.kind]


def _boundaries(read_drawings: _ReadDrawings) -> np.ndarray:
    """Boundaries of all annotators as zeros and ones, (n_annotators, height, width)."""
    masks = [np.asarray(lines) > 0 for lines in read_drawings()]
    if not masks:
        raise UnusableFile("no annotator drew anything here")
    if masks[0].ndim != 2 or len({lines.shape for lines in masks}) > 1:
        raise UnusableFile(f"its ground truth has the shapes {[lines.shape for lines in masks]}; one for all is needed")
    return np.stack(masks).astype(np.uint8)


def _check_map(get_map: Callable[[], ArrayLike], shape: tuple[int, ...]) -> np.ndarray:
    values = np.array(get_map(), dtype=np.float64, order="C")
    if values.shape != shape:
        map_size, truth_size = width_by_height(values.shape), width_by_height(shape)
        raise UnusableFile(f"the map has {map_size} pixels, the ground truth {truth_size}")
    if not np.all((values >= 0) & (values <= 1)):
        raise UnusableFile("the map holds values outside of 0 to 1 (or NaN); divide grey levels by 255")
    return values


def _count(values: np.ndarray, truths: np.ndarray, levels: np.ndarray, max_distance: float, thin: bool) -> np.ndarray:
    """(n_thresholds, 4) counts as :class:`BoundaryScores` holds them."""
    from ..._kernels.matching import count_matches

    reach = max_distance * float(np.hypot(*values.shape))
    margin = max(1, int(reach))
    padded = [
        np.ascontiguousarray(np.pad(maps, [(0, 0)] * (maps.ndim - 2) + [(margin, margin)] * 2))
        for maps in (values, truths)
    ]
    counts = np.zeros((len(levels), 3), dtype=np.int64)
    count_matches(*padded, levels, thin, margin, *_steps_within(reach, padded[0].shape[1]), counts)
    return np.insert(counts, 1, int(truths.sum()), axis=1)


def _steps_within(reach: float, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Offsets in a flat map of this width to all pixels within reach, and their distances."""
    dy, dx = (offsets.ravel() for offsets in np.mgrid[-int(reach) : int(reach) + 1, -int(reach) : int(reach) + 1])
    squared_distance = dy**2 + dx**2
    in_reach = np.flatnonzero(squared_distance <= reach**2)
    in_reach = in_reach[np.argsort(squared_distance[in_reach], kind="stable")]
    return (dy * width + dx)[in_reach], np.rint(_UNIT * np.sqrt(squared_distance[in_reach])).astype(np.int64)


def _count_photo(
    name: str,
    get_map: Callable[[], ArrayLike],
    read_drawings: _ReadDrawings,
    *,
    levels: np.ndarray,
    max_distance: float,
    thin: bool,
    folder: Path | None,
) -> np.ndarray | str:
    """Counts of one photo, from the folder if stored there, or a description of the problem."""
    try:
        truths = _boundaries(read_drawings)
        values = _check_map(get_map, truths.shape[1:])
    except UnusableFile as error:
        return str(error)
    if folder is None:
        return _count(values, truths, levels, max_distance, thin)
    settings = json.dumps([_COUNTING, values.shape, levels.tolist(), max_distance, thin])
    key = hashlib.sha256(settings.encode() + values.tobytes() + np.packbits(truths).tobytes()).hexdigest()
    path = folder / f"{name}.json"
    counts = _stored_counts(path, key, len(levels))
    if counts is None:
        counts = _count(values, truths, levels, max_distance, thin)
        write_atomically(path, json.dumps({"key": key, "counts": counts.tolist()}).encode())
    return counts


def _stored_counts(path: Path, key: str, n: int) -> np.ndarray | None:
    """Counts from a file, or None if its key differs."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        counts = np.array(stored["counts"], dtype=np.int64)
        return counts if stored["key"] == key and counts.shape == (n, 4) else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _agreement(name: str, read_drawings: _ReadDrawings, levels: np.ndarray, max_distance: float) -> np.ndarray | str:
    """Counts of one photo, summed over its annotators."""
    try:
        truths = _boundaries(read_drawings)
    except UnusableFile as error:
        return str(error)
    if len(truths) < 2:
        return "a single annotator"
    is_other = ~np.eye(len(truths), dtype=bool)
    counts = [
        _count(truths[a].astype(np.float64), truths[is_other[a]], levels, max_distance, False)
        for a in range(len(truths))
    ]
    total: np.ndarray = np.sum(counts, axis=0)
    return total
