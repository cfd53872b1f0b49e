"""Sparse linear splits: the few features that best separate the two groups of a node, weighed by a linear SVM (eq. 9).

Few, because a patch that passes a node has to look up all features of its split: with every feature that a node tries,
a forest is several times as slow to ask.  Notation as in ``cuts``.
"""

import numpy as np

from dsna.extend.kernels import HINGE, kernel, newton_split, order_of

from .cuts import cut_of_feature, cut_of_scores, judge

KEPT = 6  # features of a linear split
NEWTON_STEPS = 10
FIT_ROWS = 512  # rows a linear split is learned from, at most
JUDGE_ROWS = 2048  # rows on which it is compared with single features, at most


@kernel
def best_few(X, rows, start, end, group, weight, tried, counts, chosen):
    """Fill ``chosen`` with the best single features of those tried, the best first; returns where that one is cut.

    Equals stay in the order in which they were tried.  The cut is 0 if no feature differs among the rows.
    """
    d = tried.shape[0]
    impurity = np.empty(d)
    cut = np.empty(d, np.int64)
    for k in range(d):
        impurity[k], cut[k] = cut_of_feature(X[tried[k]], rows, start, end, group, weight, np.int64(1), counts)
    order = order_of(impurity)
    for k in range(chosen.shape[0]):
        chosen[k] = tried[order[k]]
    return cut[order[0]]


@kernel
def fit_weights(X, rows, start, end, group, weight, C, chosen, w):
    """Fit a weighted linear SVM (eq. 9) on these rows; fills ``w`` in units of bytes."""
    m = end - start
    d = chosen.shape[0]
    Z = np.empty((d + 1, m))
    target = np.empty(m)
    cost = np.empty(m)
    scale = np.empty(d)
    total = 0.0
    for i in range(m):
        target[i] = 2.0 * group[start + i] - 1.0
        cost[i] = weight[group[start + i]]
        total += cost[i]
        Z[d, i] = 1.0
    for i in range(m):
        cost[i] *= m / total
    for k in range(d):
        column = X[chosen[k]]
        mean = 0.0
        square = 0.0
        for i in range(m):
            value = np.float64(column[rows[start + i]])
            Z[k, i] = value
            mean += value
            square += value * value
        mean /= m
        scale[k] = np.sqrt(max(square / m - mean * mean, 0.0)) + 1e-3
        for i in range(m):
            Z[k, i] = (Z[k, i] - mean) / scale[k]
    solution = np.empty(d + 1)
    prediction = np.empty(m)
    newton_split(Z, target, cost, m, d + 1, np.int64(HINGE), C, 0.0, NEWTON_STEPS, solution, prediction)
    for k in range(d):
        # Scores must be the same when photos are asked, where weights are float32.
        w[k] = np.float64(np.float32(solution[k] / scale[k]))


@kernel
def project(X, rows, start, end, chosen, w, scores):
    """Fill ``scores`` with the weighted sums of the chosen features, one for each row."""
    scores[: end - start] = 0.0
    for k in range(chosen.shape[0]):
        if w[k] != 0.0:
            column = X[chosen[k]]
            for i in range(start, end):
                scores[i - start] += w[k] * column[rows[i]]


@kernel
def sparse_split(X, rows, start, end, group, weight, C, tried, counts, scores, chosen, w):
    """Learn a linear split from the first rows of a node; fills ``chosen`` and ``w``.

    Returns whether it separates the groups better than the best single feature, both learned from the same rows, on
    rows that neither has seen.
    """
    m = min((end - start) // 2, FIT_ROWS)
    middle = start + m
    last = min(end, middle + JUDGE_ROWS)
    cut = best_few(X, rows, start, middle, group, weight, tried, counts, chosen)
    if cut == 0:
        return False
    fit_weights(X, rows, start, middle, group, weight, C, chosen, w)
    project(X, rows, start, middle, chosen, w, scores)
    impurity, threshold = cut_of_scores(scores, m, group, start, weight, np.int64(1), counts)
    if impurity == np.inf:
        return False
    judged = group[middle:last]
    project(X, rows, middle, last, chosen, w, scores)
    linear = judge(scores, judged, weight, last - middle, threshold)
    column = X[chosen[0]]
    for i in range(middle, last):
        scores[i - middle] = column[rows[i]]
    return linear < judge(scores, judged, weight, last - middle, np.float64(cut))
