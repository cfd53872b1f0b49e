"""Growing one tree and sending rows down many.

A tree is a set of flat arrays.  Node k sends rows with ``x . w < threshold[k]`` to ``child[k, 0]``, the others to
``child[k, 1]``; w is sparse, ``split_feature`` and ``split_weight`` between ``split_ptr[k]`` and ``split_ptr[k + 1]``.
A child c below 0 is leaf number ``-1 - c``, whose rows stand between ``leaf_ptr[leaf]`` and ``leaf_ptr[leaf + 1]`` in
``leaf_rows``.  Nodes are numbered left sides first, from the root 0; a tree of one leaf has no node.
"""

import numpy as np

from ..jit import kernel
from .node import find_split


@kernel
def _is_pure(rows, start, end, table, growth):
    first = rows[start]
    if growth.n_classes > 0:
        for k in range(start + 1, end):
            if table.code[rows[k]] != table.code[first]:
                return False
        return True
    for k in range(start + 1, end):
        for a in range(table.label.shape[1]):
            if table.label[rows[k], a] != table.label[first, a]:
                return False
    return True


@kernel
def grow_tree(rows, table, growth, sizes, seed):
    """Grow a tree on ``rows`` (sorted by class or target), which are left in the order of the leaves.

    Returns
    -------
    child, threshold, split_ptr, split_feature, split_weight : the nodes (see the module).
    metric_weight : n_node * spread^2 of each node, for the metric.
    leaf_ptr : bounds of the leaves in ``rows``.
    importance : (D,) gain of each feature, shared out by the sizes of its weights in the splits.
    """
    state = np.full(1, np.uint64(seed))
    n = rows.shape[0]
    D = table.columns.shape[0]
    order = np.arange(D)
    counts = np.zeros(max(growth.n_codes, 1))
    widest = 0
    for j in range(sizes.shape[0]):
        widest = max(widest, sizes[j])
    features = np.empty(widest, np.int64)
    weights = np.empty(widest)
    # Leaves of at least min_leaf rows bound the nodes; how many features they take is found out.
    room = n // growth.min_leaf + 2
    child = np.empty((room, 2), np.int32)
    threshold = np.empty(room)
    metric_weight = np.empty(room)
    split_ptr = np.zeros(room, np.int64)
    leaf_ptr = np.zeros(room, np.int64)
    split_feature = np.empty(room, np.int32)
    split_weight = np.empty(room, np.float32)
    importance = np.zeros(D)
    spare = np.empty(n, np.int32)
    spare_right = np.empty(n, np.int32)
    value = np.empty(n)
    n_nodes = 0
    n_leaves = 0
    used = 0
    # A stack of (parent, side, start, end, depth); left sides come first, so leaves lie in the order of rows.
    stack = np.empty((2 * (growth.max_depth + 2), 5), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = -1, 0, 0, n, 0
    height = 1
    while height > 0:
        height -= 1
        parent = stack[height, 0]
        side = stack[height, 1]
        start = stack[height, 2]
        end = stack[height, 3]
        depth = stack[height, 4]
        size = 0
        cut = 0.0
        gain = 0.0
        spread = 0.0
        middle = start
        if depth < growth.max_depth and end - start >= 2 * growth.min_leaf:
            if not _is_pure(rows, start, end, table, growth):
                size, cut, gain, spread = find_split(
                    rows, start, end, table, growth, sizes, state, order, counts, features, weights
                )
        if size > 0:
            # Left rows from the front, right ones from the back; a leaf keeps the order by class or target.
            for k in range(start, end):
                value[k] = 0.0
            for s in range(size):
                column = table.columns[features[s]]
                for k in range(start, end):
                    value[k] += weights[s] * column[rows[k]]
            back = end - 1
            for k in range(start, end):
                spare[middle] = rows[k]
                spare_right[back] = rows[k]
                left = np.int64(value[k] < cut)
                middle += left
                back -= 1 - left
            if min(middle - start, end - middle) < growth.min_leaf:
                # Only where the split was learned on a sample: all rows are judged here.
                size = 0
            else:
                for k in range(start, middle):
                    rows[k] = spare[k]
                for k in range(middle, end):
                    rows[k] = spare_right[end - 1 - (k - middle)]
        number = n_nodes if size > 0 else -1 - n_leaves
        if parent >= 0:
            child[parent, side] = number
        if size == 0:
            n_leaves += 1
            leaf_ptr[n_leaves] = end
            continue
        n_nodes += 1
        node_mass = 0.0
        for k in range(start, end):
            node_mass += table.weight[rows[k]]
        threshold[number] = cut
        metric_weight[number] = node_mass * spread
        if used + size > split_feature.shape[0]:
            more_features = np.empty(2 * (used + size), np.int32)
            more_weights = np.empty(2 * (used + size), np.float32)
            for s in range(used):
                more_features[s] = split_feature[s]
                more_weights[s] = split_weight[s]
            split_feature = more_features
            split_weight = more_weights
        whole = 0.0
        for s in range(size):
            whole += abs(weights[s])
        for s in range(size):
            split_feature[used + s] = features[s]
            split_weight[used + s] = weights[s]
            importance[features[s]] += node_mass * gain * abs(weights[s]) / max(whole, 1e-300)
        used += size
        split_ptr[n_nodes] = used
        for at in range(2):
            stack[height + at, 0] = number
            stack[height + at, 1] = 1 - at
            stack[height + at, 2] = middle if at == 0 else start
            stack[height + at, 3] = end if at == 0 else middle
            stack[height + at, 4] = depth + 1
        height += 2
    return (
        child[:n_nodes].copy(),
        threshold[:n_nodes].copy(),
        split_ptr[: n_nodes + 1].copy(),
        split_feature[:used].copy(),
        split_weight[:used].copy(),
        metric_weight[:n_nodes].copy(),
        leaf_ptr[: n_leaves + 1].copy(),
        importance,
    )


@kernel
def route(X, roots, child, threshold, split_ptr, split_feature, split_weight, leaves):
    """Fill ``leaves[i, t]`` with the leaf number that row i reaches in tree t.

    All rows go down a tree abreast, one level at a time: their walks do not wait for each other's nodes to come from
    memory.  Those that have reached a leaf drop out of the list.  Indices are unsigned: numba would look whether signed
    ones count from the end.
    """
    n = X.shape[0]
    node_of = np.empty(n, np.int32)
    going = np.empty(n, np.uint32)
    for t in range(roots.shape[0]):
        n_going = n if roots[t] >= 0 else 0
        for i in range(n):
            leaves[i, t] = -1 - roots[t]
            node_of[i] = roots[t]
            going[i] = i
        while n_going > 0:
            left = np.int64(0)
            for k in range(n_going):
                i = going[k]
                node = np.uint64(node_of[k])
                value = 0.0
                for s in range(np.uint64(split_ptr[node]), np.uint64(split_ptr[node + np.uint64(1)])):
                    value += split_weight[s] * X[i, np.uint64(split_feature[s])]
                to = child[node, np.uint64(not value < threshold[node])]
                leaves[i, t] = -1 - to
                node_of[left] = to
                going[left] = i
                left += np.int64(to >= 0)
            n_going = left
