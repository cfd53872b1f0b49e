"""Lines of a thin map: freed of crumbs, and followed from end to end."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array


def opened(edges: np.ndarray, area: int) -> np.ndarray:
    """Lower each pixel to the highest level at which its contour has so many pixels.

    What is then above any threshold are the contours above it that have so many pixels: dots go, and so do the short
    peaks beside and on a long contour, which stays.

    Parameters
    ----------
    edges : array of shape (H, W), float32
    area : int
        1 changes nothing.

    Returns
    -------
    array of shape (H, W), float32

    Examples
    --------
    >>> import numpy as np
    >>> edges = np.array([[0.5, 0.5, 0.75, 0.0, 1.0, 0.0]], dtype=np.float32)
    >>> opened(edges, 3)
    array([[0.5, 0.5, 0.5, 0. , 0. , 0. ]], dtype=float32)
    """
    from ..._kernels.opening import open_area

    values = np.array(edges, dtype=np.float32, order="C")
    places = np.flatnonzero(values > 0)
    highest_first = places[np.argsort(-values.ravel()[places], kind="stable")]
    lowered = np.zeros_like(values)
    open_area(values, highest_first, int(area), lowered)
    return lowered


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
    from ..._kernels.thinning import thin

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
