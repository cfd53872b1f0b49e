"""Where a query's neighbours come from: the leaves of a forest, or plain nearest neighbours."""

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
    """Neighbours of n queries.

    Attributes
    ----------
    rows : (n, M) training rows, by falling proximity (times rarity, where not all could be kept).
    proximity : (n, M) mean over trees of the share of a row in the leaf that the query reaches: each tree divides one
        unit among the rows of that leaf, by their weights.
    size : (n,) number of neighbours of each query.
    vote : (n, k) mean over trees of the leaf means, or mean over the neighbours where there are no leaves.
    places : (n, M) where these rows stand among those that an index holds; as ``rows`` where it holds all.
    """

    def __init__(
        self,
        rows: np.ndarray,
        proximity: np.ndarray,
        size: np.ndarray,
        vote: np.ndarray,
        places: np.ndarray | None = None,
    ):
        self.rows = rows
        self.proximity = proximity
        self.size = size
        self.vote = vote
        self.places = rows if places is None else places

    @property
    def kernel(self) -> np.ndarray:
        """(n, M) proximities that add up to one."""
        return np.asarray(self.proximity / np.maximum(ordered_sum(self.proximity), 1e-300)[:, None])

    def part(self, some: np.ndarray) -> Neighborhoods:
        """Neighbourhoods of some of the queries."""
        places = None if self.places is self.rows else self.places[some]
        return Neighborhoods(self.rows[some], self.proximity[some], self.size[some], self.vote[some], places)

    @classmethod
    def join(cls, parts: list[Neighborhoods]) -> Neighborhoods:
        """Neighbourhoods one after another; the widest sets M."""
        width = max(p.rows.shape[1] for p in parts)
        if len(parts) == 1:
            return parts[0]
        size = np.concatenate([p.size for p in parts])
        joined = cls(
            np.zeros((len(size), width), dtype=np.int64),
            np.zeros((len(size), width)),
            size,
            np.concatenate([p.vote for p in parts]),
        )
        start = 0
        for p in parts:
            some = slice(start, start + len(p.size)), slice(p.rows.shape[1])
            joined.rows[some], joined.proximity[some] = p.rows, p.proximity
            start += len(p.size)
        return joined


class KnownRows(NamedTuple):
    """The training rows among which neighbours are sought; N rows.

    Folds are read where a query has one, weights where they are not even.
    """

    Z: np.ndarray  # (N, D) in the metric space
    fold: np.ndarray  # (N,) held-out fold
    weight: np.ndarray  # (N,) sample weight
    rarity: np.ndarray  # (N,) factor of a row beside its proximity where not all rows can be kept
    even: bool  # whether all rows weigh one


class Queries(NamedTuple):
    """The rows whose neighbours are sought; n rows."""

    X: np.ndarray  # (n, d) on the common scale of the forest
    Q: np.ndarray  # (n, D) in the metric space
    fold: np.ndarray  # (n,) held-out fold of a training row, -1 for a new row


def leaf_neighbors(
    trees: Trees,
    leaf_value: np.ndarray,
    known: KnownRows,
    queries: Queries,
    max_neighbors: int | None,
    n_jobs: int | None,
) -> Neighborhoods:
    """Union of the leaves that each query reaches; a training row uses trees that left out its fold.

    Parameters
    ----------
    trees, leaf_value : the forest, and the mean of each leaf.
    max_neighbors : most rows to keep of each neighbourhood; None keeps all.
    """
    leaves = (leaf_value, trees.left_out, trees.leaf_ptr, trees.leaf_rows)
    tasks = [
        (Queries(queries.X[part], queries.Q[part], queries.fold[part]), known, max_neighbors, trees.nodes, leaves)
        for part in chunks(len(queries.X), _CHUNK)
    ]
    return Neighborhoods.join([Neighborhoods(*found) for found in in_parallel(_gather_some, tasks, n_jobs)])


def _gather_some(
    queries: Queries,
    known: KnownRows,
    max_neighbors: int | None,
    nodes: tuple[np.ndarray, ...],
    leaves: tuple[np.ndarray, ...],
) -> tuple[np.ndarray, ...]:
    from .._kernels.approximation.neighbors import gather
    from .._kernels.forest.tree import route

    X, Q, fold = (writable(a) for a in queries)
    Z, row_fold, row_weight, rarity = (writable(a) for a in known[:4])
    nodes = tuple(writable(a) for a in nodes)
    leaf_value, left_out, leaf_ptr, leaf_rows = (writable(a) for a in leaves)
    reached = np.empty((len(X), len(nodes[0])), dtype=np.int32)
    route(X, *nodes, reached)
    most = max_neighbors
    if most is None:
        most = max(1, int(np.max(np.sum(leaf_ptr[reached + 1] - leaf_ptr[reached], axis=1))))
    width = min(most, len(Z))
    rows = np.zeros((len(X), width), dtype=np.int64)
    proximity = np.zeros((len(X), width))
    size = np.zeros(len(X), dtype=np.int64)
    held = (leaf_ptr, leaf_rows, row_fold, row_weight, rarity, known.even)
    gather(reached, fold, left_out, *held, Q, Z, rows, proximity, size)
    width = max(1, int(size.max()))
    vote = Trees.mean_over_trees(leaf_value, reached, (fold < 0)[:, None] | left_out.T[fold])
    return np.ascontiguousarray(rows[:, :width]), np.ascontiguousarray(proximity[:, :width]), size, vote


def nearest_neighbors(
    values: np.ndarray, known: KnownRows, queries: Queries, n_neighbors: int, n_jobs: int | None
) -> Neighborhoods:
    """The nearest rows, with their weights as proximities; a training row sees rows of other folds only.

    Parameters
    ----------
    values : (N, k) one-hot classes or targets of the rows, whose weighted mean is the vote.
    """
    Z, row_fold, row_weight = known[:3]
    Q = queries.Q
    rows = np.zeros((len(Q), min(n_neighbors, len(Z))), dtype=np.int64)
    size = np.zeros(len(Q), dtype=np.int64)
    for fold in range(-1, N_FOLDS):
        asked = np.flatnonzero(queries.fold == fold)
        others = np.flatnonzero((row_fold != fold) & (row_weight > 0))
        if len(asked) and len(others):
            k = min(rows.shape[1], len(others))
            search = NearestNeighbors(n_neighbors=k, n_jobs=n_jobs).fit(Z[others])
            found = search.kneighbors(Q[asked], return_distance=False)
            # scikit-learn's order of equal distances depends on the batch.
            away = np.sum((Z[others[found]] - Q[asked, None]) ** 2, axis=2)
            order = np.lexsort((found, away), axis=1)
            rows[asked, :k] = others[np.take_along_axis(found, order, axis=1)]
            size[asked] = k
    inside = np.arange(rows.shape[1]) < size[:, None]
    near = Neighborhoods(rows, np.where(inside, row_weight[rows], 0.0), size, values[:0])
    near.vote = weighted_sum(near.kernel, values[rows])
    return near
