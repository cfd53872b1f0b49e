"""Rescorers, asked row by row: boosted trees of single-feature splits, and layers of perceptrons.

A row's answer does not depend on the others, as with BLAS it may.
"""

import numpy as np

from dsna.extend.kernels import kernel

ABREAST = 16  # rows for which a row of the weights is read once


@kernel
def add_trees(rows, root, child, feature, number, out):
    """Add to ``out`` the values of the leaves that rows reach in all trees.

    Parameters
    ----------
    rows : float32 (n, n_columns)
    root : int64 (n_trees,); first node of each tree.
    child : int32 (n_nodes,); the node for rows up to the threshold, the one after it for the others; -1 in leaves.
    feature : int16 (n_nodes,); column that a node looks at.
    number : float64 (n_nodes,); threshold of a split, value of a leaf.
    out : float64 (n,)
    """
    for i in range(rows.shape[0]):
        total = out[i]
        for t in range(root.shape[0]):
            node = root[t]
            while child[node] >= 0:
                after = np.float64(rows[i, feature[node]]) > number[node]
                node = np.int64(child[node]) + (1 if after else 0)
            total += number[node]
        out[i] = total


@kernel
def fill_layer(rows, weight, bias, floor, out):
    """Fill ``out`` with the values of units, none of them below ``floor``.

    Parameters
    ----------
    rows : float32 (n, d)
    weight : float32 (d, n_units)
    bias : float32 (n_units,)
    floor : float32
    out : float32 (n, n_units)
    """
    even = rows.shape[1] - rows.shape[1] % 4
    for start in range(0, rows.shape[0], ABREAST):
        stop = min(start + ABREAST, rows.shape[0])
        for i in range(start, stop):
            for b in range(bias.shape[0]):
                out[i, b] = bias[b]
        for a in range(0, even, 4):  # four at a time: a sum is read and written once for all
            for i in range(start, stop):
                one, two, three, four = rows[i, a], rows[i, a + 1], rows[i, a + 2], rows[i, a + 3]
                for b in range(bias.shape[0]):
                    total = out[i, b] + one * weight[a, b]
                    total += two * weight[a + 1, b]
                    total += three * weight[a + 2, b]
                    out[i, b] = total + four * weight[a + 3, b]
        for a in range(even, rows.shape[1]):
            for i in range(start, stop):
                for b in range(bias.shape[0]):
                    out[i, b] += rows[i, a] * weight[a, b]
        for i in range(start, stop):
            for b in range(bias.shape[0]):
                out[i, b] = max(out[i, b], np.float32(floor))
