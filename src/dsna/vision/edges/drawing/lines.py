"""Lines of a thin map: short ones left out, and followed from end to end."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import label
from scipy.sparse import coo_array

_TOUCHING = np.ones((3, 3))


def long_lines(edges: np.ndarray, level: float, length: int) -> np.ndarray:
    """The map without what is below a level, and without contours above it of fewer pixels than a length.

    Parameters
    ----------
    edges : array of shape (H, W)
    level : float
    length : int

    Returns
    -------
    array of shape (H, W)

    Examples
    --------
    >>> import numpy as np
    >>> edges = np.array([[0.9, 0.9, 0.9, 0.0, 0.4, 0.0, 0.05, 0.05]])
    >>> long_lines(edges, level=0.1, length=2)
    array([[0.9, 0.9, 0.9, 0. , 0. , 0. , 0. , 0. ]])
    """
    contour, _ = label(edges >= level, _TOUCHING)
    pixels = np.bincount(contour.ravel())
    pixels[0] = 0
    kept: np.ndarray = np.where((pixels >= max(length, 1))[contour], edges, edges.dtype.type(0))
    return kept


def traced(mask: np.ndarray) -> list[np.ndarray]:
    """Follow the lines of a mask from end to end, or from crossing to crossing.

    Parameters
    ----------
    mask : bool array of shape (H, W)
        It is thinned first; single pixels are no lines.

    Returns
    -------
    list of arrays of shape (n, 2), int64
        Rows and columns of one pixel after another; those of a closed line end where they begin.

    Examples
    --------
    >>> import numpy as np
    >>> mask = np.zeros((9, 9), dtype=bool)
    >>> mask[4, 1:8] = True
    >>> [path[[0, -1]].tolist() for path in traced(mask)]
    [[[4, 1], [4, 7]]]
    """
    thin = _thinned(mask)
    number = np.full((thin.shape[0] + 1, thin.shape[1] + 2), -1)
    number[:-1, 1:-1][thin] = np.arange(thin.sum())
    here = number[:-1, 1:-1]
    right, below, below_right, below_left = number[:-1, 2:], number[1:, 1:-1], number[1:, 2:], number[1:, :-2]
    left = number[:-1, :-2]
    # Pixels that meet at a corner are neighbours where no pixel touches both of them at a side.
    pairs = [
        _linked(here, right),
        _linked(here, below),
        _linked(here, np.where((right < 0) & (below < 0), below_right, -1)),
        _linked(here, np.where((left < 0) & (below < 0), below_left, -1)),
    ]
    return _paths(np.concatenate(pairs, axis=1), np.argwhere(thin))


def _thinned(mask: np.ndarray) -> np.ndarray:
    from ...._kernels.edges.thinning import thin

    padded = np.pad(mask.astype(np.uint8), 1)
    thin(padded)
    inside: np.ndarray = padded[1:-1, 1:-1] > 0
    return inside


def _linked(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    both = (one >= 0) & (other >= 0)
    return np.stack([one[both], other[both]])


def _paths(pairs: np.ndarray, places: np.ndarray) -> list[np.ndarray]:
    """Paths over links between pixels, each link once: first those from ends and crossings on, then closed lines."""
    n_links, n = pairs.shape[1], len(places)
    link = np.tile(np.arange(n_links), 2)
    ends = np.concatenate([pairs, pairs[::-1]], axis=1)
    table = coo_array((link, ends), shape=(n, n)).tocsr()
    start, other, link = table.indptr.tolist(), table.indices.tolist(), table.data.tolist()
    degree = np.diff(table.indptr)
    used = bytearray(n_links)

    def followed(node: int, at: int) -> np.ndarray:
        path = [node]
        while True:
            used[link[at]] = 1
            node = other[at]
            path.append(node)
            free = [k for k in range(start[node], start[node + 1]) if not used[link[k]]]
            if degree[node] != 2 or not free:
                found: np.ndarray = places[path]
                return found
            at = free[0]

    first = np.flatnonzero((degree > 0) & (degree != 2)).tolist()
    return [
        followed(node, at)
        for nodes in (first, range(n))
        for node in nodes
        for at in range(start[node], start[node + 1])
        if not used[link[at]]
    ]
