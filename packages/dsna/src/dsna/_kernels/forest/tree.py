"""Growth of one tree, and routing of rows through many.

A tree is a set of flat arrays. Node k sends rows with ``x . w < threshold[k]`` to ``child[k, 0]``, the others to
``child[k, 1]``; w is sparse, ``split_feature`` and ``split_weight`` between ``split_ptr[k]`` and ``split_ptr[k + 1]``.
A child c below 0 is leaf number ``-1 - c``, whose rows are ``leaf_rows[leaf_ptr[leaf]:leaf_ptr[leaf + 1]]``. Nodes are
numbered in depth-first order, left sides first, from the root 0; a tree of one leaf has no nodes.
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
def grow_tree(rows, table, growth, subset_sizes, seed):
    """Grow a tree on ``rows`` (sorted by class or target), and reorder them by leaf.

    Returns
    -------
    child, threshold, split_ptr, split_feature, split_weight : the nodes (see the module).
    metric_weight : n_node * spread^2 of each node, for the metric.
    leaf_ptr : bounds of the leaves in ``rows``.
    importance : (D,) gain of each feature; that of a split is divided in proportion to the sizes of its weights.
    """
    state = np.full(1, np.uint64(seed))
    n_rows = rows.shape[0]
    n_features = table.columns.shape[0]
    feature_order = np.arange(n_features)
    counts = np.zeros(max(growth.n_codes, 1))
    max_size = 0
    for j in range(subset_sizes.shape[0]):
        max_size = max(max_size, subset_sizes[j])
    features = np.empty(max_size, np.int64)
    weights = np.empty(max_size)
    # min_leaf bounds the number of nodes; the arrays of their features grow as needed.
    capacity = n_rows // growth.min_leaf + 2
    child = np.empty((capacity, 2), np.int32)
    threshold = np.empty(capacity)
    metric_weight = np.empty(capacity)
    split_ptr = np.zeros(capacity, np.int64)
    leaf_ptr = np.zeros(capacity, np.int64)
    split_feature = np.empty(capacity, np.int32)
    split_weight = np.empty(capacity, np.float32)
    importance = np.zeros(n_features)
    left_rows = np.empty(n_rows, np.int32)
    right_rows = np.empty(n_rows, np.int32)
    projection = np.empty(n_rows)
    n_nodes = 0
    n_leaves = 0
    n_used = 0
    # A stack of (parent, side, start, end, depth); left sides come first, so leaves are in the order of rows.
    stack = np.empty((2 * (growth.max_depth + 2), 5), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = -1, 0, 0, n_rows, 0
    stack_size = 1
    while stack_size > 0:
        stack_size -= 1
        parent = stack[stack_size, 0]
        branch_side = stack[stack_size, 1]
        start = stack[stack_size, 2]
        end = stack[stack_size, 3]
        depth = stack[stack_size, 4]
        n_split_features = 0
        cut = 0.0
        gain = 0.0
        spread = 0.0
        middle = start
        if depth < growth.max_depth and end - start >= 2 * growth.min_leaf:
            if not _is_pure(rows, start, end, table, growth):
                n_split_features, cut, gain, spread = find_split(
                    rows, start, end, table, growth, subset_sizes, state, feature_order, counts, features, weights
                )
        if n_split_features > 0:
            # Stable partition, so that leaves stay sorted by class or target.
            for k in range(start, end):
                projection[k] = 0.0
            for s in range(n_split_features):
                column = table.columns[features[s]]
                for k in range(start, end):
                    projection[k] += weights[s] * column[rows[k]]
            right_end = end - 1
            for k in range(start, end):
                left_rows[middle] = rows[k]
                right_rows[right_end] = rows[k]
                goes_left = np.int64(projection[k] < cut)
                middle += goes_left
                right_end -= 1 - goes_left
            if min(middle - start, end - middle) < growth.min_leaf:
                # Possible only if the split was learned on a sample of the rows.
                n_split_features = 0
            else:
                for k in range(start, middle):
                    rows[k] = left_rows[k]
                for k in range(middle, end):
                    rows[k] = right_rows[end - 1 - (k - middle)]
        number = n_nodes if n_split_features > 0 else -1 - n_leaves
        if parent >= 0:
            child[parent, branch_side] = number
        if n_split_features == 0:
            n_leaves += 1
            leaf_ptr[n_leaves] = end
            continue
        n_nodes += 1
        node_mass = 0.0
        for k in range(start, end):
            node_mass += table.weight[rows[k]]
        threshold[number] = cut
        metric_weight[number] = node_mass * spread
        if n_used + n_split_features > split_feature.shape[0]:
            more_features = np.empty(2 * (n_used + n_split_features), np.int32)
            more_weights = np.empty(2 * (n_used + n_split_features), np.float32)
            for s in range(n_used):
                more_features[s] = split_feature[s]
                more_weights[s] = split_weight[s]
            split_feature = more_features
            split_weight = more_weights
        weight_sum = 0.0
        for s in range(n_split_features):
            weight_sum += abs(weights[s])
        for s in range(n_split_features):
            split_feature[n_used + s] = features[s]
            split_weight[n_used + s] = weights[s]
            importance[features[s]] += node_mass * gain * abs(weights[s]) / max(weight_sum, 1e-300)
        n_used += n_split_features
        split_ptr[n_nodes] = n_used
        for branch in range(2):
            stack[stack_size + branch, 0] = number
            stack[stack_size + branch, 1] = 1 - branch
            stack[stack_size + branch, 2] = middle if branch == 0 else start
            stack[stack_size + branch, 3] = end if branch == 0 else middle
            stack[stack_size + branch, 4] = depth + 1
        stack_size += 2
    return (
        child[:n_nodes].copy(),
        threshold[:n_nodes].copy(),
        split_ptr[: n_nodes + 1].copy(),
        split_feature[:n_used].copy(),
        split_weight[:n_used].copy(),
        metric_weight[:n_nodes].copy(),
        leaf_ptr[: n_leaves + 1].copy(),
        importance,
    )


@kernel
def route(X, roots, child, threshold, split_ptr, split_feature, split_weight, leaves):
    """Fill ``leaves[i, t]`` with the leaf number that row i reaches in tree t.

    All rows descend a tree together, one level at a time, so that the processor can overlap their memory accesses.
    Rows that have reached a leaf drop out of the list. Indices are unsigned: for signed ones, numba checks whether they
    count from the end.
    """
    n_rows = X.shape[0]
    node_of = np.empty(n_rows, np.int32)
    active_rows = np.empty(n_rows, np.uint32)
    for t in range(roots.shape[0]):
        n_active = n_rows if roots[t] >= 0 else 0
        for i in range(n_rows):
            leaves[i, t] = -1 - roots[t]
            node_of[i] = roots[t]
            active_rows[i] = i
        while n_active > 0:
            n_next = np.int64(0)
            for k in range(n_active):
                i = active_rows[k]
                node = np.uint64(node_of[k])
                projection = 0.0
                for s in range(np.uint64(split_ptr[node]), np.uint64(split_ptr[node + np.uint64(1)])):
                    projection += split_weight[s] * X[i, np.uint64(split_feature[s])]
                child_node = child[node, np.uint64(not projection < threshold[node])]
                leaves[i, t] = -1 - child_node
                node_of[n_next] = child_node
                active_rows[n_next] = i
                n_next += np.int64(child_node >= 0)
            n_active = n_next
