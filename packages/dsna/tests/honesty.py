"""Data for the honesty tests, and the noise of the scores that they compare."""

import numpy as np


def classes(n, seed, n_features=6):
    """Three classes of 60, 30 and 10 % that overlap."""
    rng = np.random.RandomState(seed)
    y = np.searchsorted([0.6, 0.9], rng.rand(n))
    return rng.randn(n, n_features) + 1.3 * np.eye(3, n_features)[y], y


def labels(n, seed, n_features=6):
    """A curved function with noise, and labels that are rarer the larger they are."""
    rng = np.random.RandomState(seed)
    X = rng.randn(n, n_features)
    return X, np.exp(0.6 * X[:, 0]) + 0.7 * np.abs(X[:, 1]) + 0.4 * rng.randn(n)


def persons(n_groups, rows, seed, kind):
    """Rows of one person are nearly the same, and share a label that nothing else tells."""
    rng = np.random.RandomState(seed)
    groups = np.repeat(np.arange(n_groups), rows)
    X = rng.randn(n_groups, 5)[groups] + 0.01 * rng.randn(n_groups * rows, 5)
    each = np.arange(n_groups) % 2 if kind == "classes" else rng.gamma(2.0, size=n_groups)
    order = rng.permutation(n_groups * rows)
    return X[order], rng.permutation(each)[groups][order], groups[order]


def recall_noise(y, predicted, groups=None):
    """Standard error of the balanced accuracy.

    It is a mean of K recalls, and the recall of a class of m independent rows has the variance r (1 - r) / m; with
    groups, m is the number of groups, whose rows stand or fall together.  A recall of 0 or 1 is taken as half a row
    off, so that its variance is not zero.
    """
    variances = []
    for c in np.unique(y):
        m = np.sum(y == c) if groups is None else len(np.unique(groups[y == c]))
        r = np.clip(np.mean(predicted[y == c] == c), 0.5 / m, 1.0 - 0.5 / m)
        variances.append(r * (1.0 - r) / m)
    return np.sqrt(np.sum(variances)) / len(variances)


def r2_noise(y, predicted, weight=None):
    """Standard error of R2 = 1 - sum w e^2 / sum w d^2, with d = y - mean(y), by the delta method for a ratio.

    A row moves the ratio q by w (e^2 - q d^2) / sum w d^2; the standard error is the root of the sum of their squares.
    """
    weight = np.ones(len(y)) if weight is None else weight
    error, off = (y - predicted) ** 2, (y - np.average(y, weights=weight)) ** 2
    ratio = np.sum(weight * error) / np.sum(weight * off)
    return np.sqrt(np.sum((weight * (error - ratio * off)) ** 2)) / np.sum(weight * off)


def gain_over_median(y, predicted, groups=None):
    """By how much the MAE is below that of the median label, and the standard error of that mean."""
    gain = np.abs(y - np.median(y)) - np.abs(y - predicted)
    if groups is not None:
        member = np.unique(groups, return_inverse=True)[1]
        gain = np.bincount(member, weights=gain) / np.bincount(member)
    return gain.mean(), gain.std() / np.sqrt(len(gain))
