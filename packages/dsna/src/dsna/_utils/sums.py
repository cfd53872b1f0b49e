"""Sums and means that are identical to the last bit however rows are batched and padded.

``np.sum``, ``np.einsum`` and BLAS group their terms by the shape of the array: the prediction of a query
would depend on the number of neighbours of the other queries.
"""

from __future__ import annotations

from math import prod

import numpy as np

from .parallel import writable

_ROUNDING = 1e-9


def ordered_sum(values: np.ndarray) -> np.ndarray:
    """Sum along the second axis, term after term; zeros at the end change nothing.

    Examples
    --------
    >>> import numpy as np
    >>> ordered_sum(np.array([[0.1, 0.2, 0.3], [1.0, 2.0, 0.0]]))
    array([0.6, 3. ])
    """
    from .._kernels.sums import sum_over_neighbors

    n, m, *outputs = values.shape
    out = np.empty((n, prod(outputs)))
    sum_over_neighbors(_as_floats(values).reshape(n, m, prod(outputs)), out)
    return out.reshape(n, *outputs)


def weighted_sum(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return (n, q) sums of values (n, M, q) times weights (n, M), computed relative to the first value.

    If the weights of a row sum to one up to rounding, equal values give exactly that value.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_sum(np.array([[0.7, 0.2, 0.1]]), np.full((1, 3, 1), 0.3)).item()
    0.3
    """
    from .._kernels.sums import weighted_sum_over_neighbors

    total, deviations = np.empty(len(values)), np.empty((len(values), values.shape[2]))
    weighted_sum_over_neighbors(_as_floats(weights), _as_floats(values), total, deviations)
    total = np.where(np.abs(total - 1.0) <= _ROUNDING, 1.0, total)
    return np.asarray(total[:, None] * values[:, 0] + deviations)


def rowwise_product(X: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return ``X @ matrix`` in float64.

    Examples
    --------
    >>> import numpy as np
    >>> rowwise_product(np.array([[1.0, 2.0]]), np.eye(2))
    array([[1., 2.]])
    """
    from .._kernels.products import rowwise_product as fill

    out = np.empty((len(X), matrix.shape[1]))
    fill(_as_floats(X), _as_floats(matrix), out)
    return out


def _as_floats(values: np.ndarray) -> np.ndarray:
    """Return float64 values as kernels take them."""
    return writable(np.asarray(values, dtype=np.float64))
