"""The safe neighbourhood: union of the leaves that a query reaches, with proximities, bounded."""

import numpy as np

from .jit import kernel


@kernel
def _slot(keys, row):
    """Place of ``row`` in an open-addressing table (a power of two long), or of the gap where it belongs."""
    mask = keys.shape[0] - 1
    at = ((row * 2654435761) >> 7) & mask
    while keys[at] != -1 and keys[at] != row:
        at = (at + 1) & mask
    return at


@kernel
def _squared_distance(Z, row, q):
    total = 0.0
    for a in range(q.shape[0]):
        total += (Z[row, a] - q[a]) ** 2
    return total


@kernel
def gather(leaves, block, omits, leaf_ptr, leaf_rows, row_block, row_weight, rarity, Q, Z, rows, proximity, size):
    """Fill, for each query, the rows of its neighbourhood and their proximities, largest first.

    Each tree shares a proximity of one out among the rows of the leaf that the query reaches; a row's proximity is
    its mean over the trees used.  Where more rows are found than fit, those of largest proximity times ``rarity``
    stay and, among equals, the nearest.

    Parameters
    ----------
    leaves : (n, T) leaf of each query in each tree.
    block : (n,) block of a query that is itself a training row, to be answered by the trees that omit that block
        and by rows of other blocks; -1 for a new row.
    omits : (T, B) blocks that each tree omits.
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
    length = 16
    while length < 2 * visits:
        length *= 2
    keys = np.full(length, np.int64(-1))
    sums = np.zeros(length)
    found = np.empty(visits, np.int64)
    places = np.empty(visits, np.int64)
    for i in range(n):
        used = 0
        n_found = 0
        for t in range(n_trees):
            if block[i] >= 0 and not omits[t, block[i]]:
                continue
            used += 1
            begin, end = leaf_ptr[leaves[i, t]], leaf_ptr[leaves[i, t] + 1]
            total = 0.0
            for k in range(begin, end):
                total += row_weight[leaf_rows[k]]
            for k in range(begin, end):
                row = np.int64(leaf_rows[k])
                if row_weight[row] == 0.0 or (block[i] >= 0 and row_block[row] == block[i]):
                    continue
                at = _slot(keys, row)
                if keys[at] == -1:
                    keys[at] = row
                    found[n_found] = row
                    n_found += 1
                sums[at] += row_weight[row] / total
        share = np.empty(n_found)
        rank = np.empty(n_found)
        for k in range(n_found):
            places[k] = _slot(keys, found[k])
            share[k] = sums[places[k]] / used
            rank[k] = -share[k]
        # Emptied only after all rows were looked up: a gap would break the chains of others.
        for k in range(n_found):
            keys[places[k]] = -1
            sums[places[k]] = 0.0
        size[i] = min(n_found, M)
        if n_found > M:
            farthest = 1e-300
            away = np.empty(n_found)
            for k in range(n_found):
                away[k] = np.sqrt(_squared_distance(Z, found[k], Q[i]))
                farthest = max(farthest, away[k])
            for k in range(n_found):
                rank[k] = -share[k] * rarity[found[k]] * (1.0 - 1e-9 * away[k] / farthest)
        order = np.argsort(rank)
        for k in range(size[i]):
            rows[i, k] = found[order[k]]
            proximity[i, k] = share[order[k]]
