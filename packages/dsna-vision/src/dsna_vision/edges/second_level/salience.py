"""What lines say of the photo as a whole: how they divide it, as eigenvectors of its pixels' links show."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, diags_array
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from dsna.extend.parallel import writable

from .candidates import Candidates

COUNTS = (4, 8, 16)  # eigenvectors that are added up
_BLOCK, _MOST_PIXELS = 4, 40_000  # of the small map: pixels of a side that become one, and how many are left
_REACH = 5  # pixels of the small map that are linked
_SOFTNESS = 0.1  # strength of a line that weakens a link to 1 / e
_LANCZOS, _MOST_RESTARTS, _CLOSE = 45, 200, 1e-9
_LEAST_GAP = 1e-7


def blocks_of(shape: tuple[int, ...], least: int, most_pixels: int) -> int:
    """Pixels of a side that become one: as many as asked for, or more where too many pixels would be left.

    Examples
    --------
    >>> blocks_of((321, 481), 4, 40_000), blocks_of((3000, 4000), 4, 40_000)
    (4, 18)
    """
    side = least
    while -(-shape[0] // side) * -(-shape[1] // side) > most_pixels:
        side += 1
    return side


def strongest(lines: np.ndarray, side: int) -> np.ndarray:
    """Largest value of each block of side x side pixels; at the lower and right border blocks may be smaller.

    Examples
    --------
    >>> import numpy as np
    >>> strongest(np.eye(5, dtype=np.float32), 3).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    height, width = (-(-length // side) * side for length in lines.shape)
    padded = np.zeros((height, width), dtype=lines.dtype)
    padded[: lines.shape[0], : lines.shape[1]] = lines
    largest: np.ndarray = padded.reshape(height // side, side, width // side, side).max(axis=(1, 3))
    return largest


def salience(lines: np.ndarray, candidates: Candidates) -> np.ndarray:
    """How strongly the first eigenvectors of the photo's pixels change where candidates are, as log(1 + strength).

    Pixels of a small map are linked with those nearby, less so where a line is between them.  The first eigenvectors of
    these links are almost constant within parts that lines enclose, and change where such parts meet, also where a
    line has gaps; within a part they hardly change, whatever short lines there are.

    Parameters
    ----------
    lines : array of shape (H, W), float32
        Thin map.
    candidates : Candidates

    Returns
    -------
    array of shape (n, 3), float32
        Of 4, 8 and 16 eigenvectors.

    Examples
    --------
    >>> import numpy as np
    >>> lines = np.zeros((48, 64), dtype=np.float32)
    >>> lines[:, 30], lines[20:28, 50] = 0.8, 0.8
    >>> through, short = salience(lines, Candidates(np.array([[24, 30], [24, 50]]), np.ones(2)))[:, 0]
    >>> bool(through > short)
    True
    """
    side = blocks_of(lines.shape, _BLOCK, _MOST_PIXELS)
    small = strongest(lines, side).astype(np.float64)
    y, x = candidates.places.T // side
    found = np.zeros((len(candidates), len(COUNTS)), dtype=np.float32)
    values, vectors = _eigenvectors(small, max(COUNTS))
    square = np.zeros(small.shape)
    for k, (value, vector) in enumerate(zip(values, vectors, strict=True), start=1):
        down, across = np.gradient(vector.reshape(small.shape))
        square += (down**2 + across**2) / max(1.0 - value, _LEAST_GAP)
        if k in COUNTS:
            found[:, COUNTS.index(k)] = np.log1p(np.sqrt(square))[y, x]
    for k in range(1, len(COUNTS)):
        found[:, k] = np.maximum(found[:, k], found[:, k - 1])  # small maps have fewer eigenvectors
    return found


def _eigenvectors(small: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Largest eigenvalues of the links of a map but for the first, and their vectors in rows, of mean square 1."""
    if min(small.shape) < 2 or small.size <= n + 1:
        return np.empty(0), np.empty((0, small.size))
    links = _links(small)
    degree = links.sum(axis=1)
    root = np.sqrt(degree)
    balanced = diags_array(1 / root) @ links @ diags_array(1 / root)
    operator = LinearOperator(balanced.shape, matvec=balanced.tocsr().__matmul__, dtype=np.float64)
    size = min(_LANCZOS, small.size)
    try:
        values, vectors = eigsh(operator, n + 1, which="LA", v0=root, ncv=size, maxiter=_MOST_RESTARTS, tol=_CLOSE)
    except ArpackNoConvergence as error:
        values, vectors = error.eigenvalues, error.eigenvectors
    order = np.argsort(-values)[1:]
    return values[order], (vectors[:, order] * np.sqrt(degree.sum()) / root[:, None]).T


def _links(small: np.ndarray) -> coo_array:
    """Links of pixels up to a few apart, both ways, and of each with itself."""
    from ..._kernels.second_level.globalisation import link_pixels

    reach = np.arange(-_REACH, _REACH + 1)
    steps = np.stack(np.meshgrid(reach, reach, indexing="ij"), axis=-1).reshape(-1, 2)
    ahead = (steps[:, 0] > 0) | ((steps[:, 0] == 0) & (steps[:, 1] > 0))
    steps = steps[ahead & ((steps**2).sum(axis=1) <= _REACH**2)].astype(np.int64)
    most = small.size * len(steps)
    first, second, strength = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most)
    n = link_pixels(writable(small), steps, _SOFTNESS, first, second, strength)
    own = np.arange(small.size, dtype=np.int32)
    rows = np.concatenate([first[:n], second[:n], own])
    columns = np.concatenate([second[:n], first[:n], own])
    values = np.concatenate([strength[:n], strength[:n], np.exp(-small.ravel() / _SOFTNESS)])
    return coo_array((values, (rows, columns)), shape=(small.size, small.size)).tocsr()
