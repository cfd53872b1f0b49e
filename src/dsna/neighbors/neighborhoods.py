"""Where a query's neighbours come from: the leaves of a forest, or plain nearest neighbours."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from .._utils.parallel import chunks, in_parallel, writable
from .._utils.sums import ordered_sum, weighted_sum
from ..forest.held_out import N_FOLDS
from ..forest.trees import Trees

_CHUNK = 256


class Neighborhoods:
    """Neighbours of n queries.

    Attributes
    ----------
    rows : (n, M) training rows, by falling proximity (times rarity, where the bound left some out).
    proximity : (n, M) share of the trees in whose leaf a row lies with the query.
    size : (n,) how many rows each query has.
    vote : (n, k) mean over the leaves reached of what they hold, or over the neighbours where there are no leaves.
    """

    def __init__(self, rows: np.ndarray, proximity: np.ndarray, size: np.ndarray, vote: np.ndarray):
        self.rows = rows
        self.proximity = proximity
        self.size = size
        self.vote = vote

    @property
    def kernel(self) -> np.ndarray:
        """(n, M) proximities that add up to one."""
        return self.proximity / np.maximum(ordered_sum(self.proximity), 1e-300)[:, None]

    @classmethod
    def join(cls, parts: list[Neighborhoods]) -> Neighborhoods:
        """Neighbourhoods one after another; the widest sets M."""
        width = max(p.rows.shape[1] for p in parts)
        wide = [
            (
                np.pad(p.rows, ((0, 0), (0, width - p.rows.shape[1]))),
                np.pad(p.proximity, ((0, 0), (0, width - p.rows.shape[1]))),
            )
            for p in parts
        ]
        return cls(
            np.concatenate([r for r, _ in wide]),
            np.concatenate([p for _, p in wide]),
            np.concatenate([p.size for p in parts]),
            np.concatenate([p.vote for p in parts]),
        )


def leaf_neighbors(
    trees: Trees,
    leaf_value: np.ndarray,
    row_block: np.ndarray,
    row_weight: np.ndarray,
    rarity: np.ndarray,
    X: np.ndarray,
    Q: np.ndarray,
    Z: np.ndarray,
    block: np.ndarray,
    max_neighbors: int | None,
    n_jobs: int | None,
) -> Neighborhoods:
    """Union of the leaves that each query reaches.

    Parameters
    ----------
    trees, leaf_value : the forest, and what its leaves vote for.
    row_block, row_weight, rarity : of its training rows the blocks, weights and inverse
        label frequencies.
    X, Q : (n, d) queries on the forest's scale and in the metric space; Z : (N, D) training rows in the latter.
    block : (n,) block of a query that is a training row, -1 for a new one.
    max_neighbors : most rows to keep of each neighbourhood; None keeps all.
    """
    leaves = (leaf_value, trees.left_out, trees.leaf_ptr, trees.leaf_rows, row_block, row_weight, rarity, Z)
    tasks = [(X[part], Q[part], block[part], max_neighbors, trees.nodes, leaves) for part in chunks(len(X), _CHUNK)]
    return Neighborhoods.join([Neighborhoods(*found) for found in in_parallel(_gather_some, tasks, n_jobs)])


def _gather_some(
    X: np.ndarray, Q: np.ndarray, block: np.ndarray, max_neighbors: int | None, nodes: tuple, leaves: tuple
) -> tuple[np.ndarray, ...]:
    from .._kernels.approximation.neighbors import gather
    from .._kernels.forest.tree import route

    nodes = tuple(writable(a) for a in nodes)
    leaf_value, left_out, leaf_ptr, leaf_rows, row_block, row_weight, rarity, Z = (writable(a) for a in leaves)
    reached = np.empty((len(X), len(nodes[0])), dtype=np.int32)
    route(writable(X), *nodes, reached)
    room = int(np.max(np.sum(leaf_ptr[reached + 1] - leaf_ptr[reached], axis=1)))
    width = max(1, min(room, len(Z)) if max_neighbors is None else min(max_neighbors, len(Z)))
    rows = np.zeros((len(X), width), dtype=np.int64)
    proximity = np.zeros((len(X), width))
    size = np.zeros(len(X), dtype=np.int64)
    known = (leaf_ptr, leaf_rows, row_block, row_weight, rarity)
    gather(reached, writable(block), left_out, *known, writable(Q), Z, rows, proximity, size)
    width = max(1, int(size.max()))
    vote = Trees.mean_over_trees(leaf_value, reached, (block < 0)[:, None] | left_out.T[block])
    return rows[:, :width].copy(), proximity[:, :width].copy(), size, vote


def nearest_neighbors(
    values: np.ndarray,
    row_block: np.ndarray,
    row_weight: np.ndarray,
    Q: np.ndarray,
    Z: np.ndarray,
    block: np.ndarray,
    n_neighbors: int,
    n_jobs: int | None,
) -> Neighborhoods:
    """The nearest rows, each of proximity one times its weight; a training row sees rows of other blocks only."""
    rows = np.zeros((len(Q), min(n_neighbors, len(Z))), dtype=np.int64)
    size = np.zeros(len(Q), dtype=np.int64)
    for b in range(-1, N_FOLDS):
        asked = np.flatnonzero(block == b)
        known = np.flatnonzero((row_block != b) & (row_weight > 0))
        if len(asked) and len(known):
            k = min(rows.shape[1], len(known))
            found = (
                NearestNeighbors(n_neighbors=k, n_jobs=n_jobs).fit(Z[known]).kneighbors(Q[asked], return_distance=False)
            )
            # scikit-learn's order of equals depends on the batch.
            away = np.sum((Z[known[found]] - Q[asked, None]) ** 2, axis=2)
            order = np.lexsort((found, away), axis=1)
            rows[asked, :k] = known[np.take_along_axis(found, order, axis=1)]
            size[asked] = k
    inside = np.arange(rows.shape[1]) < size[:, None]
    near = Neighborhoods(rows, np.where(inside, row_weight[rows], 0.0), size, values[:0])
    near.vote = weighted_sum(near.kernel, values[rows])
    return near
