"""SMOGN: rare labels interpolated or jittered, common ones thinned out (after Branco, Torgo and Ribeiro, 2017)."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from dsna.extend.solver import TargetRelevance

_SAMPLE = 500


def smogn(
    X: np.ndarray,
    y: np.ndarray,
    random: np.random.RandomState,
    *,
    threshold: float = 0.5,
    n_neighbors: int = 5,
    noise: float = 0.02,
) -> tuple[np.ndarray, np.ndarray]:
    """Resample a regression problem so that rare and common ranges of the label have equally many rows.

    The sorted labels are cut wherever the relevance crosses ``threshold``.  Each range should have n / (number of
    ranges) rows: common ranges are thinned, rare ones are filled up.  A new row is made from a row of the range and one
    of its nearest neighbours there.  If the neighbour is close (within half the median distance of the row to the rows
    of the range), the new row lies between the two, and its label is interpolated as well; otherwise it is the row with
    Gaussian noise on features and label.

    Parameters
    ----------
    X, y : arrays of shape (n, n_features) and (n,)
        Distances are measured on standardised columns.
    random : RandomState instance
    threshold : float, default=0.5
        Relevance, by label density (:class:`dsna.metrics.relevance.TargetRelevance`), from which a label is rare.
    n_neighbors : int, default=5
    noise : float, default=0.02
        Standard deviation of the noise, relative to those of the columns and of the label within the range.

    Returns
    -------
    X, y
        Kept rows and new rows.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_studies.baselines import smogn
    >>> random = np.random.RandomState(0)
    >>> y = np.r_[random.normal(0, 1, 190), random.uniform(6, 9, 10)]
    >>> new_y = smogn(y[:, None] + random.normal(size=(200, 2)), y, random)[1]
    >>> int((y > 5).sum()), bool((new_y > 5).sum() > 15), bool(len(new_y) <= 203)
    (10, True, True)
    """
    rare = TargetRelevance(y, "density").evaluate(y) >= threshold
    order = np.argsort(y, kind="stable")
    ranges = np.split(order, np.flatnonzero(np.diff(rare[order].astype(int))) + 1)
    n_wanted = int(np.ceil(len(y) / len(ranges)))
    scale = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    pieces: list[tuple[np.ndarray, np.ndarray]] = []
    for rows in ranges:
        if len(rows) > n_wanted and not rare[rows[0]]:
            rows = random.choice(rows, n_wanted, replace=False)
        pieces.append((X[rows], y[rows]))
        if len(rows) < n_wanted and rare[rows[0]]:
            pieces.append(_synthesize(X[rows], y[rows], scale, n_wanted - len(rows), n_neighbors, noise, random))
    return np.concatenate([piece_rows for piece_rows, _ in pieces]), np.concatenate([labels for _, labels in pieces])


def _synthesize(
    X: np.ndarray,
    y: np.ndarray,
    scale: np.ndarray,
    count: int,
    n_neighbors: int,
    noise: float,
    random: np.random.RandomState,
) -> tuple[np.ndarray, np.ndarray]:
    """Make ``count`` new rows from those of a range."""
    start = random.randint(len(y), size=count)
    new_X, new_y = X[start].copy(), y[start].astype(np.float64)
    is_close = np.zeros(count, dtype=bool)
    if len(y) > 1:
        Z = X / scale
        k = min(n_neighbors, len(y) - 1)
        neighbor_distances, neighbor_rows = NearestNeighbors(n_neighbors=k + 1).fit(Z).kneighbors(Z)
        sample_rows = random.permutation(len(y))[:_SAMPLE]
        median_distance = np.median(cdist(Z, Z[sample_rows]), axis=1)
        pick = random.randint(1, k + 1, size=count)
        is_close = neighbor_distances[start, pick] <= 0.5 * median_distance[start]
        partner = neighbor_rows[start, pick]
        mixing_weight = random.uniform(size=count)
        step = mixing_weight[:, None] * (X[partner] - X[start])
        new_X[is_close] += step[is_close]
        new_y[is_close] += (mixing_weight * (y[partner] - y[start]))[is_close]
    is_far = ~is_close
    new_X[is_far] += noise * X.std(axis=0) * random.normal(size=(int(is_far.sum()), X.shape[1]))
    new_y[is_far] += noise * y.std() * random.normal(size=int(is_far.sum()))
    return new_X, new_y
