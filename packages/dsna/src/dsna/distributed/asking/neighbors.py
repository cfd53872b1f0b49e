"""Neighbourhoods of a batch of queries: the best rows of each shard, and the best of all shards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._utils.invariants import damage_refused
from ..._utils.parallel import writable
from ..._utils.sums import rowwise_product
from ...forest.trees import Trees
from ...neighbors.neighborhoods import Neighborhoods
from ..shards import Shard
from .messages import Answer, DistributedForest, NeighborRows, Request

_REMEDY = "Ask again, or load the model from a folder that was saved."


class MergedNeighbors(NamedTuple):
    """Neighbourhoods of a batch of queries among all rows."""

    neighborhoods: Neighborhoods  # indices into ``rows``
    rows: NeighborRows


def request_for_new_rows(forest: DistributedForest, scaled: np.ndarray, Q: np.ndarray) -> Request:
    """Make the request for new rows, given on the common scale and in the metric space."""
    reached = forest.trees.apply(scaled)
    fold = np.full(len(Q), -1, dtype=np.int64)
    return Request(reached, forest.leaf_total[reached], fold, Q, forest.rarity, forest.most, forest.n_classes)


def request_for_fold(
    forest: DistributedForest, scaled: np.ndarray, Q: np.ndarray, fold: int, space: np.ndarray | None
) -> Request:
    """Make the request for training rows of a held-out fold, to the trees and rows that leave it out."""
    reached = forest.trees.apply(scaled)
    total = np.where(forest.trees.left_out[:, fold], forest.leaf_total[reached], 0.0)
    settings = (forest.rarity, forest.most, forest.n_classes)
    return Request(reached, total, np.full(len(Q), fold), Q, *settings, space, own=True)


def query_shard(shard: Shard, request: Request) -> Answer:
    """Find the best rows of a shard for each query."""
    from ..._kernels.approximation.shards import gather_from_shard

    with damage_refused("a shard of the model", _REMEDY):
        request.check_shard(shard)
    n, width = len(request.Q), shard.n_rows
    Z = rowwise_product(shard.Z, request.space) if request.space is not None else shard.Z
    if request.most is not None:
        width = min(request.most, width)
    else:
        leaf_sizes = shard.leaf_ptr[request.reached + 1] - shard.leaf_ptr[request.reached]
        n_entries = np.where(request.total > 0, leaf_sizes, 0).sum(axis=1)
        width = min(width, int(n_entries.max(initial=0)))
    rows, sums = np.zeros((n, max(1, width)), dtype=np.int64), np.zeros((n, max(1, width)))
    size, settled, n_met = np.zeros((3, n), dtype=np.int64)
    if shard.n_rows:
        shard_arrays = (shard.leaf_ptr, shard.leaf_rows, shard.fold, shard.weight, request.rarity[shard.code])
        inputs = (request.reached, request.total, request.fold, *shard_arrays, request.Q, Z)
        gather_from_shard(*(writable(array) for array in inputs), rows, sums, size, settled, n_met)
    is_filled = np.arange(rows.shape[1]) < size[:, None]
    best_rows = np.unique(rows[is_filled])
    rows[is_filled] = np.searchsorted(best_rows, rows[is_filled])
    neighbor_rows = NeighborRows(
        number=np.asarray(shard.number[best_rows]),
        Z=np.asarray(Z[best_rows]),
        label=np.asarray(shard.label[best_rows]),
        code=np.asarray(shard.code[best_rows]),
        fold=np.asarray(shard.fold[best_rows]),
        trend=np.asarray(shard.trend[best_rows]),
        own=np.asarray(shard.Z[best_rows]) if request.own else np.empty((len(best_rows), 0)),
    )
    return Answer(rows, sums, size, settled, n_met, neighbor_rows)


def merge(forest: DistributedForest, request: Request, answers: Sequence[Answer]) -> MergedNeighbors:
    """Merge the answers of all shards into the neighbourhoods of one model of all rows, with the vote of the forest."""
    from ..._kernels.approximation.shards import merge_shards

    with damage_refused("an answer of a worker", _REMEDY):
        for answer in answers:
            request.check_answer(answer)
        rows = NeighborRows.join([answer.known for answer in answers])
    n, width = len(request.Q), max(1, int(np.sum([answer.size for answer in answers], axis=0).max(initial=0)))
    candidates, sums = np.zeros((n, width), dtype=np.int64), np.zeros((n, width))
    n_candidates = np.zeros(n, dtype=np.int64)
    for answer in answers:
        query, rank = np.nonzero(np.arange(answer.rows.shape[1]) < answer.size[:, None])
        position = n_candidates[query] + rank
        joined_index = np.searchsorted(rows.number, answer.known.number)
        candidates[query, position] = joined_index[answer.rows[query, rank]]
        sums[query, position] = answer.sums[query, rank]
        n_candidates += answer.size
    used_trees = np.where(request.fold[:, None] < 0, True, forest.trees.left_out.T[request.fold])
    n_best = width if request.most is None else min(request.most, width)
    neighbors, proximity = np.zeros((n, n_best), dtype=np.int64), np.zeros((n, n_best))
    size, settled = np.zeros(n, dtype=np.int64), np.sum([answer.settled for answer in answers], axis=0)
    n_met = np.sum([answer.met for answer in answers], axis=0)
    inputs = (candidates, sums, n_candidates, settled, n_met, used_trees.sum(axis=1), request.rarity[rows.code])
    arrays = (writable(array) for array in (*inputs, request.Q, rows.Z))
    merge_shards(*arrays, neighbors, proximity, size)
    vote = Trees.mean_over_trees(forest.leaf_value, request.reached, used_trees)
    # Rows that are not the neighbours of any query depend on the division into shards, and results must not.
    is_filled = np.arange(n_best) < size[:, None]
    neighbor_rows = np.unique(neighbors[is_filled]) if is_filled.any() else np.zeros(1, dtype=np.int64)
    neighbors[is_filled] = np.searchsorted(neighbor_rows, neighbors[is_filled])
    width = max(1, int(size.max(initial=0)))
    neighborhoods = Neighborhoods(
        np.ascontiguousarray(neighbors[:, :width]), np.ascontiguousarray(proximity[:, :width]), size, vote
    )
    return MergedNeighbors(neighborhoods, rows.subset(neighbor_rows))


class PrecomputedIndex:
    """The neighbours of one batch of queries, with the interface of the index of a model in memory."""

    def __init__(self, index: Any, merged_neighbors: MergedNeighbors):
        self.scale_and_map, self.scaling, self.trees = index.scale_and_map, index.scaling, index.trees
        self.label, self.Z, self.fold = merged_neighbors.rows.label, merged_neighbors.rows.Z, merged_neighbors.rows.fold
        self._neighborhoods = merged_neighbors.neighborhoods

    def neighbors(self, scaled: np.ndarray, Q: np.ndarray, **_: Any) -> Neighborhoods:
        """Return the neighbours; the queries must be those of the batch."""
        return self._neighborhoods
