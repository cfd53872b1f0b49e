"""Scaling of columns to a common scale, fitted on training rows only."""

from __future__ import annotations

import numpy as np

from .._utils.errors import DSNAError
from .._utils.invariants import POSITIVE, Array, Checked
from .._utils.parallel import chunks

SCALINGS = ("columns", "global", "none")
_MAX_SCALED = 1e50
_ROUNDING = 1e-14
_CHUNK_SIZE = 2**18  # number of table cells processed at a time


def _unit(values: np.ndarray) -> np.ndarray:
    """Powers of two near the largest value of each column; in these units, squares do not over- or underflow."""
    return np.asarray(np.exp2(np.clip(np.frexp(np.abs(values).max(axis=0))[1], -1000, 1000)))


def column_spread(values: np.ndarray, count: np.ndarray | None = None) -> np.ndarray:
    """Standard deviation of each column; one for a constant column, whose deviation may be a rounding error.

    ``count`` is the number of rows that each value represents.

    Examples
    --------
    >>> import numpy as np
    >>> column_spread(np.array([[0.1, 1.0], [0.1, 3.0], [0.1, 5.0]])).round(2)
    array([1.  , 1.63])
    >>> column_spread(np.array([[0.0], [1.0]]), np.array([9, 1]))
    array([0.3])
    """
    unit = _unit(values)
    scaled = values / unit
    offset = scaled - np.average(scaled, axis=0, weights=count)
    deviation = np.sqrt(np.average(offset**2, axis=0, weights=count))
    spread = np.where(np.ptp(scaled, axis=0) > _ROUNDING, deviation * unit, 0.0)
    return np.where(spread > 0, spread, 1.0)


def _moments(values: np.ndarray) -> np.ndarray:
    """(2, k) mean and standard deviation of each column."""
    unit = _unit(values)
    scaled = values / unit
    return np.stack([scaled.mean(axis=0) * unit, scaled.std(axis=0) * unit])


class Scaling(Checked):
    """Offset and scale of the inputs.

    Parameters
    ----------
    X : array of shape (n, n_features)
    kind : {"columns", "global", "none"}
        Each column is divided by its own standard deviation (tables), all columns by a common one (features whose
        relative scale carries meaning, such as PCA or HOG), or none is scaled.
    weight : array of shape (n,)
        Rows of weight zero are ignored.
    """

    FIELDS = {
        "offset": Array("float64", "features"),
        "scale": Array("float64", "features", low=POSITIVE),
    }
    NOT_EMPTY = ("features",)

    def __init__(self, X: np.ndarray, kind: str, weight: np.ndarray):
        if kind not in SCALINGS:
            raise DSNAError(f"scaling={kind!r} is unknown: use one of {SCALINGS}.")
        self.offset = np.zeros(X.shape[1])
        self.scale = np.ones(X.shape[1])
        if kind != "none":
            # A few columns at a time, to avoid a copy of a large table.
            moments = [_moments(X[:, chunk][weight > 0]) for chunk in chunks(X.shape[1], max(1, _CHUNK_SIZE // len(X)))]
            self.offset, spread = np.concatenate(moments, axis=1)
            spread[spread <= 1e-10 * np.abs(self.offset)] = 0.0
            if kind == "global":
                largest = max(spread.max(), 1e-300)
                spread = np.full(X.shape[1], largest * np.sqrt(np.mean((spread / largest) ** 2)))
            self.scale = np.where(spread > 0, spread, 1.0)
        self.check()

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return rows on the common scale, C-contiguous float64; scaled values are clipped at 1e50."""
        with np.errstate(over="ignore"):
            scaled: np.ndarray = np.subtract(X, self.offset, order="C")
            scaled /= self.scale
        np.clip(scaled, -_MAX_SCALED, _MAX_SCALED, out=scaled)
        return scaled
