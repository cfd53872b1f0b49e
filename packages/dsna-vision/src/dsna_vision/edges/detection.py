"""Edge maps of one photo, from the votes of masks; tiles bound memory, and bands of positions run in parallel.

Structured edges (SE): each position queries half of the trees (adjacent positions alternate between the two halves) and
votes for the masks of the leaves reached.  The other methods start from that map.  Every fourth position, if a leaf
shows an edge there, queries all trees and votes for the masks of the patches in the leaves, weighted by distance
("kernel"), by an affine hull ("hull") or by discriminative sparse approximation ("dsna").  The final map blends both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

import numpy as np

from dsna.extend.parallel import in_parallel, tracked_parts, writable

from ..features.channels import smooth
from .embedding import Context, describe
from .forest import StructuredForest
from .masks import MaskTable
from .patches import MASK_SIDE, STRIDE, Channels
from .pool import PatchPool, Voting

METHODS = ("se", "kernel", "hull", "dsna")
TILE, MARGIN = 1024, 64
_CACHED_TILES = 4  # photos of at most this many tiles keep their channels for the second pass: 85 MB per tile
_BAND_ROWS = 16  # rows of positions in one task
_NEIGHBOR_STRIDE = 4  # pixels between positions that use neighbours
_KNEE = 0.2  # number of votes that maps to one half, so that both weak and strong edges can be distinguished
_GAIN = STRIDE**2 / MASK_SIDE**2  # reciprocal of the number of positions whose masks cover a pixel
_VOTE_UNIT = 2.0**-30  # votes are multiples of this, so that sums of doubles are exact in any order of bands and tiles


def soft_map(
    photo: np.ndarray,
    forest: StructuredForest,
    pool: PatchPool | None,
    voting: Voting,
    n_jobs: int | None = None,
    tile: int = TILE,
) -> np.ndarray:
    """Compute the edge map of a photo at its own scale, without thinning.

    Parameters
    ----------
    photo : array of shape (H, W, 3), uint8
    forest : StructuredForest
    pool : PatchPool or None
        Patches in the leaves; not needed for "se".
    voting : Voting
    n_jobs : int or None
    tile : int, default=1024
        Side of a tile in pixels; bounds memory.

    Returns
    -------
    array of shape (H, W), float32
    """
    return _leaf_and_neighbor_maps(photo, forest, pool, voting, n_jobs, tile)[-1]


def _leaf_and_neighbor_maps(
    photo: np.ndarray,
    forest: StructuredForest,
    pool: PatchPool | None,
    voting: Voting,
    n_jobs: int | None,
    tile: int = TILE,
) -> list[np.ndarray]:
    """Map from the leaves' votes, followed by the map blended with neighbours' votes unless the method is "se"."""
    tiles: Sequence[Tile] = Tiles(photo, tile)
    leaves_only = voting.method == "se" or pool is None
    if not leaves_only and len(tiles) <= _CACHED_TILES:
        tiles = list(tiles)
    edges = _vote_map(tiles, photo.shape[:2], LeafVotes(forest), voting.sharpening, n_jobs)
    if leaves_only or pool is None:
        return [_smoothed(edges)]
    votes = NeighborVotes(forest, pool, voting, Context(smooth(edges, 1)))
    neighbor_edges = _vote_map(tiles, photo.shape[:2], votes, voting.sharpening, n_jobs)
    return [_smoothed(edges), _smoothed((1 - voting.blend) * edges + voting.blend * neighbor_edges)]


def first_maps(
    photo: np.ndarray,
    size: float,
    forest: StructuredForest,
    pool: PatchPool | None,
    voting: Voting,
    n_jobs: int | None = None,
) -> list[np.ndarray]:
    """Compute edge maps of a resized photo, scaled back to the photo's size.

    Parameters
    ----------
    photo, forest, pool, voting, n_jobs
        See :func:`soft_map`.
    size : float
        Relative to the photo's own size.

    Returns
    -------
    list of arrays of shape (H, W), float32
        Map from the leaves, followed by the map blended with neighbours' votes unless the method is "se".
    """
    height, width = photo.shape[:2]
    small = _resize(photo, (max(1, round(height * size)), max(1, round(width * size))))
    return [_resize(edges, (height, width)) for edges in _leaf_and_neighbor_maps(small, forest, pool, voting, n_jobs)]


def neighbors_at(
    photo: np.ndarray,
    pixel: tuple[int, int],
    forest: StructuredForest,
    pool: PatchPool,
    voting: Voting,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, Neighbors]:
    """Find the training patches whose masks receive votes around a pixel, at the photo's own size.

    Parameters
    ----------
    photo, forest, pool, voting, n_jobs
        See :func:`soft_map`.
    pixel : (int, int)
        Row and column.

    Returns
    -------
    positions : array of shape (m, 2)
        Centres of the patches that cover the pixel; ``neighbors.voters`` are indices of them.
    neighbors : Neighbors
    """
    reach = MASK_SIDE // 2
    edges = _vote_map(Tiles(photo, TILE), photo.shape[:2], LeafVotes(forest), voting.sharpening, n_jobs)
    votes = NeighborVotes(forest, pool, voting, Context(smooth(edges, 1)))
    start = (
        max(0, (pixel[0] - reach) // _NEIGHBOR_STRIDE * _NEIGHBOR_STRIDE),
        max(0, (pixel[1] - reach) // _NEIGHBOR_STRIDE * _NEIGHBOR_STRIDE),
    )
    tile = Tile.cut(photo, start, 2 * MASK_SIDE)
    positions = np.concatenate(list(tile.bands()))
    offsets = np.array(pixel) - positions
    positions = positions[((offsets >= -reach) & (offsets < reach)).all(axis=1)]
    return positions, votes.neighbors(tile.channels, tile.channels.starts(positions - tile.corner), positions)


def as_share(edges: np.ndarray) -> np.ndarray:
    """Scale votes to the range from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> as_share(np.array([0, 0.2, 0.6], dtype=np.float32))
    array([0.  , 0.5 , 0.75], dtype=float32)
    """
    return edges / (edges + np.float32(_KNEE))


def leaf_map(
    photo: np.ndarray, channels: Channels, forest: StructuredForest, trees: Sequence[int], sharpening: int
) -> np.ndarray:
    """Compute an edge map from the masks of the leaves, given the channels of the photo.

    Parameters
    ----------
    photo : array of shape (H, W, 3), uint8
    channels : Channels
        Channels of the whole photo.
    forest : StructuredForest
    trees : sequence of int
        Trees that every position queries; if empty, positions alternate between two halves of the trees.
    sharpening : int
        See :class:`Voting`.

    Returns
    -------
    array of shape (H, W), float32
    """
    tile = Tile.cut(photo, (0, 0), max(photo.shape), channels)
    return _smoothed(_vote_map([tile], photo.shape[:2], LeafVotes(forest, tuple(trees)), sharpening, 1))


def _smoothed(edges: np.ndarray) -> np.ndarray:
    return smooth(np.maximum(edges, np.float32(0)), 1)


@dataclass(frozen=True)
class Tile:
    """A tile of a photo, cut out with a margin.

    Parameters
    ----------
    window : (slice, slice)
        Rows and columns of the photo covered by the tile and its margin.
    channels : Channels
    colours : array of shape (h, w, 3), float32
        Smoothed colours from 0 to 1, used to sharpen outlines.
    ys, xs : arrays
        Rows and columns of the photo that form the grid of the tile's positions.
    """

    window: tuple[slice, slice]
    channels: Channels
    colours: np.ndarray
    ys: np.ndarray
    xs: np.ndarray

    @classmethod
    def cut(cls, photo: np.ndarray, start: tuple[int, int], size: int, channels: Channels | None = None) -> Tile:
        """Cut out the tile of positions from ``start`` on, computing its channels unless given."""
        (top, left), (height, width) = start, photo.shape[:2]
        window = (
            slice(max(0, top - MARGIN), min(height, top + size + MARGIN)),
            slice(max(0, left - MARGIN), min(width, left + size + MARGIN)),
        )
        crop = photo[window]
        colours = smooth(np.moveaxis(crop, -1, 0).astype(np.float32) / np.float32(255), 1)
        return cls(
            window=window,
            channels=Channels(crop) if channels is None else channels,
            colours=np.ascontiguousarray(np.moveaxis(colours, 0, -1)),
            ys=np.arange(top, min(top + size, height), STRIDE),
            xs=np.arange(left, min(left + size, width), STRIDE),
        )

    @property
    def corner(self) -> np.ndarray:
        """Top-left corner of the tile with its margin in the photo, (y, x)."""
        return np.array([extent.start for extent in self.window])

    def bands(self) -> Iterator[np.ndarray]:
        """Yield the positions (n, 2) of successive bands of rows."""
        for start in range(0, len(self.ys), _BAND_ROWS):
            yield np.stack(np.meshgrid(self.ys[start : start + _BAND_ROWS], self.xs, indexing="ij"), axis=-1).reshape(
                -1, 2
            )


class Tiles(Sequence[Tile]):
    """The tiles of a photo, computed anew on each access; call ``list`` to keep them."""

    def __init__(self, photo: np.ndarray, tile_size: int) -> None:
        self._photo = photo
        self._tile_size = tile_size
        self._starts = [(y, x) for y in range(0, len(photo), tile_size) for x in range(0, photo.shape[1], tile_size)]

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, number: int) -> Tile: ...

    @overload
    def __getitem__(self, number: slice) -> list[Tile]: ...

    def __getitem__(self, number: int | slice) -> Tile | list[Tile]:
        if isinstance(number, slice):
            return [Tile.cut(self._photo, start, self._tile_size) for start in self._starts[number]]
        return Tile.cut(self._photo, self._starts[number], self._tile_size)


class Ballots(NamedTuple):
    """Votes of positions for masks."""

    voters: np.ndarray  # (n,) indices of positions
    choices: np.ndarray  # (n, k) indices of masks
    weights: np.ndarray  # (n, k)
    table: MaskTable


class Neighbors(NamedTuple):
    """Training patches that approximate positions."""

    voters: np.ndarray  # (n,) indices of positions
    rows: np.ndarray  # (n, k) patches of the pool
    weights: np.ndarray  # (n, k)


#: Function of channels, starts of patches in the channels and positions in the photo that returns votes.
_Votes = Callable[[Channels, np.ndarray, np.ndarray], Ballots]


@dataclass(frozen=True)
class LeafVotes:
    """Equal votes of every position for the masks of the leaves that it reaches."""

    forest: StructuredForest
    trees: tuple[int, ...] = ()

    def __call__(self, channels: Channels, starts: np.ndarray, positions: np.ndarray) -> Ballots:
        """Votes of patches that start at ``starts`` in the channels, around ``positions`` in the photo."""
        if self.trees:
            queried_trees = np.tile(self.trees, (len(starts), 1))
        else:
            half = (self.forest.n_trees + 1) // 2
            turn = positions.sum(axis=1) // STRIDE % 2
            queried_trees = (turn[:, None] * half + np.arange(half)) % self.forest.n_trees
        choices = self.forest.leaf_mask[self.forest.route(channels, starts, queried_trees)]
        weights = np.full(choices.shape, 1 / choices.shape[1])
        return Ballots(np.arange(len(starts)), choices, weights, self.forest.mask_table)


@dataclass(frozen=True)
class NeighborVotes:
    """Votes for the masks of patches in the leaves of all trees, at every fourth position if a leaf shows an edge."""

    forest: StructuredForest
    pool: PatchPool
    voting: Voting
    context: Context

    def __call__(self, channels: Channels, starts: np.ndarray, positions: np.ndarray) -> Ballots:
        """Votes of patches that start at ``starts`` in the channels, around ``positions`` in the photo."""
        voters, rows, weights = self.neighbors(channels, starts, positions)
        return Ballots(voters, self.pool.mask[rows], weights * (_NEIGHBOR_STRIDE / STRIDE) ** 2, self.pool.mask_table)

    def neighbors(self, channels: Channels, starts: np.ndarray, positions: np.ndarray) -> Neighbors:
        """Find neighbours of those patches starting at ``starts`` that use neighbours."""
        on_grid = np.flatnonzero((positions % _NEIGHBOR_STRIDE == 0).all(axis=1))
        queried_trees = np.tile(np.arange(self.forest.n_trees), (len(on_grid), 1))
        leaves = self.forest.route(channels, starts[on_grid], queried_trees)
        shows_edge = self.forest.mask_table.has_edge[self.forest.leaf_mask[leaves]].any(axis=1)
        voters, leaves = on_grid[shows_edge], leaves[shows_edge]
        if not len(voters):
            return Neighbors(voters, np.empty((0, 1), dtype=np.int64), np.empty((0, 1)))
        features = describe(channels, starts[voters], self.context, positions[voters])
        return Neighbors(voters, *self.pool.weigh(features, leaves, self.voting))


def _vote_map(
    tiles: Sequence[Tile], shape: tuple[int, ...], votes: _Votes, passes: int, n_jobs: int | None
) -> np.ndarray:
    """Sum the outlines that positions vote for; the result does not depend on the division into tiles and bands."""
    edges = np.zeros(shape)
    for tile in tracked_parts(tiles, len(tiles), "tiles of the first level"):
        tasks = [(tile, positions, votes, passes) for positions in tile.bands()]
        for rows, band_edges in in_parallel(_band_votes, tasks, n_jobs):
            edges[tile.window][rows] += band_edges
    return edges.astype(np.float32)


def _band_votes(tile: Tile, positions: np.ndarray, votes: _Votes, passes: int) -> tuple[slice, np.ndarray]:
    """Votes of a band of positions: the rows of the tile that they cover, and the map there."""
    from .._kernels.detection import cast_votes

    in_tile = positions - tile.corner
    voters, choices, weights, table = votes(tile.channels, tile.channels.starts(in_tile), positions)
    reach = MASK_SIDE // 2
    rows = slice(max(0, in_tile[0, 0] - reach), min(len(tile.colours), in_tile[-1, 0] + reach))
    edges = np.zeros((rows.stop - rows.start, tile.colours.shape[1]))
    cast = (weights != 0) & table.has_edge[choices]
    cast_votes(
        writable(tile.colours[rows]),
        in_tile[voters] - reach - np.array([rows.start, 0]),
        choices[cast].astype(np.int64),
        np.round(weights[cast] * (_GAIN / _VOTE_UNIT)) * _VOTE_UNIT,
        np.concatenate([[0], np.cumsum(cast.sum(axis=1))]),
        writable(table.masks),
        passes,
        edges,
    )
    return rows, edges


def _resize(values: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Resize a photo or map, with antialiasing where it shrinks."""
    if values.shape[:2] == shape:
        return values
    from skimage.transform import resize

    smaller = shape[0] < values.shape[0] or shape[1] < values.shape[1]
    new: np.ndarray = resize(values.astype(np.float32), (*shape, *values.shape[2:]), order=1, anti_aliasing=smaller)
    return np.rint(new).astype(np.uint8) if values.dtype == np.uint8 else new.astype(np.float32)
