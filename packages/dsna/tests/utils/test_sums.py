"""Sums over neighbours are those of numpy's cumulative sums, to the last bit, for every shape and layout."""

import numpy as np
import pytest

from dsna._utils.sums import ordered_sum, weighted_sum


def layouts(values):
    fixed = values.copy()
    fixed.flags.writeable = False
    return values, np.asfortranarray(values), fixed, np.repeat(values, 2, axis=0)[::2]


@pytest.mark.parametrize("shape", [(4, 7), (1, 1), (0, 5), (4, 7, 1), (3, 50, 2), (0, 5, 2)])
def test_term_after_term(shape):
    values = np.random.default_rng(0).normal(size=shape)
    expected = np.cumsum(values, axis=1)[:, -1]
    for given in layouts(values):
        found = ordered_sum(given)
        assert found.shape == expected.shape
        np.testing.assert_array_equal(found, expected)


def test_zeros_at_the_end_change_nothing():
    values = np.random.default_rng(0).normal(size=(5, 30))
    np.testing.assert_array_equal(ordered_sum(np.c_[values, np.zeros((5, 9))]), ordered_sum(values))


@pytest.mark.parametrize("n, m, q", [(6, 40, 1), (3, 5, 3), (0, 4, 2)])
def test_weighted_sums_are_taken_relative_to_the_first_value(n, m, q):
    rng = np.random.default_rng(1)
    weights, values = rng.normal(size=(n, m)), rng.normal(size=(n, m, q))
    away = np.cumsum(weights[:, :, None] * (values - values[:, :1]), axis=1)[:, -1]
    expected = np.cumsum(weights, axis=1)[:, -1:] * values[:, 0] + away
    for some, others in zip(layouts(weights), layouts(values), strict=True):
        np.testing.assert_array_equal(weighted_sum(some, others), expected)
