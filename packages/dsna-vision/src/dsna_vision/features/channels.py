"""Edge channels of a photo: colour, gradient magnitude and orientation at two scales, on half the resolution.

The thirteen channels of structured edge detection (Dollar and Zitnick, 2015), each in two versions: slightly smoothed,
for single pixels, and strongly smoothed, for differences between the cells of a patch.

Roots and angles are computed in double precision and then rounded, because in single precision machines differ in the
last bit, and a patch with a feature at a threshold would be sent to another leaf.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import correlate1d

N_CHANNELS = 13
_ORIENTATIONS = 4
#: Channels of a mirrored photo are the mirrored channels in this order: rising slopes become falling ones.
MIRRORED = np.array([0, 1, 2, 3, 4, 7, 6, 5, 8, 9, 12, 11, 10])
_NORMALISED_OVER = 4
_REGULAR, _SIMILAR = 1, 4

# CIE XYZ of linear RGB. Photos are not linear, but undoing their gamma makes edges worse.
_XYZ = np.array(
    [[0.430574, 0.341550, 0.178325], [0.222015, 0.706655, 0.071330], [0.020183, 0.129553, 0.939180]], dtype=np.float32
)
_WHITE = (0.197833, 0.468331)
_LUV_SPAN, _U_MIN, _V_MIN = 270.0, -88.0, -134.0


def smooth(maps: np.ndarray, radius: int) -> np.ndarray:
    """Apply a triangle filter of this radius along the last two axes; the borders are mirrored.

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
    """Convert an RGB photo, uint8 (H, W, 3), to CIE L*u*v*, float32 (3, H, W), scaled to about 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> luv(np.full((1, 1, 3), 255, dtype=np.uint8)).round(2).ravel()
    array([0.37, 0.33, 0.5 ], dtype=float32)
    """
    rgb = np.moveaxis(photo, -1, 0).astype(np.float32) / np.float32(255)
    # Without BLAS, whose rounding depends on the position of a pixel in the photo.
    x, y, z = (row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2] for row in _XYZ)
    root = np.cbrt(y, dtype=np.float64).astype(np.float32)
    lightness = np.where(y > 0.008856, np.float32(116) * root - np.float32(16), np.float32(903.3) * y)
    scale = 1 / (x + np.float32(15) * y + np.float32(3) * z + np.float32(1e-35))
    u = 13 * lightness * (4 * x * scale - _WHITE[0])
    v = 13 * lightness * (9 * y * scale - _WHITE[1])
    return np.stack([lightness, u - _U_MIN, v - _V_MIN]).astype(np.float32) / np.float32(_LUV_SPAN)


def halved(maps: np.ndarray) -> np.ndarray:
    """Average blocks of 2 x 2 pixels along the last two axes, whose lengths must be even.

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
    """Return the largest gradient magnitude among colours (3, H, W), relative to its local mean.

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
    """Return the normalised magnitude of the largest gradient among colours, and that gradient along y and x."""
    along_y, along_x = (_difference(colours, axis) for axis in (-2, -1))
    square = along_x**2 + along_y**2
    strongest = square.argmax(axis=0)[None]
    along_x, along_y, square = (np.take_along_axis(a, strongest, 0)[0] for a in (along_x, along_y, square))
    magnitude = np.sqrt(square)
    magnitude /= smooth(magnitude, _NORMALISED_OVER) + np.float32(0.01)
    return magnitude, along_y, along_x


def _gradient(colours: np.ndarray) -> np.ndarray:
    """Return the normalised magnitude and its shares in four orientations, (5, H, W)."""
    magnitude, along_y, along_x = _strongest_gradient(colours)
    angle = np.arctan2(along_y, along_x, dtype=np.float64).astype(np.float32)
    angle = np.mod(angle, np.float32(np.pi)) * np.float32(_ORIENTATIONS / np.pi)
    channels = [magnitude]
    for orientation in range(_ORIENTATIONS):
        angular_distance = np.abs(angle - np.float32(orientation))
        angular_distance = np.minimum(angular_distance, np.float32(_ORIENTATIONS) - angular_distance)
        channels.append(magnitude * np.maximum(np.float32(1) - angular_distance, np.float32(0)))
    return np.stack(channels)


def _difference(maps: np.ndarray, axis: int) -> np.ndarray:
    """Return central differences, one-sided at the borders; zero along an axis of one pixel."""
    if maps.shape[axis] == 1:
        return np.zeros_like(maps)
    differences: np.ndarray = np.gradient(maps, axis=axis)
    return differences


def edge_channels(photo: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the channels of a photo at half its resolution.

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
