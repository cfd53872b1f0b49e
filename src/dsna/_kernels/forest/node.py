"""The search for one node's split: a bounded sample of its rows, random feature subsets, the best gain (eq. 8)."""

import numpy as np

from ..jit import TIE, kernel, random_below, random_bits
from ..sorting import order_of
from .node_targets import group_classes, group_costs, main_direction, normalise_costs, target_costs
from .splits import EPSILON_INSENSITIVE, HINGE, newton_split, two_means

NEWTON_STEPS = 10
CUTS = 15


@kernel
def _sample(rows, start, end, table, growth, state, picked, mass):
    """Choose at most ``max_split`` rows of a node, evenly along the order of classes or targets; returns how many.

    Rows come sorted by class or target, so equal steps are a stratified sample. Classes too small for an equal share
    are kept whole; ``mass`` makes up for the rows left out.
    """
    n = end - start
    if n <= growth.max_split:
        for k in range(n):
            picked[k] = rows[start + k]
            mass[k] = table.weight[picked[k]]
        return n
    count = 0
    if growth.n_classes == 0:
        step = n / growth.max_split
        offset = (random_bits(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
        for k in range(growth.max_split):
            picked[k] = rows[start + min(int((k + offset) * step), n - 1)]
            mass[k] = table.weight[picked[k]] * step
        return growth.max_split
    sizes = np.zeros(growth.n_classes, np.int64)
    for k in range(start, end):
        sizes[table.code[rows[k]]] += 1
    quota = np.zeros(growth.n_classes, np.int64)
    left = growth.max_split
    open_classes = 0
    for c in range(growth.n_classes):
        if sizes[c] > 0:
            open_classes += 1
    while open_classes > 0 and left > 0:
        share = max(left // open_classes, 1)
        filled = False
        for c in range(growth.n_classes):
            if 0 < sizes[c] <= share and quota[c] == 0 and left >= sizes[c]:
                quota[c] = sizes[c]
                left -= sizes[c]
                open_classes -= 1
                filled = True
        if not filled:
            for c in range(growth.n_classes):
                if sizes[c] > 0 and quota[c] == 0 and left > 0:
                    quota[c] = min(share, left)
                    left -= quota[c]
            break
    at = start
    for c in range(growth.n_classes):
        if quota[c] > 0:
            step = sizes[c] / quota[c]
            offset = (random_bits(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
            for k in range(quota[c]):
                picked[count] = rows[at + min(int((k + offset) * step), sizes[c] - 1)]
                mass[count] = table.weight[picked[count]] * step
                count += 1
        at += sizes[c]
    return count


@kernel
def _share_entropy(weight, total):
    """What a class of this weight adds to the entropy."""
    if weight > 0.0:
        p = weight / total
        return -p * np.log(p)
    return 0.0


@kernel
def _move(i, side, sign, picked, mass, table, growth, total, first):
    """Add row i to the sums of a side, or take it away again (sign -1)."""
    r = picked[i]
    u = sign * mass[i] * table.gain[r]
    total[side] += u
    if growth.n_classes > 0:
        first[side, table.code[r]] += u
    else:
        for a in range(first.shape[1]):
            first[side, a] += u * table.label[r, a]


@kernel
def _gain(total, first, growth):
    """Reweighted gain of two sides with these sums; -1 where one has no weight."""
    if total[0] <= 0.0 or total[1] <= 0.0:
        return -1.0
    both = total[0] + total[1]
    if growth.n_classes > 0:
        parent = 0.0
        left = 0.0
        right = 0.0
        for c in range(first.shape[1]):
            parent += _share_entropy(first[0, c] + first[1, c], both)
            left += _share_entropy(first[0, c], total[0])
            right += _share_entropy(first[1, c], total[1])
        return parent - (total[0] * left + total[1] * right) / both
    gain = 0.0
    for a in range(first.shape[1]):
        mean = (first[0, a] + first[1, a]) / both
        for side in range(2):
            gain += total[side] / both * (first[side, a] / total[side] - mean) ** 2
    return gain


@kernel
def _best_cut(picked, mass, m, prediction, table, growth, least, huge, tie):
    """(gain, cut) of a split: at 0, or also at ``CUTS`` quantiles of the predictions; gain -1 where none leaves enough.

    In a huge node the quantiles also stand in for a 0 that leaves fewer than ``least`` rows on one side: a tiny class
    that is split off well would otherwise end its growth.  A later cut is better if it gains more by ``tie``; rows that
    rounding alone keeps from 0 lie on its right.
    """
    width = growth.n_classes if growth.n_classes > 0 else table.label.shape[1]
    total = np.zeros(2)
    first = np.zeros((2, width))
    below = 0
    for i in range(m):
        side = 1 if prediction[i] >= -TIE else 0
        below += 1 - side
        _move(i, side, 1.0, picked, mass, table, growth, total, first)
    cut = -TIE
    gain = _gain(total, first, growth) if min(below, m - below) >= least else -1.0
    if growth.free_cut == 1 or (huge and gain < 0.0):
        order = order_of(prediction[:m])
        total[0] = 0.0
        total[1] = 0.0
        for a in range(width):
            first[0, a] = 0.0
            first[1, a] = 0.0
        for i in range(m):
            _move(i, np.int64(1), 1.0, picked, mass, table, growth, total, first)
        quantile = 1
        for k in range(1, m - least + 1):
            i = order[k - 1]
            _move(i, np.int64(0), 1.0, picked, mass, table, growth, total, first)
            _move(i, np.int64(1), -1.0, picked, mass, table, growth, total, first)
            while quantile <= CUTS and quantile * m // (CUTS + 1) < k:
                quantile += 1
            if k < least or quantile > CUTS or quantile * m // (CUTS + 1) != k:
                continue
            low, high = prediction[i], prediction[order[k]]
            if high - low <= TIE * (abs(low) + abs(high)):
                continue
            value = _gain(total, first, growth)
            if value > gain + tie:
                gain = value
                cut = 0.5 * (low + high)
    return gain, cut


@kernel
def _standardise(picked, mass, m, table, growth, chosen, size, Z, mean, scale):
    """Rows in node-standardised units with a constant column last; constant columns leave. Returns columns kept."""
    kept = 0
    total = 0.0
    for i in range(m):
        total += mass[i]
    largest = 0.0
    for s in range(size):
        a = chosen[s]
        mu = 0.0
        for i in range(m):
            mu += mass[i] * table.X[picked[i], a]
        mu /= total
        var = 0.0
        for i in range(m):
            var += mass[i] * (table.X[picked[i], a] - mu) ** 2
        sd = np.sqrt(var / total)
        if sd > 1e-10 * (abs(mu) + 1e-100):
            chosen[kept] = a
            mean[kept] = mu
            scale[kept] = sd
            largest = max(largest, sd)
            kept += 1
    for s in range(kept):
        if growth.common_scale == 1:
            scale[s] = largest
        inverse = 1.0 / scale[s]
        for i in range(m):
            Z[i, s] = (table.X[picked[i], chosen[s]] - mean[s]) * inverse
    for i in range(m):
        Z[i, kept] = 1.0
    return kept


@kernel
def find_split(rows, start, end, table, growth, sizes, state, order, counts, features, weights):
    """Best of ``len(sizes)`` random splits of the rows ``rows[start:end]``.

    Each draw takes ``sizes[j]`` features, learns a linear split on them and is judged by the reweighted gain.
    Fills ``features`` and ``weights`` of the winner, in units of X; rows with ``x . weights < threshold`` go left.

    Returns
    -------
    (number of features, 0 where no split gains; threshold; gain; squared spread of the node's targets)
    """
    n_draws = sizes.shape[0]
    widest = 0
    for j in range(n_draws):
        widest = max(widest, sizes[j])
    room = min(end - start, growth.max_split)
    picked = np.empty(room, np.int64)
    mass = np.empty(room)
    m = _sample(rows, start, end, table, growth, state, picked, mass)
    # Sampled rows are distinct, so as many on each side are enough; a share of them stands for a large leaf.
    least = growth.min_leaf
    huge = end - start > growth.max_split
    if huge:
        least = max(1, min(least, max(m // 8, least * m // (end - start))))
    target = np.empty(m)
    cost = np.empty(m)
    side = np.zeros(max(growth.n_classes, 1), np.int64)
    group = np.empty(m, np.int64)
    spread = 1.0
    if growth.n_classes > 0:
        if not group_classes(picked, mass, m, table, growth, state, side):
            return 0, 0.0, 0.0, 0.0
        for i in range(m):
            group[i] = side[table.code[picked[i]]]
        group_costs(group, mass, m, table, growth, target, cost)
    else:
        spread = main_direction(picked, mass, m, table, target)
        if spread <= 0.0:
            return 0, 0.0, 0.0, 0.0
        target_costs(picked, mass, m, target, table, growth, counts, cost)
        normalise_costs(cost, mass, m)
    kind = HINGE if growth.n_classes > 0 else EPSILON_INSENSITIVE
    Z = np.empty((m, widest + 1))
    mean = np.empty(widest)
    scale = np.empty(widest)
    chosen = np.empty(widest, np.int64)
    w = np.empty(widest + 1)
    prediction = np.empty(m)
    best = 1e-12
    # Entropies are of order one, gains of targets of the order of their spread.
    tie = TIE * spread
    best_size = 0
    threshold = 0.0
    D = order.shape[0]
    for j in range(n_draws):
        for s in range(sizes[j]):
            other = s + random_below(state, D - s)
            order[s], order[other] = order[other], order[s]
            chosen[s] = order[s]
        kept = _standardise(picked, mass, m, table, growth, chosen, sizes[j], Z, mean, scale)
        if kept == 0:
            continue
        if growth.group_features == 1 and growth.n_classes > 0:
            if not two_means(Z, m, kept, state, np.int64(10), group):
                continue
            group_costs(group, mass, m, table, growth, target, cost)
        newton_split(Z, target, cost, m, kept + 1, kind, growth.C, growth.epsilon, NEWTON_STEPS, w, prediction)
        gain, cut = _best_cut(picked, mass, m, prediction, table, growth, least, huge, tie)
        if gain > best + tie:
            best = gain
            best_size = kept
            threshold = cut - w[kept]
            for s in range(kept):
                features[s] = chosen[s]
                # As a tree keeps it; the threshold, in units of X, makes up for the rounding.
                weights[s] = np.float64(np.float32(w[s] / scale[s]))
                threshold += weights[s] * mean[s]
    return best_size, threshold, best, spread
