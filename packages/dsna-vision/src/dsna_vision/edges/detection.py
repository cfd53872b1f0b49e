"""Edge maps of one photo: tiles of bounded size, bands of positions in parallel, votes of masks.

Structured edges (SE): a position asks half of the trees, neighbours the two halves in turn, and votes for the masks of
the leaves reached.  The other members of the family start from that map.  Every fourth position, where it shows any
edge, asks all trees and votes for the masks of the patches in the leaves: weighted by distance ("kernel"), by an affine
hull ("hull") or by discriminative sparse approximation ("dsna").  The map is a blend of both.
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
_KEPT = 4  # tiles whose channels are kept for the second pass over a photo: 85 MB each
_BAND = 16  # rows of positions in one task
_APART = 4  # pixels between positions that ask their neighbours
_KNEE = 0.2  # votes that make one half in the map, in which weak and strong edges are then told apart alike
_GAIN = STRIDE**2 / MASK_SIDE**2  # every pixel is in the masks of so many positions
_VOTE = 2.0**-30  # votes are multiples of it: sums of doubles are then exact, whatever the order of bands and tiles


def soft_map(
    photo: np.ndarray,
    forest: StructuredForest,
    pool: PatchPool | None,
    voting: Voting,
    n_jobs: int | None = None,
    tile: int = TILE,
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
    return _soft_maps(photo, forest, pool, voting, n_jobs, tile)[-1]


def _soft_maps(
    photo: np.ndarray,
    forest: StructuredForest,
    pool: PatchPool | None,
    voting: Voting,
    n_jobs: int | None,
    tile: int = TILE,
) -> list[np.ndarray]:
    """Map by the leaves and, unless that is all that is asked for, the one with the neighbours' votes."""
    tiles: Sequence[Tile] = Tiles(photo, tile)
    alone = voting.method == "se" or pool is None
    if not alone and len(tiles) <= _KEPT:
        tiles = list(tiles)
    edges = _voted(tiles, photo.shape[:2], LeafVotes(forest), voting.sharpening, n_jobs)
    if alone or pool is None:
        return [_finished(edges)]
    votes = NeighborVotes(forest, pool, voting, Context(smooth(edges, 1)))
    found = _voted(tiles, photo.shape[:2], votes, voting.sharpening, n_jobs)
    return [_finished(edges), _finished((1 - voting.blend) * edges + voting.blend * found)]


def first_maps(
    photo: np.ndarray,
    size: float,
    forest: StructuredForest,
    pool: PatchPool | None,
    voting: Voting,
    n_jobs: int | None = None,
) -> list[np.ndarray]:
    """Edge maps of a photo looked at in another size; they are as large as the photo.

    Parameters
    ----------
    photo, forest, pool, voting, n_jobs
        As :func:`soft_map` takes them.
    size : float
        In shares of the photo's own.

    Returns
    -------
    list of arrays of shape (H, W), float32
        By the leaves alone; after it, unless ``voting`` asks for no more, the one with the neighbours' votes.
    """
    height, width = photo.shape[:2]
    small = _resized(photo, (max(1, round(height * size)), max(1, round(width * size))))
    return [_resized(one, (height, width)) for one in _soft_maps(small, forest, pool, voting, n_jobs)]


