"""Neighbourhoods of which every shard of the rows knows a part: the best of one shard, and the best of all shards."""

import numpy as np

from ..jit import kernel
from ..sorting import order_of
from .neighbors import _keep_best, _most_met, add_share, empty, slot_of, sort_by_row, table_for


@kernel
def meet(
    reached,
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
    settled,
    met_all,
):
    """Fill, for each query, the best rows of a shard and the sums over trees of their shares in the leaves reached.

    Parameters
    ----------
    reached : (n, T) leaf of each query in each tree.
    total : (n, T) weight of all rows of that leaf, on all shards; 0 where the tree is not used.
    fold : (n,) held-out fold of a query, whose rows are left out; -1 for a new row.
    leaf_ptr, leaf_rows : rows of this shard in each leaf.
    rarity : (C,) of each row, factor of its rank where more rows are met than fit.
    rows, proximity : (n, M) filled up to ``size[i]``.
    settled : (n,) from where on rows were told apart by their distances, and are in the order of these.
    met_all : (n,) rows that were met, also those that do not fit.
    """
    n, n_trees = reached.shape
    M = rows.shape[1]
    most = _most_met(reached, leaf_ptr)
    slot_row, slot_sum = table_for(most)
    slots = np.empty(most + 1, np.uint64)
    met = np.empty(most, np.int64)
    rank = np.empty(most)
    spare = np.empty(most)
    for i in range(n):
        n_met = np.int64(0)
        for t in range(n_trees):
            whole = total[i, t]
            if not whole > 0.0:
                continue
            for k in range(leaf_ptr[reached[i, t]], leaf_ptr[reached[i, t] + 1]):
                row = np.int64(leaf_rows[k])
                if not row_weight[row] > 0.0 or (fold[i] >= 0 and row_fold[row] == fold[i]):
                    continue
                n_met = add_share(slot_row, slot_sum, slots, n_met, row, row_weight[row] / whole)
        for k in range(n_met):
            met[k] = slot_row[slots[k]]
            rank[k] = -slot_sum[slots[k]]
        settled[i] = n_met
        if n_met > M:
            for k in range(n_met):
                rank[k] *= rarity[met[k]]
            settled[i] = _keep_best(rank, met, n_met, M, spare, Z, Q[i])
        size[i] = min(n_met, M)
        met_all[i] = n_met
        for k in range(size[i]):
            rows[i, k] = met[k]
            proximity[i, k] = slot_sum[slot_of(slot_row, met[k])]
        empty(slot_row, slot_sum, slots, n_met)


@kernel
def best_of_shards(found, sums, size, settled, met_all, used, rarity, Q, Z, rows, proximity, kept):
    """Fill the neighbourhoods of queries from the best rows of all shards, largest proximity first.

    Parameters
    ----------
    found, sums : (n, W) rows of Z, and the sums of their shares; filled up to ``size[i]``.
    settled : (n,) sums over shards of that of ``meet``. It counts where a single shard has named all rows that fit.
    met_all : (n,) rows that all shards together have met.
    used : (n,) trees that were used.
    rarity : (m,) of the rows of Z.
    rows, proximity : (n, M) filled up to ``kept[i]``.
    """
    M = rows.shape[1]
    W = found.shape[1]
    rank = np.empty(W)
    spare = np.empty(W)
    met = np.empty(W, np.int64)
    place = np.empty(Z.shape[0], np.int64)
    for i in range(found.shape[0]):
        for k in range(size[i]):
            met[k] = found[i, k]
            place[met[k]] = k
            rank[k] = -sums[i, k]
            if met_all[i] > M:
                rank[k] *= rarity[met[k]]
        by_row = settled[i]
        if size[i] > M:
            by_row = _keep_best(rank, met, size[i], M, spare, Z, Q[i])
        kept[i] = min(size[i], M)
        sort_by_row(rank, met, by_row)
        order = order_of(rank[: kept[i]])
        for k in range(kept[i]):
            rows[i, k] = met[order[k]]
            proximity[i, k] = sums[i, place[met[order[k]]]] / used[i]
