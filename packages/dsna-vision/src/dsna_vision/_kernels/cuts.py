"""Cuts: where a feature or a score separates two groups of rows, and how well.

A node has the rows ``rows[start:end]``; ``group[i]`` is the group, 0 or 1, of ``rows[i]``, and ``weight`` says what a
row of each group counts.  Features are bytes, so that a histogram knows all cuts.
"""

import numpy as np

from dsna.extend.kernels import kernel

BINS = 256


@kernel
def impurity(left0, left1, right0, right1):
    """Weighted Gini impurity of two sides."""
    left = left0 + left1
    right = right0 + right1
    return (2.0 * left0 * left1 / left + 2.0 * right0 * right1 / right) / (left + right)


@kernel
def best_cut(counts, weight, min_leaf):
    """Best place to cut a histogram (BINS, 2) of the two groups: (impurity, first bin on the right)."""
    n0 = 0
    n1 = 0
    for b in range(BINS):
        n0 += counts[b, 0]
        n1 += counts[b, 1]
    best = np.inf
    cut = 0
    left0 = 0
    left1 = 0
    for b in range(BINS - 1):
        if counts[b, 0] + counts[b, 1] == 0:
            continue
        left0 += counts[b, 0]
        left1 += counts[b, 1]
        if left0 + left1 < min_leaf:
            continue
        if n0 + n1 - left0 - left1 < min_leaf:
            break
        value = impurity(weight[0] * left0, weight[1] * left1, weight[0] * (n0 - left0), weight[1] * (n1 - left1))
        if value < best:
            best = value
            cut = b + 1
    return best, cut


@kernel
def cut_of_feature(column, rows, start, end, group, weight, min_leaf, counts):
    """Best cut of one feature: (impurity, first byte on the right)."""
    counts[:] = 0
    for i in range(start, end):
        counts[column[rows[i]], group[i]] += 1
    return best_cut(counts, weight, min_leaf)


@kernel
def best_feature(X, rows, start, end, group, weight, tried, min_leaf, counts):
    """Best single feature among those tried: (impurity, feature, cut)."""
    best = np.inf
    feature = -1
    cut = 0
    for k in range(tried.shape[0]):
        value, at = cut_of_feature(X[tried[k]], rows, start, end, group, weight, min_leaf, counts)
        if value < best:
            best = value
            feature = tried[k]
            cut = at
    return best, feature, cut


@kernel
def cut_of_scores(scores, n, group, start, weight, min_leaf, counts):
    """Best cut of real-valued scores: (impurity, threshold)."""
    low = scores[0]
    high = scores[0]
    for i in range(n):
        low = min(low, scores[i])
        high = max(high, scores[i])
    if high <= low:
        return np.inf, 0.0
    step = (high - low) / (BINS - 1)
    counts[:] = 0
    for i in range(n):
        counts[int((scores[i] - low) / step), group[start + i]] += 1
    value, cut = best_cut(counts, weight, min_leaf)
    return value, low + cut * step


@kernel
def judge(values, group, weight, m, threshold):
    """Impurity of a cut of these values; infinite if one side stays empty."""
    n = np.zeros((2, 2))
    for i in range(m):
        n[1 if values[i] >= threshold else 0, group[i]] += weight[group[i]]
    if n[0].sum() == 0.0 or n[1].sum() == 0.0:
        return np.inf
    return impurity(n[0, 0], n[0, 1], n[1, 0], n[1, 1])


@kernel
def leaves_enough(scores, n, threshold, min_leaf):
    """Whether a cut leaves at least ``min_leaf`` rows on both sides."""
    left = 0
    for i in range(n):
        if scores[i] < threshold:
            left += 1
    return min_leaf <= left <= n - min_leaf
