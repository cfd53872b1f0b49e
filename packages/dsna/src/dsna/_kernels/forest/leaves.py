"""Contents of the leaves of grown trees: means of values over their rows, and a bounded selection of the rows."""

import numpy as np

from ..jit import kernel


@kernel
def fill_leaf_means(leaf_ptr, leaf_rows, values, code, weight, means):
    """Fill ``means`` (n_leaves, k) with the weighted means of ``values[code]`` (n, k); zeros if a leaf is empty.

    Sums are relative to the first row of a leaf, so that the mean of equal values is exactly that value.
    """
    deviation = np.empty(values.shape[1])
    for leaf in range(means.shape[0]):
        start, end = leaf_ptr[leaf], leaf_ptr[leaf + 1]
        if start == end:
            means[leaf] = 0.0
            continue
        first_code = code[leaf_rows[start]]
        weight_sum = 0.0
        deviation[:] = 0.0
        for k in range(start, end):
            row = leaf_rows[k]
            weight_sum += weight[row]
            for a in range(values.shape[1]):
                deviation[a] += weight[row] * (values[code[row], a] - values[first_code, a])
        for a in range(values.shape[1]):
            means[leaf, a] = values[first_code, a] + deviation[a] / max(weight_sum, 1e-300)


@kernel
def mean_over_trees(leaf_value, leaves, used, means):
    """Fill ``means`` (n, k) with the means of ``leaf_value`` over the leaves (n, T) of the used trees (n, T).

    Sums are taken tree by tree and relative to the first tree; if no tree is used, means are NaN.
    """
    n_values = leaf_value.shape[1]
    deviation = np.empty(n_values)
    for i in range(leaves.shape[0]):
        first = leaf_value[leaves[i, 0]]
        count = 0
        for a in range(n_values):
            deviation[a] = 0.0
        for t in range(leaves.shape[1]):
            if used[i, t]:
                count += 1
                value = leaf_value[leaves[i, t]]
                for a in range(n_values):
                    deviation[a] += value[a] - first[a]
        for a in range(n_values):
            means[i, a] = first[a] + deviation[a] / count


@kernel
def mark_kept_rows(leaf_ptr, leaf_rows, code, max_rows, keep, kept_ptr):
    """Mark the rows that leaves of more than ``max_rows`` rows keep: a share of each run of one code, at least one row.

    Fills ``keep`` for each row of a leaf, and ``kept_ptr`` with the bounds of the leaves among the rows that are kept.
    """
    kept_ptr[0] = 0
    for leaf in range(leaf_ptr.shape[0] - 1):
        start, end = leaf_ptr[leaf], leaf_ptr[leaf + 1]
        size = end - start
        kept_ptr[leaf + 1] = kept_ptr[leaf]
        while start < end:
            stop = start + 1
            while stop < end and code[leaf_rows[stop]] == code[leaf_rows[start]]:
                stop += 1
            quota = stop - start if size <= max_rows else int(np.ceil(max_rows * (stop - start) / size))
            for k in range(start, stop):
                keep[k] = k < start + quota
            kept_ptr[leaf + 1] += quota
            start = stop


@kernel
def surviving_nodes(child, leaf_sizes, replacement):
    """Fill ``replacement`` with the node or leaf that replaces each node when branches to empty leaves are cut off.

    Parameters
    ----------
    child : (n_nodes, 2) as in ``tree``; children follow their parents.
    leaf_sizes : (n_leaves,) number of rows of each leaf.
    replacement : (n_nodes,) int32: the node itself, a node or leaf below it, or the largest int32 if no rows are left.
    """
    removed = np.iinfo(np.int32).max
    for node in range(child.shape[0] - 1, -1, -1):
        survivor = removed
        is_kept = True
        for branch in range(2):
            below = child[node, branch]
            if below >= 0:
                below = replacement[below]
            elif leaf_sizes[-1 - below] == 0:
                below = removed
            if below == removed:
                is_kept = False
            else:
                survivor = below
        replacement[node] = node if is_kept else survivor
