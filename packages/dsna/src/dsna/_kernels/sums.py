"""Sums over the neighbours of each query, in the order of the neighbours."""

from .jit import kernel


@kernel
def sum_over_neighbors(values, out):
    """Fill ``out`` (n, q) with the sums of values (n, M, q)."""
    for i in range(values.shape[0]):
        for a in range(values.shape[2]):
            term_sum = 0.0
            for j in range(values.shape[1]):
                term_sum += values[i, j, a]
            out[i, a] = term_sum


@kernel
def weighted_sum_over_neighbors(weights, values, weight_sums, out):
    """Fill ``weight_sums`` (n,) with the sums of weights (n, M), and ``out`` (n, q) with those of weights times values.

    Values (n, M, q) are taken relative to that of the first neighbour of each query.
    """
    for i in range(values.shape[0]):
        weight_sums[i] = 0.0
        for j in range(values.shape[1]):
            weight_sums[i] += weights[i, j]
        for a in range(values.shape[2]):
            weighted_sum = 0.0
            for j in range(values.shape[1]):
                weighted_sum += weights[i, j] * (values[i, j, a] - values[i, 0, a])
            out[i, a] = weighted_sum
