"""Growth of a structured tree: each node divides its masks into two groups, then finds the split that separates them.

Layout of a tree with n nodes: ``child[i]`` is the left child of node i, and its right child follows it; in leaves,
``child[i]`` is -1 - leaf.  Node i sends a patch left if ``x[feature[i]] < threshold[i]``; features are bytes (see
``look_up_bins``).
"""

from typing import NamedTuple

import numpy as np

from dsna.extend.kernels import kernel, random_below

from .cuts import BINS, best_feature
from .patches import AREA

PAIRS = 256
SAMPLE = 256
POWER_STEPS = 8


class StructuredGrowth(NamedTuple):
    """Growth limits of a tree; every field is a number."""

    n_tried: int  # number of features considered at a node
    min_leaf: int
    max_depth: int


class GrownTree(NamedTuple):
    """A tree and the representative patches of its leaves."""

    child: np.ndarray  # (n_nodes,)
    feature: np.ndarray  # (n_nodes,); 0 in leaves
    threshold: np.ndarray  # (n_nodes,)
    representative: np.ndarray  # (n_leaves,) the patch whose mask represents the leaf


@kernel
def _same_segment(masks, row, pairs, z):
    for j in range(PAIRS):
        z[j] = 1.0 if masks[row, pairs[j, 0]] == masks[row, pairs[j, 1]] else 0.0


@kernel
def _embed(masks, rows, start, end, state, pairs, Z, mean):
    """Embed at most SAMPLE rows, centred, in Z by whether pairs of pixels share a segment; return their number."""
    n = end - start
    m = min(n, SAMPLE)
    for j in range(PAIRS):
        pairs[j, 0] = random_below(state, np.int64(AREA))
        pairs[j, 1] = random_below(state, np.int64(AREA))
    mean[:] = 0.0
    for i in range(m):
        row_index = start + i
        if n > SAMPLE:
            row_index = start + (i * n) // m
        _same_segment(masks, rows[row_index], pairs, Z[i])
        mean += Z[i]
    mean /= m
    for i in range(m):
        Z[i] -= mean
    return m


@kernel
def _main_direction(Z, m, v):
    """First principal component of the centred rows Z[:m] by power iteration; False if all rows are equal."""
    largest = -1.0
    for i in range(m):
        norm = 0.0
        for j in range(PAIRS):
            norm += Z[i, j] * Z[i, j]
        if norm > largest:
            largest = norm
            v[:] = Z[i]
    if largest < 1e-6:
        return False
    for _ in range(POWER_STEPS):
        norm = 0.0
        for j in range(PAIRS):
            norm += v[j] * v[j]
        v /= np.sqrt(norm)
        new = np.zeros(PAIRS, np.float32)
        for i in range(m):
            t = np.float32(0.0)
            for j in range(PAIRS):
                t += Z[i, j] * v[j]
            for j in range(PAIRS):
                new[j] += t * Z[i, j]
        v[:] = new
    return True


@kernel
def _representative(Z, m):
    """Index of the centred row that is closest to the mean."""
    closest = 0
    min_norm = np.inf
    for i in range(m):
        norm = 0.0
        for j in range(PAIRS):
            norm += Z[i, j] * Z[i, j]
        if norm < min_norm:
            min_norm = norm
            closest = i
    return closest


@kernel
def grow_structured(X, masks, growth, seed):
    """Grow one tree.

    Parameters
    ----------
    X : (D, N) uint8 features, one row each.
    masks : (N, AREA) uint8 segmentations.
    growth : StructuredGrowth
    seed : uint64

    Returns
    -------
    GrownTree
    """
    D, N = X.shape
    state = np.empty(1, np.uint64)
    state[0] = seed
    rows = np.empty(N, np.int32)
    for i in range(N):
        rows[i] = i
    # The sample of a node is a regular subset of its rows: a random order, which partitions keep, makes it random.
    for i in range(N - 1, 0, -1):
        j = random_below(state, i + 1)
        rows[i], rows[j] = rows[j], rows[i]
    max_nodes = max(2 * (N // max(growth.min_leaf, 1)) + 3, 3)
    child = np.empty(max_nodes, np.int32)
    threshold = np.zeros(max_nodes, np.float32)
    feature = np.zeros(max_nodes, np.int32)
    representative = np.empty(max_nodes, np.int32)
    # Nodes are numbered when they are queued, and processed in that order.
    start_of = np.empty(max_nodes, np.int64)
    end_of = np.empty(max_nodes, np.int64)
    depth_of = np.empty(max_nodes, np.int64)
    start_of[0] = 0
    end_of[0] = N
    depth_of[0] = 0
    n_nodes = 1
    n_leaves = 0
    pairs = np.empty((PAIRS, 2), np.int64)
    Z = np.empty((SAMPLE, PAIRS), np.float32)
    mean = np.empty(PAIRS, np.float32)
    v = np.empty(PAIRS, np.float32)
    z = np.empty(PAIRS, np.float32)
    group = np.empty(N, np.uint8)
    counts = np.empty((BINS, 2), np.int64)
    order = np.arange(D)
    n_tried = min(growth.n_tried, D)
    right_rows = np.empty(N, np.int32)
    node = 0
    while node < n_nodes:
        start = start_of[node]
        end = end_of[node]
        n = end - start
        m = _embed(masks, rows, start, end, state, pairs, Z, mean)
        split = n >= 2 * growth.min_leaf and depth_of[node] < growth.max_depth and _main_direction(Z, m, v)
        if split:
            offset = np.float32(0.0)
            for j in range(PAIRS):
                offset += mean[j] * v[j]
            n_ones = 0
            for i in range(start, end):
                _same_segment(masks, rows[i], pairs, z)
                t = -offset
                for j in range(PAIRS):
                    t += z[j] * v[j]
                group[i] = 1 if t > 0.0 else 0
                n_ones += group[i]
            split = 0 < n_ones < n
        if split:
            for k in range(n_tried):
                j = k + random_below(state, D - k)
                order[k], order[j] = order[j], order[k]
            parent = 2.0 * (n - n_ones) * n_ones / n / n
            impurity, best_split_feature, cut = best_feature(
                X, rows, start, end, group, order[:n_tried], growth.min_leaf, counts
            )
            split = impurity < parent - 1e-12
        if split:
            feature[node] = best_split_feature
            threshold[node] = cut
            column = X[best_split_feature]
            middle = start
            n_right = 0
            for i in range(start, end):
                if column[rows[i]] < cut:
                    rows[middle] = rows[i]
                    middle += 1
                else:
                    right_rows[n_right] = rows[i]
                    n_right += 1
            rows[middle:end] = right_rows[:n_right]
            child[node] = n_nodes
            for is_right in range(2):
                start_of[n_nodes] = start if is_right == 0 else middle
                end_of[n_nodes] = middle if is_right == 0 else end
                depth_of[n_nodes] = depth_of[node] + 1
                n_nodes += 1
        else:
            child[node] = -1 - n_leaves
            sample_row = _representative(Z, m)
            if n > SAMPLE:
                sample_row = (sample_row * n) // m
            representative[n_leaves] = rows[start + sample_row]
            n_leaves += 1
        node += 1
    return GrownTree(
        child[:n_nodes].copy(),
        feature[:n_nodes].copy(),
        threshold[:n_nodes].copy(),
        representative[:n_leaves].copy(),
    )
