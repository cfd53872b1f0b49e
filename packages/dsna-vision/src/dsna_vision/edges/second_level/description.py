"""Descriptions of candidates in the frame of their own edge: samples on rings, relative to the edge's normal.

Photos are processed in tiles, and the candidates of a tile in batches, so that the descriptions of all candidates never
have to be in memory; the results do not depend on tiles and batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from dsna.extend.parallel import chunks, in_parallel, tracked_parts, writable

from .candidates import Candidates
from .contours import LEVELS, contour_sizes
from .planes import N_COLOURS, N_SCALARS, Planes, View, normal_axes, planes_of
from .regions import N_MERGED, merge_columns
from .salience import COUNTS, salience

TILE = 512  # side of a tile in pixels
BATCH = 4096  # number of candidates described at once
N_ANGLES = 4  # number of samples on half a ring; each is combined with the opposite one
_MIN_MEAN = 1e-3


class Ring(NamedTuple):
    """A ring of samples around a candidate."""

    radius: int  # pixels
    step: int  # 2: at half the resolution
    blur: int  # radius of the filter, at that resolution


RINGS = (Ring(2, 1, 1), Ring(4, 1, 1), Ring(8, 2, 1), Ring(16, 2, 3), Ring(32, 2, 6))


def describe(
    view: View,
    candidates: Candidates,
    answer: Callable[[np.ndarray], np.ndarray],
    n_jobs: int | None = None,
    *,
    tile: int = TILE,
    batch: int = BATCH,
) -> np.ndarray:
    """Apply a function to the descriptions of candidates.

    Parameters
    ----------
    view : View
    candidates : Candidates
        Candidates of ``view.edges``, or a subset.
    answer : callable
        Function from descriptions (n, n_columns), float32, to n values or rows.
    n_jobs : int or None
    tile : int, default=512
        Side of a tile in pixels, even; bounds memory.
    batch : int, default=4096
        Number of candidates described at once.

    Returns
    -------
    array of shape (len(candidates), ...)

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_vision.edges.second_level.candidates import find_candidates
    >>> edges = np.zeros((40, 40), dtype=np.float32)
    >>> edges[:, 20] = 0.5
    >>> view = View(np.zeros((40, 40, 3), dtype=np.uint8), (edges,))
    >>> describe(view, find_candidates(edges), lambda rows: rows).shape
    (38, 309)
    """
    photo_columns = _photo_columns(view, candidates, n_jobs)
    order = [np.empty(0, dtype=np.int64)]
    answers = [answer(np.empty((0, n_columns(len(view.maps), view.lines is not None)), dtype=np.float32))]
    n_tiles = len(np.unique(candidates.pixels // tile, axis=0))
    tiles = _tiles(view, candidates.pixels, tile, n_jobs)
    for tile_rows, frames in tracked_parts(tiles, n_tiles, "tiles of the second level"):
        tasks = [(frames, candidates.pixels[rows], photo_columns[rows], answer) for rows in _batches(tile_rows, batch)]
        order.append(tile_rows)
        answers.extend(in_parallel(_describe_batch, tasks, n_jobs))
    in_order: np.ndarray = np.concatenate(answers)[np.argsort(np.concatenate(order))]
    return in_order


def n_columns(n_maps: int, with_lines: bool) -> int:
    """Number of columns of a candidate's description.

    Parameters
    ----------
    n_maps : int
        Number of maps of the first level.
    with_lines : bool
        Whether there is a map from the previous round.

    Examples
    --------
    >>> n_columns(2, with_lines=False), n_columns(2, with_lines=True)
    (350, 454)
    """
    n_scalars = n_maps + N_SCALARS + with_lines
    return (
        _n_photo_columns(with_lines)
        + n_scalars
        + len(RINGS) * N_ANGLES * (2 * n_scalars + 2 * (1 + with_lines) + N_COLOURS)
    )


def _photo_columns(view: View, candidates: Candidates, n_jobs: int | None) -> np.ndarray:
    """Columns that depend on the whole photo: edge strengths, contours, and regions enclosed by lines."""
    y, x = candidates.pixels.T
    columns = np.empty((len(candidates), _n_photo_columns(view.lines is not None)), dtype=np.float32)
    strength, mean = view.edges[y, x], mean_and_rms(view.edges)[0]
    columns[:, 0] = candidates.strength
    columns[:, 1:3] = mean_and_rms(view.edges)
    columns[:, 3] = strength / (strength + mean)
    if view.lines is not None:
        columns[:, 4:6] = mean_and_rms(view.lines)
        columns[:, 6] = view.lines[y, x]  # not smoothed, unlike in the planes
        thin_map = candidates.on_map(candidates.strength, view.edges.shape)
        tasks: list[tuple[Callable[..., np.ndarray], Any]] = [
            (salience, view.lines),  # takes longest
            (merge_columns, view),
            (contour_sizes, thin_map),
            (contour_sizes, view.lines),
        ]
        divided, enclosed, *lengths = in_parallel(_apply, [(*task, candidates) for task in tasks], n_jobs)
        columns[:, 7:] = np.concatenate([*lengths, divided, enclosed], axis=1)
    return columns


def _apply(function: Callable[..., np.ndarray], values: Any, candidates: Candidates) -> np.ndarray:
    return function(values, candidates)


def _n_photo_columns(with_lines: bool) -> int:
    return 4 + (3 + 2 * len(LEVELS) + len(COUNTS) + N_MERGED) * with_lines


def mean_and_rms(edges: np.ndarray) -> tuple[np.float32, np.float32]:
    """Mean, with a positive lower limit, and root mean square of a map."""
    square = np.einsum("ij,ij->", edges, edges, dtype=np.float64) / edges.size
    return np.float32(max(edges.mean(dtype=np.float64), _MIN_MEAN)), np.float32(np.sqrt(square))


class _TileFrames(NamedTuple):
    """Planes of a tile from which its candidates are described."""

    window: np.ndarray  # position of the tile in the photo, and size of the photo
    axes: np.ndarray  # (h, w, 2)
    planes: Planes
    counts: np.ndarray
    smoothed: list[np.ndarray]  # for each ring


def _tiles(
    view: View, pixels: np.ndarray, tile_size: int, n_jobs: int | None
) -> Iterator[tuple[np.ndarray, _TileFrames]]:
    """Yield the tiles that contain candidates, with the indices of these candidates."""
    tile_of_candidate = pixels // tile_size
    for top, left in np.unique(tile_of_candidate, axis=0):
        window, tile_view = view.part(int(top) * tile_size, int(left) * tile_size, tile_size)
        axes = normal_axes(tile_view.edges)
        planes = planes_of(tile_view, axes)
        sizes = {1: planes, 2: planes.halved()}
        filters = list(dict.fromkeys((ring.step, ring.blur) for ring in RINGS))
        smoothed_planes = in_parallel(Planes.smoothed, [(sizes[step], blur) for step, blur in filters], n_jobs)
        smoothed = dict(zip(filters, smoothed_planes, strict=True))
        corner = [extent.start for extent in window]
        yield (
            np.flatnonzero((tile_of_candidate == (top, left)).all(axis=1)),
            _TileFrames(
                window=np.array([*corner, *view.edges.shape], dtype=np.float64),
                axes=axes,
                planes=planes,
                counts=planes.counts,
                smoothed=[smoothed[ring.step, ring.blur] for ring in RINGS],
            ),
        )


def _batches(rows: np.ndarray, size: int) -> list[np.ndarray]:
    return [rows[chunk] for chunk in chunks(len(rows), size)]


def _describe_batch(
    frames: _TileFrames, pixels: np.ndarray, photo_columns: np.ndarray, answer: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Describe a batch of candidates of a tile and apply the function."""
    from ..._kernels.second_level.frames import describe_ring

    y, x = (pixels - frames.window[:2].astype(np.int64)).T
    scalars = frames.planes.scalars[:, y, x].T
    n_point_columns = photo_columns.shape[1] + scalars.shape[1]
    n_ring_columns = N_ANGLES * int(frames.counts @ (2, 2, 1))
    described = np.empty((len(pixels), n_point_columns + n_ring_columns * len(RINGS)), dtype=np.float32)
    described[:, :n_point_columns] = np.concatenate([photo_columns, scalars], axis=1)
    axes = frames.axes[y, x].astype(np.float64)
    for k, (ring, planes) in enumerate(zip(RINGS, frames.smoothed, strict=True)):
        column = n_point_columns + k * n_ring_columns
        ring_geometry = (writable(pixels), axes, float(ring.radius))
        describe_ring(planes, ring.step, frames.window, *ring_geometry, frames.counts, described, column)
    return answer(described)
