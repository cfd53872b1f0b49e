"""Cuts of a split: the gain (eq. 8), and the best cut along a prediction or a single feature."""

from typing import NamedTuple

import numpy as np

from ..jit import TIE, kernel
from ..sorting import order_of

N_CUTS = 15  # tried along a prediction
N_THRESHOLDS = 64  # tried for a single feature with more values than that
GAP_SHARE = 0.4817  # position of a threshold between two values; the middle of a grid is often a value of another row


class SideSums(NamedTuple):
    """Sums over the rows of a node and over those left of a cut, with each row's weight in the gain.

    ``moments`` are sums of weights by class, or sums of weighted targets by output.
    """

    weight: np.ndarray  # (1,) sum of weights
    moments: np.ndarray  # (k,) by class or output
    left_weight: np.ndarray  # (1,)
    left_moments: np.ndarray  # (k,)


@kernel
def node_sides(sample, gain_weight, n_sampled, table, growth):
    """Sums of a node whose rows ``sample[:n_sampled]`` have the weights ``gain_weight`` in the gain."""
    n_moments = growth.n_classes if growth.n_classes > 0 else table.label.shape[1]
    side_sums = SideSums(np.zeros(1), np.zeros(n_moments), np.zeros(1), np.zeros(n_moments))
    for i in range(n_sampled):
        _add_row(i, sample, gain_weight, table, growth, side_sums.weight, side_sums.moments)
    return side_sums


@kernel
def _entropy_term(weight, total):
    """Contribution of a class of this weight to the entropy."""
    if weight > 0.0:
        share = weight / total
        return -share * np.log(share)
    return 0.0


@kernel
def _add_row(i, sample, gain_weight, table, growth, total, first):
    """Add row i, of weight ``gain_weight[i]`` in the gain, to the sums of a side."""
    row = sample[i]
    total[0] += gain_weight[i]
    if growth.n_classes > 0:
        first[table.code[row]] += gain_weight[i]
    else:
        for a in range(first.shape[0]):
            first[a] += gain_weight[i] * table.label[row, a]


@kernel
def _clear_left(side_sums):
    side_sums.left_weight[0] = 0.0
    for a in range(side_sums.left_moments.shape[0]):
        side_sums.left_moments[a] = 0.0


@kernel
def _gain(side_sums, growth):
    """Reweighted gain of separating the left side from the rest of the node; -1 if one of them has no weight."""
    left_weight, node_weight = side_sums.left_weight[0], side_sums.weight[0]
    right_weight = node_weight - left_weight
    if left_weight <= 0.0 or right_weight <= TIE * node_weight:
        return -1.0
    gain = 0.0
    for a in range(side_sums.moments.shape[0]):
        right_sum = side_sums.moments[a] - side_sums.left_moments[a]
        if growth.n_classes > 0:
            gain += _entropy_term(side_sums.moments[a], node_weight)
            gain -= left_weight / node_weight * _entropy_term(side_sums.left_moments[a], left_weight)
            gain -= right_weight / node_weight * _entropy_term(right_sum, right_weight)
        else:
            mean = side_sums.moments[a] / node_weight
            gain += left_weight / node_weight * (side_sums.left_moments[a] / left_weight - mean) ** 2
            gain += right_weight / node_weight * (right_sum / right_weight - mean) ** 2
    return gain


@kernel
def best_cut(sample, gain_weight, n_sampled, prediction, table, growth, side_sums, min_rows, is_sampled, tie):
    """(gain, cut) of a split of predictions at 0 or, with ``growth.free_cut``, also at ``N_CUTS`` quantiles.

    At least ``min_rows`` rows are left on each side; the gain is -1 if there is no such cut. If 0 is no such cut in a
    sampled node, the quantiles are tried in any case: otherwise a tiny class that is split off well would end the
    growth. A later cut replaces an earlier one if it gains more by ``tie``; predictions that equal 0 up to rounding go
    right.
    """
    n_left = 0
    _clear_left(side_sums)
    for i in range(n_sampled):
        if prediction[i] < -TIE:
            n_left += 1
            _add_row(i, sample, gain_weight, table, growth, side_sums.left_weight, side_sums.left_moments)
    cut = -TIE
    gain = _gain(side_sums, growth) if min(n_left, n_sampled - n_left) >= min_rows else -1.0
    if growth.free_cut == 1 or (is_sampled and gain < 0.0):
        order = order_of(prediction[:n_sampled])
        _clear_left(side_sums)
        k = 0
        for quantile in range(1, N_CUTS + 1):
            end = quantile * n_sampled // (N_CUTS + 1)
            if end > n_sampled - min_rows:
                break
            while k < end:
                _add_row(order[k], sample, gain_weight, table, growth, side_sums.left_weight, side_sums.left_moments)
                k += 1
            if k < min_rows:
                continue
            low, high = prediction[order[k - 1]], prediction[order[k]]
            if high - low <= TIE * (abs(low) + abs(high)):
                continue
            cut_gain = _gain(side_sums, growth)
            if cut_gain > gain + tie:
                gain = cut_gain
                cut = 0.5 * (low + high)
    return gain, cut


@kernel
def best_threshold(sample, gain_weight, n_sampled, values, table, growth, side_sums, min_rows, tie):
    """(gain, threshold) of a single feature: the best threshold between two successive values.

    For a feature with many values, ``N_THRESHOLDS`` thresholds at equal steps along its rows are tried. At least
    ``min_rows`` rows are left on each side; the gain is -1 if there is no such threshold.
    """
    order = order_of(values[:n_sampled])
    # Relative to the largest value, because values near zero may be rounding errors.
    min_gap = TIE * max(abs(values[order[0]]), abs(values[order[n_sampled - 1]]))
    n_places = 0
    for k in range(min_rows, n_sampled - min_rows + 1):
        n_places += values[order[k]] - values[order[k - 1]] > min_gap
    step = max(1, n_places // N_THRESHOLDS)
    gain = -1.0
    threshold = 0.0
    next_k = min_rows
    _clear_left(side_sums)
    for k in range(1, n_sampled - min_rows + 1):
        _add_row(order[k - 1], sample, gain_weight, table, growth, side_sums.left_weight, side_sums.left_moments)
        low, high = values[order[k - 1]], values[order[k]]
        if k < next_k or high - low <= min_gap:
            continue
        next_k = k + step
        threshold_gain = _gain(side_sums, growth)
        if threshold_gain > gain + tie:
            gain = threshold_gain
            threshold = low + GAP_SHARE * (high - low)
    return gain, threshold
