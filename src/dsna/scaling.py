"""Columns on a common scale, fitted on training rows only."""

from __future__ import annotations

import numpy as np

SCALINGS = ("columns", "global", "none")


class Scaling:
    """Offset and scale of the inputs.

    Parameters
    ----------
    X : array of shape (n, n_features)
    kind : {"columns", "global", "none"}
        Each column by its own standard deviation (tables), all by one (features whose relative scale carries
        meaning, such as PCA or HOG), or not at all.
    """

    def __init__(self, X: np.ndarray, kind: str):
        if kind not in SCALINGS:
            raise ValueError(f"scaling={kind!r} is unknown: use one of {SCALINGS}.")
        self.offset = np.zeros(X.shape[1])
        self.scale = np.ones(X.shape[1])
        if kind != "none":
            self.offset = X.mean(axis=0)
            spread = X.std(axis=0)
            spread[spread <= 1e-10 * np.abs(self.offset)] = 0.0
            if kind == "global":
                spread = np.full(X.shape[1], np.sqrt(np.mean(spread**2)))
            self.scale = np.where(spread > 0, spread, 1.0)

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Rows on the common scale, C-contiguous float64."""
        return np.ascontiguousarray((X - self.offset) / self.scale)
