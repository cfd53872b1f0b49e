"""Edge channels of a photo: colour, gradient magnitude and orientation at two scales, on half the resolution.

The thirteen channels of structured edge detection (Dollar and Zitnick, 2015).  Each comes twice: slightly smoothed, to
be looked at pixel by pixel, and well smoothed, to be compared between the cells of a patch.

Roots and angles are taken in double precision and then rounded, for in single precision machines differ in the last
bit, and a patch whose feature lies at a threshold would go another way.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import correlate1d

N_CHANNELS = 13
_ORIENTATIONS = 4
#: Channels of a mirrored photo are the mirrored channels in this order: slopes that rise to the right become falling.
MIRRORED = np.array([0, 1, 2, 3, 4, 7, 6, 5, 8, 9, 12, 11, 10])
_NORMALISED_OVER = 4
_REGULAR, _SIMILAR = 1, 4

# CIE XYZ of RGB taken as linear: photos are not, and undoing their gamma costs edges.
_XYZ = np.array(
    [[0.430574, 0.341550, 0.178325], [0.222015, 0.706655, 0.071330], [0.020183, 0.129553, 0.939180]], dtype=np.float32
)
_WHITE = (0.197833, 0.468331)
_LUV_SPAN, _U_LEAST, _V_LEAST = 270.0, -88.0, -134.0


def smooth(maps: np.ndarray, radius: int) -> np.ndarray:
    """Triangle filter of this radius along the last two axes; the borders are mirrored.

    Examples
    --------
    >>> import numpy as np
    >>> smooth(np.eye(3, dtype=np.float32)[None], 1)[0, 1]
    array([0.3125, 0.375 , 0.3125], dtype=float32)
    """
    rising = np.arange(1, radius + 2, dtype=np.float64)
    kernel = np.concatenate([rising, rising[-2::-1]]) / (radius + 1) ** 2
    for axis in (-2, -1):
        maps = correlate1d(maps, kernel, axis=axis, mode="reflect")
    return maps


def luv(photo: np.ndarray) -> np.ndarray:
    """CIE L*u*v* of an RGB photo (H, W, 3) of bytes, as float32 (3, H, W), roughly between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> luv(np.full((1, 1, 3), 255, dtype=np.uint8)).round(2).ravel()
    array([0.37, 0.33, 0.5 ], dtype=float32)
    """
    rgb = np.moveaxis(photo, -1, 0).astype(np.float32) / np.float32(255)
    # Not by BLAS, whose rounding depends on where in a photo a pixel lies.
    x, y, z = (row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2] for row in _XYZ)
    root = np.cbrt(y, dtype=np.float64).astype(np.float32)
    lightness = np.where(y > 0.008856, np.float32(116) * root - np.float32(16), np.float32(903.3) * y)
    scale = 1 / (x + np.float32(15) * y + np.float32(3) * z + np.float32(1e-35))
    u = 13 * lightness * (4 * x * scale - _WHITE[0])
    v = 13 * lightness * (9 * y * scale - _WHITE[1])
    return np.stack([lightness, u - _U_LEAST, v - _V_LEAST]).astype(np.float32) / np.float32(_LUV_SPAN)


def halved(maps: np.ndarray) -> np.ndarray:
    """Means of 2 x 2 pixels along the last two axes, whose lengths must be even.

    Examples
    --------
    >>> import numpy as np
    >>> halved(np.arange(8, dtype=np.float32).reshape(2, 4))
    array([[2.5, 4.5]], dtype=float32)
    """
    rows = maps[..., ::2, :] + maps[..., 1::2, :]
    means: np.ndarray = (rows[..., ::2] + rows[..., 1::2]) * np.float32(0.25)
    return means


def gradient_magnitude(colours: np.ndarray) -> np.ndarray:
    """Strength of the gradient of the colour (3, H, W) that changes most, relative to its mean nearby.

    Examples
    --------
    >>> import numpy as np
    >>> colours = np.zeros((3, 9, 12), dtype=np.float32)
    >>> colours[0, :, 6:] = 1
    >>> gradient_magnitude(colours)[4].argmax()
    np.int64(5)
    """
    return _strongest_gradient(colours)[0]


def _strongest_gradient(colours: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normalised magnitude of the gradient of the colour that changes most, and that gradient, down and across."""
    along_y, along_x = (_difference(colours, axis) for axis in (-2, -1))
    square = along_x**2 + along_y**2
    strongest = square.argmax(axis=0)[None]
    along_x, along_y, square = (np.take_along_axis(a, strongest, 0)[0] for a in (along_x, along_y, square))
    magnitude = np.sqrt(square)
    magnitude /= smooth(magnitude, _NORMALISED_OVER) + np.float32(0.01)
    return magnitude, along_y, along_x


def _gradient(colours: np.ndarray) -> np.ndarray:
    """Normalised magnitude, and its share in each orientation: (5, H, W)."""
    magnitude, along_y, along_x = _strongest_gradient(colours)
    angle = np.arctan2(along_y, along_x, dtype=np.float64).astype(np.float32)
    angle = np.mod(angle, np.float32(np.pi)) * np.float32(_ORIENTATIONS / np.pi)
    parts = [magnitude]
    for k in range(_ORIENTATIONS):
        apart = np.abs(angle - np.float32(k))
        apart = np.minimum(apart, np.float32(_ORIENTATIONS) - apart)
        parts.append(magnitude * np.maximum(np.float32(1) - apart, np.float32(0)))
    return np.stack(parts)


def _difference(maps: np.ndarray, axis: int) -> np.ndarray:
    """Central differences, one-sided at the borders; zero along an axis of one pixel."""
    if maps.shape[axis] == 1:
        return np.zeros_like(maps)
    differences: np.ndarray = np.gradient(maps, axis=axis)
    return differences


def edge_channels(photo: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Channels of a photo at half its resolution.

    Parameters
    ----------
    photo : array of shape (H, W, 3), uint8
        RGB; H and W even.

    Returns
    -------
    regular, similar : arrays of shape (13, H / 2, W / 2), float32
        The channels, smoothed over 1 and over 4 pixels.  First L, u, v; then magnitude and four orientations of the
        gradient at full, and at half resolution.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_vision.features.channels import edge_channels
    >>> photo = np.zeros((32, 48, 3), dtype=np.uint8)
    >>> photo[:, 24:] = 200
    >>> regular, similar = edge_channels(photo)
    >>> regular.shape, int(regular[3, 8].argmax())
    ((13, 16, 24), 11)
    """
    colours = luv(photo)
    small = halved(colours)
    channels = np.concatenate([small, halved(_gradient(colours)), _gradient(small)])
    return smooth(channels, _REGULAR), smooth(channels, _SIMILAR)
