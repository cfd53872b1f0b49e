"""The neighbours of a query, their clusters and the hulls of the clusters (the first steps of Algorithm 1).

Without clusters and hulls, which is the default, ``group_neighbors`` is neither run nor compiled.
"""

import numpy as np

from ..jit import TIE, first_smallest, kernel
from .clustering import label_aware_kmeans
from .hull import hull_point

CLUSTER_STEPS = 10


@kernel
def load_neighbors(query, Z, label, rows, n_neighbors, settings, neighbors, labels, anchor, distances):
    """Fill ``neighbors`` (m, D), their ``labels`` (m, q) and their ``distances`` (m,) from a query.

    In regression with coefficients that sum to one, labels are relative to ``anchor``, the label of the first row, so
    that a common offset of the labels causes no rounding errors.

    Returns
    -------
    (mean squared distance, mean distance), both one if all rows equal the query
    """
    if settings.n_classes == 0 and settings.sum_to_one == 1:
        for a in range(label.shape[1]):
            anchor[a] = label[rows[0], a]
    mean_square = 0.0
    mean_distance = 0.0
    for k in range(n_neighbors):
        row = rows[k]
        for a in range(label.shape[1]):
            labels[k, a] = label[row, a] - anchor[a]
        square = 0.0
        for a in range(Z.shape[1]):
            neighbors[k, a] = Z[row, a]
            square += (Z[row, a] - query[a]) ** 2
        distances[k] = np.sqrt(square)
        mean_square += square / n_neighbors
        mean_distance += distances[k] / n_neighbors
    if mean_square <= 1e-300:
        return 1.0, 1.0
    return mean_square, mean_distance


@kernel
def group_neighbors(Q, Z, label, rows, size, settings, n_clusters, point, member, residual):
    """Cluster the neighbours of each query, and find the point of each cluster's hull that is nearest to it.

    Parameters
    ----------
    Q, Z, label, rows, size, settings : as ``approximate`` takes them.
    n_clusters : (n,) filled with the number of clusters.
    point : (n, K, D) filled with the points to approximate: of the hulls, or the query itself if there are no hulls.
    member : (n, M, K) filled with the cluster membership of each row.
    residual : (n, K) filled with the distances of the query from the hulls.
    """
    n_dims = Z.shape[1]
    for i in range(Q.shape[0]):
        n_neighbors = size[i]
        if n_neighbors == 0:
            continue
        neighbors = np.empty((n_neighbors, n_dims))
        labels = np.empty((n_neighbors, label.shape[1]))
        anchor = np.zeros(label.shape[1])
        distances = np.empty(n_neighbors)
        mean_distance = load_neighbors(
            Q[i], Z, label, rows[i], n_neighbors, settings, neighbors, labels, anchor, distances
        )[1]
        if settings.n_clusters > 1:
            nearest = first_smallest(distances, TIE * mean_distance)
            slack = settings.overlap * mean_distance
            n_clusters[i] = label_aware_kmeans(
                neighbors,
                labels,
                n_neighbors,
                settings.n_classes > 0,
                settings.n_clusters,
                settings.tau,
                slack,
                nearest,
                CLUSTER_STEPS,
                member[i],
            )
        else:
            n_clusters[i] = 1
            member[i, :n_neighbors, 0] = True
        cluster_rows = np.empty((n_neighbors, n_dims))
        for c in range(n_clusters[i]):
            for a in range(n_dims):
                point[i, c, a] = Q[i, a]
            if settings.energy > 0.0:
                n_rows = np.int64(0)
                for k in range(n_neighbors):
                    if member[i, k, c]:
                        for a in range(n_dims):
                            cluster_rows[n_rows, a] = neighbors[k, a]
                        n_rows += 1
                residual[i, c] = hull_point(cluster_rows, n_rows, settings.energy, Q[i], point[i, c])
