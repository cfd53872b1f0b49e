"""Structured forest: trees grown on patches, with a segmentation mask in each leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dsna.extend.containers import POSITIVE, Array, Checked, Part, check_leaves, check_links, require, tree_of_nodes
from dsna.extend.parallel import in_parallel, writable

from .masks import MaskTable
from .patches import N_FEATURES, Channels, feature_offsets
from .sampling import AnnotatedPhotos

if TYPE_CHECKING:  # numba is imported where a forest grows
    from .._kernels.structured import StructuredGrowth

_QUARTER, _FOLDS = 4, 4
_RANGE_PATCHES, _OUTSIDE = 4000, 0.005


@dataclass
class StructuredForest(Checked):
    """Concatenated trees, with leaves numbered consecutively across trees.

    Parameters
    ----------
    root : array of shape (n_trees,), int64
        First node of each tree.
    child, feature, threshold : arrays of shape (n_nodes,)
        Nodes, laid out as in ``dsna_vision._kernels.structured``.
    low, step : arrays of shape (N_FEATURES,), float32
        Value of byte 0 and bin width of each feature.
    mask_table : MaskTable
    leaf_mask : array of shape (n_leaves,), int32
        Index of each leaf's mask in the table.
    """

    root: np.ndarray
    child: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    low: np.ndarray
    step: np.ndarray
    mask_table: MaskTable
    leaf_mask: np.ndarray

    FIELDS = {
        "root": Array("int64", "trees"),
        "child": Array("int32", "nodes"),
        "feature": Array("int16", "nodes", 0, N_FEATURES - 1),
        "threshold": Array("float32", "nodes"),
        "low": Array("float32", str(N_FEATURES)),
        "step": Array("float32", str(N_FEATURES), low=POSITIVE),
        "mask_table": Part("MaskTable", "masks"),
        "leaf_mask": Array("int32", "leaves", below="masks"),
    }
    NOT_EMPTY = ("trees", "leaves")

    def __post_init__(self) -> None:
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        owner = "StructuredForest"
        tree = tree_of_nodes(owner, self.root, np.arange(sizes["trees"]), sizes["nodes"])
        parent, leaf_nodes = np.flatnonzero(self.child >= 0), np.flatnonzero(self.child < 0)
        child = self.child[parent].astype(np.int64)
        check_links(owner, tree, self.root, np.tile(parent, 2), np.concatenate([child, child + 1]))
        # Leaves are numbered tree by tree.
        require(len(leaf_nodes) == sizes["leaves"], f"{owner}.leaf_mask has another length than there are leaves")
        check_leaves(owner, -1 - self.child[leaf_nodes], tree[leaf_nodes], np.sort(tree[leaf_nodes]))

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.root)

    def route(self, channels: Channels, starts: np.ndarray, trees: np.ndarray) -> np.ndarray:
        """Find the leaves that patches reach.

        Parameters
        ----------
        channels : Channels
        starts : array of shape (n,)
            Start of each patch in the flat channels.
        trees : array of shape (n, n_asked), int64
            Trees to query for each patch.

        Returns
        -------
        leaves : array of shape (n, n_asked), int32
        """
        from .._kernels.detection import Nodes, route_patches

        first, second = feature_offsets(channels.shape)
        leaves = np.empty(trees.shape, dtype=np.int32)
        nodes = Nodes(
            root=writable(self.root),
            child=writable(self.child),
            feature=writable(self.feature),
            threshold=writable(self.threshold),
        )
        route_patches(
            writable(channels.flat),
            writable(starts),
            writable(trees),
            first,
            second,
            writable(self.low),
            writable(self.step),
            nodes,
            leaves,
        )
        return leaves


def grow_forest(
    photos: AnnotatedPhotos,
    n_patches: int,
    growth: StructuredGrowth,
    seed: int,
    photo_mask: np.ndarray,
    n_jobs: int | None = None,
    unit: str = "",
) -> StructuredForest:
    """Grow a forest, each tree on its own patches and on a random quarter of the features.

    Parameters
    ----------
    photos : AnnotatedPhotos
    n_patches : int
        Number of patches per tree.
    growth : StructuredGrowth
        Growth limits, a named tuple of ``dsna_vision._kernels.structured``.
    seed : int
    photo_mask : array of shape (n_trees, n_photos), bool
        Photos that each tree may learn from.
    n_jobs : int or None
    unit : str, default=""
        Unit of the progress bar; no progress is shown if empty.

    Returns
    -------
    StructuredForest
    """
    seeds = np.random.SeedSequence(seed).spawn(len(photo_mask) + 1)
    ranges = _feature_ranges(photos, np.random.default_rng(seeds[-1]))
    tasks = [
        (photos, n_patches, growth, tree_seed, ranges, np.flatnonzero(row).tolist())
        for tree_seed, row in zip(seeds[:-1], photo_mask, strict=True)
    ]
    return _join_trees(in_parallel(_grow_tree, tasks, n_jobs, unit), ranges)


def learning_photos(n_trees: int, n_photos: int, all_photos: bool = False) -> np.ndarray:
    """Choose half of the photos for each tree, so that every photo has trees that have not seen it.

    Photos are assigned to four folds, and each tree leaves out two of them. With fewer photos than folds, every tree
    learns from all photos.

    Parameters
    ----------
    n_trees, n_photos : int
    all_photos : bool, default=False
        Whether every tree learns from all photos.

    Returns
    -------
    array of shape (n_trees, n_photos), bool

    Examples
    --------
    >>> learning_photos(2, 5).astype(int)
    array([[0, 0, 1, 1, 0],
           [1, 0, 0, 1, 1]])
    """
    if all_photos or n_photos < _FOLDS:
        return np.ones((n_trees, n_photos), dtype=bool)
    fold, tree = np.arange(n_photos) % _FOLDS, np.arange(n_trees)[:, None]
    learns: np.ndarray = (fold != tree % _FOLDS) & (fold != (tree + 1) % _FOLDS)
    return learns


class _Ranges(NamedTuple):
    """Binning of features into bytes."""

    low: np.ndarray  # (N_FEATURES,) the value of byte 0
    step: np.ndarray  # (N_FEATURES,) from one byte to the next


class _MaskTree(NamedTuple):
    """One tree; nodes are laid out as in ``dsna_vision._kernels.structured``."""

    child: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    masks: np.ndarray  # (n_leaves, 256)


def _feature_ranges(photos: AnnotatedPhotos, rng: np.random.Generator) -> _Ranges:
    """Ranges that hold nearly all feature values of a sample of patches."""
    values = photos.features(photos.draw(_RANGE_PATCHES, rng), np.arange(N_FEATURES))
    low, high = np.quantile(values, [_OUTSIDE, 1 - _OUTSIDE], axis=0)
    return _Ranges(low.astype(np.float32), (np.maximum(high - low, 1e-6) / 256).astype(np.float32))


def _grow_tree(
    photos: AnnotatedPhotos,
    n_patches: int,
    growth: StructuredGrowth,
    seed: np.random.SeedSequence,
    ranges: _Ranges,
    photo_numbers: list[int],
) -> _MaskTree:
    """Grow one tree on patches of the given photos."""
    from .._kernels.structured import grow_structured

    rng = np.random.default_rng(seed)
    patches = photos.draw(n_patches, rng, photo_numbers)
    features = np.sort(rng.choice(N_FEATURES, N_FEATURES // _QUARTER, replace=False))
    bins = photos.bins(patches, features, *ranges)
    tree = grow_structured(bins, patches.masks, growth, np.uint64(rng.integers(2**63)))
    return _MaskTree(
        child=tree.child,
        feature=features[tree.feature],
        threshold=tree.threshold,
        masks=patches.masks[tree.representative],
    )


def _join_trees(trees: list[_MaskTree], ranges: _Ranges) -> StructuredForest:
    """Concatenate trees, numbering nodes and leaves consecutively."""
    nodes = np.cumsum([0, *(len(tree.child) for tree in trees)])
    leaves = np.cumsum([0, *(len(tree.masks) for tree in trees)])
    child = [
        np.where(tree.child < 0, tree.child - leaf, tree.child + node)
        for tree, node, leaf in zip(trees, nodes, leaves, strict=False)
    ]
    mask_table, leaf_mask = MaskTable.of(np.concatenate([tree.masks for tree in trees]))
    return StructuredForest(
        root=nodes[:-1].astype(np.int64),
        child=np.concatenate(child).astype(np.int32),
        feature=np.concatenate([tree.feature for tree in trees]).astype(np.int16),
        threshold=np.concatenate([tree.threshold for tree in trees]),
        low=ranges.low,
        step=ranges.step,
        mask_table=mask_table,
        leaf_mask=leaf_mask,
    )
