"""Neighbourhoods as queries see them, and their clusters with the hulls of these (the first steps of Algorithm 1).

Without clusters and hulls, which is the default, ``group_neighbors`` is neither run nor compiled.
"""

import numpy as np

from ..jit import TIE, first_smallest, kernel
from .clustering import label_means
from .hull import hull_point

CLUSTER_STEPS = 10


@kernel
def seen_from(query, Z, label, rows, m, how, L, y, anchor, away):
    """Fill the rows ``L`` (m, D), labels ``y`` (m, q) and distances ``away`` (m,) of the neighbours of a query.

    Labels of coefficients that sum to one count from ``anchor``, that of the first row: what all labels have in common
    does not round.

    Returns
    -------
    (mean squared distance, mean distance), both one where all rows are the query itself
    """
    if how.n_classes == 0 and how.sum_to_one == 1:
        for a in range(label.shape[1]):
            anchor[a] = label[rows[0], a]
    squared = 0.0
    scale = 0.0
    for k in range(m):
        r = rows[k]
        for a in range(label.shape[1]):
            y[k, a] = label[r, a] - anchor[a]
        total = 0.0
        for a in range(Z.shape[1]):
            L[k, a] = Z[r, a]
            total += (Z[r, a] - query[a]) ** 2
        away[k] = np.sqrt(total)
        squared += total / m
        scale += away[k] / m
    if squared <= 1e-300:
        return 1.0, 1.0
    return squared, scale


@kernel
def group_neighbors(Q, Z, label, rows, size, how, found, point, member, residual):
    """Cluster the neighbours of each query, and find the points of the clusters' hulls that are nearest to it.

    Parameters
    ----------
    Q, Z, label, rows, size, how : as ``approximate`` takes them.
    found : (n,) filled with the number of clusters.
    point : (n, K, D) filled with the points that stand for the query: itself, where there are no hulls.
    member : (n, M, K) filled with the rows of each cluster.
    residual : (n, K) filled with the distances of the query from the hulls.
    """
    D = Z.shape[1]
    for i in range(Q.shape[0]):
        m = size[i]
        if m == 0:
            continue
        L = np.empty((m, D))
        y = np.empty((m, label.shape[1]))
        anchor = np.zeros(label.shape[1])
        away = np.empty(m)
        scale = seen_from(Q[i], Z, label, rows[i], m, how, L, y, anchor, away)[1]
        if how.n_clusters > 1:
            nearest = first_smallest(away, TIE * scale)
            slack = how.overlap * scale
            found[i] = label_means(
                L, y, m, how.n_classes > 0, how.n_clusters, how.tau, slack, nearest, CLUSTER_STEPS, member[i]
            )
        else:
            found[i] = 1
            member[i, :m, 0] = True
        inside = np.empty((m, D))
        for c in range(found[i]):
            for a in range(D):
                point[i, c, a] = Q[i, a]
            if how.energy > 0.0:
                n = np.int64(0)
                for k in range(m):
                    if member[i, k, c]:
                        for a in range(D):
                            inside[n, a] = L[k, a]
                        n += 1
                residual[i, c] = hull_point(inside, n, how.energy, Q[i], point[i, c])
