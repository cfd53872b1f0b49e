"""Edge maps of one photo: tiles of bounded size, bands of positions in parallel, votes of masks.

A position asks half of the trees, neighbours the two halves in turn.  Structured edges (SE) vote for the masks of the
leaves reached.  The other members of the family vote for the masks of the patches in those leaves: weighted by distance
("kernel"), by an affine hull ("hull") or by discriminative sparse approximation ("dsna"); the map is a blend of both.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..features.channels import smooth
from ..trees import in_parallel, writable
from .forest import StructuredForest
from .patches import MASK_SIDE, STRIDE, Channels
from .pool import PatchPool, Voting

METHODS = ("se", "kernel", "hull", "dsna")
_TILE, _MARGIN = 1024, 64
_BAND = 16  # rows of positions in one task
_GAIN = 1.66  # brings the maps of sharpened masks to the range 0 to 1


def soft_map(
    photo: np.ndarray,
    forest: StructuredForest,
    pool: PatchPool | None,
    voting: Voting,
    n_jobs: int | None = None,
    tile: int = _TILE,
) -> np.ndarray:
    """Edge map of a photo at its own scale, not thinned.

    Parameters
    ----------
    photo : array of shape (H, W, 3), uint8
    forest : StructuredForest
    pool : PatchPool or None
        Patches in the leaves; not needed by "se".
    voting : Voting
    n_jobs : int or None
    tile : int, default=1024
        Pixels of a side that are worked on at once: what bounds memory.

    Returns
    -------
    array of shape (H, W), float32
    """
    height, width = photo.shape[:2]
    edges = np.zeros((height, width), dtype=np.float32)
    for top in range(0, height, tile):
        for left in range(0, width, tile):
            rows = slice(max(0, top - _MARGIN), min(height, top + tile + _MARGIN))
            columns = slice(max(0, left - _MARGIN), min(width, left + tile + _MARGIN))
            tasks = _bands(photo[rows, columns], (top, left), (rows.start, columns.start), (height, width), tile)
            for where, votes in in_parallel(_vote, [(*task, forest, pool, voting) for task in tasks], n_jobs):
                edges[rows, columns][where] += votes
    return np.minimum(smooth(edges, 1), np.float32(1))


def _bands(
    crop: np.ndarray, start: tuple[int, int], corner: tuple[int, int], shape: tuple[int, int], tile: int
) -> Iterator[tuple[Channels, np.ndarray, np.ndarray, np.ndarray]]:
    """Tasks of a tile from ``start`` on, cut from a photo at ``corner``: channels, colours, positions, halves."""
    channels = Channels(crop)
    colours = smooth(np.moveaxis(crop, -1, 0).astype(np.float32) / np.float32(255), 1)
    colours = np.ascontiguousarray(np.moveaxis(colours, 0, -1))
    ys, xs = (np.arange(a, min(a + tile, most), STRIDE) for a, most in zip(start, shape, strict=True))
    for first in range(0, len(ys), _BAND):
        grid = np.stack(np.meshgrid(ys[first : first + _BAND], xs, indexing="ij"), axis=-1).reshape(-1, 2)
        yield channels, colours, grid - np.array(corner), grid.sum(axis=1) // STRIDE % 2


def _vote(
    channels: Channels,
    colours: np.ndarray,
    positions: np.ndarray,
    halves: np.ndarray,
    forest: StructuredForest,
    pool: PatchPool | None,
    voting: Voting,
) -> tuple[slice, np.ndarray]:
    """Votes of a band of positions: which rows of the crop they fall on, and the map there."""
    asked = (forest.n_trees + 1) // 2
    trees = (halves[:, None] * asked + np.arange(asked)) % forest.n_trees
    places = channels.places(positions)
    leaves = forest.route(channels, places, trees)
    reach = MASK_SIDE // 2
    where = slice(max(0, positions[0, 0] - reach), min(len(colours), positions[-1, 0] + reach))
    edges = np.zeros((where.stop - where.start, colours.shape[1]), dtype=np.float32)
    corners = positions - reach - np.array([where.start, 0])
    scale = _GAIN * STRIDE**2 / MASK_SIDE**2
    blend = 0.0 if voting.method == "se" else voting.blend
    ballots = forest.leaf_mask[leaves]
    if blend < 1:
        weights = np.full(ballots.shape, scale * (1 - blend) / asked, dtype=np.float32)
        _cast(colours[where], corners, voting.sharpening, edges, ballots, weights, forest.book.masks)
    if blend > 0 and pool is not None:
        seen = np.flatnonzero(forest.book.has_edge[ballots].any(axis=1))
        if len(seen):
            rows, weights = pool.weigh(channels, places[seen], leaves[seen], voting)
            weights *= scale * blend
            _cast(colours[where], corners[seen], voting.sharpening, edges, pool.mask[rows], weights, pool.book.masks)
    return where, edges


def _cast(
    colours: np.ndarray,
    corners: np.ndarray,
    passes: int,
    edges: np.ndarray,
    ballots: np.ndarray,
    weights: np.ndarray,
    masks: np.ndarray,
) -> None:
    """Cast the votes (n, m) of n positions whose weight is not zero."""
    from .._kernels.detection import cast_votes

    cast = weights != 0
    ptr = np.concatenate([[0], np.cumsum(cast.sum(axis=1))])
    ballots, weights = ballots[cast].astype(np.int64), weights[cast].astype(np.float32)
    cast_votes(writable(colours), corners, ballots, weights, ptr, writable(masks), passes, edges)
