"""Affine hull of a cluster (eq. 2): the mean plus the span of the leading principal directions."""

import numpy as np

from ..jit import TIE, kernel


@kernel
def hull_point(rows, n_rows, energy, query, point):
    """Fill ``point`` with the point of the affine hull of ``rows[:n_rows]`` nearest to a query; return its distance.

    The basis is truncated to the leading directions that explain the share ``energy`` of the variance, because a
    cluster of more than D rows spans the whole space and would fit everything. Directions of equal variance are kept
    or dropped together: their order depends on rounding.
    """
    n_dims = rows.shape[1]
    mean = np.zeros(n_dims)
    for i in range(n_rows):
        for a in range(n_dims):
            mean[a] += rows[i, a] / n_rows
    offset = np.empty(n_dims)
    # Rounding errors of identical rows must not count as a direction.
    noise = 0.0
    for a in range(n_dims):
        offset[a] = query[a] - mean[a]
        point[a] = mean[a]
        noise += 1e-26 * n_rows * mean[a] ** 2
    if n_rows > 1:
        centred = np.empty((n_rows, n_dims))
        for i in range(n_rows):
            for a in range(n_dims):
                centred[i, a] = rows[i, a] - mean[a]
        by_rows = n_rows <= n_dims
        values, vectors = np.linalg.eigh(centred @ centred.T if by_rows else centred.T @ centred)
        total = 0.0
        for j in range(values.shape[0]):
            total += max(values[j], 0.0)
        explained = 0.0
        smallest_used = np.inf
        for j in range(values.shape[0] - 1, -1, -1):
            enough = explained >= energy * total * (1.0 - 1e-12) and values[j] < smallest_used * (1.0 - TIE)
            if values[j] <= 1e-12 * total + noise or enough:
                break
            explained += values[j]
            smallest_used = values[j]
            direction = np.zeros(n_dims)
            if by_rows:
                for i in range(n_rows):
                    for a in range(n_dims):
                        direction[a] += centred[i, a] * vectors[i, j]
                for a in range(n_dims):
                    direction[a] /= np.sqrt(values[j])
            else:
                for a in range(n_dims):
                    direction[a] = vectors[a, j]
            projection = 0.0
            for a in range(n_dims):
                projection += direction[a] * offset[a]
            for a in range(n_dims):
                point[a] += projection * direction[a]
    squared_distance = 0.0
    for a in range(n_dims):
        squared_distance += (query[a] - point[a]) ** 2
    return np.sqrt(squared_distance)
