"""Boosted trees of single-feature splits, asked row by row."""

import numpy as np

from ..jit import kernel


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
