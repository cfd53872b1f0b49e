"""Thin edges from a soft map, by non-maximum suppression."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dsna import DSNAError

from ..features.channels import smooth

_SMOOTHING = 4  # radius of the triangle filter before directions are taken


def suppress(edge_map: ArrayLike, radius: int = 1, margin: int = 5, multiplier: float = 1.01) -> np.ndarray:
    """Thin an edge map by non-maximum suppression.

    The direction across an edge is that in which the smoothed map has the greatest curvature. A value is kept if it is
    at least as large as the interpolated values on both sides in that direction.

    Parameters
    ----------
    edge_map : array of shape (height, width)
        Non-negative edge strength of each pixel.
    radius : int, default=1
        Number of pixels on each side with which a value is compared.
    margin : int, default=5
        Values fade linearly to 0 within this many pixels of the border, where detection is unreliable; at most half
        of the height or width.
    multiplier : float, default=1.01
        Factor applied to a value before comparison, so that equal values are kept.

    Returns
    -------
    float32 array of shape (height, width)
        Thinned map, nowhere above ``edge_map``.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_vision.edges.suppression import suppress
    >>> ridge = np.tile(np.array([0, 0.2, 0.6, 1, 0.6, 0.2, 0]), (5, 1))
    >>> suppress(ridge, margin=0)[2]
    array([0., 0., 0., 1., 0., 0., 0.], dtype=float32)
    """
    from .._kernels.suppression import suppress_nonmaxima

    values = np.array(edge_map, dtype=np.float32, order="C")
    if values.ndim != 2 or not values.size:
        raise DSNAError(f"An edge map must have the shape (height, width), not {values.shape}; give one map at a time.")
    if not np.isfinite(values).all() or values.min() < 0:
        raise DSNAError("An edge map must contain finite numbers of at least 0; clip it, and replace NaN.")
    if radius < 1 or margin < 0 or not multiplier > 0:
        raise DSNAError("suppress needs a radius of at least 1, a margin of at least 0 and a multiplier above 0.")
    margins = np.minimum(margin, np.array(values.shape) // 2).astype(np.int64)
    thin = np.empty_like(values)
    suppress_nonmaxima(values, smooth(values, _SMOOTHING), int(radius), margins, float(multiplier), thin)
    return thin
