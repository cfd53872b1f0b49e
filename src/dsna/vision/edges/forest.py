"""The structured forest: trees grown on patches, whose leaves are masks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._utils.invariants import POSITIVE, Array, Checked, Part, check_leaves, check_links, require, tree_of_nodes
from ..._utils.parallel import in_parallel, writable
from .masks import MaskTable
from .patches import N_FEATURES, Channels, feature_places
from .sampling import AnnotatedPhotos

_QUARTER, _BLOCKS = 4, 4
_RANGE_PATCHES, _OUTSIDE = 4000, 0.005


@dataclass
class StructuredForest(Checked):
    """Trees one after another; leaves are numbered through all of them.

    Parameters
    ----------
    root : array of shape (n_trees,), int64
        First node of each tree.
    child, ptr, features, weights, threshold : arrays
        Nodes, as told in ``dsna._kernels.edges.structured``.
    low, step : arrays of shape (N_FEATURES,), float32
        How features become bytes.
    book : MaskTable
    leaf_mask : array of shape (n_leaves,), int32
        Page of each leaf's mask in the book.
    """

    root: np.ndarray
    child: np.ndarray
    ptr: np.ndarray
    features: np.ndarray
    weights: np.ndarray
    threshold: np.ndarray
    low: np.ndarray
    step: np.ndarray
    book: MaskTable
    leaf_mask: np.ndarray

    FIELDS = {
        "root": Array("int64", "trees"),
        "child": Array("int32", "nodes"),
        "ptr": Array("int32", "nodes+1", into="entries"),
        "features": Array("int16", "entries", 0, N_FEATURES - 1),
        "weights": Array("float32", "entries"),
        "threshold": Array("float32", "nodes"),
        "low": Array("float32", str(N_FEATURES)),
        "step": Array("float32", str(N_FEATURES), low=POSITIVE),
        "book": Part("MaskTable", "pages"),
        "leaf_mask": Array("int32", "leaves", below="pages"),
    }
    NOT_EMPTY = ("trees", "leaves")

    def __post_init__(self) -> None:
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        owner = "StructuredForest"
        tree = tree_of_nodes(owner, self.root, np.arange(sizes["trees"]), sizes["nodes"])
        parent, last = np.flatnonzero(self.child >= 0), np.flatnonzero(self.child < 0)
        child = self.child[parent].astype(np.int64)
        check_links(owner, tree, self.root, np.tile(parent, 2), np.concatenate([child, child + 1]))
        # Leaves are numbered one tree after another.
        require(len(last) == sizes["leaves"], f"{owner}.leaf_mask has another length than there are leaves")
        check_leaves(owner, -1 - self.child[last], tree[last], np.sort(tree[last]))

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.root)

    def route(self, channels: Channels, places: np.ndarray, trees: np.ndarray) -> np.ndarray:
        """Leaves that patches reach.

        Parameters
        ----------
        channels : Channels
        places : array of shape (n,)
            Where patches start in the channels.
        trees : array of shape (n, n_asked), int64
            Trees to ask for each patch.

        Returns
        -------
        leaves : array of shape (n, n_asked), int32
        """
        from ..._kernels.edges.detection import route_patches

        first, second = feature_places(channels.shape)
        leaves = np.empty(trees.shape, dtype=np.int32)
        nodes = (self.root, self.child, self.ptr, self.features, self.weights, self.threshold)
        route_patches(
            writable(channels.flat),
            writable(places),
            writable(trees),
            first,
            second,
            writable(self.low),
            writable(self.step),
            tuple(writable(a) for a in nodes),
            leaves,
        )
        return leaves


def grow_forest(
    album: AnnotatedPhotos,
    n_trees: int,
    n_patches: int,
    growth: Any,
    seed: int,
    known: np.ndarray,
    n_jobs: int | None = None,
) -> StructuredForest:
    """Grow a forest, each tree on its own patches and on a random quarter of the features.

    Parameters
    ----------
    album : Album
    n_trees, n_patches : int
        How many trees, of how many patches each.
    growth : Growth
    seed : int
    known : array of shape (n_trees, n_photos), bool
        Photos that each tree may learn from.
    n_jobs : int or None

    Returns
    -------
    StructuredForest
    """
    seeds = np.random.SeedSequence(seed).spawn(n_trees + 1)
    low, step = _ranges(album, np.random.default_rng(seeds[-1]))
    tasks = [
        (album, n_patches, growth, one, low, step, np.flatnonzero(photos).tolist())
        for one, photos in zip(seeds[:-1], known, strict=True)
    ]
    grown = in_parallel(_grow, tasks, n_jobs)
    return _joined(grown, low, step)


def photos_known(n_trees: int, n_photos: int, all_of_them: bool = False) -> np.ndarray:
    """Which photos each tree learns from: half of them, so that the other trees answer honestly for the rest.

    Photos are dealt to four blocks and a tree omits two; fewer photos than blocks are known to all trees.

    Parameters
    ----------
    n_trees, n_photos : int
    all_of_them : bool, default=False
        Whether no honest answers are needed.

    Returns
    -------
    array of shape (n_trees, n_photos), bool

    Examples
    --------
    >>> photos_known(2, 5).astype(int)
    array([[0, 0, 1, 1, 0],
           [1, 0, 0, 1, 1]])
    """
    if all_of_them or n_photos < _BLOCKS:
        return np.ones((n_trees, n_photos), dtype=bool)
    block, tree = np.arange(n_photos) % _BLOCKS, np.arange(n_trees)[:, None]
    return (block != tree % _BLOCKS) & (block != (tree + 1) % _BLOCKS)


def _ranges(album: AnnotatedPhotos, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Lowest value and width of a byte's step for each feature."""
    values = album.features(album.draw(_RANGE_PATCHES, rng), np.arange(N_FEATURES))
    low, high = np.quantile(values, [_OUTSIDE, 1 - _OUTSIDE], axis=0)
    return low.astype(np.float32), (np.maximum(high - low, 1e-6) / 256).astype(np.float32)


