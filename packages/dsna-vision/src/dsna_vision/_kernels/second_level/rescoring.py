"""Prediction of rescorers row by row: boosted trees of single-feature splits, and layers of perceptrons.

Unlike with BLAS, the result of a row does not depend on the other rows.
"""

import numpy as np

from dsna.extend.kernels import kernel

ABREAST = 16  # number of rows processed for each read of a row of weights


@kernel
def add_trees(rows, root, child, feature, number, out):
    """Add to ``out`` the values of the leaves that rows reach in all trees.

    Parameters
    ----------
    rows : float32 (n, n_columns)
    root : int64 (n_trees,); first node of each tree.
    child : int32 (n_nodes,); the node for rows up to the threshold, the one after it for the others; -1 in leaves.
    feature : int16 (n_nodes,); column that a node splits on.
    number : float64 (n_nodes,); threshold of a split, value of a leaf.
    out : float64 (n,)
    """
    for i in range(rows.shape[0]):
        total = out[i]
        for t in range(root.shape[0]):
            node = root[t]
            while child[node] >= 0:
                goes_right = np.float64(rows[i, feature[node]]) > number[node]
                node = np.int64(child[node]) + (1 if goes_right else 0)
            total += number[node]
        out[i] = total


@kernel
def fill_layer(rows, weight, bias, floor, out):
    """Fill ``out`` with the values of units, clipped below at ``floor``.

    Parameters
    ----------
    rows : float32 (n, d)
    weight : float32 (d, n_units)
    bias : float32 (n_units,)
    floor : float32
    out : float32 (n, n_units)
    """
    n_unrolled = rows.shape[1] - rows.shape[1] % 4
    for start in range(0, rows.shape[0], ABREAST):
        stop = min(start + ABREAST, rows.shape[0])
        for i in range(start, stop):
            for unit in range(bias.shape[0]):
                out[i, unit] = bias[unit]
        for column in range(0, n_unrolled, 4):  # four at a time, so that each sum is read and written once
            for i in range(start, stop):
                x0, x1, x2, x3 = rows[i, column], rows[i, column + 1], rows[i, column + 2], rows[i, column + 3]
                for unit in range(bias.shape[0]):
                    total = out[i, unit] + x0 * weight[column, unit]
                    total += x1 * weight[column + 1, unit]
                    total += x2 * weight[column + 2, unit]
                    out[i, unit] = total + x3 * weight[column + 3, unit]
        for column in range(n_unrolled, rows.shape[1]):
            for i in range(start, stop):
                for unit in range(bias.shape[0]):
                    out[i, unit] += rows[i, column] * weight[column, unit]
        for i in range(start, stop):
            for unit in range(bias.shape[0]):
                out[i, unit] = max(out[i, unit], np.float32(floor))
