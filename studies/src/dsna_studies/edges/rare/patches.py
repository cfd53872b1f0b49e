"""Rare structures: how much of them is found, where their patches lie."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.ndimage import binary_dilation

from dsna_vision.datasets.boundaries import BoundarySet
from dsna_vision.edges import BoundaryScores, evaluate
from dsna_vision.edges.patches import MASK_SIDE
from dsna_vision.edges.sampling import masks_at, people_of

from .classes import EdgeClasses

_LEVELS = np.arange(1, 50) / 50
_STEP = MASK_SIDE // 2  # from patch to patch
_RESAMPLED = 500


@dataclass(frozen=True)
class RarePatches:
    """Patches of rare classes in a photo.

    Parameters
    ----------
    areas : bool array of shape (n_annotators, H, W)
        Pixels that they cover, in each annotator's drawing.
    truths : bool array of shape (n_annotators, H, W)
        Boundaries.
    centres : array of shape (n, 2)
        Their middles, those of all annotators.
    annotator, kinds : arrays of shape (n,)
        Who drew them, and their classes.
    """

    areas: np.ndarray
    truths: np.ndarray
    centres: np.ndarray
    annotator: np.ndarray
    kinds: np.ndarray


def rare_patches(photos: BoundarySet, row: int, classes: EdgeClasses) -> RarePatches:
    """Look for patches of rare classes, from eight pixels to eight pixels, in what each annotator drew.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> drawn = np.eye(64, dtype=bool)
    >>> photos = SimpleNamespace(boundaries=lambda row: [drawn], segmentations=lambda row: [drawn.astype(np.int32)])
    >>> classes = EdgeClasses(np.eye(2, 256), np.array([9, 1]), plain=4)
    >>> found = rare_patches(photos, 0, classes)
    >>> found.areas.shape, found.centres.shape[1], set(found.kinds) <= {1}
    ((1, 64, 64), 2, True)
    """
    people, truths = people_of(photos, row), np.stack(photos.boundaries(row))
    half = MASK_SIDE // 2
    height, width = truths.shape[1:]
    ys, xs = (np.arange(half, side - half + 1, _STEP) for side in (height, width))
    grid = np.stack(np.meshgrid(ys, xs, indexing="ij"), axis=-1).reshape(-1, 2)
    areas = np.zeros(truths.shape, dtype=bool)
    centres, annotator, kinds = [], [], []
    for k, segmentation in enumerate(people[: len(truths)]):
        found = classes.of(masks_at(segmentation, grid))
        rare = (found >= 0) & classes.is_rare[found]
        for y, x in grid[rare]:
            areas[k, y - half : y + half, x - half : x + half] = True
        centres.append(grid[rare])
        annotator.append(np.full(rare.sum(), k))
        kinds.append(found[rare])
    return RarePatches(areas, truths, *map(np.concatenate, (centres, annotator, kinds)))


def rare_scores(
    maps: Callable[[int], np.ndarray],
    patches: Sequence[RarePatches],
    max_distance: float,
    *,
    out: Path | None = None,
    n_jobs: int | None = None,
) -> BoundaryScores:
    """Score maps where rare patches lie: recall of what was drawn there, precision of what is predicted there.

    Parameters
    ----------
    maps : callable
        From the number of a photo to its map.
    patches : sequence of RarePatches
        Of each photo.
    max_distance : float
        In diagonals of the photo.
    out : Path or None, default=None
        Folder for counts, from which a second call goes on.
    n_jobs : int or None, default=None

    Returns
    -------
    BoundaryScores
        Recall is that of each annotator's pixels in the patches that are rare in their own drawing.  Precision is that
        of predicted pixels in the patches of any annotator, matched to what all of them drew, in the patches or not.

    Examples
    --------
    >>> truth = np.zeros((1, 40, 40), dtype=bool)
    >>> truth[0, 20] = True
    >>> area = np.zeros_like(truth)
    >>> area[:, :, :16] = True
    >>> patches = RarePatches(area, truth, *[np.empty(0)] * 3)
    >>> scores = rare_scores(lambda row: 0.5 * truth[0], [patches], 0.03)
    >>> scores.counts[0, [0, 40]].tolist()
    [[16, 16, 16, 16], [0, 16, 0, 0]]
    """
    around = [binary_dilation(one.areas.any(axis=0), iterations=_margin(one, max_distance)) for one in patches]

    def counted(kind: str, there: Callable[[int], np.ndarray], truths: list[list[np.ndarray]]) -> np.ndarray:
        filed = None if out is None else out / kind
        return evaluate(there, truths, thresholds=_LEVELS, max_distance=max_distance, n_jobs=n_jobs, out=filed).counts

    drawn = [[truth & area for truth, area in zip(one.truths, one.areas, strict=True)] for one in patches]
    recall = counted("recall", lambda row: maps(row) * around[row], drawn)
    every = [[truth & near for truth in one.truths] for one, near in zip(patches, around, strict=True)]
    precision = counted("precision", lambda row: maps(row) * patches[row].areas.any(axis=0), every)
    counts = np.concatenate([recall[..., :2], precision[..., 2:]], axis=-1)
    return BoundaryScores([str(row) for row in range(len(patches))], _LEVELS, counts)


def _margin(patches: RarePatches, max_distance: float) -> int:
    """Steps in which a growing area, which becomes a diamond, takes in all that is within reach."""
    return int(np.ceil(1.5 * max_distance * np.hypot(*patches.areas.shape[1:]))) + 1


@dataclass(frozen=True)
class RareRecall:
    """Recall of two methods on rare patches where both are equally precise.

    Parameters
    ----------
    precision : float
    ours, other : float
        Recall there.
    low, high : float
        Where 95 % of the differences lie if photos are drawn anew.

    Examples
    --------
    >>> RareRecall(0.7, 0.6, 0.55, 0.01, 0.09).ours
    0.6
    """

    precision: float
    ours: float
    other: float
    low: float
    high: float


def recall_at_equal_precision(ours: BoundaryScores, other: BoundaryScores, threshold: float) -> RareRecall | None:
    """Compare two methods on the same photos.

    Parameters
    ----------
    ours, other : BoundaryScores
        As :func:`rare_scores` gives them.
    threshold : float
        The precision is that of the other method at this threshold.

    Returns
    -------
    RareRecall or None
        None where there is nothing true in rare patches, or nothing is found.

    Examples
    --------
    >>> counts = np.array([[[90, 100, 80, 160], [60, 100, 54, 60]]])
    >>> scores = BoundaryScores(["pond"], np.array([0.3, 0.6]), counts)
    >>> found = recall_at_equal_precision(scores, scores, 0.45)
    >>> round(found.precision, 2), round(found.ours, 2), found.ours == found.other, found.low == found.high == 0
    (0.7, 0.75, True, True)
    """
    if not other.names or other.ods == 0:
        return None
    at = float(np.interp(threshold, other.thresholds, other.precision))
    rng = np.random.default_rng(0)
    gains = []
    for _ in range(_RESAMPLED):
        drawn = rng.integers(len(ours.names), size=len(ours.names))
        gains.append(_recall_at(_drawn(ours, drawn), at) - _recall_at(_drawn(other, drawn), at))
    low, high = np.percentile(gains, (2.5, 97.5))
    return RareRecall(at, _recall_at(ours, at), _recall_at(other, at), float(low), float(high))


def _drawn(scores: BoundaryScores, rows: np.ndarray) -> BoundaryScores:
    return BoundaryScores([scores.names[row] for row in rows], scores.thresholds, scores.counts[rows])


def _recall_at(scores: BoundaryScores, precision: float) -> float:
    """Largest recall at which a method is as precise as that, between thresholds on a straight line."""
    reached = scores.precision
    enough = np.flatnonzero(reached >= precision)
    if not len(enough):
        return 0.0
    k = int(enough[0])  # thresholds rise, so recall falls
    if k == 0:
        return float(scores.recall[0])
    share = (precision - reached[k - 1]) / (reached[k] - reached[k - 1])
    return float(scores.recall[k - 1] + share * (scores.recall[k] - scores.recall[k - 1]))
