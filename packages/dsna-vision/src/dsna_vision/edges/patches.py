"""Patches: their positions in photos and their features.

A patch is 32 x 32 pixels; its mask is the segmentation of its central 16 x 16 pixels.  Its 7,228 features come from
the channels of the photo: 16 x 16 x 13 pixels at half resolution, and the differences between the cells of a 5 x 5 grid
in each channel.
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.ndimage import distance_transform_edt

from ..features.channels import N_CHANNELS, edge_channels

SIDE, MASK_SIDE, STRIDE = 32, 16, 2
HALF = SIDE // 2  # of a patch; also its side at half resolution
_N_CELLS = 5
CELLS = ((np.arange(_N_CELLS) + 0.5) * HALF / _N_CELLS).astype(int)  # middles, along one side
_NEAR_DISTANCE = 8  # pixels from a boundary within which a patch counts as one with an edge
N_FEATURES = N_CHANNELS * (HALF**2 + _N_CELLS**2 * (_N_CELLS**2 - 1) // 2)


def feature_offsets(shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Offsets of features from the start of a patch, in flat channels of the given height and width.

    Returns
    -------
    first, second : arrays of shape (N_FEATURES,), int64
        A feature is the value at ``first``, minus the value at ``second`` unless that is -1.

    Examples
    --------
    >>> first, second = feature_offsets((100, 80))
    >>> len(first), int((second < 0).sum())
    (7228, 3328)
    """
    height, width = shape
    pixels = (np.arange(HALF)[:, None] * width + np.arange(HALF)).ravel()
    planes = np.arange(N_CHANNELS)[:, None] * height * width
    cells = (CELLS[:, None] * width + CELLS).ravel()
    first_cell, second_cell = np.array(list(combinations(cells, 2))).T
    similar = planes + N_CHANNELS * height * width
    first = np.concatenate([(planes + pixels).ravel(), (similar + first_cell).ravel()])
    second = np.concatenate([np.full(N_CHANNELS * HALF**2, -1), (similar + second_cell).ravel()])
    return first, second


class Channels:
    """Channels of a photo, with mirrored borders so that every pixel can be the centre of a patch.

    Parameters
    ----------
    photo : array of shape (H, W, 3), uint8

    Attributes
    ----------
    flat : float32 array
        All channels, concatenated.
    shape : tuple of int
        Height and width of a channel.

    Examples
    --------
    >>> import numpy as np
    >>> channels = Channels(np.zeros((21, 30, 3), dtype=np.uint8))
    >>> channels.shape, channels.starts(np.array([[0, 0], [2, 4]]))
    ((27, 31), array([ 0, 33]))
    """

    def __init__(self, photo: np.ndarray) -> None:
        pads = [(HALF, HALF + length % 2) for length in photo.shape[:2]]
        padded = np.pad(photo, [*pads, (0, 0)], mode="symmetric")
        regular, similar = edge_channels(padded)
        self.shape: tuple[int, int] = regular.shape[1:]
        self.flat = np.concatenate([regular.ravel(), similar.ravel()])

    @cached_property
    def pooled(self) -> np.ndarray:
        """Flat channels whose first half holds means of 2 x 2 pixels, from each pixel to the right and down."""
        regular = self.flat[: len(self.flat) // 2].reshape(N_CHANNELS, *self.shape)
        means = regular.copy()
        means[:, :-1, :-1] += regular[:, 1:, :-1] + regular[:, :-1, 1:] + regular[:, 1:, 1:]
        means[:, :-1, :-1] *= np.float32(0.25)
        return np.concatenate([means.ravel(), self.flat[len(self.flat) // 2 :]])

    def starts(self, centres: np.ndarray) -> np.ndarray:
        """Start in the flat channels of each patch centred on a pixel (y, x); both coordinates are even."""
        starts: np.ndarray = (centres[:, 0] // STRIDE) * self.shape[1] + centres[:, 1] // STRIDE
        return starts


def near_boundary(boundary: np.ndarray) -> np.ndarray:
    """Mark the mask positions whose centre is within 8 pixels of a boundary.

    Parameters
    ----------
    boundary : bool array of shape (H, W)

    Returns
    -------
    near : bool array
        One row and column for every second pixel, starting at the eighth, whose mask lies within the photo.

    Examples
    --------
    >>> import numpy as np
    >>> boundary = np.zeros((20, 64), dtype=bool)
    >>> boundary[:, 10] = True
    >>> near = near_boundary(boundary)
    >>> near.shape, int(near[0].sum())
    ((3, 25), 6)
    """
    half = MASK_SIDE // 2
    height, width = boundary.shape
    if min(height, width) < MASK_SIDE:
        return np.empty((0, 0), dtype=bool)
    distance = distance_transform_edt(~boundary) if boundary.any() else np.full(boundary.shape, np.inf)
    return distance[half : height - half + 1 : STRIDE, half : width - half + 1 : STRIDE] <= _NEAR_DISTANCE


def draw_centres(is_near: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the centres of n patches, half of them near a boundary if there are enough such positions.

    Parameters
    ----------
    is_near : bool array
        Result of :func:`near_boundary`.
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
    # A single patch is near a boundary with probability one half: otherwise, many drawings with one patch each
    # would show no edge at all.
    n_near = int(rng.integers(2)) if n == 1 else n // 2
    centres = []
    for n_wanted, mask in ((n_near, is_near), (n - n_near, ~is_near)):
        positions = np.argwhere(mask)
        centres.append(positions[rng.choice(len(positions), min(n_wanted, len(positions)), replace=False)])
    return np.concatenate(centres).astype(np.int64) * STRIDE + MASK_SIDE // 2
