"""Regions enclosed by lines, merged one by one to measure how strongly a line separates both of its sides."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import maximum_filter

from ...features.channels import luv, smooth
from ..detection import as_share
from .candidates import Candidates
from .planes import View
from .salience import block_maxima, block_side

N_MERGED = 5
_BLOCK, _MAX_PIXELS = 1, 1_000_000  # side of a block in pixels, and maximum number of blocks
_SOFT_WEIGHT = 0.5  # weight of the soft map relative to the lines in the watershed
_SEARCH_RADIUS = 2  # radius in cells around a candidate in which to look for its border
_STEP = 2.0**-16  # strengths are multiples of this, so that sums are exact in any order


def merge_columns(view: View, candidates: Candidates) -> np.ndarray:
    """Describe the regions on both sides of each candidate when they merge.

    The photo is divided into basins.  Neighbouring basins are merged in order of the mean strength of the lines between
    them, weakest first, until one is left: lines that enclose a region persist longest, even if they have gaps.

    Parameters
    ----------
    view : View
        With lines.
    candidates : Candidates

    Returns
    -------
    array of shape (n, 5), float32
        Mean strength of the border between both sides, or of an earlier merged border if that is greater;
        log(1 + pixels) of the smaller and the larger side; distance of their mean colours; log(1 + length) of the
        border.

    Examples
    --------
    >>> import numpy as np
    >>> lines = np.zeros((64, 64), dtype=np.float32)
    >>> lines[:, 32] = 0.7
    >>> photo = np.zeros((64, 64, 3), dtype=np.uint8)
    >>> photo[:, 33:] = 200
    >>> place = Candidates(np.array([[20, 32]]), np.ones(1))
    >>> strength, small, large, apart, length = merge_columns(View(photo, (lines,), lines), place)[0]
    >>> round(float(strength), 2), int(np.expm1(small)) > 1500, bool(apart > 0.2)
    (0.7, True, True)
    """
    from ..._kernels.second_level.globalisation import merge_regions

    if view.lines is None:
        raise ValueError("there are no lines")
    block = block_side(view.lines.shape, _BLOCK, _MAX_PIXELS)
    wide = maximum_filter(np.round(block_maxima(view.lines, block) / _STEP) * _STEP, 3)
    soft_edges = np.round(block_maxima(as_share(view.edges), block) * (_SOFT_WEIGHT / _STEP)) * _STEP
    relief = smooth(np.maximum(wide, soft_edges), 1)
    from skimage.segmentation import watershed

    basin = watershed(relief)
    basin = np.maximum(basin, 1).astype(np.int64) - 1  # a relief that is flat everywhere has no basin
    basin_sizes = np.bincount(basin.ravel()).astype(np.float64)
    means = [np.bincount(basin.ravel(), plane.ravel()) / basin_sizes for plane in luv(view.photo[::block, ::block])]
    cells, border_of_pair, ends, length, total = _basin_borders(basin, wide)
    border_columns = np.zeros((len(ends), N_MERGED))
    merge_regions(ends, length, total, basin_sizes * block**2, np.stack(means, axis=1), border_columns)
    border_columns[:, [1, 2, 4]] = np.log1p(border_columns[:, [1, 2, 4]])
    return _strongest_near(cells, border_columns[border_of_pair], basin.shape, candidates.pixels // block)


def _basin_borders(basin: np.ndarray, wide: np.ndarray) -> tuple[np.ndarray, ...]:
    """Borders of basins as pairs of cells.

    Returns
    -------
    cells, number, ends, length, total : tuple of arrays
        For each pair, its two cells and the number of its border; for each border, its two basins, its number of pairs
        and the sum of their strengths.
    """
    cell = np.arange(basin.size).reshape(basin.shape)
    pairs = [(cell[:-1], cell[1:]), (cell[:, :-1], cell[:, 1:])]
    cells = np.concatenate([np.stack([pixels.ravel(), neighbors.ravel()], axis=1) for pixels, neighbors in pairs])
    basins = basin.ravel()[cells]
    differ = basins[:, 0] != basins[:, 1]
    cells, basins = cells[differ], np.sort(basins[differ], axis=1)
    n = basin.max() + 1
    border, border_of_pair = np.unique(basins[:, 0] * n + basins[:, 1], return_inverse=True)
    border_basins = np.stack([border // n, border % n], axis=1)
    strength = wide.ravel()[cells].max(axis=1).astype(np.float64)
    length, total = (
        np.bincount(border_of_pair, weight, len(border_basins)) for weight in (np.ones(len(border_of_pair)), strength)
    )
    # Without any pairs, bincount returns integers.
    return cells, border_of_pair, border_basins, length.astype(np.float64), total.astype(np.float64)


def _strongest_near(
    cells: np.ndarray, border_columns: np.ndarray, shape: tuple[int, ...], cell_coordinates: np.ndarray
) -> np.ndarray:
    """Columns of the strongest border near each cell; zeros where there is no border."""
    order = np.argsort(border_columns[:, 0], kind="stable")  # the strongest is written last
    maps = np.zeros(
        (shape[0] + 2 * _SEARCH_RADIUS, shape[1] + 2 * _SEARCH_RADIUS, border_columns.shape[1]), dtype=np.float32
    )
    for cell in cells[order].T:
        maps[cell // shape[1] + _SEARCH_RADIUS, cell % shape[1] + _SEARCH_RADIUS] = border_columns[order]
    columns = np.zeros((len(cell_coordinates), border_columns.shape[1]), dtype=np.float32)
    for down, across in np.ndindex(2 * _SEARCH_RADIUS + 1, 2 * _SEARCH_RADIUS + 1):
        neighbor_columns = maps[cell_coordinates[:, 0] + down, cell_coordinates[:, 1] + across]
        columns = np.where(neighbor_columns[:, :1] > columns[:, :1], neighbor_columns, columns)
    return columns
