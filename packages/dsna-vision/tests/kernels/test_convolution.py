"""Convolutions against those of scipy in double precision."""

import numpy as np
import pytest
from scipy.signal import correlate

from dsna_vision._kernels.second_level.convolution import add_convolution


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("shape", [(1, 1), (2, 7), (9, 4), (12, 40)])
def test_sums_are_those_of_scipy(shape, step):
    rng = np.random.default_rng(step)
    planes = np.pad(rng.normal(size=(3, *shape)).astype(np.float32), [(0, 0), (1, 1), (1, 1)])
    weight, bias = rng.normal(size=(2, 3, 3, 3)).astype(np.float32), rng.normal(size=2).astype(np.float32)
    convolved = [correlate(planes.astype(np.float64), taps.astype(np.float64), "valid")[0] for taps in weight]
    expected = np.stack(convolved)[:, ::step, ::step] + bias[:, None, None]
    before = np.zeros((2, *(side + 2 for side in expected.shape[1:])), dtype=np.float32)
    inside = (slice(None), slice(1, -1), slice(1, -1))
    before[inside] = rng.normal(size=expected.shape)
    for least in (-np.inf, 0.5):
        out = before.copy()
        add_convolution(planes, weight, bias, step, np.float32(least), out)
        np.testing.assert_allclose(out[inside], np.maximum(before[inside] + expected, least), rtol=1e-5, atol=1e-5)
        out[inside] = 0
        assert not out.any()  # the frame stays as it was
