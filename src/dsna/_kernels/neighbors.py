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
def gather(leaves, block, omits, leaf_ptr, leaf_rows, row_block, row_weight, Q, Z, rows, proximity, size):
    """Fill, for each query, the rows of its neighbourhood and their proximities.

    A row's proximity is the share of the trees used in whose leaf it lies with the query, times its weight.  Where
    more rows are found than fit, those of largest proximity stay and, among equals, the nearest.

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
    for i in range(n):
        visits = 0
        used = 0
        for t in range(n_trees):
            if block[i] < 0 or omits[t, block[i]]:
                used += 1
                visits += leaf_ptr[leaves[i, t] + 1] - leaf_ptr[leaves[i, t]]
        length = 16
        while length < 2 * visits:
            length *= 2
        keys = np.full(length, np.int64(-1))
        counts = np.zeros(length)
        found = np.empty(max(visits, 1), np.int64)
        n_found = 0
        for t in range(n_trees):
            if block[i] >= 0 and not omits[t, block[i]]:
                continue
            part = 1.0 / (leaf_ptr[leaves[i, t] + 1] - leaf_ptr[leaves[i, t]])
            for k in range(leaf_ptr[leaves[i, t]], leaf_ptr[leaves[i, t] + 1]):
                row = np.int64(leaf_rows[k])
                if block[i] >= 0 and row_block[row] == block[i]:
                    continue
                at = _slot(keys, row)
                if keys[at] == -1:
                    keys[at] = row
                    found[n_found] = row
                    n_found += 1
                counts[at] += part
        share = np.empty(n_found)
        for k in range(n_found):
            share[k] = counts[_slot(keys, found[k])] / used * row_weight[found[k]]
        size[i] = min(n_found, M)
        if n_found > M:
            # Nearer rows win among equals: a bonus below the smallest difference of two proximities.
            nearness = np.empty(n_found)
            farthest = 0.0
            for k in range(n_found):
                nearness[k] = np.sqrt(_squared_distance(Z, found[k], Q[i]))
                farthest = max(farthest, nearness[k])
            for k in range(n_found):
                nearness[k] = share[k] - 1e-9 * nearness[k] / (farthest + 1e-300)
            order = np.argsort(-nearness)[:M]
        else:
            order = np.argsort(-share)
        for k in range(size[i]):
            rows[i, k] = found[order[k]]
            proximity[i, k] = share[order[k]]
