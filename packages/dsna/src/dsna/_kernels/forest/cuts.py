"""Where a split cuts: the gain of a side (eq. 8), and the best cut along a prediction or a single feature."""

from typing import NamedTuple

import numpy as np

from ..jit import TIE, kernel
from ..sorting import order_of

CUTS = 15  # along a prediction
THRESHOLDS = 64  # of a single feature with more values than that
BETWEEN = 0.4817  # where between two values: the middle of values on a grid is often a value of another row


class Sides(NamedTuple):
    """Sums over the rows of a node, and over those on the left of a cut; each row has its weight in the gain.

    The classes of a classification have a sum of weights each, the outputs of a regression one of weighted targets.
    """

    both: np.ndarray  # (1,) weights
    both_first: np.ndarray  # (k,) by class or output
    left: np.ndarray  # (1,)
    left_first: np.ndarray  # (k,)


@kernel
def node_sides(picked, unit, m, table, growth):
    """Sums of a node whose rows ``picked[:m]`` have the weights ``unit`` in the gain."""
    width = growth.n_classes if growth.n_classes > 0 else table.label.shape[1]
    sides = Sides(np.zeros(1), np.zeros(width), np.zeros(1), np.zeros(width))
    for i in range(m):
        _add(i, picked, unit, table, growth, sides.both, sides.both_first)
    return sides


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
def _none_left(sides):
    sides.left[0] = 0.0
    for a in range(sides.left_first.shape[0]):
        sides.left_first[a] = 0.0


@kernel
def _gain(sides, growth):
    """Reweighted gain of the left side against the rest of the node; -1 where one has no weight."""
    left, both = sides.left[0], sides.both[0]
    right = both - left
    if left <= 0.0 or right <= TIE * both:
        return -1.0
    gain = 0.0
    for a in range(sides.both_first.shape[0]):
        rest = sides.both_first[a] - sides.left_first[a]
        if growth.n_classes > 0:
            gain += _share_entropy(sides.both_first[a], both)
            gain -= left / both * _share_entropy(sides.left_first[a], left)
            gain -= right / both * _share_entropy(rest, right)
        else:
            mean = sides.both_first[a] / both
            gain += left / both * (sides.left_first[a] / left - mean) ** 2
            gain += right / both * (rest / right - mean) ** 2
    return gain


@kernel
def best_cut(picked, unit, m, prediction, table, growth, sides, least, huge, tie):
    """(gain, cut) of a split: at 0, or also at ``CUTS`` quantiles of the predictions; gain -1 where none leaves enough.

    In a huge node the quantiles also stand in for a 0 that leaves fewer than ``least`` rows on one side: a tiny class
    that is split off well would otherwise end its growth.  A later cut is better if it gains more by ``tie``; rows that
    rounding alone keeps from 0 lie on its right.
    """
    below = 0
    _none_left(sides)
    for i in range(m):
        if prediction[i] < -TIE:
            below += 1
            _add(i, picked, unit, table, growth, sides.left, sides.left_first)
    cut = -TIE
    gain = _gain(sides, growth) if min(below, m - below) >= least else -1.0
    if growth.free_cut == 1 or (huge and gain < 0.0):
        order = order_of(prediction[:m])
        _none_left(sides)
        k = 0
        for quantile in range(1, CUTS + 1):
            last = quantile * m // (CUTS + 1)
            if last > m - least:
                break
            while k < last:
                _add(order[k], picked, unit, table, growth, sides.left, sides.left_first)
                k += 1
            if k < least:
                continue
            low, high = prediction[order[k - 1]], prediction[order[k]]
            if high - low <= TIE * (abs(low) + abs(high)):
                continue
            value = _gain(sides, growth)
            if value > gain + tie:
                gain = value
                cut = 0.5 * (low + high)
    return gain, cut


@kernel
def best_threshold(picked, unit, m, values, table, growth, sides, least, tie):
    """(gain, threshold) of a single feature: between any two of its values that follow each other.

    Of a feature with many values, ``THRESHOLDS`` places at even steps along its rows are tried.  At least ``least``
    rows are left on each side; the gain is -1 where no threshold does that.
    """
    order = order_of(values[:m])
    # Relative to the largest value: those near zero may be rounding.
    apart = TIE * max(abs(values[order[0]]), abs(values[order[m - 1]]))
    places = 0
    for k in range(least, m - least + 1):
        places += values[order[k]] - values[order[k - 1]] > apart
    step = max(1, places // THRESHOLDS)
    gain = -1.0
    threshold = 0.0
    due = least
    _none_left(sides)
    for k in range(1, m - least + 1):
        _add(order[k - 1], picked, unit, table, growth, sides.left, sides.left_first)
        low, high = values[order[k - 1]], values[order[k]]
        if k < due or high - low <= apart:
            continue
        due = k + step
        value = _gain(sides, growth)
        if value > gain + tie:
            gain = value
            threshold = low + BETWEEN * (high - low)
    return gain, threshold
