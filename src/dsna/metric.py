"""The forest's metric: which directions of the input space its splits found to matter.

With the split of node j written as w_j in input units, n_j rows and label spread s_j, the matrix
``A = sum_j n_j s_j^2 w_j w_j'`` collects them, and ``x -> (A / largest eigenvalue)^(1/4) x`` is the space in which
neighbours are compared.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from .trees import Trees

_EXPONENT = 0.25
_NEGLIGIBLE = 1e-4


def split_scatter(trees: Trees, chosen: np.ndarray, n_features: int) -> np.ndarray:
    """(n_features, n_features) matrix A of the trees in the boolean mask ``chosen``."""
    ptr, feature, weight, metric_weight = trees.splits(chosen)
    scaled = weight * np.repeat(np.sqrt(metric_weight), np.diff(ptr))
    W = csr_array((scaled, feature, ptr), shape=(len(ptr) - 1, n_features))
    return np.asarray((W.T @ W).todense())


def metric_map(scatter: np.ndarray) -> np.ndarray:
    """(n_features, r) map V L^(1/4) of a scatter V L V'; directions of negligible length are left out.

    Distances after the map are those of (A / largest eigenvalue)^(1/4), turned to the axes of A.
    """
    with threadpool_limits(limits=1, user_api="blas"):
        values, vectors = np.linalg.eigh(scatter)
    if values[-1] <= 0.0:
        return np.eye(len(scatter))
    relative = np.maximum(values / values[-1], 0.0) ** _EXPONENT
    keep = relative > _NEGLIGIBLE
    return np.ascontiguousarray((vectors[:, keep] * relative[keep])[:, ::-1])
