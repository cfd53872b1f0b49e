"""Rare structures: their patches, and the recall of methods on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.ndimage import binary_dilation

from dsna_vision.datasets.boundaries import BoundarySet
from dsna_vision.edges import BoundaryScores, evaluate
from dsna_vision.edges.patches import MASK_SIDE
from dsna_vision.edges.sampling import masks_around, segmentations_of

from .classes import EdgeClasses

_LEVELS = np.arange(1, 50) / 50
_PATCH_STEP = MASK_SIDE // 2  # pixels between patches
_N_RESAMPLES = 500


@dataclass(frozen=True)
class RarePatches:
    """Patches of rare classes in a photo.

    Parameters
    ----------
    areas : bool array of shape (n_annotators, H, W)
        Pixels that the patches cover, for each annotator's drawing.
    truths : bool array of shape (n_annotators, H, W)
        Boundaries.
    centres : array of shape (n, 2)
        Centres of the patches of all annotators.
    annotator, kinds : arrays of shape (n,)
        Annotator and class of each patch.
    """

    areas: np.ndarray
    truths: np.ndarray
    centres: np.ndarray
    annotator: np.ndarray
    kinds: np.ndarray


def rare_patches(photos: BoundarySet, row: int, classes: EdgeClasses) -> RarePatches:
    """Find patches of rare classes, on a grid of eight pixels, in each annotator's drawing.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> drawn = np.eye(64, dtype=bool)
    >>> photos = SimpleNamespace(boundaries=lambda row: [drawn], segmentations=lambda row: [drawn.astype(np.int32)])
    >>> classes = EdgeClasses(np.eye(2, 256), np.array([9, 1]), plain=4)
    >>> patches = rare_patches(photos, 0, classes)
    >>> patches.areas.shape, patches.centres.shape[1], set(patches.kinds) <= {1}
    ((1, 64, 64), 2, True)
    """
    segmentations, truths = segmentations_of(photos, row), np.stack(photos.boundaries(row))
    half = MASK_SIDE // 2
    height, width = truths.shape[1:]
    ys, xs = (np.arange(half, length - half + 1, _PATCH_STEP) for length in (height, width))
    grid = np.stack(np.meshgrid(ys, xs, indexing="ij"), axis=-1).reshape(-1, 2)
    areas = np.zeros(truths.shape, dtype=bool)
    centres, annotator, kinds = [], [], []
    for k, segmentation in enumerate(segmentations[: len(truths)]):
        mask_classes = classes.of(masks_around(segmentation, grid))
        rare = (mask_classes >= 0) & classes.is_rare[mask_classes]
        for y, x in grid[rare]:
            areas[k, y - half : y + half, x - half : x + half] = True
        centres.append(grid[rare])
        annotator.append(np.full(rare.sum(), k))
        kinds.append(mask_classes[rare])
    return RarePatches(areas, truths, *map(np.concatenate, (centres, annotator, kinds)))


def rare_scores(
    maps: Callable[[int], np.ndarray],
    patches: Sequence[RarePatches],
    max_distance: float,
    *,
    out: Path | None = None,
    n_jobs: int | None = None,
) -> BoundaryScores:
    """Score maps on rare patches.

    Parameters
    ----------
    maps : callable
        Returns the map of a photo by its number.
    patches : sequence of RarePatches
        Patches of each photo.
    max_distance : float
        Maximum distance between matched pixels, as a fraction of the photo's diagonal.
    out : Path or None, default=None
        Folder for counts, from which a second call resumes.
    n_jobs : int or None, default=None

    Returns
    -------
    BoundaryScores
        Recall counts each annotator's pixels in the patches that are rare in their own drawing.  Precision counts
        predicted pixels in the patches of any annotator, matched to all drawings, inside the patches or not.

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
    neighborhood = [
        binary_dilation(photo_patches.areas.any(axis=0), iterations=_margin(photo_patches, max_distance))
        for photo_patches in patches
    ]

    def count(kind: str, local_map: Callable[[int], np.ndarray], truths: list[list[np.ndarray]]) -> np.ndarray:
        counts_folder = None if out is None else out / kind
        return evaluate(
            local_map, truths, thresholds=_LEVELS, max_distance=max_distance, n_jobs=n_jobs, out=counts_folder
        ).counts

    truths_in_patches = [
        [truth & area for truth, area in zip(photo_patches.truths, photo_patches.areas, strict=True)]
        for photo_patches in patches
    ]
    recall = count("recall", lambda row: maps(row) * neighborhood[row], truths_in_patches)
    truths_nearby = [
        [truth & neighborhood_mask for truth in photo_patches.truths]
        for photo_patches, neighborhood_mask in zip(patches, neighborhood, strict=True)
    ]
    precision = count("precision", lambda row: maps(row) * patches[row].areas.any(axis=0), truths_nearby)
    counts = np.concatenate([recall[..., :2], precision[..., 2:]], axis=-1)
    return BoundaryScores([str(row) for row in range(len(patches))], _LEVELS, counts)


def _margin(patches: RarePatches, max_distance: float) -> int:
    """Number of dilation steps, which grow diamonds, that cover all pixels within reach."""
    return int(np.ceil(1.5 * max_distance * np.hypot(*patches.areas.shape[1:]))) + 1


@dataclass(frozen=True)
class RareRecall:
    """Recall of two methods on rare patches at equal precision.

    Parameters
    ----------
    precision : float
    ours, other : float
        Recall of each method.
    low, high : float
        Bootstrap interval of 95 % of the difference over photos.

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
    """Compare the recall of two methods on the same photos.

    Parameters
    ----------
    ours, other : BoundaryScores
        Results of :func:`rare_scores`.
    threshold : float
        Threshold at which the other method's precision is used.

    Returns
    -------
    RareRecall or None
        None if rare patches contain no true pixels, or the other method finds none.

    Examples
    --------
    >>> counts = np.array([[[90, 100, 80, 160], [60, 100, 54, 60]]])
    >>> scores = BoundaryScores(["pond"], np.array([0.3, 0.6]), counts)
    >>> recall = recall_at_equal_precision(scores, scores, 0.45)
    >>> round(recall.precision, 2), round(recall.ours, 2), recall.ours == recall.other, recall.low == recall.high == 0
    (0.7, 0.75, True, True)
    """
    if not other.names or other.ods == 0:
        return None
    precision = float(np.interp(threshold, other.thresholds, other.precision))
    rng = np.random.default_rng(0)
    gains = []
    for _ in range(_N_RESAMPLES):
        resampled_rows = rng.integers(len(ours.names), size=len(ours.names))
        gains.append(
            _recall_at(_resample(ours, resampled_rows), precision)
            - _recall_at(_resample(other, resampled_rows), precision)
        )
    low, high = np.percentile(gains, (2.5, 97.5))
    return RareRecall(precision, _recall_at(ours, precision), _recall_at(other, precision), float(low), float(high))


def _resample(scores: BoundaryScores, rows: np.ndarray) -> BoundaryScores:
    return BoundaryScores([scores.names[row] for row in rows], scores.thresholds, scores.counts[rows])


def _recall_at(scores: BoundaryScores, precision: float) -> float:
    """Largest recall at this precision or above, by linear interpolation between thresholds."""
    curve = scores.precision
    precise_enough = np.flatnonzero(curve >= precision)
    if not len(precise_enough):
        return 0.0
    k = int(precise_enough[0])  # recall falls as thresholds rise
    if k == 0:
        return float(scores.recall[0])
    share = (precision - curve[k - 1]) / (curve[k] - curve[k - 1])
    return float(scores.recall[k - 1] + share * (scores.recall[k] - scores.recall[k - 1]))
