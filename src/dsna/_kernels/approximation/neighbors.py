"""The safe neighbourhood: union of the leaves that a query reaches, with proximities, bounded."""

import numpy as np

from ..jit import TIE, kernel
from ..sorting import kth_smallest, order_of


@kernel
def _squared_distance(Z, row, q):
    total = 0.0
    for a in range(q.shape[0]):
        total += (Z[row, a] - q[a]) ** 2
    return total


@kernel
def _swap(rank, slots, j, k):
    rank[j], rank[k] = rank[k], rank[j]
    slots[j], slots[k] = slots[k], slots[j]


@kernel
def _nearest_first(away, row):
    """Order of rows by distance; of equal distances, the first row comes first."""
    n = row.shape[0]
    by_row = order_of(row)
    sorted_away = np.empty(n)
    for k in range(n):
        sorted_away[k] = away[by_row[k]]
    order = order_of(sorted_away)
    for k in range(n):
        order[k] = by_row[order[k]]
    for k in range(1, n):
        j = k
        while j > 0 and row[order[j]] < row[order[j - 1]] and away[order[j]] <= away[order[j - 1]] * (1.0 + TIE):
            order[j], order[j - 1] = order[j - 1], order[j]
            j -= 1
    return order


@kernel
def _keep_best(rank, slots, n, most, keys, Z, q):
    """Bring the ``most`` entries of lowest rank to the front; those that tie with the last go by distance from q."""
    bound = kth_smallest(rank[:n].copy(), n, most - 1)
    slack = TIE * abs(bound)
    kept = np.int64(0)
    for k in range(n):
        if rank[k] < bound - slack:
            _swap(rank, slots, kept, k)
            kept += 1
    tied = kept
    for k in range(kept, n):
        if rank[k] <= bound + slack:
            _swap(rank, slots, tied, k)
            tied += 1
    if tied > most:
        away = np.empty(tied - kept)
        row = np.empty(tied - kept)
        for k in range(tied - kept):
            row[k] = keys[slots[kept + k]]
            away[k] = _squared_distance(Z, keys[slots[kept + k]], q)
        order = _nearest_first(away, row)
        tied_slots = slots[kept:tied].copy()
        tied_rank = rank[kept:tied].copy()
        for k in range(tied - kept):
            slots[kept + k] = tied_slots[order[k]]
            rank[kept + k] = tied_rank[order[k]]


@kernel
def gather(leaves, fold, left_out, leaf_ptr, leaf_rows, row_fold, row_weight, rarity, Q, Z, rows, proximity, size):
    """Fill, for each query, the rows of its neighbourhood and their proximities, largest first.

    Each tree shares a proximity of one out among the rows of the leaf that the query reaches; a row's proximity is
    its mean over the trees used.  Where more rows are found than fit, those of largest proximity times ``rarity``
    stay and, among equals, the nearest.

    Parameters
    ----------
    leaves : (n, T) leaf of each query in each tree.
    fold : (n,) held-out fold of a query that is a training row, whose neighbours come from trees that left out the
        fold and from rows of other folds; -1 for a new row.
    left_out : (T, B) folds that each tree left out.
    rows, proximity : (n, M) filled up to ``size[i]``.
    """
    n, n_trees = leaves.shape
    M = rows.shape[1]
    visits = 1
    for i in range(n):
        total_visits = 0
        for t in range(n_trees):
            total_visits += leaf_ptr[leaves[i, t] + 1] - leaf_ptr[leaves[i, t]]
        visits = max(visits, total_visits)
    # Rows found and their sums stand in an open-addressing table, a power of two long and at most half full.
    length = 16
    while length < 2 * visits:
        length *= 2
    mask = length - 1
    keys = np.full(length, np.int64(-1))
    sums = np.zeros(length)
    slots = np.empty(visits, np.int64)
    rank = np.empty(visits)
    for i in range(n):
        used = 0
        n_found = np.int64(0)
        for t in range(n_trees):
            if fold[i] >= 0 and not left_out[t, fold[i]]:
                continue
            used += 1
            begin, end = leaf_ptr[leaves[i, t]], leaf_ptr[leaves[i, t] + 1]
            total = 0.0
            for k in range(begin, end):
                total += row_weight[leaf_rows[k]]
            for k in range(begin, end):
                row = np.int64(leaf_rows[k])
                if row_weight[row] == 0.0 or (fold[i] >= 0 and row_fold[row] == fold[i]):
                    continue
                at = ((row * 2654435761) >> 7) & mask
                while keys[at] != -1 and keys[at] != row:
                    at = (at + 1) & mask
                if keys[at] == -1:
                    keys[at] = row
                    slots[n_found] = at
                    n_found += 1
                sums[at] += row_weight[row] / total
        for k in range(n_found):
            rank[k] = -sums[slots[k]]
        if n_found > M:
            for k in range(n_found):
                rank[k] *= rarity[keys[slots[k]]]
            _keep_best(rank, slots, n_found, M, keys, Z, Q[i])
        size[i] = min(n_found, M)
        order = order_of(rank[: size[i]])
        for k in range(size[i]):
            rows[i, k] = keys[slots[order[k]]]
            proximity[i, k] = sums[slots[order[k]]] / used
        for k in range(n_found):
            keys[slots[k]] = -1
            sums[slots[k]] = 0.0
