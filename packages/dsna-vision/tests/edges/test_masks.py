"""Masks in two bits a pixel: nothing is lost of four segments, and of more the smallest are merged."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.test_structured import SEEDS, blobs

from dsna_vision.edges.masks import MaskTable


def refines(fine, coarse):
    """Whether each segment of one mask lies in one segment of the other."""
    return all(len(np.unique(coarse[fine == segment])) == 1 for segment in np.unique(fine))


@given(SEEDS, st.integers(1, 30))
@settings(max_examples=20)
def test_round_trip(seed, n):
    rng = np.random.default_rng(seed)
    some = np.concatenate([blobs(rng, k) for k in (1, 2, 3, 4)])
    masks = some[rng.integers(0, 4, n)]
    table, index = MaskTable.of(masks)
    np.testing.assert_array_equal(table.masks[index], masks)
    assert len(table.packed) == len(np.unique(masks, axis=0))
    assert table.packed.shape[1:] == (64,)
    assert table.packed.dtype == np.uint8
    assert index.dtype == np.int32
    np.testing.assert_array_equal(table.has_edge[index], masks.max(axis=1) > 0)
    again = MaskTable(table.packed)
    np.testing.assert_array_equal(again.masks, table.masks)


@given(SEEDS, st.integers(5, 40))
@settings(max_examples=20)
def test_many_segments_are_merged(seed, n_segments):
    mask = blobs(np.random.default_rng(seed), n_segments)
    n_found = mask.max() + 1
    table, index = MaskTable.of(mask)
    merged = table.masks[index[0]]
    assert merged.max() + 1 == min(n_found, 4)
    assert refines(mask[0], merged)
    assert merged[0] == 0  # numbered as they appear
    firsts = [int(np.flatnonzero(merged == segment)[0]) for segment in range(merged.max() + 1)]
    assert firsts == sorted(firsts)


def test_the_smallest_goes_to_what_it_touches_most():
    grid = np.zeros((16, 16), np.uint8)
    grid[:, 8:] = 1
    grid[8:, :8] = 2
    grid[8:, 8:] = 3
    grid[4:6, 7:9] = 4  # half on 0, half on 1; then one more pixel on 0
    grid[3, 7] = 4
    table, index = MaskTable.of(grid.reshape(1, 256))
    expected = np.where(grid == 4, 0, grid)
    np.testing.assert_array_equal(table.masks[index[0]].reshape(16, 16), expected)


def test_noise_of_two_hundred_segments():
    masks = np.arange(256, dtype=np.uint8).reshape(1, 256)
    table, index = MaskTable.of(np.repeat(masks, 2, axis=0))
    assert index.tolist() == [0, 0]
    assert table.masks.max() == 3
    assert refines(masks[0], table.masks[0])
