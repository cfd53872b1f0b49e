"""Products of rows with a matrix, each row to the last bit as if it came alone, which BLAS does not promise."""

from .jit import kernel

ABREAST = 16  # rows for which a row of the matrix is read once


@kernel
def rowwise_product(X, matrix, out):
    """Fill ``out`` (n, e) with ``X @ matrix``."""
    out[:, :] = 0.0
    for start in range(0, X.shape[0], ABREAST):
        for a in range(X.shape[1]):
            for i in range(start, min(start + ABREAST, X.shape[0])):
                for b in range(matrix.shape[1]):
                    out[i, b] += X[i, a] * matrix[a, b]
