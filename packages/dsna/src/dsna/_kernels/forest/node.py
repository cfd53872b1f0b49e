"""Search for the split of a node: a bounded sample of its rows, random feature subsets, the best gain (eq. 8)."""

import numpy as np

from ..jit import TIE, kernel, random_below, random_bits, sum_kernel
from .cuts import best_cut, best_threshold, node_sides
from .node_targets import group_classes, group_costs, main_direction, normalise_costs, target_costs
from .splits import EPSILON_INSENSITIVE, HINGE, dot, newton_split, two_means

NEWTON_STEPS = 10
MIN_WEIGHT = 1e-3  # smallest weight of a single feature, in units of one over its spread


@kernel
def _sample(rows, start, end, table, growth, state, sample, mass):
    """Sample at most ``max_split`` rows of a node, evenly along the order of classes or targets; return their number.

    Rows are sorted by class or target, so equal steps give a stratified sample. Classes too small for an equal share
    are kept completely; ``mass`` compensates for the rows that are not sampled.
    """
    n = end - start
    if n <= growth.max_split:
        for k in range(n):
            sample[k] = rows[start + k]
            mass[k] = table.weight[sample[k]]
        return n
    n_sampled = 0
    if growth.n_classes == 0:
        step = n / growth.max_split
        offset = (random_bits(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
        for k in range(growth.max_split):
            sample[k] = rows[start + min(int((k + offset) * step), n - 1)]
            mass[k] = table.weight[sample[k]] * step
        return growth.max_split
    sizes = np.zeros(growth.n_classes, np.int64)
    for k in range(start, end):
        sizes[table.code[rows[k]]] += 1
    quota = np.zeros(growth.n_classes, np.int64)
    n_free = growth.max_split
    open_classes = 0
    for c in range(growth.n_classes):
        if sizes[c] > 0:
            open_classes += 1
    while open_classes > 0 and n_free > 0:
        share = max(n_free // open_classes, 1)
        filled = False
        for c in range(growth.n_classes):
            if 0 < sizes[c] <= share and quota[c] == 0 and n_free >= sizes[c]:
                quota[c] = sizes[c]
                n_free -= sizes[c]
                open_classes -= 1
                filled = True
        if not filled:
            for c in range(growth.n_classes):
                if sizes[c] > 0 and quota[c] == 0 and n_free > 0:
                    quota[c] = min(share, n_free)
                    n_free -= quota[c]
            break
    class_start = start
    for c in range(growth.n_classes):
        if quota[c] > 0:
            step = sizes[c] / quota[c]
            offset = (random_bits(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
            for k in range(quota[c]):
                sample[n_sampled] = rows[class_start + min(int((k + offset) * step), sizes[c] - 1)]
                mass[n_sampled] = table.weight[sample[n_sampled]] * step
                n_sampled += 1
        class_start += sizes[c]
    return n_sampled


@kernel
def _standardise(sample, mass, m, table, growth, drawn_features, size, Z, mean, scale):
    """Fill Z with standardised columns and a constant one; drop constant features; return the number of the others."""
    n_varying = 0
    total = 0.0
    for i in range(m):
        total += mass[i]
    largest = 0.0
    for s in range(size):
        a = drawn_features[s]
        column = Z[n_varying]
        values = table.columns[a]
        for i in range(m):
            column[i] = values[sample[i]]
        mu = dot(mass, column, m) / total
        sd = np.sqrt(_scatter(mass, column, mu, m) / total)
        if sd > 1e-10 * (abs(mu) + 1e-100):
            drawn_features[n_varying] = a
            mean[n_varying] = mu
            scale[n_varying] = sd
            largest = max(largest, sd)
            n_varying += 1
    for s in range(n_varying):
        if growth.common_scale == 1:
            scale[s] = largest
        inverse = 1.0 / scale[s]
        for i in range(m):
            Z[s, i] = (Z[s, i] - mean[s]) * inverse
    for i in range(m):
        Z[n_varying, i] = 1.0
    return n_varying


@sum_kernel
def _scatter(mass, column, mean, m):
    total = 0.0
    for i in range(m):
        total += mass[i] * (column[i] - mean) ** 2
    return total


@kernel
def find_split(rows, start, end, table, growth, sizes, state, order, counts, features, weights):
    """Find the best of ``len(sizes)`` random splits of the rows ``rows[start:end]``.

    Each draw takes ``sizes[j]`` features and learns a linear split on them; the reweighted gain decides. With
    ``growth.axis``, a single feature is cut at its best threshold instead.
    Fills ``features`` and ``weights`` of the best split, in units of X; rows with ``x . weights < threshold`` go left.

    Returns
    -------
    (number of features, 0 if no split has a gain; threshold; gain; squared spread of the node's targets)
    """
    n_draws = sizes.shape[0]
    max_size = 0
    for draw in range(n_draws):
        max_size = max(max_size, sizes[draw])
    capacity = min(end - start, growth.max_split)
    sample = np.empty(capacity, np.int64)
    mass = np.empty(capacity)
    m = _sample(rows, start, end, table, growth, state, sample, mass)
    # Sampled rows are distinct, so min_leaf of them on a side are enough; of a large leaf, a share is sampled.
    min_rows = growth.min_leaf
    is_sampled = end - start > growth.max_split
    if is_sampled:
        min_rows = max(1, min(min_rows, max(m // 8, min_rows * m // (end - start))))
    target = np.empty(m)
    cost = np.empty(m)
    class_group = np.zeros(max(growth.n_classes, 1), np.int64)
    group = np.empty(m, np.int64)
    spread = 1.0
    if growth.n_classes > 0:
        if not group_classes(sample, mass, m, table, growth, state, class_group):
            return 0, 0.0, 0.0, 0.0
        for i in range(m):
            group[i] = class_group[table.code[sample[i]]]
        group_costs(group, mass, m, table, growth, target, cost)
    else:
        spread = main_direction(sample, mass, m, table, target)
        if spread <= 0.0:
            return 0, 0.0, 0.0, 0.0
        target_costs(sample, mass, m, target, table, growth, counts, cost)
        normalise_costs(cost, mass, m)
    kind = HINGE if growth.n_classes > 0 else EPSILON_INSENSITIVE
    Z = np.empty((max_size + 1, m))
    mean = np.empty(max_size)
    scale = np.empty(max_size)
    drawn_features = np.empty(max_size, np.int64)
    w = np.empty(max_size + 1)
    prediction = np.empty(m)
    gain_weight = np.empty(m)
    for i in range(m):
        gain_weight[i] = mass[i] * table.gain[sample[i]]
    side_sums = node_sides(sample, gain_weight, m, table, growth)
    best_gain = 1e-12
    # Entropies are of order one, gains in regression of the order of the targets' spread.
    tie = TIE * spread
    best_size = 0
    threshold = 0.0
    is_axis_split = False
    D = order.shape[0]
    for draw in range(n_draws):
        size = sizes[draw] if sizes[draw] * growth.rows_per_feature <= m else 1
        if size == 1 and growth.axis == 1:
            feature = _draw_varying_feature(sample, m, table, order, state, prediction)
            gain, cut = best_threshold(sample, gain_weight, m, prediction, table, growth, side_sums, min_rows, tie)
            if gain > best_gain + tie:
                best_gain = gain
                best_size = 1
                features[0] = feature
                threshold = cut
                is_axis_split = True
            continue
        for s in range(size):
            swap = s + random_below(state, D - s)
            order[s], order[swap] = order[swap], order[s]
            drawn_features[s] = order[s]
        n_varying = _standardise(sample, mass, m, table, growth, drawn_features, size, Z, mean, scale)
        if n_varying == 0:
            continue
        if growth.group_features == 1 and growth.n_classes > 0:
            if not two_means(Z[:n_varying].T.copy(), m, n_varying, state, np.int64(10), group):
                continue
            group_costs(group, mass, m, table, growth, target, cost)
        newton_split(Z, target, cost, m, n_varying + 1, kind, growth.C, growth.epsilon, NEWTON_STEPS, w, prediction)
        gain, cut = best_cut(sample, gain_weight, m, prediction, table, growth, side_sums, min_rows, is_sampled, tie)
        if gain > best_gain + tie:
            best_gain = gain
            best_size = n_varying
            threshold = cut - w[n_varying]
            is_axis_split = False
            for s in range(n_varying):
                features[s] = drawn_features[s]
                # Rounded as trees store weights; the threshold, in units of X, compensates for the rounding.
                weights[s] = np.float64(np.float32(w[s] / scale[s]))
                threshold += weights[s] * mean[s]
    if is_axis_split:
        if growth.group_features == 1 and growth.n_classes > 0:
            for i in range(m):
                group[i] = class_group[table.code[sample[i]]]
            group_costs(group, mass, m, table, growth, target, cost)
        weights[0] = _threshold_weight(sample, mass, m, table.columns[features[0]], threshold, target, cost)
        threshold *= weights[0]
    return best_size, threshold, best_gain, spread


@kernel
def _draw_varying_feature(sample, m, table, order, state, values):
    """Draw a random feature that varies among the rows, or any if all are constant; fill ``values`` with its values."""
    D = order.shape[0]
    for s in range(D):
        swap = s + random_below(state, D - s)
        order[s], order[swap] = order[swap], order[s]
        column = table.columns[order[s]]
        low = high = column[sample[0]]
        for i in range(m):
            values[i] = column[sample[i]]
            low = min(low, values[i])
            high = max(high, values[i])
        if high - low > TIE * (abs(low) + abs(high)):
            return order[s]
    return order[D - 1]


@kernel
def _threshold_weight(sample, mass, m, column, threshold, target, cost):
    """Weight of a single feature that is cut at a threshold, rounded as trees store it; positive.

    The weight of a linear split is the slope of the target along the feature. For a threshold, it is the correlation
    of the target with the side of a row, divided by the spread of the feature.
    """
    total = 0.0
    centre = 0.0
    for i in range(m):
        total += mass[i]
        centre += mass[i] * column[sample[i]]
    centre /= total
    spread = 0.0
    cost_sum = 0.0
    right_share = 0.0
    target_mean = 0.0
    square_sum = 0.0
    product_sum = 0.0
    for i in range(m):
        value = column[sample[i]]
        spread += mass[i] * (value - centre) ** 2
        cost_sum += cost[i]
        target_mean += cost[i] * target[i]
        square_sum += cost[i] * target[i] ** 2
        if value >= threshold:
            right_share += cost[i]
            product_sum += cost[i] * target[i]
    right_share /= cost_sum
    target_mean /= cost_sum
    variance = (square_sum / cost_sum - target_mean * target_mean) * right_share * (1.0 - right_share)
    correlation = abs(product_sum / cost_sum - right_share * target_mean) / np.sqrt(variance) if variance > 0.0 else 0.0
    return np.float64(np.float32(max(correlation, MIN_WEIGHT) / np.sqrt(spread / total)))
