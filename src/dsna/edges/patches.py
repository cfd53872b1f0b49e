"""Patches: where they are drawn from photos, and which features they have.

A patch is 32 x 32 pixels; its mask is the segmentation of the 16 x 16 pixels in its middle.  Features are looked up in
the channels of the photo: 16 x 16 x 13 pixels at half resolution, and the differences between the cells of a 5 x 5 grid
in each channel, 7,228 in all.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.ndimage import distance_transform_edt

from ..features.channels import N_CHANNELS, edge_channels

SIDE, MASK_SIDE, STRIDE = 32, 16, 2
_HALF = SIDE // 2  # of a patch; also its side at half resolution
_CELLS = 5
_NEAR = 8  # pixels from a boundary within which a patch counts as one with an edge
N_FEATURES = N_CHANNELS * (_HALF**2 + _CELLS**2 * (_CELLS**2 - 1) // 2)


def _cells() -> np.ndarray:
    """Middle of each cell along one side, at half resolution."""
    return ((np.arange(_CELLS) + 0.5) * _HALF / _CELLS).astype(int)


def feature_places(shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Where features are found, from the place of a patch on, in flat channels of this height and width.

    Returns
    -------
    first, second : arrays of shape (N_FEATURES,), int64
        A feature is the value at ``first``, less the value at ``second`` unless that is -1.

    Examples
    --------
    >>> first, second = feature_places((100, 80))
    >>> len(first), int((second < 0).sum())
    (7228, 3328)
    """
    height, width = shape
    within = (np.arange(_HALF)[:, None] * width + np.arange(_HALF)).ravel()
    planes = np.arange(N_CHANNELS)[:, None] * height * width
    cells = (_cells()[:, None] * width + _cells()).ravel()
    one, other = np.array(list(combinations(cells, 2))).T
    similar = planes + N_CHANNELS * height * width
    first = np.concatenate([(planes + within).ravel(), (similar + one).ravel()])
    second = np.concatenate([np.full(N_CHANNELS * _HALF**2, -1), (similar + other).ravel()])
    return first, second


class Channels:
    """Channels of a photo whose borders are mirrored, so that every pixel is the middle of a patch.

    Parameters
    ----------
    photo : array of shape (H, W, 3), uint8

    Attributes
    ----------
    flat : float32 array
        All channels one after another.
    shape : tuple of int
        Height and width of a channel.

    Examples
    --------
    >>> import numpy as np
    >>> channels = Channels(np.zeros((21, 30, 3), dtype=np.uint8))
    >>> channels.shape, channels.places(np.array([[0, 0], [2, 4]]))
    ((27, 31), array([ 0, 33]))
    """

    def __init__(self, photo: np.ndarray) -> None:
        pads = [(_HALF, _HALF + side % 2) for side in photo.shape[:2]]
        padded = np.pad(photo, [*pads, (0, 0)], mode="symmetric")
        regular, similar = edge_channels(padded)
        self.shape: tuple[int, int] = regular.shape[1:]
        self.flat = np.concatenate([regular.ravel(), similar.ravel()])

    def places(self, centres: np.ndarray) -> np.ndarray:
        """Where the patches around pixels (y, x), both even, start."""
        return (centres[:, 0] // STRIDE) * self.shape[1] + centres[:, 1] // STRIDE


def near_boundary(boundary: np.ndarray) -> np.ndarray:
    """For each place where a mask can be cut out, whether a boundary is within 8 pixels of its middle.

    Parameters
    ----------
    boundary : bool array of shape (H, W)

    Returns
    -------
    near : bool array
        One row and column for every second pixel, from the eighth on, whose mask lies within the photo.

    Examples
    --------
    >>> import numpy as np
    >>> boundary = np.zeros((20, 64), dtype=bool)
    >>> boundary[:, 10] = True
    >>> near = near_boundary(boundary)
    >>> near.shape, near[0].sum()
    ((3, 25), 6)
    """
    half = MASK_SIDE // 2
    height, width = boundary.shape
    if min(height, width) < MASK_SIDE:
        return np.empty((0, 0), dtype=bool)
    away = distance_transform_edt(~boundary) if boundary.any() else np.full(boundary.shape, np.inf)
    return away[half : height - half + 1 : STRIDE, half : width - half + 1 : STRIDE] <= _NEAR


def draw_centres(near: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Middles of n patches, half of them near a boundary, as far as there are such places.

    Parameters
    ----------
    near : bool array
        As :func:`near_boundary` gives it.
    n : int
    rng : numpy Generator

    Returns
    -------
    centres : array of shape (at most n, 2), int64
        y and x, even; masks lie within the photo.

    Examples
    --------
    >>> import numpy as np
    >>> near = np.zeros((30, 30), dtype=bool)
    >>> near[:, :5] = True
    >>> centres = draw_centres(near, 40, np.random.default_rng(0))
    >>> len(centres), int((centres[:, 1] < 8 + 2 * 5).sum())
    (40, 20)
    """
    drawn = []
    for wanted, places in ((n // 2, near), (n - n // 2, ~near)):
        where = np.argwhere(places)
        drawn.append(where[rng.choice(len(where), min(wanted, len(where)), replace=False)])
    return np.concatenate(drawn).astype(np.int64) * STRIDE + MASK_SIDE // 2
