"""The safe neighbourhood: the union of the leaves that a query reaches, with proximities, bounded in size."""

import numpy as np

from ..jit import TIE, kernel, sum_kernel
from ..sorting import kth_smallest, order_of

HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio, whose multiples are far apart
N_BUCKETS = 256  # buckets used to select a value by its rank from more values than that


@sum_kernel
def _squared_distance(Z, row, query):
    total = 0.0
    for a in range(query.shape[0]):
        total += (Z[row, a] - query[a]) ** 2
    return total


@kernel
def _nearest_first(distances, row_numbers):
    """Return the order of rows by distance; rows at equal distances are ordered by their numbers."""
    n = row_numbers.shape[0]
    by_row = order_of(row_numbers)
    sorted_distances = np.empty(n)
    for k in range(n):
        sorted_distances[k] = distances[by_row[k]]
    order = order_of(sorted_distances)
    for k in range(n):
        order[k] = by_row[order[k]]
    for k in range(1, n):
        j = k
        while (
            j > 0
            and row_numbers[order[j]] < row_numbers[order[j - 1]]
            and distances[order[j]] <= distances[order[j - 1]] * (1.0 + TIE)
        ):
            order[j], order[j - 1] = order[j - 1], order[j]
            j -= 1
    return order


@kernel
def sort_by_row(ranks, candidates, n):
    """Sort the first n entries by row number, so that the order of equal ranks is always the same."""
    old_rows = np.empty(n)
    old_ranks = np.empty(n)
    for k in range(n):
        old_rows[k] = candidates[k]
        old_ranks[k] = ranks[k]
    order = order_of(old_rows)
    for k in range(n):
        candidates[k] = np.int64(old_rows[order[k]])
        ranks[k] = old_ranks[order[k]]


@kernel
def _kth_of_many(values, n, k):
    """Like ``kth_smallest``, but faster for many values: only those of one bucket are compared."""
    low = values[0]
    high = values[0]
    for i in range(n):
        low = min(low, values[i])
        high = max(high, values[i])
    buckets_per_unit = (N_BUCKETS - 1) / (high - low)
    if n < N_BUCKETS or not 0.0 < buckets_per_unit < np.inf:
        return kth_smallest(values, n, k)
    counts = np.zeros(N_BUCKETS, np.int64)
    for i in range(n):
        counts[np.int64((values[i] - low) * buckets_per_unit)] += 1
    bucket = np.int64(0)
    while k >= counts[bucket]:
        k -= counts[bucket]
        bucket += 1
    n_inside = np.int64(0)
    for i in range(n):
        value = values[i]
        values[n_inside] = value
        n_inside += np.int64(np.int64((value - low) * buckets_per_unit) == bucket)
    return kth_smallest(values, n_inside, k)


@kernel
def select_best(ranks, candidates, n, n_best, scratch, Z, query):
    """Move the ``n_best`` entries of lowest rank to the front; of those that tie for last, the nearest to the query.

    Returns the number of leading entries in no particular order; the others are ordered by distance.
    """
    for k in range(n):
        scratch[k] = ranks[k]
    bound = _kth_of_many(scratch, n, n_best - 1)
    slack = TIE * abs(bound)
    # Branch-free: the processor could not predict which entries are selected or tie.
    n_kept = np.int64(0)
    n_tied = np.int64(0)
    tied_rows = np.empty(n + 1, np.int64)
    for k in range(n):
        rank = ranks[k]
        row = candidates[k]
        tied_rows[n_tied] = row
        scratch[n_tied] = rank
        n_tied += np.int64((rank >= bound - slack) & (rank <= bound + slack))
        ranks[n_kept] = rank
        candidates[n_kept] = row
        n_kept += np.int64(rank < bound - slack)
    if n_kept + n_tied == n_best:
        for k in range(n_tied):
            ranks[n_kept + k] = scratch[k]
            candidates[n_kept + k] = tied_rows[k]
        return n_best
    distances = np.empty(n_tied)
    for k in range(n_tied):
        distances[k] = _squared_distance(Z, tied_rows[k], query)
    max_distance = _kth_of_many(distances.copy(), n_tied, n_best - n_kept - 1) * (1.0 + TIE)
    n_near = np.int64(0)
    near_rows = np.empty(n_tied)
    for k in range(n_tied):
        distance = distances[k]
        distances[n_near] = distance
        near_rows[n_near] = tied_rows[k]
        scratch[n_near] = scratch[k]
        n_near += np.int64(distance <= max_distance)
    order = _nearest_first(distances[:n_near], near_rows[:n_near])
    for k in range(n_best - n_kept):
        candidates[n_kept + k] = np.int64(near_rows[order[k]])
        ranks[n_kept + k] = scratch[order[k]]
    return n_kept


