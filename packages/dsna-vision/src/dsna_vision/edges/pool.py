"""Patches stored in the leaves: the rows from which DSNA approximates a query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone

from dsna import Approximation
from dsna.extend.containers import POSITIVE, Array, Checked, Part, Texts, require
from dsna.extend.parallel import writable
from dsna.extend.solver import Neighborhoods, distance_kernel, solve

from .embedding import N_DESCRIBED, Context, PatchEmbedding, blurred_outlines, describe, mirror_image
from .forest import StructuredForest
from .masks import MaskTable
from .patches import MASK_SIDE
from .sampling import AnnotatedPhotos, Patches

_N_AXES = 8
_MIN_WEIGHT = 0.005  # smaller weights are set to zero
_TRAINING_FACTOR = 4  # patches used to fit the embedding, for each one in the pool
_LARGEST_UNIT, _LONGEST_AXIS = 1e20, 1.001
_UNIT = 127  # embedded patches are stored as bytes, with one scale for each dimension


def default_approximation() -> Approximation:
    """Settings that ``EdgeDetector(approximation=None)`` uses, in a new object.

    Examples
    --------
    >>> from dsna_vision.edges.pool import default_approximation
    >>> default_approximation()
    Approximation(gamma=0.03, lam=0.01, max_iter=0, ridge=1.0)
    """
    return Approximation(lam=0.01, gamma=0.03, ridge=1.0, max_iter=0)


@dataclass(frozen=True)
class Voting:
    """Settings for combining the masks of patches into an edge map.

    Parameters
    ----------
    method : {"se", "kernel", "hull", "dsna"}
    approximation : Approximation
        Settings of the sparse approximation; "kernel" uses only its ``bandwidth``.
    blend : float
        Share of the votes that neighbours cast; the leaves cast the rest.
    max_neighbors : int
    sharpening : int
        Number of passes that move boundaries to colour changes.
    """

    method: str = "dsna"
    approximation: Approximation = field(default_factory=default_approximation)
    blend: float = 1.0
    max_neighbors: int = 100
    sharpening: int = 2


@dataclass
class PatchOrigins(Checked):
    """Photos and positions that the patches of a pool were cut from.

    Parameters
    ----------
    names : list of str
        Names of the photos.
    photo : array of shape (n,), int32
        Photo of each patch, as an index into ``names``.
    centre : array of shape (n, 2), int32
        Row and column of each patch's centre.
    """

    names: list[str]
    photo: np.ndarray
    centre: np.ndarray

    FIELDS = {
        "names": Texts("photos"),
        "photo": Array("int32", "patches", below="photos"),
        "centre": Array("int32", "patches, 2", low=0),
    }

    def __post_init__(self) -> None:
        self.check()


@dataclass
class PatchPool(Checked):
    """Patches in a forest's leaves, with their masks and embeddings.

    Parameters
    ----------
    embedding : PatchEmbedding
    codes : array of shape (n, n_dims), int8
        Embedded patches, in units of ``unit``.
    unit : array of shape (n_dims,), float64
    mask_table : MaskTable
    mask : array of shape (n,), int32
        Index of each patch's mask in the table.
    axes : array of shape (256, 8), float32
        Leading principal components of the blurred outlines, which serve as labels for clustering.
    leaf_ptr, leaf_rows : arrays
        Patches of each leaf of the forest.
    origins : PatchOrigins or None, default=None
        Origins of the patches, if known.
    """

    embedding: PatchEmbedding
    codes: np.ndarray
    unit: np.ndarray
    mask_table: MaskTable
    mask: np.ndarray
    axes: np.ndarray
    leaf_ptr: np.ndarray
    leaf_rows: np.ndarray
    origins: PatchOrigins | None = None

    FIELDS = {
        "embedding": Part("PatchEmbedding", "dimensions"),
        "codes": Array("int8", "patches, dimensions"),
        "unit": Array("float64", "dimensions", POSITIVE, _LARGEST_UNIT),
        "mask_table": Part("MaskTable", "masks"),
        "mask": Array("int32", "patches", below="masks"),
        "axes": Array("float32", f"{MASK_SIDE**2}, {_N_AXES}", -_LONGEST_AXIS, _LONGEST_AXIS),
        "leaf_ptr": Array("int32", "leaves+1", into="held"),
        "leaf_rows": Array("int32", "held", below="patches"),
        "origins": Part("PatchOrigins", "patches", none=True),
    }
    NOT_EMPTY = ("patches", "leaves")

    def __post_init__(self) -> None:
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(
            len(self.embedding.weights) == N_DESCRIBED,
            "it was written by another version of dsna, which describes patches differently",
            "Train it again with `dsna edges train`.",
        )

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def rows(self) -> np.ndarray:
        """Embedded patches (n, n_dims), float64."""
        embedded: np.ndarray = self.codes * self.unit
        return embedded

    @cached_property
    def labels(self) -> np.ndarray:
        """Blurred outlines of the patches projected on the axes, (n, 8) float64."""
        projections: np.ndarray = (blurred_outlines(self.mask_table.masks) @ self.axes)[self.mask].astype(np.float64)
        return projections

    def weigh(self, features: np.ndarray, leaves: np.ndarray, voting: Voting) -> tuple[np.ndarray, np.ndarray]:
        """Find the neighbours of queries and their weights.

        Parameters
        ----------
        features : array of shape (n, 1669)
            Descriptions of the queries by :func:`dsna_vision.edges.embedding.describe`.
        leaves : array of shape (n, n_asked), int32
            Leaves that the queries reach.
        voting : Voting

        Returns
        -------
        rows, weights : arrays of shape (n, max_neighbors)
            Patches of the pool, and weights that sum to one; small weights are zero.
        """
        queries = self.embedding(features)
        neighborhoods = self._gather(leaves, queries, min(voting.max_neighbors, len(self)))
        if voting.method == "kernel":
            weights = self._kernel(queries, neighborhoods, voting.approximation.bandwidth)
        else:
            weights = solve(queries, self.rows, self.labels, np.ones(1), neighborhoods, _solver_settings(voting), 1)[
                "alpha"
            ]
        weights[np.abs(weights) < _MIN_WEIGHT] = 0
        return neighborhoods.rows, weights / np.maximum(weights.sum(axis=1, keepdims=True), _MIN_WEIGHT)

    def _gather(self, leaves: np.ndarray, queries: np.ndarray, max_neighbors: int) -> Neighborhoods:
        from dsna.extend.kernels import gather

        n = len(queries)
        rows = np.zeros((n, max_neighbors), dtype=np.int64)
        proximity = np.zeros((n, max_neighbors))
        size = np.zeros(n, dtype=np.int64)
        ones = np.ones(len(self))
        gather(
            writable(leaves),
            np.full(n, -1),
            np.zeros((leaves.shape[1], 1), dtype=bool),
            writable(self.leaf_ptr),
            writable(self.leaf_rows),
            np.zeros(len(self), dtype=np.int64),
            ones,
            ones,
            True,
            queries,
            writable(self.rows),
            rows,
            proximity,
            size,
        )
        return Neighborhoods(rows, proximity, size, np.empty((n, 0)))

    def _kernel(self, queries: np.ndarray, neighborhoods: Neighborhoods, bandwidth: float) -> np.ndarray:
        """Weights from the prior of the sparse approximation: proximity, decreasing with distance."""
        distances = np.sqrt(((self.rows[neighborhoods.rows] - queries[:, None]) ** 2).sum(axis=-1))
        weights = neighborhoods.proximity * distance_kernel(distances, neighborhoods.size, bandwidth)
        shares: np.ndarray = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        return shares


def _solver_settings(voting: Voting) -> dict[str, Any]:
    """Solver settings for sparse approximation, or for an affine hull of all neighbours."""
    approximation = voting.approximation
    if voting.method == "hull":
        approximation = clone(approximation).set_params(n_clusters=1, lam=0.0, gamma=0.0, proximity_weights=False)
    return approximation.kernel_settings(0)


def fill_pool(
    photos: AnnotatedPhotos,
    forest: StructuredForest,
    maps: Sequence[np.ndarray],
    n_patches: int,
    n_dims: int,
    leaf_capacity: int,
    rng: np.random.Generator,
) -> PatchPool:
    """Pass new patches through a forest and store at most ``leaf_capacity`` of them in each leaf.

    Parameters
    ----------
    photos : AnnotatedPhotos
    forest : StructuredForest
    maps : sequence of arrays
        Edge map of each photo, by trees that have not seen it.
    n_patches : int
        Number of patches, half of them near boundaries.
    n_dims : int
        Dimensions of the space in which patches are compared.
    leaf_capacity : int
        Maximum number of patches per leaf; leaves without edges would otherwise hold thousands.
    rng : numpy Generator

    Returns
    -------
    PatchPool
    """
    candidates = photos.draw(_TRAINING_FACTOR * n_patches, rng)
    in_pool = np.zeros(len(candidates), dtype=bool)
    in_pool[rng.choice(len(candidates), min(n_patches, len(candidates)), replace=False)] = True
    features: list[np.ndarray] = []
    embedding = PatchEmbedding.fitted(_batches(photos, candidates, maps, in_pool, features), n_dims, mirror_image())
    rows = embedding(np.concatenate(features))
    unit = np.maximum(np.abs(rows).max(axis=0), 1e-12) / _UNIT
    patches = candidates[in_pool]
    leaf_ptr, leaf_rows = _leaf_lists(_leaves(photos, patches, forest), len(forest.leaf_mask), leaf_capacity)
    used, leaf_rows = np.unique(leaf_rows, return_inverse=True)
    mask_table, mask = MaskTable.of(patches.masks[used])
    _, axes = np.linalg.eigh(np.cov(blurred_outlines(patches.masks).T))
    return PatchPool(
        embedding=embedding,
        codes=np.rint(rows[used] / unit).astype(np.int8),
        unit=unit,
        mask_table=mask_table,
        mask=mask,
        axes=np.ascontiguousarray(axes[:, ::-1][:, :_N_AXES], dtype=np.float32),
        leaf_ptr=leaf_ptr.astype(np.int32),
        leaf_rows=leaf_rows.astype(np.int32),
        origins=PatchOrigins(
            names=photos.names,
            photo=patches.photo[used].astype(np.int32),
            centre=patches.centres[used].astype(np.int32),
        ),
    )


def _batches(
    photos: AnnotatedPhotos,
    patches: Patches,
    maps: Sequence[np.ndarray],
    in_pool: np.ndarray,
    features: list[np.ndarray],
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield description and outlines of patches photo by photo, and append descriptions of the pool's to a list."""
    for photo, rows in patches.of_photos():
        channels, centres = photos.channels[photo], patches.centres[rows]
        described = describe(channels, channels.starts(centres), Context(maps[photo]), centres)
        features.append(described[in_pool[rows]])
        yield described, blurred_outlines(patches.masks[rows])


