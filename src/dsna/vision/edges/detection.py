"""Edge maps of one photo: tiles of bounded size, bands of positions in parallel, votes of masks.

Structured edges (SE): a position asks half of the trees, neighbours the two halves in turn, and votes for the masks of
the leaves reached.  The other members of the family start from that map.  Every fourth position, where it shows any
edge, asks all trees and votes for the masks of the patches in the leaves: weighted by distance ("kernel"), by an affine
hull ("hull") or by discriminative sparse approximation ("dsna").  The map is a blend of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..._utils.parallel import in_parallel, writable
from ..features.channels import smooth
from .embedding import Context, describe
from .forest import StructuredForest
from .patches import MASK_SIDE, STRIDE, Channels
from .pool import PatchPool, Voting

METHODS = ("se", "kernel", "hull", "dsna")
TILE, _MARGIN = 1024, 64
_BAND = 16  # rows of positions in one task
_APART = 4  # pixels between positions that ask their neighbours
_GAIN = STRIDE**2 / MASK_SIDE**2  # every pixel is in the masks of so many positions
_VOTE = 2.0**-30  # votes are multiples of it: sums of doubles are then exact, whatever the order of bands and tiles


def soft_map(
    photo: np.ndarray,
    forest: StructuredForest,
    pool: PatchPool | None,
    voting: Voting,
    n_jobs: int | None = None,
    tile: int = TILE,
    trees: Sequence[int] = (),
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
    trees : sequence of int, default=()
        Trees that every position asks; if there are none, half of the trees in turn.

    Returns
    -------
    array of shape (H, W), float32
    """
    edges = _voted(photo, LeafVotes(forest, tuple(trees)), voting.sharpening, n_jobs, tile)
    if voting.method != "se" and pool is not None:
        context = Context(smooth(edges, 1))
        found = _voted(photo, NeighborVotes(forest, pool, voting, context), voting.sharpening, n_jobs, tile)
        edges = (1 - voting.blend) * edges + voting.blend * found
    return smooth(np.maximum(edges, np.float32(0)), 1)


@dataclass(frozen=True)
class LeafVotes:
    """Every position votes for the masks of the leaves that it reaches, all alike."""

    forest: StructuredForest
    trees: tuple[int, ...] = ()

    def __call__(
        self, channels: Channels, places: np.ndarray, positions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Voters among the positions, pages that they vote for, weights, and the masks on the pages."""
        if self.trees:
            asked = np.tile(self.trees, (len(places), 1))
        else:
            half = (self.forest.n_trees + 1) // 2
            turn = positions.sum(axis=1) // STRIDE % 2
            asked = (turn[:, None] * half + np.arange(half)) % self.forest.n_trees
        pages = self.forest.leaf_mask[self.forest.route(channels, places, asked)]
        weights = np.full(pages.shape, 1 / pages.shape[1])
        return np.arange(len(places)), pages, weights, self.forest.book.masks


@dataclass(frozen=True)
class NeighborVotes:
    """Every fourth position where a leaf shows an edge votes for the masks of patches in the leaves of all trees."""

    forest: StructuredForest
    pool: PatchPool
    voting: Voting
    context: Context

    def __call__(
        self, channels: Channels, places: np.ndarray, positions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Voters among the positions, pages that they vote for, weights, and the masks on the pages."""
        sparse = np.flatnonzero((positions % _APART == 0).all(axis=1))
        asked = np.tile(np.arange(self.forest.n_trees), (len(sparse), 1))
        leaves = self.forest.route(channels, places[sparse], asked)
        seen = self.forest.book.has_edge[self.forest.leaf_mask[leaves]].any(axis=1)
        voters, leaves = sparse[seen], leaves[seen]
        if not len(voters):
            return voters, np.empty((0, 1), dtype=np.int32), np.empty((0, 1)), self.pool.book.masks
        features = describe(channels, places[voters], self.context, positions[voters])
        rows, weights = self.pool.weigh(features, leaves, self.voting)
        return voters, self.pool.mask[rows], weights * (_APART / STRIDE) ** 2, self.pool.book.masks


def _voted(photo: np.ndarray, votes: Callable[..., tuple], passes: int, n_jobs: int | None, tile: int) -> np.ndarray:
    """Sum of the outlines that the positions of a photo vote for; tiles and bands leave no trace in it."""
    height, width = photo.shape[:2]
    edges = np.zeros((height, width))
    for top in range(0, height, tile):
        for left in range(0, width, tile):
            rows = slice(max(0, top - _MARGIN), min(height, top + tile + _MARGIN))
            columns = slice(max(0, left - _MARGIN), min(width, left + tile + _MARGIN))
            tasks = _bands(photo[rows, columns], (top, left), (rows.start, columns.start), (height, width), tile)
            for where, cast in in_parallel(_vote, [(*task, votes, passes) for task in tasks], n_jobs):
                edges[rows, columns][where] += cast
    return edges.astype(np.float32)


def _bands(
    crop: np.ndarray, start: tuple[int, int], corner: tuple[int, int], shape: tuple[int, int], tile: int
) -> Iterator[tuple[Channels, np.ndarray, np.ndarray, np.ndarray]]:
    """Tasks of a tile from ``start`` on, cut from a photo at ``corner``: channels, colours, corner, positions."""
    channels = Channels(crop)
    colours = smooth(np.moveaxis(crop, -1, 0).astype(np.float32) / np.float32(255), 1)
    colours = np.ascontiguousarray(np.moveaxis(colours, 0, -1))
    ys, xs = (np.arange(a, min(a + tile, most), STRIDE) for a, most in zip(start, shape, strict=True))
    for first in range(0, len(ys), _BAND):
        grid = np.stack(np.meshgrid(ys[first : first + _BAND], xs, indexing="ij"), axis=-1).reshape(-1, 2)
        yield channels, colours, np.array(corner), grid


def _vote(
    channels: Channels,
    colours: np.ndarray,
    corner: np.ndarray,
    positions: np.ndarray,
    votes: Callable[..., tuple],
    passes: int,
) -> tuple[slice, np.ndarray]:
    """Votes of a band of positions: which rows of the crop they fall on, and the map there."""
    from ..._kernels.edges.detection import cast_votes

    inside = positions - corner
    voters, pages, weights, masks = votes(channels, channels.places(inside), positions)
    reach = MASK_SIDE // 2
    where = slice(max(0, inside[0, 0] - reach), min(len(colours), inside[-1, 0] + reach))
    edges = np.zeros((where.stop - where.start, colours.shape[1]))
    cast = weights != 0
    cast_votes(
        writable(colours[where]),
        inside[voters] - reach - np.array([where.start, 0]),
        pages[cast].astype(np.int64),
        np.round(weights[cast] * (_GAIN / _VOTE)) * _VOTE,
        np.concatenate([[0], np.cumsum(cast.sum(axis=1))]),
        writable(masks),
        passes,
        edges,
    )
    return where, edges