@kernel
def _candidate_capacity(leaves, leaf_ptr):
    """Return the largest number of rows in the leaves that a query reaches."""
    max_candidates = np.int64(0)
    for i in range(leaves.shape[0]):
        n_candidates = np.int64(0)
        for t in range(leaves.shape[1]):
            n_candidates += leaf_ptr[leaves[i, t] + 1] - leaf_ptr[leaves[i, t]]
        max_candidates = max(max_candidates, n_candidates)
    return max_candidates


@kernel
def new_table(max_rows):
    """Return an empty hash table of row sums: the row in each slot, -1 if it is free, and its sum."""
    n_slots = np.int64(16)
    while n_slots < 4 * max_rows:
        n_slots *= 2
    return np.full(n_slots, np.int32(-1)), np.zeros(n_slots)


@kernel
def find_slot(slot_row, row):
    """Return the slot of the table that holds a row, or the free slot in which to put it."""
    mask = np.uint64(slot_row.shape[0] - 1)
    slot = (np.uint64(row) * HASH_FACTOR >> np.uint64(32)) & mask
    while slot_row[slot] != row and slot_row[slot] >= 0:
        slot = (slot + np.uint64(1)) & mask
    return slot


@kernel
def add_share(slot_row, slot_sum, slots, n_slots, row, share):
    """Add ``share`` to the sum of a row, and list its slot if it is new; return the number of slots in use."""
    slot = find_slot(slot_row, row)
    slots[n_slots] = slot
    n_slots += np.int64(slot_row[slot] < 0)
    slot_row[slot] = row
    slot_sum[slot] += share
    return n_slots


@kernel
def clear_table(slot_row, slot_sum, slots, n_slots):
    """Free all slots in use."""
    for k in range(n_slots):
        slot_row[slots[k]] = -1
        slot_sum[slots[k]] = 0.0


@kernel
def gather(
    leaves, fold, left_out, leaf_ptr, leaf_rows, row_fold, row_weight, rarity, unit_weights, Q, Z, rows, proximity, size
):  # fmt: skip
    """Fill, for each query, the rows of its neighbourhood and their proximities, largest first.

    Each tree divides a proximity of one among the rows of the leaf that the query reaches; a row's proximity is
    its mean over the trees used. If there are more rows than fit, those of largest proximity times ``rarity``
    are kept and, among equals, the nearest.

    Parameters
    ----------
    leaves : (n, T) leaf of each query in each tree.
    fold : (n,) held-out fold of a query that is a training row; its neighbours then come from trees that left out the
        fold and are rows of other folds. -1 for a new row.
    left_out : (T, B) folds that each tree left out.
    unit_weights : whether all rows have weight one.
    rows, proximity : (n, M) filled up to ``size[i]``.
    """
    n, n_trees = leaves.shape
    max_neighbors = rows.shape[1]
    # A query reaches few of all rows, so a small hash table of their sums fits into the processor's cache.
    max_candidates = _candidate_capacity(leaves, leaf_ptr)
    slot_row, slot_sum = new_table(max_candidates)
    slots = np.empty(max_candidates + 1, np.uint64)
    candidates = np.empty(max_candidates, np.int64)
    ranks = np.empty(max_candidates)
    scratch = np.empty(max_candidates)
    for i in range(n):
        n_used = 0
        n_candidates = np.int64(0)
        for t in range(n_trees):
            if fold[i] >= 0 and not left_out[t, fold[i]]:
                continue
            n_used += 1
            start, end = leaf_ptr[leaves[i, t]], leaf_ptr[leaves[i, t] + 1]
            total = 0.0
            if unit_weights:
                total += end - start
            else:
                for k in range(start, end):
                    total += row_weight[leaf_rows[k]]
            for k in range(start, end):
                row = np.int64(leaf_rows[k])
                share = 1.0 / total if unit_weights else row_weight[row] / total
                if not share > 0.0 or (fold[i] >= 0 and row_fold[row] == fold[i]):
                    continue
                n_candidates = add_share(slot_row, slot_sum, slots, n_candidates, row, share)
        for k in range(n_candidates):
            candidates[k] = slot_row[slots[k]]
            ranks[k] = -slot_sum[slots[k]]
        n_by_rank = n_candidates
        if n_candidates > max_neighbors:
            for k in range(n_candidates):
                ranks[k] *= rarity[candidates[k]]
            n_by_rank = select_best(ranks, candidates, n_candidates, max_neighbors, scratch, Z, Q[i])
        size[i] = min(n_candidates, max_neighbors)
        sort_by_row(ranks, candidates, n_by_rank)
        order = order_of(ranks[: size[i]])
        for k in range(size[i]):
            rows[i, k] = candidates[order[k]]
            proximity[i, k] = slot_sum[find_slot(slot_row, rows[i, k])] / n_used
        clear_table(slot_row, slot_sum, slots, n_candidates)
