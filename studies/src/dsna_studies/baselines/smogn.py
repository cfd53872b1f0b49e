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
    """Resample a regression problem so that rare and common stretches of the label have as many rows.

    The sorted labels are cut wherever the relevance crosses ``threshold``.  Each stretch should have n / (number of
    stretches) rows: common ones are thinned out to that, rare ones are filled up.  A new row starts from a row of the
    stretch and one of its nearest in the stretch.  Where that one is close (within half the median distance between
    the start and the rows of the stretch), the new row lies between the two, and its label is the mean of theirs,
    weighted by nearness; otherwise it is the start with Gaussian noise on features and label.

    Parameters
    ----------
    X, y : arrays of shape (n, n_features) and (n,)
        Distances are taken on standardised columns.
    random : RandomState instance
    threshold : float, default=0.5
        Relevance, by label density (:class:`dsna.metrics.relevance.TargetRelevance`), from which a label is rare.
    n_neighbors : int, default=5
    noise : float, default=0.02
        Standard deviation of the noise, in those of the columns and of the label within the stretch.

    Returns
    -------
    X, y
        Rows kept and rows made.

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
    stretches = np.split(order, np.flatnonzero(np.diff(rare[order].astype(int))) + 1)
    wanted = int(np.ceil(len(y) / len(stretches)))
    scale = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    for rows in stretches:
        if len(rows) > wanted and not rare[rows[0]]:
            rows = random.choice(rows, wanted, replace=False)
        parts.append((X[rows], y[rows]))
        if len(rows) < wanted and rare[rows[0]]:
            parts.append(_invent(X[rows], y[rows], scale, wanted - len(rows), n_neighbors, noise, random))
    return np.concatenate([part for part, _ in parts]), np.concatenate([labels for _, labels in parts])


def _invent(
    X: np.ndarray,
    y: np.ndarray,
    scale: np.ndarray,
    count: int,
    n_neighbors: int,
    noise: float,
    random: np.random.RandomState,
) -> tuple[np.ndarray, np.ndarray]:
    """``count`` new rows from those of one stretch."""
    start = random.randint(len(y), size=count)
    new_X, new_y = X[start].copy(), y[start].astype(np.float64)
    close = np.zeros(count, dtype=bool)
    if len(y) > 1:
        Z = X / scale
        k = min(n_neighbors, len(y) - 1)
        away, near = NearestNeighbors(n_neighbors=k + 1).fit(Z).kneighbors(Z)
        some = random.permutation(len(y))[:_SAMPLE]
        typical = np.median(cdist(Z, Z[some]), axis=1)
        pick = random.randint(1, k + 1, size=count)
        close = away[start, pick] <= 0.5 * typical[start]
        other = near[start, pick]
        part = random.uniform(size=count)
        mixed = part[:, None] * (X[other] - X[start])
        new_X[close] += mixed[close]
        new_y[close] += (part * (y[other] - y[start]))[close]
    far = ~close
    new_X[far] += noise * X.std(axis=0) * random.normal(size=(int(far.sum()), X.shape[1]))
    new_y[far] += noise * y.std() * random.normal(size=int(far.sum()))
    return new_X, new_y
