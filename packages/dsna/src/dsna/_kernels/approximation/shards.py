"""Neighbourhoods over sharded rows: the best rows of one shard, and the best of all shards."""

import numpy as np

from ..jit import kernel
from ..sorting import order_of
from .neighbors import _candidate_capacity, add_share, clear_table, find_slot, new_table, select_best, sort_by_row


@kernel
def gather_from_shard(
    leaves,
    total,
    fold,
    leaf_ptr,
    leaf_rows,
    row_fold,
    row_weight,
    rarity,
    Q,
    Z,
    rows,
    proximity,
    size,
    n_by_rank,
    n_met,
):
    """Fill, for each query, the best rows of a shard and the sums over trees of their shares of the leaves reached.

    Parameters
    ----------
    leaves : (n, T) leaf of each query in each tree.
    total : (n, T) weight of all rows of that leaf on all shards; 0 if the tree is not used.
    fold : (n,) held-out fold of a query, whose rows cannot be neighbours; -1 for a new row.
    leaf_ptr, leaf_rows : rows of this shard in each leaf.
    rarity : (C,) factor of each row's rank if there are more candidates than fit.
    rows, proximity : (n, M) filled up to ``size[i]``.
    n_by_rank : (n,) leading rows that were selected by rank; the others were selected, and are ordered, by distance.
    n_met : (n,) number of candidates, including those that do not fit.
    """
    n, n_trees = leaves.shape
    max_neighbors = rows.shape[1]
    max_candidates = _candidate_capacity(leaves, leaf_ptr)
    slot_row, slot_sum = new_table(max_candidates)
    slots = np.empty(max_candidates + 1, np.uint64)
    candidates = np.empty(max_candidates, np.int64)
    ranks = np.empty(max_candidates)
    scratch = np.empty(max_candidates)
    for i in range(n):
        n_candidates = np.int64(0)
        for t in range(n_trees):
            leaf_weight = total[i, t]
            if not leaf_weight > 0.0:
                continue
            for k in range(leaf_ptr[leaves[i, t]], leaf_ptr[leaves[i, t] + 1]):
                row = np.int64(leaf_rows[k])
                if not row_weight[row] > 0.0 or (fold[i] >= 0 and row_fold[row] == fold[i]):
                    continue
                n_candidates = add_share(slot_row, slot_sum, slots, n_candidates, row, row_weight[row] / leaf_weight)
        for k in range(n_candidates):
            candidates[k] = slot_row[slots[k]]
            ranks[k] = -slot_sum[slots[k]]
        n_by_rank[i] = n_candidates
        if n_candidates > max_neighbors:
            for k in range(n_candidates):
                ranks[k] *= rarity[candidates[k]]
            n_by_rank[i] = select_best(ranks, candidates, n_candidates, max_neighbors, scratch, Z, Q[i])
        size[i] = min(n_candidates, max_neighbors)
        n_met[i] = n_candidates
        for k in range(size[i]):
            rows[i, k] = candidates[k]
            proximity[i, k] = slot_sum[find_slot(slot_row, candidates[k])]
        clear_table(slot_row, slot_sum, slots, n_candidates)


@kernel
def merge_shards(shard_rows, share_sums, size, n_by_rank, n_met, n_used, rarity, Q, Z, rows, proximity, kept_size):
    """Fill the neighbourhoods of queries from the best rows of all shards, largest proximity first.

    Parameters
    ----------
    shard_rows, share_sums : (n, W) rows of Z, and the sums of their shares; filled up to ``size[i]``.
    n_by_rank : (n,) that of ``gather_from_shard``, summed over shards; used if all rows that fit are from one shard.
    n_met : (n,) number of candidates on all shards.
    n_used : (n,) number of trees used.
    rarity : (m,) rarity of each row of Z.
    rows, proximity : (n, M) filled up to ``kept_size[i]``.
    """
    max_neighbors = rows.shape[1]
    width = shard_rows.shape[1]
    ranks = np.empty(width)
    scratch = np.empty(width)
    candidates = np.empty(width, np.int64)
    position = np.empty(Z.shape[0], np.int64)
    for i in range(shard_rows.shape[0]):
        for k in range(size[i]):
            candidates[k] = shard_rows[i, k]
            position[candidates[k]] = k
            ranks[k] = -share_sums[i, k]
            if n_met[i] > max_neighbors:
                ranks[k] *= rarity[candidates[k]]
        n_sorted_by_row = n_by_rank[i]
        if size[i] > max_neighbors:
            n_sorted_by_row = select_best(ranks, candidates, size[i], max_neighbors, scratch, Z, Q[i])
        kept_size[i] = min(size[i], max_neighbors)
        sort_by_row(ranks, candidates, n_sorted_by_row)
        order = order_of(ranks[: kept_size[i]])
        for k in range(kept_size[i]):
            rows[i, k] = candidates[order[k]]
            proximity[i, k] = share_sums[i, position[candidates[order[k]]]] / n_used[i]
