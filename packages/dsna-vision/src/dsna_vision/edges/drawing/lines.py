"""Lines of a thin map: removal of short ones, and tracing from end to end."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array


def open_contours(edges: np.ndarray, area: int) -> np.ndarray:
    """Lower each pixel to the highest level at which its contour has at least ``area`` pixels.

    Above any threshold, only contours of at least ``area`` pixels then remain: dots disappear, and so do short peaks
    beside and on a long contour, which itself stays.

    Parameters
    ----------
    edges : array of shape (H, W), float32
    area : int
        Minimum number of pixels; 1 changes nothing.

    Returns
    -------
    array of shape (H, W), float32

    Examples
    --------
    >>> import numpy as np
    >>> edges = np.array([[0.5, 0.5, 0.75, 0.0, 1.0, 0.0]], dtype=np.float32)
    >>> open_contours(edges, 3)
    array([[0.5, 0.5, 0.5, 0. , 0. , 0. ]], dtype=float32)
    """
    from ..._kernels.opening import open_area

    values = np.array(edges, dtype=np.float32, order="C")
    positions = np.flatnonzero(values > 0)
    highest_first = positions[np.argsort(-values.ravel()[positions], kind="stable")]
    lowered = np.zeros_like(values)
    open_area(values, highest_first, int(area), lowered)
    return lowered


def trace_lines(mask: np.ndarray) -> list[np.ndarray]:
    """Trace the lines of a mask from end to end, or from crossing to crossing.

    Parameters
    ----------
    mask : bool array of shape (H, W)
        Thinned before tracing; single pixels are ignored.

    Returns
    -------
    list of arrays of shape (n, 2), int64
        Rows and columns of successive pixels; a closed line ends where it begins.

    Examples
    --------
    >>> import numpy as np
    >>> mask = np.zeros((9, 9), dtype=bool)
    >>> mask[4, 1:8] = True
    >>> [path[[0, -1]].tolist() for path in trace_lines(mask)]
    [[[4, 1], [4, 7]]]
    """
    thin = _thin_mask(mask)
    number = np.full((thin.shape[0] + 1, thin.shape[1] + 2), -1)
    number[:-1, 1:-1][thin] = np.arange(thin.sum())
    centre = number[:-1, 1:-1]
    right, lower, lower_right, lower_left = number[:-1, 2:], number[1:, 1:-1], number[1:, 2:], number[1:, :-2]
    left = number[:-1, :-2]
    # Diagonal pixels are neighbours unless a third pixel shares a side with both.
    pairs = [
        _linked_pairs(centre, right),
        _linked_pairs(centre, lower),
        _linked_pairs(centre, np.where((right < 0) & (lower < 0), lower_right, -1)),
        _linked_pairs(centre, np.where((left < 0) & (lower < 0), lower_left, -1)),
    ]
    return _paths(np.concatenate(pairs, axis=1), np.argwhere(thin))


def _thin_mask(mask: np.ndarray) -> np.ndarray:
    from ..._kernels.thinning import thin

    padded = np.pad(mask.astype(np.uint8), 1)
    thin(padded)
    cropped: np.ndarray = padded[1:-1, 1:-1] > 0
    return cropped


def _linked_pairs(pixels: np.ndarray, neighbors: np.ndarray) -> np.ndarray:
    linked = (pixels >= 0) & (neighbors >= 0)
    return np.stack([pixels[linked], neighbors[linked]])


def _paths(pairs: np.ndarray, positions: np.ndarray) -> list[np.ndarray]:
    """Paths that use each link between pixels once: first from ends and crossings, then closed lines."""
    n_links, n = pairs.shape[1], len(positions)
    link = np.tile(np.arange(n_links), 2)
    ends = np.concatenate([pairs, pairs[::-1]], axis=1)
    table = coo_array((link, ends), shape=(n, n)).tocsr()
    start, other, link = table.indptr.tolist(), table.indices.tolist(), table.data.tolist()
    degree = np.diff(table.indptr)
    used = bytearray(n_links)

    def follow(node: int, slot: int) -> np.ndarray:
        path = [node]
        while True:
            used[link[slot]] = 1
            node = other[slot]
            path.append(node)
            free = [k for k in range(start[node], start[node + 1]) if not used[link[k]]]
            if degree[node] != 2 or not free:
                coordinates: np.ndarray = positions[path]
                return coordinates
            slot = free[0]

    ends_and_crossings = np.flatnonzero((degree > 0) & (degree != 2)).tolist()
    return [
        follow(node, slot)
        for nodes in (ends_and_crossings, range(n))
        for node in nodes
        for slot in range(start[node], start[node + 1])
        if not used[link[slot]]
    ]
