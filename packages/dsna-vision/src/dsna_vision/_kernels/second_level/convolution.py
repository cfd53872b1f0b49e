"""Convolutions of 3 x 3 pixels, as a small network is made of.  Planes lie in a frame of one pixel of zeros."""

import numpy as np

from dsna.extend.kernels import kernel


@kernel
def _add_taps(above, here, below, taps, out):
    """Add to a row what nine taps make of three rows that begin and end one pixel further out."""
    for x in range(out.shape[0]):
        out[x] += (
            (taps[0, 0] * above[x] + taps[0, 1] * above[x + 1] + taps[0, 2] * above[x + 2])
            + (taps[1, 0] * here[x] + taps[1, 1] * here[x + 1] + taps[1, 2] * here[x + 2])
            + (taps[2, 0] * below[x] + taps[2, 1] * below[x + 1] + taps[2, 2] * below[x + 2])
        )


@kernel
def add_convolution(planes, weight, bias, step, least, out):
    """Add to planes a convolution of others.  Each pixel is summed in the same order, wherever it lies.

    Parameters
    ----------
    planes : float32 (n_in, height + 2, width + 2)
    weight : float32 (n_out, n_in, 3, 3); its middle meets the pixel itself.
    bias : float32 (n_out,)
    step : 1, or 2 for every second row and column.
    least : float32; smaller sums become this.
    out : float32 (n_out, ceil(height / step) + 2, ceil(width / step) + 2)
    """
    n_in, _, width = planes.shape
    n_out, height_out, width_out = out.shape
    row = np.empty(width - 2, dtype=np.float32)
    for y in range(height_out - 2):
        top = y * step
        for o in range(n_out):
            row[:] = bias[o]
            for i in range(n_in):
                _add_taps(planes[i, top], planes[i, top + 1], planes[i, top + 2], weight[o, i], row)
            for x in range(width_out - 2):
                out[o, y + 1, x + 1] = max(out[o, y + 1, x + 1] + row[x * step], least)
