"""Principal components of few rows with many columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from dsna import DSNAError

# Variance below this share of the largest is rounding error.
_NOISE = 1e-6


@dataclass(frozen=True)
class Components:
    """Directions of largest variance.

    Attributes
    ----------
    mean : (n_columns,)
    basis : (n_columns, n_components), orthonormal columns
    variance : (n_components,), of the scores of the rows it was made from, largest first
    total : variance of these rows in all directions
    """

    mean: np.ndarray
    basis: np.ndarray
    variance: np.ndarray
    total: float

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """Coordinates of rows (n, n_columns) along the components."""
        scores: np.ndarray = (rows - self.mean) @ self.basis
        return scores


def principal_components(rows: np.ndarray, keep: int | float) -> Components:
    """Components of rows (n, n_columns), by the smaller of the Gram and the covariance matrix.

    Parameters
    ----------
    keep : the number of components, or the share of the variance that they hold together; never more than the rows
        span.
    """
    mean = rows.mean(axis=0)
    centred = rows - mean
    n, columns = rows.shape
    wide = columns > n
    product = (centred @ centred.T if wide else centred.T @ centred).astype(np.float64)
    total = float(np.trace(product))
    if not total > 0:
        raise DSNAError("All training faces look the same, so there is nothing to learn; give at least two different.")
    size = len(product)
    most = size if isinstance(keep, float) else min(keep, size)
    value, vector = eigh(product, subset_by_index=(size - most, size - 1))
    value, vector = value[::-1], vector[:, ::-1]
    k = int((value > _NOISE * value[0]).sum())
    if isinstance(keep, float):
        k = min(k, int(np.searchsorted(np.cumsum(value), keep * total * (1 - 1e-12))) + 1)
    value, vector = value[:k], vector[:, :k].astype(rows.dtype)
    basis = centred.T @ (vector / np.sqrt(value).astype(rows.dtype)) if wide else vector
    return Components(mean, basis, value / n, total / n)
