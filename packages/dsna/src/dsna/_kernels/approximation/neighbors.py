"""The safe neighbourhood: union of the leaves that a query reaches, with proximities, bounded."""

import numpy as np

from ..jit import TIE, kernel, sums
from ..sorting import kth_smallest, order_of

SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: multiples of it lie far apart
BUCKETS = 256  # into which more values than that are dealt, to find one of them by its rank


@sums
def _squared_distance(Z, row, q):
    total = 0.0
    for a in range(q.shape[0]):
        total += (Z[row, a] - q[a]) ** 2
    return total


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
    # No branches: which entries are kept and which tie cannot be foreseen.
    kept = np.int64(0)
    n_tied = np.int64(0)
    tied = np.empty(n + 1, np.int64)
    for k in range(n):
        value = rank[k]
        row = met[k]
        tied[n_tied] = row
        spare[n_tied] = value
        n_tied += np.int64((value >= bound - slack) & (value <= bound + slack))
        rank[kept] = value
        met[kept] = row
        kept += np.int64(value < bound - slack)
    if kept + n_tied == most:
        for k in range(n_tied):
            rank[kept + k] = spare[k]
            met[kept + k] = tied[k]
        return most
    away = np.empty(n_tied)
    for k in range(n_tied):
        away[k] = _squared_distance(Z, tied[k], q)
    farthest = _kth_of_many(away.copy(), n_tied, most - kept - 1) * (1.0 + TIE)
    n_near = np.int64(0)
    near_row = np.empty(n_tied)
    for k in range(n_tied):
        far = away[k]
        away[n_near] = far
        near_row[n_near] = tied[k]
        spare[n_near] = spare[k]
        n_near += np.int64(far <= farthest)
    order = _nearest_first(away[:n_near], near_row[:n_near])
    for k in range(most - kept):
        met[kept + k] = np.int64(near_row[order[k]])
        rank[kept + k] = spare[order[k]]
    return kept


@kernel
def _most_met(leaves, leaf_ptr):
    """Most rows that a query can meet: those of all leaves that it reaches."""
    most = np.int64(0)
    for i in range(leaves.shape[0]):
        total = np.int64(0)
        for t in range(leaves.shape[1]):
            total += leaf_ptr[leaves[i, t] + 1] - leaf_ptr[leaves[i, t]]
        most = max(most, total)
    return most


@kernel
def table_for(most):
    """An empty table of sums for so many rows: the row in each slot, -1 where it is free, and the row's sum."""
    n_slots = np.int64(16)
    while n_slots < 4 * most:
        n_slots *= 2
    return np.full(n_slots, np.int32(-1)), np.zeros(n_slots)


@kernel
def slot_of(slot_row, row):
    """Slot of the table that holds a row, or the free one that it belongs into."""
    mask = np.uint64(slot_row.shape[0] - 1)
    slot = (np.uint64(row) * SPREAD >> np.uint64(32)) & mask
    while slot_row[slot] != row and slot_row[slot] >= 0:
        slot = (slot + np.uint64(1)) & mask
    return slot


@kernel
def add_share(slot_row, slot_sum, slots, n_met, row, share):
    """Add to the sum of a row; its slot joins the list of those in use when it is new. Returns how many there are."""
    slot = slot_of(slot_row, row)
    slots[n_met] = slot
    n_met += np.int64(slot_row[slot] < 0)
    slot_row[slot] = row
    slot_sum[slot] += share
    return n_met


@kernel
def empty(slot_row, slot_sum, slots, n_met):
    """Free the slots in use."""
    for k in range(n_met):
        slot_row[slots[k]] = -1
        slot_sum[slots[k]] = 0.0


@kernel
def gather(
    leaves, fold, left_out, leaf_ptr, leaf_rows, row_fold, row_weight, rarity, even, Q, Z, rows, proximity, size
):  # fmt: skip
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
    even : whether all rows weigh one.
    rows, proximity : (n, M) filled up to ``size[i]``.
    """
    n, n_trees = leaves.shape
    M = rows.shape[1]
    # The sums of the rows that a query meets are few beside all rows: a table that stays near the processor finds them.
    most = _most_met(leaves, leaf_ptr)
    slot_row, slot_sum = table_for(most)
    slots = np.empty(most + 1, np.uint64)
    met = np.empty(most, np.int64)
    rank = np.empty(most)
    spare = np.empty(most)
    for i in range(n):
        used = 0
        n_met = np.int64(0)
        for t in range(n_trees):
            if fold[i] >= 0 and not left_out[t, fold[i]]:
                continue
            used += 1
            begin, end = leaf_ptr[leaves[i, t]], leaf_ptr[leaves[i, t] + 1]
            total = 0.0
            if even:
                total += end - begin
            else:
                for k in range(begin, end):
                    total += row_weight[leaf_rows[k]]
            for k in range(begin, end):
                row = np.int64(leaf_rows[k])
                share = 1.0 / total if even else row_weight[row] / total
                if not share > 0.0 or (fold[i] >= 0 and row_fold[row] == fold[i]):
                    continue
                n_met = add_share(slot_row, slot_sum, slots, n_met, row, share)
        for k in range(n_met):
            met[k] = slot_row[slots[k]]
            rank[k] = -slot_sum[slots[k]]
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
            proximity[i, k] = slot_sum[slot_of(slot_row, rows[i, k])] / used
        empty(slot_row, slot_sum, slots, n_met)
