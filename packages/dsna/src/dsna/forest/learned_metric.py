"""The metric that a forest learns from the directions in which its splits separate rows.

Let w_j be the split of node j in input units, n_j its number of rows and s_j the spread of their classes or targets.
The matrix ``A = sum_j n_j s_j^2 w_j w_j'`` collects the splits, and neighbours are compared in the space of
``x -> (A / largest eigenvalue)^(1/4) x``.

With the vectors ``sqrt(n_j) s_j w_j`` as the rows of a sparse matrix W, ``A = W'W`` has the nonzero eigenvalues of
``W W'``, and the smaller of the two matrices is decomposed. With many nodes and many columns, W is replaced by
``MAX_ROWS`` sums of random rows with random signs, which leaves the expectation of W'W unchanged.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from .._utils.parallel import chunks, one_blas_thread
from .trees import Trees

MAX_DIRECTIONS = 512
MAX_ROWS = 1024
_EXPONENT = 0.25
_MIN_LENGTH = 1e-4
_DENSE_SHARE = 0.1  # share of nonzero entries above which dense matrices are faster
_DENSE_ENTRIES = 2**22  # maximum number of entries of a dense chunk


def metric_map(trees: Trees, tree_mask: np.ndarray, n_features: int) -> np.ndarray | None:
    """(n_features, r) map into the metric space of the trees in the boolean mask ``tree_mask``; None is the identity.

    Distances after the map are those of (A / largest eigenvalue)^(1/4), rotated to the axes of A. Only the
    ``MAX_DIRECTIONS`` longest directions are kept, without those of negligible length.
    """
    W, columns = _split_rows(trees, tree_mask, n_features)
    if not W.nnz:
        return None
    with one_blas_thread():
        values, vectors = _leading(W)
        if values[0] <= 0.0:
            return None
        relative = np.maximum(values / values[0], 0.0) ** _EXPONENT
        keep = relative > _MIN_LENGTH
        space = np.zeros((n_features, np.count_nonzero(keep)))
        space[columns] = vectors[:, keep] * relative[keep]
    return space


def _split_rows(trees: Trees, tree_mask: np.ndarray, n_features: int) -> tuple[csr_array, np.ndarray]:
    """Return W, or sums of its rows, without the columns that no split uses, and the numbers of its columns."""
    nodes = np.flatnonzero(tree_mask[trees.node_tree])
    length = np.sqrt(trees.metric_weight[nodes])
    row, n_rows = np.arange(len(nodes)), len(nodes)
    if min(len(nodes), n_features) > MAX_ROWS:
        rng = np.random.default_rng(0)
        length *= rng.choice([-1.0, 1.0], len(nodes))
        row, n_rows = rng.integers(MAX_ROWS, size=len(nodes)), MAX_ROWS
    splits = csr_array((trees.split_weight, trees.split_feature, trees.split_ptr), shape=(len(trees.child), n_features))
    W = csr_array((length, (row, nodes)), shape=(n_rows, len(trees.child))) @ splits
    columns = np.flatnonzero(np.bincount(W.indices, minlength=n_features))
    new_number = np.zeros(n_features, dtype=np.int32)
    new_number[columns] = np.arange(len(columns))
    return csr_array((W.data, new_number[W.indices], W.indptr), shape=(n_rows, len(columns))), columns


def _leading(W: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest eigenvalues of W'W in descending order, and their eigenvectors (columns of W, r)."""
    is_wide = W.shape[1] > W.shape[0]
    tall = csr_array(W.T) if is_wide else W
    values, vectors = np.linalg.eigh(_gram(tall))
    values, vectors = values[::-1][:MAX_DIRECTIONS], vectors[:, ::-1][:, :MAX_DIRECTIONS]
    if is_wide:
        vectors = _product(tall, vectors / np.sqrt(np.maximum(values, 1e-300)))
    return values, vectors


def _is_dense(matrix: csr_array) -> bool:
    return bool(matrix.nnz > _DENSE_SHARE * matrix.shape[0] * matrix.shape[1])


def _gram(tall: csr_array) -> np.ndarray:
    """Return ``tall.T @ tall`` as a dense matrix."""
    if not _is_dense(tall):
        return np.asarray((tall.T @ tall).toarray())
    size = tall.shape[1]
    total = np.zeros((size, size))
    for chunk in chunks(tall.shape[0], max(1, _DENSE_ENTRIES // size)):
        dense = tall[chunk].toarray()
        total += dense.T @ dense
    return total


def _product(tall: csr_array, right: np.ndarray) -> np.ndarray:
    """Return ``tall @ right``."""
    if not _is_dense(tall):
        return np.asarray(tall @ right)
    row_chunks = chunks(tall.shape[0], max(1, _DENSE_ENTRIES // tall.shape[1]))
    return np.concatenate([tall[chunk].toarray() @ right for chunk in row_chunks])
