"""Growing a structured tree: a node groups its masks in two, then looks for the split that separates the groups.

Layout of a tree with n nodes: ``child[i]`` is the left child of node i, whose right one is the next, or -1 - leaf.
Node i sends a patch left if ``x[feature[i]] < threshold[i]``; features are bytes (see ``look_up_bins``).
"""

from typing import NamedTuple

import numpy as np

from dsna.extend.kernels import kernel, random_below

from .cuts import BINS, best_feature
from .patches import AREA

PAIRS = 256
SAMPLE = 256
POWER_STEPS = 8


class Growth(NamedTuple):
    """How a tree grows; every field is a plain number."""

    n_tried: int  # features looked at in a node
    min_leaf: int
    max_depth: int


class GrownTree(NamedTuple):
    """A tree and the patches that stand for its leaves."""

    child: np.ndarray  # (n_nodes,)
    feature: np.ndarray  # (n_nodes,); 0 in leaves
    threshold: np.ndarray  # (n_nodes,)
    representative: np.ndarray  # (n_leaves,) the patch whose mask stands for the leaf


@kernel
def _same_segment(masks, row, pairs, z):
    for j in range(PAIRS):
        z[j] = 1.0 if masks[row, pairs[j, 0]] == masks[row, pairs[j, 1]] else 0.0


@kernel
def _embed(masks, rows, start, end, state, pairs, Z, mean):
    """Embed at most SAMPLE of the rows: which pairs of pixels share a segment. Returns how many, centred in Z."""
    n = end - start
    m = min(n, SAMPLE)
    for j in range(PAIRS):
        pairs[j, 0] = random_below(state, np.int64(AREA))
        pairs[j, 1] = random_below(state, np.int64(AREA))
    mean[:] = 0.0
    for i in range(m):
        at = start + i
        if n > SAMPLE:
            at = start + (i * n) // m
        _same_segment(masks, rows[at], pairs, Z[i])
        mean += Z[i]
    mean /= m
    for i in range(m):
        Z[i] -= mean
    return m


@kernel
def _main_direction(Z, m, v):
    """First principal component of the centred rows Z[:m] by power iteration; False if they do not differ."""
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
    """Which of the centred rows is closest to their mean."""
    best = 0
    least = np.inf
    for i in range(m):
        norm = 0.0
        for j in range(PAIRS):
            norm += Z[i, j] * Z[i, j]
        if norm < least:
            least = norm
            best = i
    return best


@kernel
def grow_structured(X, masks, growth, seed):
    """Grow one tree.

    Parameters
    ----------
    X : (D, N) uint8 features, one row each.
    masks : (N, AREA) uint8 segmentations.
    growth : Growth
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
    # Sampled rows of a node are its first ones: a random order makes them a fair draw, and partitions are stable.
    for i in range(N - 1, 0, -1):
        j = random_below(state, i + 1)
        rows[i], rows[j] = rows[j], rows[i]
    most = max(2 * (N // max(growth.min_leaf, 1)) + 3, 3)
    child = np.empty(most, np.int32)
    threshold = np.zeros(most, np.float32)
    feature = np.zeros(most, np.int32)
    representative = np.empty(most, np.int32)
    # Nodes are numbered when they are pushed, and finished in the order of a queue.
    start_of = np.empty(most, np.int64)
    end_of = np.empty(most, np.int64)
    depth_of = np.empty(most, np.int64)
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
    spare = np.empty(N, np.int32)
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
            ones = 0
            for i in range(start, end):
                _same_segment(masks, rows[i], pairs, z)
                t = -offset
                for j in range(PAIRS):
                    t += z[j] * v[j]
                group[i] = 1 if t > 0.0 else 0
                ones += group[i]
            split = 0 < ones < n
        if split:
            for k in range(n_tried):
                j = k + random_below(state, D - k)
                order[k], order[j] = order[j], order[k]
            parent = 2.0 * (n - ones) * ones / n / n
            impurity, best, cut = best_feature(X, rows, start, end, group, order[:n_tried], growth.min_leaf, counts)
            split = impurity < parent - 1e-12
        if split:
            feature[node] = best
            threshold[node] = cut
            column = X[best]
            middle = start
            right = 0
            for i in range(start, end):
                if column[rows[i]] < cut:
                    rows[middle] = rows[i]
                    middle += 1
                else:
                    spare[right] = rows[i]
                    right += 1
            rows[middle:end] = spare[:right]
            child[node] = n_nodes
            for side in range(2):
                start_of[n_nodes] = start if side == 0 else middle
                end_of[n_nodes] = middle if side == 0 else end
                depth_of[n_nodes] = depth_of[node] + 1
                n_nodes += 1
        else:
            child[node] = -1 - n_leaves
            which = _representative(Z, m)
            if n > SAMPLE:
                which = (which * n) // m
            representative[n_leaves] = rows[start + which]
            n_leaves += 1
        node += 1
    return GrownTree(
        child[:n_nodes].copy(),
        feature[:n_nodes].copy(),
        threshold[:n_nodes].copy(),
        representative[:n_leaves].copy(),
    )
