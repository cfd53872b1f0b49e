"""What the leaves of grown trees hold: means of values over their rows, and fewer rows where they hold many."""

import numpy as np

from ..jit import kernel


@kernel
def fill_means(leaf_ptr, leaf_rows, values, code, weight, means):
    """Fill ``means`` (n_leaves, k) with the weighted means of ``values[code]`` (n, k); zeros where a leaf is empty.

    Sums are relative to the first row of a leaf, so that the mean of equal values is exactly that value.
    """
    off = np.empty(values.shape[1])
    for leaf in range(means.shape[0]):
        start, end = leaf_ptr[leaf], leaf_ptr[leaf + 1]
        if start == end:
            means[leaf] = 0.0
            continue
        first = code[leaf_rows[start]]
        total = 0.0
        off[:] = 0.0
        for k in range(start, end):
            r = leaf_rows[k]
            total += weight[r]
            for a in range(values.shape[1]):
                off[a] += weight[r] * (values[code[r], a] - values[first, a])
        for a in range(values.shape[1]):
            means[leaf, a] = values[first, a] + off[a] / max(total, 1e-300)


@kernel
def mean_over_trees(leaf_value, leaves, used, means):
    """Fill ``means`` (n, k) with the means of ``leaf_value`` over the leaves (n, T) of the trees that are used (n, T).

    Sums are taken tree by tree and relative to the first tree; where no tree is used, means are not numbers.
    """
    k = leaf_value.shape[1]
    off = np.empty(k)
    for i in range(leaves.shape[0]):
        first = leaf_value[leaves[i, 0]]
        count = 0
        for a in range(k):
            off[a] = 0.0
        for t in range(leaves.shape[1]):
            if used[i, t]:
                count += 1
                value = leaf_value[leaves[i, t]]
                for a in range(k):
                    off[a] += value[a] - first[a]
        for a in range(k):
            means[i, a] = first[a] + off[a] / count


@kernel
def mark_kept(leaf_ptr, leaf_rows, code, most, keep, kept_ptr):
    """Mark the rows that leaves of more than ``most`` rows keep: of each run of one code its share, at least one.

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
            quota = stop - start if size <= most else int(np.ceil(most * (stop - start) / size))
            for k in range(start, stop):
                keep[k] = k < start + quota
            kept_ptr[leaf + 1] += quota
            start = stop


@kernel
def stand_ins(child, held, instead):
    """Fill ``instead`` with what takes the place of each node when branches to leaves that hold no rows are cut off.

    Parameters
    ----------
    child : (n_nodes, 2) as in ``tree``; children follow their parents.
    held : (n_leaves,) rows of each leaf.
    instead : (n_nodes,) int32: the node itself, a node or leaf below it, or the largest number where no rows are left.
    """
    gone = np.iinfo(np.int32).max
    for node in range(child.shape[0] - 1, -1, -1):
        found = gone
        both = True
        for side in range(2):
            below = child[node, side]
            if below >= 0:
                below = instead[below]
            elif held[-1 - below] == 0:
                below = gone
            if below == gone:
                both = False
            else:
                found = below
        instead[node] = node if both else found
