"""Label-aware K-means with overlap (eq. 1) in plain Python: dictionaries of rows, no shared code with the kernel."""

from collections import Counter

import numpy as np

NEGLIGIBLE = 1e-9  # of the plain distance, which breaks ties among rows of one label
MARGIN = 1e-3  # eps of g(.), in units of the widest label gap


def label_gap(a, b):
    return float(np.linalg.norm(np.asarray(a) - np.asarray(b)))


def widest_gap(labels):
    labels = np.asarray(labels)
    return float(np.linalg.norm(labels.max(axis=0) - labels.min(axis=0)))


def factor(label, other, is_class, tau, widest):
    """Indicator of unlike classes, or g of the gap between labels."""
    if is_class:
        return float(label[0] != other[0])
    gap = label_gap(label, other)
    if gap == 0.0:
        return 0.0
    return tau * gap / (max(widest - gap, 0.0) + MARGIN * widest)


def vote(labels):
    """Most frequent class, the smallest of equals."""
    counts = Counter(float(row[0]) for row in labels)
    return min(counts, key=lambda c: (-counts[c], c))


def centre_of(rows, Z, labels, is_class):
    place = np.mean([Z[i] for i in rows], axis=0)
    label = [vote([labels[i] for i in rows])] if is_class else np.mean([labels[i] for i in rows], axis=0)
    return place, label


def slow_clusters(Z, labels, is_class, k, tau, slack, first, max_iter=10):
    """List of sets of rows, one for each cluster."""
    everyone = range(len(Z))
    widest = widest_gap(labels)

    def distance(i, centre):
        plain = float(np.linalg.norm(Z[i] - centre[0]))
        return plain * (factor(labels[i], centre[1], is_class, tau, widest) + NEGLIGIBLE)

    centres = [(Z[first], labels[first])]
    while len(centres) < k:
        from_nearest = {i: min(distance(i, c) for c in centres) for i in everyone}
        farthest = max(everyone, key=lambda i: (from_nearest[i], -i))
        if from_nearest[farthest] <= 0.0:
            break
        centres.append((Z[farthest], labels[farthest]))
    clusters: list[set[int]] = []
    for _ in range(max_iter):
        before = clusters
        clusters = [set() for _ in centres]
        for i in everyone:
            away = [distance(i, c) for c in centres]
            for c, d in enumerate(away):
                if d <= min(away) + slack:
                    clusters[c].add(i)
        if clusters == before:
            break
        centres = [
            centre_of(sorted(rows), Z, labels, is_class) if rows else old
            for rows, old in zip(clusters, centres, strict=True)
        ]
    return [rows for rows in clusters if rows]
