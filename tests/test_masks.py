"""Masks in two bits a pixel: nothing is lost of four segments, and of more the smallest are merged."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dsna.vision.edges.masks import MaskTable
from tests.oracles.test_structured import SEEDS, blobs


def refines(fine, coarse):
    """Whether each segment of one mask lies in one segment of the other."""
    return all(len(np.unique(coarse[fine == segment])) == 1 for segment in np.unique(fine))


@given(SEEDS, st.integers(1, 30))
@settings(max_examples=20)
def test_round_trip(seed, n):
    rng = np.random.default_rng(seed)
    some = np.concatenate([blobs(rng, k) for k in (1, 2, 3, 4)])
    masks = some[rng.integers(0, 4, n)]
    book, page = MaskTable.of(masks)
    np.testing.assert_array_equal(book.masks[page], masks)
    assert len(book.packed) == len(np.unique(masks, axis=0))
    assert book.packed.shape[1:] == (64,)
    assert book.packed.dtype == np.uint8
    assert page.dtype == np.int32
    np.testing.assert_array_equal(book.has_edge[page], masks.max(axis=1) > 0)
    again = MaskTable(book.packed)
    np.testing.assert_array_equal(again.masks, book.masks)


@given(SEEDS, st.integers(5, 40))
@settings(max_examples=20)
def test_many_segments_are_merged(seed, n_segments):
    mask = blobs(np.random.default_rng(seed), n_segments)
    n_found = mask.max() + 1
    book, page = MaskTable.of(mask)
    merged = book.masks[page[0]]
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
    book, page = MaskTable.of(grid.reshape(1, 256))
    expected = np.where(grid == 4, 0, grid)
    np.testing.assert_array_equal(book.masks[page[0]].reshape(16, 16), expected)


def test_noise_of_two_hundred_segments():
    masks = np.arange(256, dtype=np.uint8).reshape(1, 256)
    book, page = MaskTable.of(np.repeat(masks, 2, axis=0))
    assert page.tolist() == [0, 0]
    assert book.masks.max() == 3
    assert refines(masks[0], book.masks[0])
