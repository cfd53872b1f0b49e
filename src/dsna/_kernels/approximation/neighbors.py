"""The safe neighbourhood: union of the leaves that a query reaches, with proximities, bounded."""

import numpy as np

from ..jit import TIE, kernel
from ..sorting import kth_smallest, order_of

BUCKETS = 256  # into which more values than that are dealt, to find one of them by its rank


@kernel
def _squared_distance(Z, row, q):
    total = 0.0
    for a in range(q.shape[0]):
        total += (Z[row, a] - q[a]) ** 2
    return total


@kernel
def _swap(rank, met, j, k):
    rank[j], rank[k] = rank[k], rank[j]
    met[j], met[k] = met[k], met[j]


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
def sort_by_row(rank, met, n):
    """Bring the first n entries into the order of their rows, so that equal ranks come in one order in any case."""
    row = np.empty(n)
    old = np.empty(n)
    for k in range(n):
        row[k] = met[k]
        old[k] = rank[k]
    order = order_of(row)
    for k in range(n):
        met[k] = np.int64(row[order[k]])
        rank[k] = old[order[k]]


@kernel
def _kth_of_many(values, n, k):
    """As ``kth_smallest``, for many values of which a small k is asked: only those of one bucket are compared."""
    low = values[0]
    high = values[0]
    for i in range(n):
        low = min(low, values[i])
        high = max(high, values[i])
    scale = (BUCKETS - 1) / (high - low)
    if n < BUCKETS or not 0.0 < scale < np.inf:
        return kth_smallest(values, n, k)
    count = np.zeros(BUCKETS, np.int64)
    for i in range(n):
        count[np.int64((values[i] - low) * scale)] += 1
    bucket = np.int64(0)
    while k >= count[bucket]:
        k -= count[bucket]
        bucket += 1
    inside = np.int64(0)
    for i in range(n):
        value = values[i]
        values[inside] = value
        inside += np.int64(np.int64((value - low) * scale) == bucket)
    return kth_smallest(values, inside, k)


@kernel
def _keep_best(rank, met, n, most, spare, Z, q):
    """Bring the ``most`` entries of lowest rank to the front; those that tie with the last go by distance from q.

    Returns from where on entries are in the order of their distances.
    """
    for k in range(n):
        spare[k] = rank[k]
    bound = _kth_of_many(spare, n, most - 1)
    slack = TIE * abs(bound)
    kept = np.int64(0)
    for k in range(n):
        if rank[k] < bound - slack:
            _swap(rank, met, kept, k)
            kept += 1
    tied = kept
    for k in range(kept, n):
        if rank[k] <= bound + slack:
            _swap(rank, met, tied, k)
            tied += 1
    if tied > most:
        away = np.empty(tied - kept)
        row = np.empty(tied - kept)
        for k in range(tied - kept):
            row[k] = met[kept + k]
            away[k] = _squared_distance(Z, met[kept + k], q)
        order = _nearest_first(away, row)
        tied_met = met[kept:tied].copy()
        tied_rank = rank[kept:tied].copy()
        for k in range(tied - kept):
            met[kept + k] = tied_met[order[k]]
            rank[kept + k] = tied_rank[order[k]]
        return kept
    return most


@kernel
def _all_ones(weight):
    for i in range(weight.shape[0]):
        if weight[i] != 1.0:
            return False
    return True


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
    N = row_weight.shape[0]
    even = _all_ones(row_weight)
    # One sum for each training row, zero where a query has not met it; unsigned row numbers, as in ``route``.
    sums = np.zeros(N)
    met = np.empty(N + 1, np.int64)
    rank = np.empty(N)
    spare = np.empty(N)
    for i in range(n):
        used = 0
        n_met = np.int64(0)
        for t in range(n_trees):
            if fold[i] >= 0 and not left_out[t, fold[i]]:
                continue
            used += 1
            begin, end = leaf_ptr[leaves[i, t]], leaf_ptr[leaves[i, t] + 1]
            if even and fold[i] < 0:
                share = 1.0 / (end - begin)
                for k in range(begin, end):
                    row = np.uint32(leaf_rows[k])
                    met[n_met] = row
                    n_met += np.int64(sums[row] == 0.0)
                    sums[row] += share
                continue
            total = 0.0
            for k in range(begin, end):
                total += row_weight[leaf_rows[k]]
            for k in range(begin, end):
                row = np.uint32(leaf_rows[k])
                share = row_weight[row] / total
                if not share > 0.0 or (fold[i] >= 0 and row_fold[row] == fold[i]):
                    continue
                met[n_met] = row
                n_met += np.int64(sums[row] == 0.0)
                sums[row] += share
        for k in range(n_met):
            rank[k] = -sums[met[k]]
        settled = n_met
        if n_met > M:
            for k in range(n_met):
                rank[k] *= rarity[met[k]]
            settled = _keep_best(rank, met, n_met, M, spare, Z, Q[i])
        size[i] = min(n_met, M)
        sort_by_row(rank, met, settled)
        order = order_of(rank[: size[i]])
        for k in range(size[i]):
            rows[i, k] = met[order[k]]
            proximity[i, k] = sums[met[order[k]]] / used
        for k in range(n_met):
            sums[met[k]] = 0.0
