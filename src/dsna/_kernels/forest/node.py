"""The search for one node's split: a bounded sample of its rows, random feature subsets, the best gain (eq. 8)."""

import numpy as np

from ..jit import TIE, kernel, random_below, random_bits, sums
from ..sorting import order_of
from .node_targets import group_classes, group_costs, main_direction, normalise_costs, target_costs
from .splits import EPSILON_INSENSITIVE, HINGE, dot, newton_split, two_means

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
def _add(i, picked, unit, table, growth, total, first):
    """Add row i, of weight ``unit[i]`` in the gain, to the sums of a side."""
    r = picked[i]
    total[0] += unit[i]
    if growth.n_classes > 0:
        first[table.code[r]] += unit[i]
    else:
        for a in range(first.shape[0]):
            first[a] += unit[i] * table.label[r, a]


@kernel
def _gain(left, left_first, both, both_first, growth):
    """Reweighted gain of a side with these sums against the rest of the node; -1 where one has no weight."""
    right = both[0] - left[0]
    if left[0] <= 0.0 or right <= TIE * both[0]:
        return -1.0
    gain = 0.0
    for a in range(both_first.shape[0]):
        rest = both_first[a] - left_first[a]
        if growth.n_classes > 0:
            gain += _share_entropy(both_first[a], both[0])
            gain -= left[0] / both[0] * _share_entropy(left_first[a], left[0])
            gain -= right / both[0] * _share_entropy(rest, right)
        else:
            mean = both_first[a] / both[0]
            gain += left[0] / both[0] * (left_first[a] / left[0] - mean) ** 2
            gain += right / both[0] * (rest / right - mean) ** 2
    return gain


@kernel
def _best_cut(picked, unit, m, prediction, table, growth, least, huge, tie):
    """(gain, cut) of a split: at 0, or also at ``CUTS`` quantiles of the predictions; gain -1 where none leaves enough.

    In a huge node the quantiles also stand in for a 0 that leaves fewer than ``least`` rows on one side: a tiny class
    that is split off well would otherwise end its growth.  A later cut is better if it gains more by ``tie``; rows that
    rounding alone keeps from 0 lie on its right.
    """
    width = growth.n_classes if growth.n_classes > 0 else table.label.shape[1]
    left = np.zeros(1)
    left_first = np.zeros(width)
    both = np.zeros(1)
    both_first = np.zeros(width)
    below = 0
    for i in range(m):
        if prediction[i] < -TIE:
            below += 1
            _add(i, picked, unit, table, growth, left, left_first)
        _add(i, picked, unit, table, growth, both, both_first)
    cut = -TIE
    gain = _gain(left, left_first, both, both_first, growth) if min(below, m - below) >= least else -1.0
    if growth.free_cut == 1 or (huge and gain < 0.0):
        order = order_of(prediction[:m])
        left[0] = 0.0
        left_first[:] = 0.0
        k = 0
        for quantile in range(1, CUTS + 1):
            last = quantile * m // (CUTS + 1)
            if last > m - least:
                break
            while k < last:
                _add(order[k], picked, unit, table, growth, left, left_first)
                k += 1
            if k < least:
                continue
            low, high = prediction[order[k - 1]], prediction[order[k]]
            if high - low <= TIE * (abs(low) + abs(high)):
                continue
            value = _gain(left, left_first, both, both_first, growth)
            if value > gain + tie:
                gain = value
                cut = 0.5 * (low + high)
    return gain, cut


@kernel
def _standardise(picked, mass, m, table, growth, chosen, size, Z, mean, scale):
    """Columns in node-standardised units and a constant one last; constant columns leave. Returns how many are kept."""
    kept = 0
    total = 0.0
    for i in range(m):
        total += mass[i]
    largest = 0.0
    for s in range(size):
        a = chosen[s]
        column = Z[kept]
        values = table.columns[a]
        for i in range(m):
            column[i] = values[picked[i]]
        mu = dot(mass, column, m) / total
        sd = np.sqrt(_scatter(mass, column, mu, m) / total)
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
            Z[s, i] = (Z[s, i] - mean[s]) * inverse
    for i in range(m):
        Z[kept, i] = 1.0
    return kept


@sums
def _scatter(mass, column, mean, m):
    total = 0.0
    for i in range(m):
        total += mass[i] * (column[i] - mean) ** 2
    return total


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
    Z = np.empty((widest + 1, m))
    mean = np.empty(widest)
    scale = np.empty(widest)
    chosen = np.empty(widest, np.int64)
    w = np.empty(widest + 1)
    prediction = np.empty(m)
    unit = np.empty(m)
    for i in range(m):
        unit[i] = mass[i] * table.gain[picked[i]]
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
            if not two_means(Z[:kept].T.copy(), m, kept, state, np.int64(10), group):
                continue
            group_costs(group, mass, m, table, growth, target, cost)
        newton_split(Z, target, cost, m, kept + 1, kind, growth.C, growth.epsilon, NEWTON_STEPS, w, prediction)
        gain, cut = _best_cut(picked, unit, m, prediction, table, growth, least, huge, tie)
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
