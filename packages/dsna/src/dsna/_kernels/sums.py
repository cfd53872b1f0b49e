"""Sums over the neighbours of each query, term after term."""

from .jit import kernel


@kernel
def add_up(values, out):
    """Fill ``out`` (n, q) with the sums of values (n, M, q)."""
    for i in range(values.shape[0]):
        for a in range(values.shape[2]):
            total = 0.0
            for j in range(values.shape[1]):
                total += values[i, j, a]
            out[i, a] = total


@kernel
def add_up_weighted(weights, values, total, out):
    """Fill ``total`` (n,) with the sums of weights (n, M), and ``out`` (n, q) with those of weights times values.

    Values (n, M, q) are taken relative to the first one of each query.
    """
    for i in range(values.shape[0]):
        total[i] = 0.0
        for j in range(values.shape[1]):
            total[i] += weights[i, j]
        for a in range(values.shape[2]):
            added = 0.0
            for j in range(values.shape[1]):
                added += weights[i, j] * (values[i, j, a] - values[i, 0, a])
            out[i, a] = added
