"""Candidates described in the frame of their own edge: rings of samples around them, turned to their normal.

A photo is worked on in tiles, and the candidates of a tile in batches, so that no description of all of them is ever
held; neither leaves a trace in the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from dsna.extend.parallel import chunks, in_parallel, tracked_parts, writable

from .candidates import Candidates
from .contours import LEVELS, contour_sizes
from .planes import N_COLOURS, N_SCALARS, Planes, View, normal_axes, planes_of
from .regions import N_MERGED, merged
from .salience import COUNTS, salience

TILE = 512  # pixels of a side that are worked on at once
BATCH = 4096  # candidates that are described at once
N_ANGLES = 4  # of the samples on a ring, with the points opposite
_LEAST_MEAN = 1e-3


class Ring(NamedTuple):
    """Where samples are taken."""

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
    """What is answered to the descriptions of candidates.

    Parameters
    ----------
    view : View
    candidates : Candidates
        Some or all of those of ``view.edges``.
    answer : callable
        From descriptions (n, n_columns), float32, to n values or rows.
    n_jobs : int or None
    tile : int, default=512
        Pixels of a side that are worked on at once, even: what bounds memory.
    batch : int, default=4096
        Candidates described at once.

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
    own = _own_columns(view, candidates, n_jobs)
    order = [np.empty(0, dtype=np.int64)]
    answers = [answer(np.empty((0, n_columns(len(view.maps), view.lines is not None)), dtype=np.float32))]
    n_tiles = len(np.unique(candidates.places // tile, axis=0))
    tiles = _tiles(view, candidates.places, tile, n_jobs)
    for inside, frames in tracked_parts(tiles, n_tiles, "tiles of the second level"):
        tasks = [(frames, candidates.places[rows], own[rows], answer) for rows in _batches(inside, batch)]
        order.append(inside)
        answers.extend(in_parallel(_answered, tasks, n_jobs))
    found: np.ndarray = np.concatenate(answers)[np.argsort(np.concatenate(order))]
    return found


def n_columns(n_maps: int, with_lines: bool) -> int:
    """How many numbers describe a candidate.

    Parameters
    ----------
    n_maps : int
        Maps of the first level.
    with_lines : bool
        Whether there is a map by the round before.

    Examples
    --------
    >>> n_columns(2, with_lines=False), n_columns(2, with_lines=True)
    (350, 454)
    """
    n_scalars = n_maps + N_SCALARS + with_lines
    return _n_own(with_lines) + n_scalars + len(RINGS) * N_ANGLES * (2 * n_scalars + 2 * (1 + with_lines) + N_COLOURS)


def _own_columns(view: View, candidates: Candidates, n_jobs: int | None) -> np.ndarray:
    """Numbers for which the whole photo is looked at: strengths of edges, contours, and what lines divide it into."""
    y, x = candidates.places.T
    own = np.empty((len(candidates), _n_own(view.lines is not None)), dtype=np.float32)
    here, mean = view.edges[y, x], mean_and_rms(view.edges)[0]
    own[:, 0] = candidates.strength
    own[:, 1:3] = mean_and_rms(view.edges)
    own[:, 3] = here / (here + mean)
    if view.lines is not None:
        own[:, 4:6] = mean_and_rms(view.lines)
        own[:, 6] = view.lines[y, x]  # as it is: the planes hold it smoothed
        thin = candidates.on_map(candidates.strength, view.edges.shape)
        looks: list[tuple[Callable[..., np.ndarray], Any]] = [
            (salience, view.lines),  # takes longest
            (merged, view),
            (contour_sizes, thin),
            (contour_sizes, view.lines),
        ]
        divided, enclosed, *lengths = in_parallel(_look, [(*look, candidates) for look in looks], n_jobs)
        own[:, 7:] = np.concatenate([*lengths, divided, enclosed], axis=1)
    return own


def _look(how: Callable[..., np.ndarray], at: Any, candidates: Candidates) -> np.ndarray:
    return how(at, candidates)


def _n_own(with_lines: bool) -> int:
    return 4 + (3 + 2 * len(LEVELS) + len(COUNTS) + N_MERGED) * with_lines


def mean_and_rms(edges: np.ndarray) -> tuple[np.float32, np.float32]:
    """Mean, not quite 0, and root mean square of a map."""
    square = np.einsum("ij,ij->", edges, edges, dtype=np.float64) / edges.size
    return np.float32(max(edges.mean(dtype=np.float64), _LEAST_MEAN)), np.float32(np.sqrt(square))


class _Frames(NamedTuple):
    """A tile, ready for the candidates in it."""

    window: np.ndarray  # where it begins in the photo, and the size of the photo
    axes: np.ndarray  # (h, w, 2)
    planes: Planes
    counts: np.ndarray
    smoothed: list[np.ndarray]  # for each ring


def _tiles(view: View, places: np.ndarray, side: int, n_jobs: int | None) -> Iterator[tuple[np.ndarray, _Frames]]:
    """Numbers of the candidates in one tile after another, and the tile; those without candidates are left out."""
    tile = places // side
    for top, left in np.unique(tile, axis=0):
        window, part = view.part(int(top) * side, int(left) * side, side)
        axes = normal_axes(part.edges)
        planes = planes_of(part, axes)
        sizes = {1: planes, 2: planes.halved()}
        kinds = list(dict.fromkeys((ring.step, ring.blur) for ring in RINGS))
        found = in_parallel(Planes.smoothed, [(sizes[step], blur) for step, blur in kinds], n_jobs)
        smoothed = dict(zip(kinds, found, strict=True))
        corner = [one.start for one in window]
        yield (
            np.flatnonzero((tile == (top, left)).all(axis=1)),
            _Frames(
                window=np.array([*corner, *view.edges.shape], dtype=np.float64),
                axes=axes,
                planes=planes,
                counts=planes.counts,
                smoothed=[smoothed[ring.step, ring.blur] for ring in RINGS],
            ),
        )


def _batches(rows: np.ndarray, size: int) -> list[np.ndarray]:
    return [rows[some] for some in chunks(len(rows), size)]


def _answered(
    frames: _Frames, places: np.ndarray, own: np.ndarray, answer: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Describe some candidates of a tile and ask for an answer."""
    from ..._kernels.second_level.frames import describe_ring

    y, x = (places - frames.window[:2].astype(np.int64)).T
    scalars = frames.planes.scalars[:, y, x].T
    n_before = own.shape[1] + scalars.shape[1]
    in_ring = N_ANGLES * int(frames.counts @ (2, 2, 1))
    described = np.empty((len(places), n_before + in_ring * len(RINGS)), dtype=np.float32)
    described[:, :n_before] = np.concatenate([own, scalars], axis=1)
    axes = frames.axes[y, x].astype(np.float64)
    for k, (ring, planes) in enumerate(zip(RINGS, frames.smoothed, strict=True)):
        first = n_before + k * in_ring
        around = (writable(places), axes, float(ring.radius))
        describe_ring(planes, ring.step, frames.window, *around, frames.counts, described, first)
    return answer(described)
