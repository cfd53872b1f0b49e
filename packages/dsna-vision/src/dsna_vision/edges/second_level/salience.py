"""Division of the whole photo by lines, measured by eigenvectors of the links between its pixels."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, diags_array
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from dsna.extend.parallel import writable

from .candidates import Candidates

COUNTS = (4, 8, 16)  # numbers of eigenvectors to sum over
_BLOCK, _MAX_PIXELS = 4, 40_000  # side of a block in pixels, and maximum number of pixels of the small map
_REACH = 5  # maximum distance of linked pixels of the small map
_SOFTNESS = 0.1  # strength of a line that weakens a link to 1 / e
_LANCZOS, _MAX_RESTARTS, _TOLERANCE = 45, 200, 1e-9
_MIN_GAP = 1e-7


def block_side(shape: tuple[int, ...], minimum: int, most_pixels: int) -> int:
    """Side of the blocks that become one pixel: the minimum, or more if too many pixels would be left.

    Examples
    --------
    >>> block_side((321, 481), 4, 40_000), block_side((3000, 4000), 4, 40_000)
    (4, 18)
    """
    block = minimum
    while -(-shape[0] // block) * -(-shape[1] // block) > most_pixels:
        block += 1
    return block


def block_maxima(lines: np.ndarray, block: int) -> np.ndarray:
    """Maximum of each square of block x block pixels; blocks at the lower and right border may be smaller.

    Examples
    --------
    >>> import numpy as np
    >>> block_maxima(np.eye(5, dtype=np.float32), 3).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    height, width = (-(-length // block) * block for length in lines.shape)
    padded = np.zeros((height, width), dtype=lines.dtype)
    padded[: lines.shape[0], : lines.shape[1]] = lines
    largest: np.ndarray = padded.reshape(height // block, block, width // block, block).max(axis=(1, 3))
    return largest


def salience(lines: np.ndarray, candidates: Candidates) -> np.ndarray:
    """Gradient of the first eigenvectors of the links between pixels, at the candidates, as log(1 + strength).

    Pixels of a small map are linked with those nearby, more weakly if a line is between them.  The first eigenvectors
    of these links are almost constant within regions enclosed by lines, whatever short lines they contain, and change
    where such regions meet, even where a line has gaps.

    Parameters
    ----------
    lines : array of shape (H, W), float32
        Thin map.
    candidates : Candidates

    Returns
    -------
    array of shape (n, 3), float32
        Strengths for 4, 8 and 16 eigenvectors.

    Examples
    --------
    >>> import numpy as np
    >>> lines = np.zeros((48, 64), dtype=np.float32)
    >>> lines[:, 30], lines[20:28, 50] = 0.8, 0.8
    >>> through, short = salience(lines, Candidates(np.array([[24, 30], [24, 50]]), np.ones(2)))[:, 0]
    >>> bool(through > short)
    True
    """
    block = block_side(lines.shape, _BLOCK, _MAX_PIXELS)
    small_map = block_maxima(lines, block).astype(np.float64)
    y, x = candidates.pixels.T // block
    columns = np.zeros((len(candidates), len(COUNTS)), dtype=np.float32)
    values, vectors = _eigenvectors(small_map, max(COUNTS))
    square = np.zeros(small_map.shape)
    for k, (value, vector) in enumerate(zip(values, vectors, strict=True), start=1):
        down, across = np.gradient(vector.reshape(small_map.shape))
        square += (down**2 + across**2) / max(1.0 - value, _MIN_GAP)
        if k in COUNTS:
            columns[:, COUNTS.index(k)] = np.log1p(np.sqrt(square))[y, x]
    for k in range(1, len(COUNTS)):
        columns[:, k] = np.maximum(columns[:, k], columns[:, k - 1])  # small maps have fewer eigenvectors
    return columns


def _eigenvectors(small: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Largest eigenvalues of a map's links except the first, and their vectors as rows with mean square 1."""
    if min(small.shape) < 2 or small.size <= n + 1:
        return np.empty(0), np.empty((0, small.size))
    links = _pixel_links(small)
    degree = links.sum(axis=1)
    root = np.sqrt(degree)
    balanced = diags_array(1 / root) @ links @ diags_array(1 / root)
    operator = LinearOperator(balanced.shape, matvec=balanced.tocsr().__matmul__, dtype=np.float64)
    size = min(_LANCZOS, small.size)
    try:
        values, vectors = eigsh(operator, n + 1, which="LA", v0=root, ncv=size, maxiter=_MAX_RESTARTS, tol=_TOLERANCE)
    except ArpackNoConvergence as error:
        values, vectors = error.eigenvalues, error.eigenvectors
    order = np.argsort(-values)[1:]
    return values[order], (vectors[:, order] * np.sqrt(degree.sum()) / root[:, None]).T


def _pixel_links(small: np.ndarray) -> coo_array:
    """Symmetric links between nearby pixels, and of each pixel with itself."""
    from ..._kernels.second_level.globalisation import link_pixels

    reach = np.arange(-_REACH, _REACH + 1)
    steps = np.stack(np.meshgrid(reach, reach, indexing="ij"), axis=-1).reshape(-1, 2)
    ahead = (steps[:, 0] > 0) | ((steps[:, 0] == 0) & (steps[:, 1] > 0))
    steps = steps[ahead & ((steps**2).sum(axis=1) <= _REACH**2)].astype(np.int64)
    max_links = small.size * len(steps)
    first, second, strength = np.empty(max_links, np.int32), np.empty(max_links, np.int32), np.empty(max_links)
    n = link_pixels(writable(small), steps, _SOFTNESS, first, second, strength)
    pixels = np.arange(small.size, dtype=np.int32)
    rows = np.concatenate([first[:n], second[:n], pixels])
    columns = np.concatenate([second[:n], first[:n], pixels])
    values = np.concatenate([strength[:n], strength[:n], np.exp(-small.ravel() / _SOFTNESS)])
    return coo_array((values, (rows, columns)), shape=(small.size, small.size)).tocsr()
