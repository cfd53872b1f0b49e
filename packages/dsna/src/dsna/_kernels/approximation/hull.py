"""Affine hull of a cluster (eq. 2): its mean plus the span of its leading directions."""

import numpy as np

from ..jit import TIE, kernel


@kernel
def hull_point(L, m, energy, q, point):
    """Fill ``point`` with the point of the affine hull of ``L[:m]`` nearest to q; returns their distance.

    The basis is truncated to the leading directions that hold the share ``energy`` of the variance, because a
    cluster of more than D rows spans the whole space and would fit everything.  Directions of equal variance stay
    together: which of them comes first is a matter of rounding.
    """
    d = L.shape[1]
    mean = np.zeros(d)
    for i in range(m):
        for a in range(d):
            mean[a] += L[i, a] / m
    offset = np.empty(d)
    # What rounding leaves of rows that are all the same is no direction.
    noise = 0.0
    for a in range(d):
        offset[a] = q[a] - mean[a]
        point[a] = mean[a]
        noise += 1e-26 * m * mean[a] ** 2
    if m > 1:
        centred = np.empty((m, d))
        for i in range(m):
            for a in range(d):
                centred[i, a] = L[i, a] - mean[a]
        wide = m <= d
        values, vectors = np.linalg.eigh(centred @ centred.T if wide else centred.T @ centred)
        total = 0.0
        for j in range(values.shape[0]):
            total += max(values[j], 0.0)
        reached = 0.0
        least = np.inf
        for j in range(values.shape[0] - 1, -1, -1):
            enough = reached >= energy * total * (1.0 - 1e-12) and values[j] < least * (1.0 - TIE)
            if values[j] <= 1e-12 * total + noise or enough:
                break
            reached += values[j]
            least = values[j]
            direction = np.zeros(d)
            if wide:
                for i in range(m):
                    for a in range(d):
                        direction[a] += centred[i, a] * vectors[i, j]
                for a in range(d):
                    direction[a] /= np.sqrt(values[j])
            else:
                for a in range(d):
                    direction[a] = vectors[a, j]
            along = 0.0
            for a in range(d):
                along += direction[a] * offset[a]
            for a in range(d):
                point[a] += along * direction[a]
    away = 0.0
    for a in range(d):
        away += (q[a] - point[a]) ** 2
    return np.sqrt(away)
