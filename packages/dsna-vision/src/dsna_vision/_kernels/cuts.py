"""Cuts: thresholds of features that best separate two groups of rows.

A node has the rows ``rows[start:end]``; ``group[i]`` is the group, 0 or 1, of ``rows[i]``.  Features are bytes, so that
a histogram determines all cuts.
"""

import numpy as np

from dsna.extend.kernels import kernel

BINS = 256


@kernel
def impurity(left0, left1, right0, right1):
    """Gini impurity of two sides."""
    left = left0 + left1
    right = right0 + right1
    return (2.0 * left0 * left1 / left + 2.0 * right0 * right1 / right) / (left + right)


@kernel
def best_cut(counts, min_leaf):
    """Best cut of a histogram (BINS, 2) of the two groups: (impurity, first bin on the right)."""
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
        value = impurity(left0, left1, n0 - left0, n1 - left1)
        if value < best:
            best = value
            cut = b + 1
    return best, cut


@kernel
def cut_of_feature(column, rows, start, end, group, min_leaf, counts):
    """Best cut of one feature: (impurity, first byte on the right)."""
    counts[:] = 0
    for i in range(start, end):
        counts[column[rows[i]], group[i]] += 1
    return best_cut(counts, min_leaf)


@kernel
def best_feature(X, rows, start, end, group, tried, min_leaf, counts):
    """Best single feature among those tried: (impurity, feature, cut)."""
    best = np.inf
    feature = -1
    cut = 0
    for k in range(tried.shape[0]):
        value, candidate_cut = cut_of_feature(X[tried[k]], rows, start, end, group, min_leaf, counts)
        if value < best:
            best = value
            feature = tried[k]
            cut = candidate_cut
    return best, feature, cut
