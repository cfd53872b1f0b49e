"""The metric that a forest learns: the directions of the input space along which its splits separate rows.

Let w_j be the split of node j in input units, n_j its number of rows and s_j the spread of their classes or targets.
The matrix ``A = sum_j n_j s_j^2 w_j w_j'`` collects the splits, and neighbours are compared in the space of
``x -> (A / largest eigenvalue)^(1/4) x``.

The work is done in the span of the splits. With the vectors ``sqrt(n_j) s_j w_j`` as the rows of a sparse matrix W,
``A = W'W`` has the eigenvalues of ``W W'``, and the smaller of the two is decomposed. With many
nodes and many columns, ``MOST_ROWS`` sums of random rows with random signs replace W, which leaves W'W unchanged on
average.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from .._utils.parallel import chunks, one_blas_thread
from .trees import Trees

MOST_DIRECTIONS = 512
MOST_ROWS = 1024
_EXPONENT = 0.25
_NEGLIGIBLE = 1e-4
_DENSE = 0.1  # share of non-zero entries from which on dense matrices are faster
_DENSE_ENTRIES = 2**22  # entries of a dense part, at most


def metric_map(trees: Trees, chosen: np.ndarray, n_features: int) -> np.ndarray | None:
    """(n_features, r) map into the metric space of the trees in the boolean mask ``chosen``; None is the identity.

    Distances after the map are those of (A / largest eigenvalue)^(1/4), rotated to the axes of A. Directions of
    negligible length are dropped, and so are all but the ``MOST_DIRECTIONS`` longest.
    """
    W, columns = _split_rows(trees, chosen, n_features)
    if not W.nnz:
        return None
    with one_blas_thread():
        values, vectors = _leading(W)
        if values[0] <= 0.0:
            return None
        relative = np.maximum(values / values[0], 0.0) ** _EXPONENT
        keep = relative > _NEGLIGIBLE
        space = np.zeros((n_features, np.count_nonzero(keep)))
        space[columns] = vectors[:, keep] * relative[keep]
    return space


def _split_rows(trees: Trees, chosen: np.ndarray, n_features: int) -> tuple[csr_array, np.ndarray]:
    """The matrix W, or sums of its rows, without columns that no split uses, and the numbers of the others."""
    nodes = np.flatnonzero(chosen[trees.node_tree])
    length = np.sqrt(trees.metric_weight[nodes])
    row, n_rows = np.arange(len(nodes)), len(nodes)
    if min(len(nodes), n_features) > MOST_ROWS:
        rng = np.random.default_rng(0)
        length *= rng.choice([-1.0, 1.0], len(nodes))
        row, n_rows = rng.integers(MOST_ROWS, size=len(nodes)), MOST_ROWS
    splits = csr_array((trees.split_weight, trees.split_feature, trees.split_ptr), shape=(len(trees.child), n_features))
    W = csr_array((length, (row, nodes)), shape=(n_rows, len(trees.child))) @ splits
    columns = np.flatnonzero(np.bincount(W.indices, minlength=n_features))
    number = np.zeros(n_features, dtype=np.int32)
    number[columns] = np.arange(len(columns))
    return csr_array((W.data, number[W.indices], W.indptr), shape=(n_rows, len(columns))), columns


def _leading(W: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Largest eigenvalues of W'W, falling, and their eigenvectors (columns of W, r)."""
    wide = W.shape[1] > W.shape[0]
    tall = csr_array(W.T) if wide else W
    values, vectors = np.linalg.eigh(_gram(tall))
    values, vectors = values[::-1][:MOST_DIRECTIONS], vectors[:, ::-1][:, :MOST_DIRECTIONS]
    if wide:
        vectors = _product(tall, vectors / np.sqrt(np.maximum(values, 1e-300)))
    return values, vectors


def _is_dense(matrix: csr_array) -> bool:
    return bool(matrix.nnz > _DENSE * matrix.shape[0] * matrix.shape[1])


def _gram(tall: csr_array) -> np.ndarray:
    """``tall.T @ tall``, as a dense matrix."""
    if not _is_dense(tall):
        return np.asarray((tall.T @ tall).toarray())
    size = tall.shape[1]
    total = np.zeros((size, size))
    for part in chunks(tall.shape[0], max(1, _DENSE_ENTRIES // size)):
        dense = tall[part].toarray()
        total += dense.T @ dense
    return total


def _product(tall: csr_array, right: np.ndarray) -> np.ndarray:
    """``tall @ right``."""
    if not _is_dense(tall):
        return np.asarray(tall @ right)
    parts = chunks(tall.shape[0], max(1, _DENSE_ENTRIES // tall.shape[1]))
    return np.concatenate([tall[part].toarray() @ right for part in parts])