def _grow(
    album: AnnotatedPhotos, n_patches: int, growth: Any, seed: Any, low: np.ndarray, step: np.ndarray, photos: list[int]
) -> tuple:
    from ..._kernels.edges.structured import Growth, grow_structured

    rng = np.random.default_rng(seed)
    patches = album.draw(n_patches, rng, photos)
    which = np.sort(rng.choice(N_FEATURES, N_FEATURES // _QUARTER, replace=False))
    bins = album.bins(patches, which, low, step)
    child, ptr, features, weights, threshold, _, _, representative = grow_structured(
        bins, patches.masks, Growth(*growth), np.uint64(rng.integers(2**63))
    )
    return child, ptr, which[features], weights, threshold, patches.masks[representative]


def _joined(grown: list[tuple], low: np.ndarray, step: np.ndarray) -> StructuredForest:
    children, ptrs, features, weights, thresholds, masks = zip(*grown, strict=True)
    nodes = np.cumsum([0, *map(len, children)])
    leaves = np.cumsum([0, *map(len, masks)])
    entries = np.cumsum([0, *map(len, features)])
    child = [
        np.where(one < 0, one - leaf, one + node) for one, node, leaf in zip(children, nodes, leaves, strict=False)
    ]
    ptr = [one[:-1] + entry for one, entry in zip(ptrs, entries, strict=False)]
    book, leaf_mask = MaskTable.of(np.concatenate(masks))
    return StructuredForest(
        root=nodes[:-1].astype(np.int64),
        child=np.concatenate(child).astype(np.int32),
        ptr=np.concatenate([*ptr, entries[-1:]]).astype(np.int32),
        features=np.concatenate(features).astype(np.int16),
        weights=np.concatenate(weights),
        threshold=np.concatenate(thresholds),
        low=low,
        step=step,
        book=book,
        leaf_mask=leaf_mask,
    )
