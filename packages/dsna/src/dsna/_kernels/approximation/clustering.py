"""Label-aware K-means with overlap (eq. 1): clusters of a neighbourhood that keep to one class or range of targets."""

import numpy as np

from ..jit import TIE, kernel

_EPS = 1e-3


@kernel
def label_factor(label, i, other, is_class, tau, widest):
    """Factor of a distance: 1(y_i != y) for classes, g(|y_i - y|) = tau |.| / (widest - |.| + eps) for targets.

    Targets that are all equal do not separate rows: their factor is 0.
    """
    if is_class:
        return 0.0 if label[i, 0] == other[0] else 1.0
    if widest == 0.0:
        return 0.0
    gap = 0.0
    for a in range(label.shape[1]):
        gap += (label[i, a] - other[a]) ** 2
    gap = np.sqrt(gap)
    return tau * gap / (max(widest - gap, 0.0) + _EPS * widest)


@kernel
def widest_gap(label, m):
    """Largest distance between two targets, bounded by the diagonal of their range."""
    total = 0.0
    for a in range(label.shape[1]):
        low = label[0, a]
        high = label[0, a]
        for i in range(m):
            low = min(low, label[i, a])
            high = max(high, label[i, a])
        total += (high - low) ** 2
    return np.sqrt(total)


@kernel
def majority(label, weight, m):
    """The class of largest total weight among m rows, the smallest of equals."""
    best = label[0, 0]
    best_weight = -1.0
    last = -np.inf
    while True:
        # Class by class, rising.
        code = np.inf
        for i in range(m):
            if last < label[i, 0] < code:
                code = label[i, 0]
        if code == np.inf:
            return best
        total = 0.0
        for i in range(m):
            if label[i, 0] == code:
                total += weight[i]
        if total > best_weight:
            best = code
            best_weight = total
        last = code


@kernel
def _distance(Z, i, centre):
    total = 0.0
    for a in range(Z.shape[1]):
        total += (Z[i, a] - centre[a]) ** 2
    return np.sqrt(total)


@kernel
def _assign(Z, label, m, k, is_class, tau, widest, slack, centre, centre_label, member):
    """Each row to its nearest centroid and to those at most ``slack`` farther; returns whether anything changed."""
    changed = False
    away = np.empty(k)
    for i in range(m):
        least = np.inf
        for c in range(k):
            plain = _distance(Z, i, centre[c])
            away[c] = plain * (label_factor(label, i, centre_label[c], is_class, tau, widest) + TIE)
            least = min(least, away[c])
        for c in range(k):
            belongs = away[c] <= (least + slack) * (1.0 + TIE)
            if belongs != member[i, c]:
                member[i, c] = belongs
                changed = True
    return changed


@kernel
def label_means(Z, label, m, is_class, k, tau, slack, first, max_iter, member):
    """Cluster the rows ``Z[:m]`` with labels ``label[:m]`` into at most k overlapping clusters; fills ``member``.

    Parameters
    ----------
    slack : how much farther than the nearest centroid a row may be and still belong.
    first : the row that starts the first cluster; each next one is the row farthest from those chosen.

    Returns
    -------
    Number of clusters, none of them empty; fewer than k where the rows hold fewer different ones or one lost all
    its rows on the way.
    """
    d = Z.shape[1]
    q = label.shape[1]
    widest = widest_gap(label, m)
    centre = np.empty((k, d))
    centre_label = np.empty((k, q))
    far = np.full(m, np.inf)
    chosen = first
    found = 0
    for c in range(k):
        for a in range(d):
            centre[c, a] = Z[chosen, a]
        for a in range(q):
            centre_label[c, a] = label[chosen, a]
        found += 1
        farthest = 0.0
        for i in range(m):
            plain = _distance(Z, i, centre[c])
            away = plain * (label_factor(label, i, centre_label[c], is_class, tau, widest) + TIE)
            far[i] = min(far[i], away)
            if far[i] > farthest * (1.0 + TIE):
                farthest = far[i]
                chosen = i
        if farthest <= 0.0:
            break
    member[:m, :] = False
    ones = np.ones(m)
    inside = np.empty((m, q))
    for _ in range(max_iter):
        if not _assign(Z, label, m, found, is_class, tau, widest, slack, centre, centre_label, member):
            break
        for c in range(found):
            n = np.int64(0)
            for i in range(m):
                if member[i, c]:
                    for a in range(q):
                        inside[n, a] = label[i, a]
                    n += 1
            if n == 0:
                continue
            centre[c] = 0.0
            centre_label[c] = 0.0
            for i in range(m):
                if member[i, c]:
                    for a in range(d):
                        centre[c, a] += Z[i, a] / n
                    for a in range(q):
                        centre_label[c, a] += label[i, a] / n
            if is_class:
                centre_label[c, 0] = majority(inside, ones, n)
    kept = 0
    for c in range(found):
        if member[:m, c].any():
            for i in range(m):
                member[i, kept] = member[i, c]
            kept += 1
    member[:m, kept:] = False
    return kept
