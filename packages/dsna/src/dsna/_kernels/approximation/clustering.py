"""Label-aware K-means with overlap (eq. 1): clusters of a neighbourhood with one class or a range of targets each."""

import numpy as np

from ..jit import TIE, kernel

_EPS = 1e-3


@kernel
def label_factor(label, i, centre_label, is_class, tau, max_gap):
    """Factor of a distance: 1(y_i != y) for classes, g(|y_i - y|) = tau |.| / (max_gap - |.| + eps) for targets.

    If all targets are equal, the factor is 0.
    """
    if is_class:
        return 0.0 if label[i, 0] == centre_label[0] else 1.0
    if max_gap == 0.0:
        return 0.0
    gap = 0.0
    for a in range(label.shape[1]):
        gap += (label[i, a] - centre_label[a]) ** 2
    gap = np.sqrt(gap)
    return tau * gap / (max(max_gap - gap, 0.0) + _EPS * max_gap)


@kernel
def widest_gap(label, n_rows):
    """Upper bound on the distance between two targets: the diagonal of their range."""
    total = 0.0
    for a in range(label.shape[1]):
        low = label[0, a]
        high = label[0, a]
        for i in range(n_rows):
            low = min(low, label[i, a])
            high = max(high, label[i, a])
        total += (high - low) ** 2
    return np.sqrt(total)


@kernel
def majority(label, weight, n_rows):
    """Return the class of largest total weight among ``n_rows`` rows; of equals, the one of smallest number."""
    best_class = label[0, 0]
    best_weight = -1.0
    last_class = -np.inf
    while True:
        # Classes in ascending order.
        label_class = np.inf
        for i in range(n_rows):
            if last_class < label[i, 0] < label_class:
                label_class = label[i, 0]
        if label_class == np.inf:
            return best_class
        total = 0.0
        for i in range(n_rows):
            if label[i, 0] == label_class:
                total += weight[i]
        if total > best_weight:
            best_class = label_class
            best_weight = total
        last_class = label_class


@kernel
def _distance(Z, i, centre):
    total = 0.0
    for a in range(Z.shape[1]):
        total += (Z[i, a] - centre[a]) ** 2
    return np.sqrt(total)


@kernel
def _assign(Z, label, n_neighbors, n_clusters, is_class, tau, max_gap, slack, centre, centre_label, member):
    """Assign rows to their nearest centroid and to those at most ``slack`` farther; return whether any changed."""
    changed = False
    distances = np.empty(n_clusters)
    for i in range(n_neighbors):
        nearest = np.inf
        for c in range(n_clusters):
            feature_distance = _distance(Z, i, centre[c])
            distances[c] = feature_distance * (label_factor(label, i, centre_label[c], is_class, tau, max_gap) + TIE)
            nearest = min(nearest, distances[c])
        for c in range(n_clusters):
            belongs = distances[c] <= (nearest + slack) * (1.0 + TIE)
            if belongs != member[i, c]:
                member[i, c] = belongs
                changed = True
    return changed


@kernel
def label_aware_kmeans(Z, label, n_neighbors, is_class, max_clusters, tau, slack, first_row, max_iter, member):
    """Fill ``member`` with at most ``max_clusters`` overlapping clusters of the rows of ``Z`` and their labels.

    Parameters
    ----------
    slack : how much farther than its nearest centroid another centroid may be from a row that belongs to both.
    first_row : the row that starts the first cluster; each further cluster starts at the row farthest from the others.

    Returns
    -------
    Number of non-empty clusters; fewer than ``max_clusters`` if rows repeat or a cluster has lost all its rows.
    """
    n_dims = Z.shape[1]
    n_outputs = label.shape[1]
    max_gap = widest_gap(label, n_neighbors)
    centre = np.empty((max_clusters, n_dims))
    centre_label = np.empty((max_clusters, n_outputs))
    nearest_distance = np.full(n_neighbors, np.inf)
    next_row = first_row
    n_clusters = 0
    for c in range(max_clusters):
        for a in range(n_dims):
            centre[c, a] = Z[next_row, a]
        for a in range(n_outputs):
            centre_label[c, a] = label[next_row, a]
        n_clusters += 1
        farthest = 0.0
        for i in range(n_neighbors):
            feature_distance = _distance(Z, i, centre[c])
            distance = feature_distance * (label_factor(label, i, centre_label[c], is_class, tau, max_gap) + TIE)
            nearest_distance[i] = min(nearest_distance[i], distance)
            if nearest_distance[i] > farthest * (1.0 + TIE):
                farthest = nearest_distance[i]
                next_row = i
        if farthest <= 0.0:
            break
    member[:n_neighbors, :] = False
    unit_weights = np.ones(n_neighbors)
    cluster_labels = np.empty((n_neighbors, n_outputs))
    for _ in range(max_iter):
        if not _assign(Z, label, n_neighbors, n_clusters, is_class, tau, max_gap, slack, centre, centre_label, member):
            break
        for c in range(n_clusters):
            n_rows = np.int64(0)
            for i in range(n_neighbors):
                if member[i, c]:
                    for a in range(n_outputs):
                        cluster_labels[n_rows, a] = label[i, a]
                    n_rows += 1
            if n_rows == 0:
                continue
            centre[c] = 0.0
            centre_label[c] = 0.0
            for i in range(n_neighbors):
                if member[i, c]:
                    for a in range(n_dims):
                        centre[c, a] += Z[i, a] / n_rows
                    for a in range(n_outputs):
                        centre_label[c, a] += label[i, a] / n_rows
            if is_class:
                centre_label[c, 0] = majority(cluster_labels, unit_weights, n_rows)
    n_kept = 0
    for c in range(n_clusters):
        if member[:n_neighbors, c].any():
            for i in range(n_neighbors):
                member[i, n_kept] = member[i, c]
            n_kept += 1
    member[:n_neighbors, n_kept:] = False
    return n_kept
