"""Textures of faces brought to one shape: grey levels and gradients, freed of lighting as far as that goes."""

from __future__ import annotations

import numpy as np

from .warp import Frame


def standard_levels(levels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grey levels (n, n_pixels) with mean 0 and spread 1 in each row; the means and spreads, (n, 1).

    A face of one grey level only becomes zero.
    """
    mean = levels.mean(axis=1, keepdims=True)
    centred = levels - mean
    spread = np.sqrt((centred**2).mean(axis=1, keepdims=True))
    return centred / np.where(spread > 0, spread, 1), mean, spread


def soft_gradients(levels: np.ndarray, frame: Frame, softness: float) -> tuple[np.ndarray, np.ndarray]:
    """Horizontal and vertical gradients g / (|g| + softness * median |g|), each (n, n_pixels).

    Strong edges count little more than weak ones, so that the lighting has less of a say. Outside the shape the
    nearest grey levels inside continue the picture.
    """
    pictures = levels[:, frame.nearest]
    down, across = (g[:, frame.mask] for g in np.gradient(pictures, axis=(1, 2)))
    size = np.sqrt(across**2 + down**2)
    divisor = size + softness * np.median(size, axis=1, keepdims=True)
    divisor[divisor == 0] = 1
    return across / divisor, down / divisor
