"""Neighbourhoods of queries, from the leaves of a forest or by plain nearest neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.neighbors import NearestNeighbors

from .._utils.parallel import chunks, in_parallel, writable
from .._utils.sums import ordered_sum, weighted_sum
from ..forest.held_out import N_FOLDS
from ..forest.trees import Trees

_CHUNK = 512


class Neighborhoods:
    """Neighbourhoods of n queries.

    Attributes
    ----------
    rows : (n, M) training rows by descending proximity (times rarity if not all could be kept).
    proximity : (n, M) mean over trees of the share of a row in the leaf that the query reaches: each tree divides one
        unit among the rows of that leaf in proportion to their weights.
    size : (n,) number of neighbours of each query.
    vote : (n, k) mean over trees of the leaf means, or, without trees, mean over the neighbours.
    positions : (n, M) positions of these rows among those held by the index; equal to ``rows`` if it holds all.
    """

    def __init__(
        self,
        rows: np.ndarray,
        proximity: np.ndarray,
        size: np.ndarray,
        vote: np.ndarray,
        positions: np.ndarray | None = None,
    ):
        self.rows = rows
        self.proximity = proximity
        self.size = size
        self.vote = vote
        self.positions = rows if positions is None else positions

    @property
    def kernel(self) -> np.ndarray:
        """(n, M) proximities normalised to sum one."""
        return np.asarray(self.proximity / np.maximum(ordered_sum(self.proximity), 1e-300)[:, None])

    def subset(self, queries: np.ndarray) -> Neighborhoods:
        """Return the neighbourhoods of the given queries."""
        positions = None if self.positions is self.rows else self.positions[queries]
        return Neighborhoods(
            self.rows[queries], self.proximity[queries], self.size[queries], self.vote[queries], positions
        )

    def with_rows(self, rows: np.ndarray, positions: np.ndarray | None = None) -> Neighborhoods:
        """Return the same neighbourhoods with other row numbers."""
        return Neighborhoods(rows, self.proximity, self.size, self.vote, positions)

    @classmethod
    def join(cls, pieces: list[Neighborhoods]) -> Neighborhoods:
        """Concatenate neighbourhoods; the widest determines M."""
        width = max(piece.rows.shape[1] for piece in pieces)
        if len(pieces) == 1:
            return pieces[0]
        size = np.concatenate([piece.size for piece in pieces])
        joined = cls(
            np.zeros((len(size), width), dtype=np.int64),
            np.zeros((len(size), width)),
            size,
            np.concatenate([piece.vote for piece in pieces]),
        )
        start = 0
        for piece in pieces:
            target = slice(start, start + len(piece.size)), slice(piece.rows.shape[1])
            joined.rows[target], joined.proximity[target] = piece.rows, piece.proximity
            start += len(piece.size)
        return joined


class CandidateRows(NamedTuple):
    """Training rows that can be neighbours; N rows.

    Folds are read only for queries with a fold, weights only if they are not all one.
    """

    Z: np.ndarray  # (N, D) in the metric space
    fold: np.ndarray  # (N,) held-out fold
    weight: np.ndarray  # (N,) sample weight
    rarity: np.ndarray  # (N,) factor of a row's proximity when the rows to keep are selected
    unit_weights: bool  # whether all rows have weight one


class Queries(NamedTuple):
    """Rows whose neighbours are to be found; n rows."""

    X: np.ndarray  # (n, d) on the common scale of the forest
    Q: np.ndarray  # (n, D) in the metric space
    fold: np.ndarray  # (n,) held-out fold of a training row, -1 for a new row


def leaf_neighbors(
    trees: Trees,
    leaf_value: np.ndarray,
    candidates: CandidateRows,
    queries: Queries,
    max_neighbors: int | None,
    n_jobs: int | None,
) -> Neighborhoods:
    """Find the rows in the leaves that each query reaches; for training rows, in trees that left out their fold.

    Parameters
    ----------
    trees, leaf_value : the forest, and the mean of each leaf.
    max_neighbors : maximum number of rows of a neighbourhood; None keeps all.
    """
    leaf_arrays = (leaf_value, trees.left_out, trees.leaf_ptr, trees.leaf_rows)
    tasks = [
        (Queries(*(array[chunk] for array in queries)), candidates, max_neighbors, trees.nodes, leaf_arrays)
        for chunk in chunks(len(queries.X), _CHUNK)
    ]
    return Neighborhoods.join([Neighborhoods(*arrays) for arrays in in_parallel(_gather_chunk, tasks, n_jobs)])


def _gather_chunk(
    queries: Queries,
    candidates: CandidateRows,
    max_neighbors: int | None,
    nodes: tuple[np.ndarray, ...],
    leaves: tuple[np.ndarray, ...],
) -> tuple[np.ndarray, ...]:
    from .._kernels.approximation.neighbors import gather
    from .._kernels.forest.tree import route

    X, Q, fold = (writable(a) for a in queries)
    Z, row_fold, row_weight, rarity = (writable(a) for a in candidates[:4])
    nodes = tuple(writable(a) for a in nodes)
    leaf_value, left_out, leaf_ptr, leaf_rows = (writable(a) for a in leaves)
    leaf_numbers = np.empty((len(X), len(nodes[0])), dtype=np.int32)
    route(X, *nodes, leaf_numbers)
    n_neighbors = max_neighbors
    if n_neighbors is None:
        n_neighbors = max(1, int(np.max(np.sum(leaf_ptr[leaf_numbers + 1] - leaf_ptr[leaf_numbers], axis=1))))
    width = min(n_neighbors, len(Z))
    rows = np.zeros((len(X), width), dtype=np.int64)
    proximity = np.zeros((len(X), width))
    size = np.zeros(len(X), dtype=np.int64)
    leaf_arrays = (leaf_ptr, leaf_rows, row_fold, row_weight, rarity, candidates.unit_weights)
    gather(leaf_numbers, fold, left_out, *leaf_arrays, Q, Z, rows, proximity, size)
    width = max(1, int(size.max()))
    vote = Trees.mean_over_trees(leaf_value, leaf_numbers, (fold < 0)[:, None] | left_out.T[fold])
    return np.ascontiguousarray(rows[:, :width]), np.ascontiguousarray(proximity[:, :width]), size, vote


def nearest_neighbors(
    values: np.ndarray, candidates: CandidateRows, queries: Queries, n_neighbors: int, n_jobs: int | None
) -> Neighborhoods:
    """Find the nearest rows, with their weights as proximities; for training rows, among those of other folds.

    Parameters
    ----------
    values : (N, k) one-hot classes or targets of the rows; the vote is their weighted mean.
    """
    Z, row_fold, row_weight = candidates[:3]
    Q = queries.Q
    rows = np.zeros((len(Q), min(n_neighbors, len(Z))), dtype=np.int64)
    size = np.zeros(len(Q), dtype=np.int64)
    for fold in range(-1, N_FOLDS):
        query_numbers = np.flatnonzero(queries.fold == fold)
        candidate_numbers = np.flatnonzero((row_fold != fold) & (row_weight > 0))
        if len(query_numbers) and len(candidate_numbers):
            n_found = min(rows.shape[1], len(candidate_numbers))
            search = NearestNeighbors(n_neighbors=n_found, n_jobs=n_jobs).fit(Z[candidate_numbers])
            neighbor_positions = search.kneighbors(Q[query_numbers], return_distance=False)
            # In scikit-learn, the order of rows at equal distances depends on the batch.
            square_distances = np.sum((Z[candidate_numbers[neighbor_positions]] - Q[query_numbers, None]) ** 2, axis=2)
            order = np.lexsort((neighbor_positions, square_distances), axis=1)
            rows[query_numbers, :n_found] = candidate_numbers[np.take_along_axis(neighbor_positions, order, axis=1)]
            size[query_numbers] = n_found
    is_neighbor = np.arange(rows.shape[1]) < size[:, None]
    neighborhoods = Neighborhoods(rows, np.where(is_neighbor, row_weight[rows], 0.0), size, values[:0])
    neighborhoods.vote = weighted_sum(neighborhoods.kernel, values[rows])
    return neighborhoods
