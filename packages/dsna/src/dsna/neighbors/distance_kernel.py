"""The weight of a neighbour by its distance, exp(-d / (h mean d)): the prior of Algorithm 1 without its radius."""

from __future__ import annotations

import numpy as np

from .._utils.sums import ordered_sum


def distance_kernel(away: np.ndarray, size: np.ndarray, bandwidth: float) -> np.ndarray:
    """Weights that fall with distance, in mean distances of a neighbourhood.

    Parameters
    ----------
    away : array of shape (n, m)
        Distances of neighbours from n queries.
    size : array of shape (n,)
        Neighbours of each query: the first of its row; the rest fills the row up.
    bandwidth : float
        Mean distances within which a weight falls to 1 / e.

    Returns
    -------
    weights : array of shape (n, m)
        Ones where all neighbours lie on the query.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.neighbors.distance_kernel import distance_kernel
    >>> distance_kernel(np.array([[1.0, 3.0], [0.0, 0.0]]), np.array([2, 2]), 0.5).round(3)
    array([[0.368, 0.05 ],
           [1.   , 1.   ]])
    """
    inside = np.arange(away.shape[1]) < size[:, None]
    usual = ordered_sum(away * inside)[:, None] / np.maximum(size, 1)[:, None]
    return np.exp(-away / np.where(usual > 0, bandwidth * usual, 1.0))
