"""The search for one node's split: a bounded sample of its rows, random feature subsets, the best gain (eq. 8)."""

import numpy as np

from ..jit import TIE, kernel, random_below, random_bits, sums
from .cuts import best_cut, best_threshold, node_sides
from .node_targets import group_classes, group_costs, main_direction, normalise_costs, target_costs
from .splits import EPSILON_INSENSITIVE, HINGE, dot, newton_split, two_means

NEWTON_STEPS = 10
LEAST_WEIGHT = 1e-3  # of a single feature, in spreads


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

    Each draw takes ``sizes[j]`` features, learns a linear split on them and is judged by the reweighted gain.  With
    ``growth.axis``, a single feature is cut at its best threshold instead.
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
    sides = node_sides(picked, unit, m, table, growth)
    best = 1e-12
    # Entropies are of order one, gains of targets of the order of their spread.
    tie = TIE * spread
    best_size = 0
    threshold = 0.0
    single = False
    D = order.shape[0]
    for j in range(n_draws):
        size = sizes[j] if sizes[j] * growth.rows_per_feature <= m else 1
        if size == 1 and growth.axis == 1:
            feature = _varying(picked, m, table, order, state, prediction)
            gain, cut = best_threshold(picked, unit, m, prediction, table, growth, sides, least, tie)
            if gain > best + tie:
                best = gain
                best_size = 1
                features[0] = feature
                threshold = cut
                single = True
            continue
        for s in range(size):
            other = s + random_below(state, D - s)
            order[s], order[other] = order[other], order[s]
            chosen[s] = order[s]
        kept = _standardise(picked, mass, m, table, growth, chosen, size, Z, mean, scale)
        if kept == 0:
            continue
        if growth.group_features == 1 and growth.n_classes > 0:
            if not two_means(Z[:kept].T.copy(), m, kept, state, np.int64(10), group):
                continue
            group_costs(group, mass, m, table, growth, target, cost)
        newton_split(Z, target, cost, m, kept + 1, kind, growth.C, growth.epsilon, NEWTON_STEPS, w, prediction)
        gain, cut = best_cut(picked, unit, m, prediction, table, growth, sides, least, huge, tie)
        if gain > best + tie:
            best = gain
            best_size = kept
            threshold = cut - w[kept]
            single = False
            for s in range(kept):
                features[s] = chosen[s]
                # As a tree keeps it; the threshold, in units of X, makes up for the rounding.
                weights[s] = np.float64(np.float32(w[s] / scale[s]))
                threshold += weights[s] * mean[s]
    if single:
        if growth.group_features == 1 and growth.n_classes > 0:
            for i in range(m):
                group[i] = side[table.code[picked[i]]]
            group_costs(group, mass, m, table, growth, target, cost)
        weights[0] = _step_weight(picked, mass, m, table.columns[features[0]], threshold, target, cost)
        threshold *= weights[0]
    return best_size, threshold, best, spread


@kernel
def _varying(picked, m, table, order, state, values):
    """A random feature that differs among the rows, or any if none does; fills ``values`` with those of the rows."""
    D = order.shape[0]
    for s in range(D):
        other = s + random_below(state, D - s)
        order[s], order[other] = order[other], order[s]
        column = table.columns[order[s]]
        low = high = column[picked[0]]
        for i in range(m):
            values[i] = column[picked[i]]
            low = min(low, values[i])
            high = max(high, values[i])
        if high - low > TIE * (abs(low) + abs(high)):
            return order[s]
    return order[D - 1]


@kernel
def _step_weight(picked, mass, m, column, threshold, target, cost):
    """Weight of a single feature that is cut at a threshold, as a tree keeps it; above zero.

    A linear split has the slope of the target along the feature.  That of a step is the correlation of the target with
    the side of a row, over the spread of the feature: so much does the feature tell about the target.
    """
    total = 0.0
    centre = 0.0
    for i in range(m):
        total += mass[i]
        centre += mass[i] * column[picked[i]]
    centre /= total
    spread = 0.0
    whole = 0.0
    right = 0.0
    mean = 0.0
    square = 0.0
    both = 0.0
    for i in range(m):
        value = column[picked[i]]
        spread += mass[i] * (value - centre) ** 2
        whole += cost[i]
        mean += cost[i] * target[i]
        square += cost[i] * target[i] ** 2
        if value >= threshold:
            right += cost[i]
            both += cost[i] * target[i]
    right /= whole
    mean /= whole
    variance = (square / whole - mean * mean) * right * (1.0 - right)
    correlation = abs(both / whole - right * mean) / np.sqrt(variance) if variance > 0.0 else 0.0
    return np.float64(np.float32(max(correlation, LEAST_WEIGHT) / np.sqrt(spread / total)))
