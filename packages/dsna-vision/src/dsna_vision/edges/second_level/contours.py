"""Length of the contours that candidates belong to, at several thresholds of a thin map."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import label

from .candidates import Candidates

LEVELS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
_EIGHT_NEIGHBORS = np.ones((3, 3))


def contour_sizes(lines: np.ndarray, candidates: Candidates) -> np.ndarray:
    """Size of each candidate's connected contour at each level, as log(1 + pixels); 0 where the map is below.

    Parameters
    ----------
    lines : array of shape (H, W)
        Thin map.
    candidates : Candidates

    Returns
    -------
    array of shape (n, 6), float32

    Examples
    --------
    >>> import numpy as np
    >>> lines = np.zeros((5, 5))
    >>> lines[2] = 0.25
    >>> middle = Candidates(np.array([[2, 2]]), np.array([0.25]))
    >>> np.expm1(contour_sizes(lines, middle)).round().tolist()
    [[5.0, 5.0, 5.0, 0.0, 0.0, 0.0]]
    """
    y, x = candidates.pixels.T
    sizes = np.empty((len(y), len(LEVELS)), dtype=np.float32)
    for k, level in enumerate(LEVELS):
        contour, _ = label(lines >= level, _EIGHT_NEIGHBORS)
        pixels = np.bincount(contour.ravel())
        pixels[0] = 0
        sizes[:, k] = np.log1p(pixels[contour[y, x]])
    return sizes
