"""Weights that decay with distance, exp(-d / (h mean d)): the prior of Algorithm 1 without its radius."""

from __future__ import annotations

import numpy as np

from .._utils.sums import ordered_sum


def distance_kernel(distances: np.ndarray, size: np.ndarray, bandwidth: float) -> np.ndarray:
    """Return weights that decay with distance, relative to the mean distance of each neighbourhood.

    Parameters
    ----------
    distances : array of shape (n, m)
        Distances of neighbours from n queries.
    size : array of shape (n,)
        Number of neighbours of each query; further entries of its row are ignored in the mean.
    bandwidth : float
        Distance, in mean distances, at which a weight is 1 / e.

    Returns
    -------
    weights : array of shape (n, m)
        Weights; ones if all neighbours equal the query.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.neighbors.distance_kernel import distance_kernel
    >>> distance_kernel(np.array([[1.0, 3.0], [0.0, 0.0]]), np.array([2, 2]), 0.5).round(3)
    array([[0.368, 0.05 ],
           [1.   , 1.   ]])
    """
    is_neighbor = np.arange(distances.shape[1]) < size[:, None]
    mean_distance = ordered_sum(distances * is_neighbor)[:, None] / np.maximum(size, 1)[:, None]
    return np.exp(-distances / np.where(mean_distance > 0, bandwidth * mean_distance, 1.0))
