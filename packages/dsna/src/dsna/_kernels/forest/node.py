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
    n_rows = end - start
    if n_rows <= growth.max_split:
        for position in range(n_rows):
            sample[position] = rows[start + position]
            mass[position] = table.weight[sample[position]]
        return n_rows
    n_sampled = 0
    if growth.n_classes == 0:
        step = n_rows / growth.max_split
        offset = (random_bits(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
        for position in range(growth.max_split):
            sample[position] = rows[start + min(int((position + offset) * step), n_rows - 1)]
            mass[position] = table.weight[sample[position]] * step
        return growth.max_split
    sizes = np.zeros(growth.n_classes, np.int64)
    for position in range(start, end):
        sizes[table.code[rows[position]]] += 1
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
            for position in range(quota[c]):
                sample[n_sampled] = rows[class_start + min(int((position + offset) * step), sizes[c] - 1)]
                mass[n_sampled] = table.weight[sample[n_sampled]] * step
                n_sampled += 1
        class_start += sizes[c]
    return n_sampled


@kernel
def _standardise(sample, mass, n_sampled, table, growth, drawn_features, n_drawn, scaled, mean, scale):
    """Fill ``scaled`` with the columns that vary, and a constant one; return the number of varying features."""
    n_varying = 0
    total = 0.0
    for i in range(n_sampled):
        total += mass[i]
    largest = 0.0
    for position in range(n_drawn):
        feature = drawn_features[position]
        column = scaled[n_varying]
        values = table.columns[feature]
        for i in range(n_sampled):
            column[i] = values[sample[i]]
        feature_mean = dot(mass, column, n_sampled) / total
        feature_spread = np.sqrt(_scatter(mass, column, feature_mean, n_sampled) / total)
        if feature_spread > 1e-10 * (abs(feature_mean) + 1e-100):
            drawn_features[n_varying] = feature
            mean[n_varying] = feature_mean
            scale[n_varying] = feature_spread
            largest = max(largest, feature_spread)
            n_varying += 1
    for position in range(n_varying):
        if growth.common_scale == 1:
            scale[position] = largest
        inverse = 1.0 / scale[position]
        for i in range(n_sampled):
            scaled[position, i] = (scaled[position, i] - mean[position]) * inverse
    for i in range(n_sampled):
        scaled[n_varying, i] = 1.0
    return n_varying


@sum_kernel
def _scatter(mass, column, mean, n_sampled):
    total = 0.0
    for i in range(n_sampled):
        total += mass[i] * (column[i] - mean) ** 2
    return total


@kernel
def find_split(rows, start, end, table, growth, subset_sizes, state, feature_order, counts, features, weights):
    """Find the best of ``len(subset_sizes)`` random splits of the rows ``rows[start:end]``.

    Each draw takes ``subset_sizes[j]`` features and learns a linear split on them; the reweighted gain decides. With
    ``growth.axis``, a single feature is cut at its best threshold instead.
    Fills ``features`` and ``weights`` of the best split, in units of X; rows with ``x . weights < threshold`` go left.

    Returns
    -------
    (number of features, 0 if no split has a gain; threshold; gain; squared spread of the node's targets)
    """
    n_draws = subset_sizes.shape[0]
    max_size = 0
    for draw in range(n_draws):
        max_size = max(max_size, subset_sizes[draw])
    capacity = min(end - start, growth.max_split)
    sample = np.empty(capacity, np.int64)
    mass = np.empty(capacity)
    n_sampled = _sample(rows, start, end, table, growth, state, sample, mass)
    # Sampled rows are distinct, so min_leaf of them on a side are enough; of a large leaf, a share is sampled.
    min_rows = growth.min_leaf
    is_sampled = end - start > growth.max_split
    if is_sampled:
        min_rows = max(1, min(min_rows, max(n_sampled // 8, min_rows * n_sampled // (end - start))))
    target = np.empty(n_sampled)
    cost = np.empty(n_sampled)
    class_group = np.zeros(max(growth.n_classes, 1), np.int64)
    group = np.empty(n_sampled, np.int64)
    spread = 1.0
    if growth.n_classes > 0:
        if not group_classes(sample, mass, n_sampled, table, growth, state, class_group):
            return 0, 0.0, 0.0, 0.0
        for i in range(n_sampled):
            group[i] = class_group[table.code[sample[i]]]
        group_costs(group, mass, n_sampled, table, growth, target, cost)
    else:
        spread = main_direction(sample, mass, n_sampled, table, target)
        if spread <= 0.0:
            return 0, 0.0, 0.0, 0.0
        target_costs(sample, mass, n_sampled, target, table, growth, counts, cost)
        normalise_costs(cost, mass, n_sampled)
    kind = HINGE if growth.n_classes > 0 else EPSILON_INSENSITIVE
    scaled = np.empty((max_size + 1, n_sampled))
    mean = np.empty(max_size)
    scale = np.empty(max_size)
    drawn_features = np.empty(max_size, np.int64)
    w = np.empty(max_size + 1)
    prediction = np.empty(n_sampled)
    gain_weight = np.empty(n_sampled)
    for i in range(n_sampled):
        gain_weight[i] = mass[i] * table.gain[sample[i]]
    side_sums = node_sides(sample, gain_weight, n_sampled, table, growth)
    best_gain = 1e-12
    # Entropies are of order one, gains in regression of the order of the targets' spread.
    tie = TIE * spread
    best_size = 0
    threshold = 0.0
    is_axis_split = False
    n_features = feature_order.shape[0]
    for draw in range(n_draws):
        n_drawn = subset_sizes[draw] if subset_sizes[draw] * growth.rows_per_feature <= n_sampled else 1
        if n_drawn == 1 and growth.axis == 1:
            feature = _draw_varying_feature(sample, n_sampled, table, feature_order, state, prediction)
            gain, cut = best_threshold(
                sample, gain_weight, n_sampled, prediction, table, growth, side_sums, min_rows, tie
            )
            if gain > best_gain + tie:
                best_gain = gain
                best_size = 1
                features[0] = feature
                threshold = cut
                is_axis_split = True
            continue
        for s in range(n_drawn):
            swap = s + random_below(state, n_features - s)
            feature_order[s], feature_order[swap] = feature_order[swap], feature_order[s]
            drawn_features[s] = feature_order[s]
        n_varying = _standardise(sample, mass, n_sampled, table, growth, drawn_features, n_drawn, scaled, mean, scale)
        if n_varying == 0:
            continue
        if growth.group_features == 1 and growth.n_classes > 0:
            if not two_means(scaled[:n_varying].T.copy(), n_sampled, n_varying, state, np.int64(10), group):
                continue
            group_costs(group, mass, n_sampled, table, growth, target, cost)
        newton_split(
            scaled, target, cost, n_sampled, n_varying + 1, kind, growth.C, growth.epsilon, NEWTON_STEPS, w, prediction
        )
        gain, cut = best_cut(
            sample, gain_weight, n_sampled, prediction, table, growth, side_sums, min_rows, is_sampled, tie
        )
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
            for i in range(n_sampled):
                group[i] = class_group[table.code[sample[i]]]
            group_costs(group, mass, n_sampled, table, growth, target, cost)
        weights[0] = _threshold_weight(sample, mass, n_sampled, table.columns[features[0]], threshold, target, cost)
        threshold *= weights[0]
    return best_size, threshold, best_gain, spread


@kernel
def _draw_varying_feature(sample, n_sampled, table, feature_order, state, values):
    """Draw a random feature that varies among the rows, or any if all are constant; fill ``values`` with its values."""
    n_features = feature_order.shape[0]
    for s in range(n_features):
        swap = s + random_below(state, n_features - s)
        feature_order[s], feature_order[swap] = feature_order[swap], feature_order[s]
        column = table.columns[feature_order[s]]
        low = high = column[sample[0]]
        for i in range(n_sampled):
            values[i] = column[sample[i]]
            low = min(low, values[i])
            high = max(high, values[i])
        if high - low > TIE * (abs(low) + abs(high)):
            return feature_order[s]
    return feature_order[n_features - 1]


@kernel
def _threshold_weight(sample, mass, n_sampled, column, threshold, target, cost):
    """Weight of a single feature that is cut at a threshold, rounded as trees store it; positive.

    The weight of a linear split is the slope of the target along the feature. For a threshold, it is the correlation
    of the target with the side of a row, divided by the spread of the feature.
    """
    total = 0.0
    centre = 0.0
    for i in range(n_sampled):
        total += mass[i]
        centre += mass[i] * column[sample[i]]
    centre /= total
    spread = 0.0
    cost_sum = 0.0
    right_share = 0.0
    target_mean = 0.0
    square_sum = 0.0
    product_sum = 0.0
    for i in range(n_sampled):
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
