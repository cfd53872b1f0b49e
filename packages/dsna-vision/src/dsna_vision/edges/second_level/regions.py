"""Regions that lines enclose, merged one by one: when both sides of a line become one, and what they are then."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import maximum_filter

from ...features.channels import luv, smooth
from ..detection import as_share
from .candidates import Candidates
from .planes import View
from .salience import blocks_of, strongest

N_MERGED = 5
_BLOCK, _MOST_PIXELS = 1, 1_000_000  # pixels of a side that become one, and how many are left
_FAINT = 0.5  # what a soft map counts beside the lines where basins are cut
_NEAR = 2  # cells from a candidate in which its border is looked for
_STEP = 2.0**-16  # strengths are multiples of it: sums are then exact, whatever their order


def merged(view: View, candidates: Candidates) -> np.ndarray:
    """What is known of both sides of each candidate at the moment at which they merge.

    The photo is cut into basins.  Neighbouring basins merge, those first between which lines are weakest on average,
    until one is left: what encloses something stays until the end, whatever gaps it has.

    Parameters
    ----------
    view : View
        With lines.
    candidates : Candidates

    Returns
    -------
    array of shape (n, 5), float32
        Mean strength of what is between both sides, or of what was merged before if that is more; log(1 + pixels) of
        the smaller and the larger side; how far their mean colours are apart; log(1 + length) of what is between them.

    Examples
    --------
    >>> import numpy as np
    >>> lines = np.zeros((64, 64), dtype=np.float32)
    >>> lines[:, 32] = 0.7
    >>> photo = np.zeros((64, 64, 3), dtype=np.uint8)
    >>> photo[:, 33:] = 200
    >>> place = Candidates(np.array([[20, 32]]), np.ones(1))
    >>> strength, small, large, apart, length = merged(View(photo, (lines,), lines), place)[0]
    >>> round(float(strength), 2), int(np.expm1(small)) > 1500, bool(apart > 0.2)
    (0.7, True, True)
    """
    from ..._kernels.second_level.globalisation import merge_regions

    if view.lines is None:
        raise ValueError("there are no lines")
    side = blocks_of(view.lines.shape, _BLOCK, _MOST_PIXELS)
    wide = maximum_filter(np.round(strongest(view.lines, side) / _STEP) * _STEP, 3)
    soft = np.round(strongest(as_share(view.edges), side) * (_FAINT / _STEP)) * _STEP
    ground = smooth(np.maximum(wide, soft), 1)
    from skimage.segmentation import watershed

    basin = watershed(ground)
    basin = np.maximum(basin, 1).astype(np.int64) - 1  # ground that is flat everywhere has no basin
    size = np.bincount(basin.ravel()).astype(np.float64)
    means = [np.bincount(basin.ravel(), plane.ravel()) / size for plane in luv(view.photo[::side, ::side])]
    cells, number, ends, length, total = _borders(basin, wide)
    told = np.zeros((len(ends), N_MERGED))
    merge_regions(ends, length, total, size * side**2, np.stack(means, axis=1), told)
    told[:, [1, 2, 4]] = np.log1p(told[:, [1, 2, 4]])
    return _strongest_near(cells, told[number], basin.shape, candidates.places // side)


def _borders(basin: np.ndarray, wide: np.ndarray) -> tuple[np.ndarray, ...]:
    """Borders of basins, as pairs of cells.

    Returns
    -------
    cells, number, ends, length, total : tuple of arrays
        Of each pair its two cells and the number of its border; of each border its two basins, its pairs, and their
        strengths added up.
    """
    cell = np.arange(basin.size).reshape(basin.shape)
    pairs = [(cell[:-1], cell[1:]), (cell[:, :-1], cell[:, 1:])]
    cells = np.concatenate([np.stack([one.ravel(), other.ravel()], axis=1) for one, other in pairs])
    sides = basin.ravel()[cells]
    between = sides[:, 0] != sides[:, 1]
    cells, sides = cells[between], np.sort(sides[between], axis=1)
    n = basin.max() + 1
    border, number = np.unique(sides[:, 0] * n + sides[:, 1], return_inverse=True)
    ends = np.stack([border // n, border % n], axis=1)
    strength = wide.ravel()[cells].max(axis=1).astype(np.float64)
    length, total = (np.bincount(number, weight, len(ends)) for weight in (np.ones(len(number)), strength))
    # Of no pairs at all, bincount counts in whole numbers.
    return cells, number, ends, length.astype(np.float64), total.astype(np.float64)


def _strongest_near(cells: np.ndarray, told: np.ndarray, shape: tuple[int, ...], places: np.ndarray) -> np.ndarray:
    """What is told of the strongest border near each place; zeros where there is none."""
    order = np.argsort(told[:, 0], kind="stable")  # the strongest is written last
    maps = np.zeros((shape[0] + 2 * _NEAR, shape[1] + 2 * _NEAR, told.shape[1]), dtype=np.float32)
    for side in cells[order].T:
        maps[side // shape[1] + _NEAR, side % shape[1] + _NEAR] = told[order]
    found = np.zeros((len(places), told.shape[1]), dtype=np.float32)
    for down, across in np.ndindex(2 * _NEAR + 1, 2 * _NEAR + 1):
        here = maps[places[:, 0] + down, places[:, 1] + across]
        found = np.where(here[:, :1] > found[:, :1], here, found)
    return found
