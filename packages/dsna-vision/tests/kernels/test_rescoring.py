"""A layer of a perceptron against the product of matrices, row by row."""

import numpy as np
import pytest

from dsna_vision._kernels.second_level.rescoring import ABREAST, fill_layer


@pytest.mark.parametrize("n", [0, 1, ABREAST, 2 * ABREAST + 3])
@pytest.mark.parametrize("floor", [0.0, -np.inf])
def test_a_layer_is_a_product_cut_at_its_floor(n, floor):
    rng = np.random.default_rng(n)
    rows, weight, bias = (rng.normal(size=shape).astype(np.float32) for shape in ((n, 7), (7, 5), (5,)))
    out = np.full((n, 5), np.nan, dtype=np.float32)
    fill_layer(rows, weight, bias, np.float32(floor), out)
    expected = np.maximum(rows.astype(float) @ weight.astype(float) + bias, floor)
    np.testing.assert_allclose(out, expected, atol=1e-5)
    alone = np.empty((1, 5), dtype=np.float32)
    for i in range(n):
        fill_layer(rows[i : i + 1], weight, bias, np.float32(floor), alone)
        np.testing.assert_array_equal(alone[0], out[i])