def neighbors_at(
    photo: np.ndarray,
    place: tuple[int, int],
    forest: StructuredForest,
    pool: PatchPool,
    voting: Voting,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, Neighbors]:
    """Training patches whose masks are voted for at a place, at the photo's own size.

    Parameters
    ----------
    photo, forest, pool, voting, n_jobs
        As :func:`soft_map` takes them.
    place : (int, int)
        Row and column.

    Returns
    -------
    positions : array of shape (m, 2)
        Middles of patches that cover the place, which ``neighbors.voters`` are some of.
    neighbors : Neighbors
    """
    reach = MASK_SIDE // 2
    edges = _voted(Tiles(photo, TILE), photo.shape[:2], LeafVotes(forest), voting.sharpening, n_jobs)
    votes = NeighborVotes(forest, pool, voting, Context(smooth(edges, 1)))
    start = (max(0, (place[0] - reach) // _APART * _APART), max(0, (place[1] - reach) // _APART * _APART))
    tile = Tile.cut(photo, start, 2 * MASK_SIDE)
    positions = np.concatenate(list(tile.bands()))
    away = np.array(place) - positions
    positions = positions[((away >= -reach) & (away < reach)).all(axis=1)]
    return positions, votes.neighbors(tile.channels, tile.channels.places(positions - tile.corner), positions)


def as_share(edges: np.ndarray) -> np.ndarray:
    """Votes brought to the range from 0 to 1.

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
    """Edge map by the masks of the leaves, of a photo whose channels are known.

    Parameters
    ----------
    photo : array of shape (H, W, 3), uint8
    channels : Channels
        Of the whole photo.
    forest : StructuredForest
    trees : sequence of int
        Trees that every position asks; if there are none, half of the trees in turn.
    sharpening : int
        As :class:`Voting` has it.

    Returns
    -------
    array of shape (H, W), float32
    """
    whole = Tile.cut(photo, (0, 0), max(photo.shape), channels)
    return _finished(_voted([whole], photo.shape[:2], LeafVotes(forest, tuple(trees)), sharpening, 1))


def _finished(edges: np.ndarray) -> np.ndarray:
    return smooth(np.maximum(edges, np.float32(0)), 1)


@dataclass(frozen=True)
class Tile:
    """A part of a photo that is worked on at once, cut out with a margin.

    Parameters
    ----------
    window : (slice, slice)
        Rows and columns of the photo that are cut out.
    channels : Channels
    colours : array of shape (h, w, 3), float32
        Smoothed, from 0 to 1: what outlines are sharpened by.
    ys, xs : arrays
        Rows and columns of the photo whose crossings are this tile's positions.
    """

    window: tuple[slice, slice]
    channels: Channels
    colours: np.ndarray
    ys: np.ndarray
    xs: np.ndarray

    @classmethod
    def cut(cls, photo: np.ndarray, start: tuple[int, int], side: int, channels: Channels | None = None) -> Tile:
        """The tile of positions from ``start`` on; its channels are computed where they are not given."""
        (top, left), (height, width) = start, photo.shape[:2]
        window = (
            slice(max(0, top - MARGIN), min(height, top + side + MARGIN)),
            slice(max(0, left - MARGIN), min(width, left + side + MARGIN)),
        )
        crop = photo[window]
        colours = smooth(np.moveaxis(crop, -1, 0).astype(np.float32) / np.float32(255), 1)
        return cls(
            window=window,
            channels=Channels(crop) if channels is None else channels,
            colours=np.ascontiguousarray(np.moveaxis(colours, 0, -1)),
            ys=np.arange(top, min(top + side, height), STRIDE),
            xs=np.arange(left, min(left + side, width), STRIDE),
        )

    @property
    def corner(self) -> np.ndarray:
        """Where the part that is cut out begins in the photo, y and x."""
        return np.array([one.start for one in self.window])

    def bands(self) -> Iterator[np.ndarray]:
        """Positions (n, 2) of some rows after another."""
        for first in range(0, len(self.ys), _BAND):
            yield np.stack(np.meshgrid(self.ys[first : first + _BAND], self.xs, indexing="ij"), axis=-1).reshape(-1, 2)


class Tiles(Sequence[Tile]):
    """The tiles of a photo, each computed whenever it is asked for; ``list`` keeps them."""

    def __init__(self, photo: np.ndarray, side: int) -> None:
        self._photo = photo
        self._side = side
        self._starts = [(y, x) for y in range(0, len(photo), side) for x in range(0, photo.shape[1], side)]

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, number: int) -> Tile: ...

    @overload
    def __getitem__(self, number: slice) -> list[Tile]: ...

    def __getitem__(self, number: int | slice) -> Tile | list[Tile]:
        if isinstance(number, slice):
            return [Tile.cut(self._photo, start, self._side) for start in self._starts[number]]
        return Tile.cut(self._photo, self._starts[number], self._side)


class Ballots(NamedTuple):
    """What positions vote for."""

    voters: np.ndarray  # (n,) which of the positions
    choices: np.ndarray  # (n, k) numbers of masks
    weights: np.ndarray  # (n, k)
    table: MaskTable


class Neighbors(NamedTuple):
    """Training patches that positions are approximated by."""

    voters: np.ndarray  # (n,) which of the positions
    rows: np.ndarray  # (n, k) patches of the pool
    weights: np.ndarray  # (n, k)


#: From channels, places in them and positions in the photo to votes.
_Votes = Callable[[Channels, np.ndarray, np.ndarray], Ballots]


@dataclass(frozen=True)
class LeafVotes:
    """Every position votes for the masks of the leaves that it reaches, all alike."""

    forest: StructuredForest
    trees: tuple[int, ...] = ()

    def __call__(self, channels: Channels, places: np.ndarray, positions: np.ndarray) -> Ballots:
        """Votes of patches that start at ``places`` in the channels, around ``positions`` in the photo."""
        if self.trees:
            asked = np.tile(self.trees, (len(places), 1))
        else:
            half = (self.forest.n_trees + 1) // 2
            turn = positions.sum(axis=1) // STRIDE % 2
            asked = (turn[:, None] * half + np.arange(half)) % self.forest.n_trees
        choices = self.forest.leaf_mask[self.forest.route(channels, places, asked)]
        weights = np.full(choices.shape, 1 / choices.shape[1])
        return Ballots(np.arange(len(places)), choices, weights, self.forest.mask_table)


@dataclass(frozen=True)
class NeighborVotes:
    """Every fourth position where a leaf shows an edge votes for the masks of patches in the leaves of all trees."""

    forest: StructuredForest
    pool: PatchPool
    voting: Voting
    context: Context

    def __call__(self, channels: Channels, places: np.ndarray, positions: np.ndarray) -> Ballots:
        """Votes of patches that start at ``places`` in the channels, around ``positions`` in the photo."""
        voters, rows, weights = self.neighbors(channels, places, positions)
        return Ballots(voters, self.pool.mask[rows], weights * (_APART / STRIDE) ** 2, self.pool.mask_table)

    def neighbors(self, channels: Channels, places: np.ndarray, positions: np.ndarray) -> Neighbors:
        """Neighbours of the patches that start at ``places`` and ask for them."""
        sparse = np.flatnonzero((positions % _APART == 0).all(axis=1))
        asked = np.tile(np.arange(self.forest.n_trees), (len(sparse), 1))
        leaves = self.forest.route(channels, places[sparse], asked)
        seen = self.forest.mask_table.has_edge[self.forest.leaf_mask[leaves]].any(axis=1)
        voters, leaves = sparse[seen], leaves[seen]
        if not len(voters):
            return Neighbors(voters, np.empty((0, 1), dtype=np.int64), np.empty((0, 1)))
        features = describe(channels, places[voters], self.context, positions[voters])
        return Neighbors(voters, *self.pool.weigh(features, leaves, self.voting))


def _voted(tiles: Sequence[Tile], shape: tuple[int, ...], votes: _Votes, passes: int, n_jobs: int | None) -> np.ndarray:
    """Sum of the outlines that the positions of a photo vote for; tiles and bands leave no trace in it."""
    edges = np.zeros(shape)
    for tile in tracked_parts(tiles, len(tiles), "tiles of the first level"):
        tasks = [(tile, positions, votes, passes) for positions in tile.bands()]
        for rows, cast in in_parallel(_vote, tasks, n_jobs):
            edges[tile.window][rows] += cast
    return edges.astype(np.float32)


def _vote(tile: Tile, positions: np.ndarray, votes: _Votes, passes: int) -> tuple[slice, np.ndarray]:
    """Votes of a band of positions: which rows of the tile they fall on, and the map there."""
    from .._kernels.detection import cast_votes

    inside = positions - tile.corner
    voters, choices, weights, table = votes(tile.channels, tile.channels.places(inside), positions)
    reach = MASK_SIDE // 2
    rows = slice(max(0, inside[0, 0] - reach), min(len(tile.colours), inside[-1, 0] + reach))
    edges = np.zeros((rows.stop - rows.start, tile.colours.shape[1]))
    cast = (weights != 0) & table.has_edge[choices]
    cast_votes(
        writable(tile.colours[rows]),
        inside[voters] - reach - np.array([rows.start, 0]),
        choices[cast].astype(np.int64),
        np.round(weights[cast] * (_GAIN / _VOTE)) * _VOTE,
        np.concatenate([[0], np.cumsum(cast.sum(axis=1))]),
        writable(table.masks),
        passes,
        edges,
    )
    return rows, edges


def _resized(values: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """A photo or map in another size, by means of the pixels it covers."""
    if values.shape[:2] == shape:
        return values
    from skimage.transform import resize

    smaller = shape[0] < values.shape[0] or shape[1] < values.shape[1]
    new: np.ndarray = resize(values.astype(np.float32), (*shape, *values.shape[2:]), order=1, anti_aliasing=smaller)
    return np.rint(new).astype(np.uint8) if values.dtype == np.uint8 else new.astype(np.float32)
