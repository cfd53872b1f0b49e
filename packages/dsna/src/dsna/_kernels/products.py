"""Matrix products whose rows do not depend, to the last bit, on the other rows; BLAS does not guarantee that."""

from .jit import kernel

BLOCK_ROWS = 16  # rows that share one pass over the matrix


@kernel
def rowwise_product(X, matrix, out):
    """Fill ``out`` (n, e) with ``X @ matrix``."""
    out[:, :] = 0.0
    for start in range(0, X.shape[0], BLOCK_ROWS):
        for a in range(X.shape[1]):
            for i in range(start, min(start + BLOCK_ROWS, X.shape[0])):
                for b in range(matrix.shape[1]):
                    out[i, b] += X[i, a] * matrix[a, b]
