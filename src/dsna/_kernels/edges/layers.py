"""A layer of a perceptron, asked row by row: a row's answer does not depend on the others, as with BLAS it may."""

import numpy as np

from ..jit import kernel

ABREAST = 16  # rows for which a row of the weights is read once


@kernel
def fill_layer(rows, weight, bias, floor, out):
    """Fill ``out`` with the values of units, none of them below ``floor``.

    Parameters
    ----------
    rows : float32 (n, d)
    weight : float32 (d, n_units)
    bias : float32 (n_units,)
    floor : float32
    out : float32 (n, n_units)
    """
    for start in range(0, rows.shape[0], ABREAST):
        stop = min(start + ABREAST, rows.shape[0])
        for i in range(start, stop):
            for b in range(bias.shape[0]):
                out[i, b] = bias[b]
        for a in range(rows.shape[1]):
            for i in range(start, stop):
                for b in range(bias.shape[0]):
                    out[i, b] += rows[i, a] * weight[a, b]
        for i in range(start, stop):
            for b in range(bias.shape[0]):
                out[i, b] = max(out[i, b], np.float32(floor))
