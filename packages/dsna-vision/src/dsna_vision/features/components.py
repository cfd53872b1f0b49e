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
        """Return the coordinates of rows (n, n_columns) along the components."""
        scores: np.ndarray = (rows - self.mean) @ self.basis
        return scores


def principal_components(rows: np.ndarray, keep: int | float) -> Components:
    """Compute principal components of rows (n, n_columns), from the smaller of Gram and covariance matrix.

    Parameters
    ----------
    keep : number of components, or the share of the variance that they explain; at most the rank of the rows.
    """
    mean = rows.mean(axis=0)
    centred = rows - mean
    n_rows, n_columns = rows.shape
    is_wide = n_columns > n_rows
    product = (centred @ centred.T if is_wide else centred.T @ centred).astype(np.float64)
    total = float(np.trace(product))
    if not total > 0:
        raise DSNAError("All training faces are equal; give at least two different ones.")
    size = len(product)
    max_components = size if isinstance(keep, float) else min(keep, size)
    variances, eigenvectors = eigh(product, subset_by_index=(size - max_components, size - 1))
    variances, eigenvectors = variances[::-1], eigenvectors[:, ::-1]
    n_kept = int((variances > _NOISE * variances[0]).sum())
    if isinstance(keep, float):
        n_kept = min(n_kept, int(np.searchsorted(np.cumsum(variances), keep * total * (1 - 1e-12))) + 1)
    variances, eigenvectors = variances[:n_kept], eigenvectors[:, :n_kept].astype(rows.dtype)
    basis = centred.T @ (eigenvectors / np.sqrt(variances).astype(rows.dtype)) if is_wide else eigenvectors
    return Components(mean, basis, variances / n_rows, total / n_rows)