def _leaves(photos: AnnotatedPhotos, patches: Patches, forest: StructuredForest) -> np.ndarray:
    """Leaves (n, n_trees) that patches reach."""
    leaves = np.empty((len(patches), forest.n_trees), dtype=np.int32)
    for photo, rows in patches.of_photos():
        channels = photos.channels[photo]
        trees = np.tile(np.arange(forest.n_trees), (rows.stop - rows.start, 1))
        leaves[rows] = forest.route(channels, channels.starts(patches.centres[rows]), trees)
    return leaves


def _leaf_lists(leaves: np.ndarray, n_leaves: int, leaf_capacity: int) -> tuple[np.ndarray, np.ndarray]:
    """CSR lists of at most ``leaf_capacity`` patches of each leaf."""
    leaf = leaves.ravel()
    row = np.repeat(np.arange(len(leaves)), leaves.shape[1])
    # All trees use the same shuffle, so that full leaves drop the same patches and proximities stay comparable.
    rank = np.random.default_rng(0).permutation(len(leaves))
    order = np.lexsort((rank[row], leaf))
    leaf, row = leaf[order], row[order]
    start = np.searchsorted(leaf, np.arange(n_leaves + 1))
    keep = np.arange(len(leaf)) - start[leaf] < leaf_capacity
    ptr = np.concatenate([[0], np.cumsum(np.bincount(leaf[keep], minlength=n_leaves))])
    return ptr, row[keep]
