"""Textures of faces warped to one shape: grey levels and gradients, normalised against lighting."""

from __future__ import annotations

import numpy as np

from .warp import Frame


def standard_levels(levels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Standardise each row of grey levels (n, n_pixels); return them with the means and spreads, (n, 1).

    A face with a single grey level becomes zero.
    """
    mean = levels.mean(axis=1, keepdims=True)
    centred = levels - mean
    spread = np.sqrt((centred**2).mean(axis=1, keepdims=True))
    return centred / np.where(spread > 0, spread, 1), mean, spread


def soft_gradients(levels: np.ndarray, frame: Frame, softness: float) -> tuple[np.ndarray, np.ndarray]:
    """Return horizontal and vertical gradients g / (|g| + softness * median |g|), each (n, n_pixels).

    Strong edges count little more than weak ones, which reduces the effect of lighting. Outside the shape the picture
    is extended by the nearest grey levels.
    """
    pictures = levels[:, frame.nearest]
    vertical, horizontal = (gradient[:, frame.mask] for gradient in np.gradient(pictures, axis=(1, 2)))
    size = np.sqrt(horizontal**2 + vertical**2)
    divisor = size + softness * np.median(size, axis=1, keepdims=True)
    divisor[divisor == 0] = 1
    return horizontal / divisor, vertical / divisor
