"""Growing a structured tree: a node groups its masks in two, then looks for the split that separates the groups.

Layout of a tree with n nodes: ``child[i]`` is the left child of node i, whose right one is the next, or -1 - leaf.
Node i sends a patch left if ``sum_k weights[k] * x[features[k]] < threshold[i]``, k from ``ptr[i]`` to ``ptr[i + 1]``;
features are bytes (see ``look_up_bins``).
"""

from typing import NamedTuple

import numpy as np

from dsna.extend.kernels import kernel, random_below

from .cuts import BINS, best_feature, cut_of_scores, impurity, leaves_enough
from .patches import AREA
from .sparse_splits import KEPT, project, sparse_split

PAIRS = 256
SAMPLE = 256
POWER_STEPS = 8
LEAST_FOR_LINEAR = 512  # rows: in smaller nodes linear splits took time and gained nothing in the maps


class Growth(NamedTuple):
    """How a tree grows; every field is a plain number."""

    n_tried: int  # features looked at in a node
    min_leaf: int
    max_depth: int
    linear: int  # 1: a node may take a sparse linear split, where it gains more than the best single feature
    cost: float  # groups weigh 1 / share ** cost
    C: float


class GrownTree(NamedTuple):
    """A tree and the patches in its leaves."""

    child: np.ndarray  # (n_nodes,)
    ptr: np.ndarray  # (n_nodes + 1,)
    features: np.ndarray  # (n_entries,)
    weights: np.ndarray  # (n_entries,)
    threshold: np.ndarray  # (n_nodes,)
    leaf_rows: np.ndarray  # (N,) patches, leaf by leaf
    leaf_ptr: np.ndarray  # (n_leaves + 1,) where each leaf's patches start
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
    ptr = np.zeros(most + 1, np.int64)
    room = 4 * most
    features = np.empty(room, np.int32)
    weights = np.empty(room, np.float32)
    leaf_ptr = np.zeros(most + 1, np.int64)
    leaf_start = np.empty(most, np.int64)
    leaf_end = np.empty(most, np.int64)
    representative = np.empty(most, np.int32)
    # Nodes are numbered when they are pushed, and finished in the order of a queue, so that ptr rises.
    start_of = np.empty(most, np.int64)
    end_of = np.empty(most, np.int64)
    depth_of = np.empty(most, np.int64)
    start_of[0] = 0
    end_of[0] = N
    depth_of[0] = 0
    n_nodes = 1
    n_leaves = 0
    used = 0
    pairs = np.empty((PAIRS, 2), np.int64)
    Z = np.empty((SAMPLE, PAIRS), np.float32)
    mean = np.empty(PAIRS, np.float32)
    v = np.empty(PAIRS, np.float32)
    z = np.empty(PAIRS, np.float32)
    group = np.empty(N, np.uint8)
    counts = np.empty((BINS, 2), np.int64)
    weight = np.ones(2)
    order = np.arange(D)
    n_tried = min(growth.n_tried, D)
    scores = np.empty(N)
    spare = np.empty(N, np.int32)
    chosen = np.empty(min(KEPT, n_tried), np.int64)
    w = np.empty(chosen.shape[0])
    node = 0
    while node < n_nodes:
        start = start_of[node]
        end = end_of[node]
        n = end - start
        m = _embed(masks, rows, start, end, state, pairs, Z, mean)
        split = n >= 2 * growth.min_leaf and depth_of[node] < growth.max_depth and _main_direction(Z, m, v)
        size = 0
        middle = start
        linear = False
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
                weight[0] = (n / (n - ones)) ** growth.cost
                weight[1] = (n / ones) ** growth.cost
        if split:
            for k in range(n_tried):
                j = k + random_below(state, D - k)
                order[k], order[j] = order[j], order[k]
            tried = order[:n_tried]
            parent = impurity(weight[0] * (n - ones), weight[1] * ones, 1e-300, 0.0)
            found, feature, cut = best_feature(X, rows, start, end, group, weight, tried, growth.min_leaf, counts)
            if growth.linear == 1 and n >= LEAST_FOR_LINEAR:
                linear = sparse_split(X, rows, start, end, group, weight, growth.C, tried, counts, scores, chosen, w)
            if linear:
                project(X, rows, start, end, chosen, w, scores)
                value, at = cut_of_scores(scores, n, group, start, weight, growth.min_leaf, counts)
                threshold[node] = at
                # Rounded, a threshold may leave a side fewer rows than its bins hold.
                linear = value < np.inf and leaves_enough(scores, n, threshold[node], growth.min_leaf)
                if linear:
                    found = value
                    size = chosen.shape[0]
            if not linear and feature >= 0:
                column = X[feature]
                for i in range(start, end):
                    scores[i - start] = column[rows[i]]
                threshold[node] = cut
                size = 1
            if size == 0 or not found < parent - 1e-12:
                size = 0
        if size > 0:
            if used + size > room:
                room = 2 * room + size
                more = np.empty(room, np.int32)
                more[:used] = features[:used]
                features = more
                heavier = np.empty(room, np.float32)
                heavier[:used] = weights[:used]
                weights = heavier
            if linear:
                for k in range(size):
                    features[used + k] = chosen[k]
                    weights[used + k] = w[k]
            else:
                features[used] = feature
                weights[used] = 1.0
            used += size
            middle = start
            right = 0
            for i in range(start, end):
                if scores[i - start] < threshold[node]:
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
            threshold[node] = 0.0
            leaf_start[n_leaves] = start
            leaf_end[n_leaves] = end
            which = _representative(Z, m)
            if n > SAMPLE:
                which = (which * n) // m
            representative[n_leaves] = rows[start + which]
            n_leaves += 1
        node += 1
        ptr[node] = used
    leaf_rows = np.empty(N, np.int32)
    for leaf in range(n_leaves):
        size = leaf_end[leaf] - leaf_start[leaf]
        leaf_rows[leaf_ptr[leaf] : leaf_ptr[leaf] + size] = rows[leaf_start[leaf] : leaf_end[leaf]]
        leaf_ptr[leaf + 1] = leaf_ptr[leaf] + size
    return GrownTree(
        child[:n_nodes].copy(),
        ptr[: n_nodes + 1].copy(),
        features[:used].copy(),
        weights[:used].copy(),
        threshold[:n_nodes].copy(),
        leaf_rows,
        leaf_ptr[: n_leaves + 1].copy(),
        representative[:n_leaves].copy(),
    )
