"""Thinning against scikit-image, which does the same by lookup tables of its own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import ndimage

from dsna_vision._kernels.thinning import thin

morphology = pytest.importorskip("skimage.morphology")
ALL_AROUND = np.ones((3, 3))


def thinned(picture):
    padded = np.pad(picture.astype(np.uint8), 1)
    thin(padded)
    assert not padded[[0, -1]].any()
    assert not padded[:, [0, -1]].any()
    return padded[1:-1, 1:-1] > 0


small = arrays(bool, st.tuples(st.integers(1, 20), st.integers(1, 20)))


@given(small)
@settings(max_examples=150)
def test_agrees_with_scikit_image(picture):
    assert np.array_equal(thinned(picture), morphology.thin(picture))


@pytest.mark.parametrize("seed", range(5))
def test_blobs(seed):
    noise = ndimage.gaussian_filter(np.random.default_rng(seed).normal(size=(120, 90)), 3)
    blobs = noise > np.quantile(noise, 0.6)
    lines = thinned(blobs)
    assert np.array_equal(lines, morphology.thin(blobs))
    assert np.array_equal(thinned(lines), lines)
    assert not (lines & ~blobs).any()
    # What hangs together still does, and holes stay holes.
    assert ndimage.label(lines, ALL_AROUND)[1] == ndimage.label(blobs, ALL_AROUND)[1]
    assert ndimage.label(~np.pad(lines, 1))[1] == ndimage.label(~np.pad(blobs, 1))[1]


def test_lines_stay():
    line = np.zeros((9, 9), bool)
    line[4, 1:8] = True
    assert np.array_equal(thinned(line), line)
    assert thinned(np.ones((1, 1), bool)).all()
    assert thinned(np.ones((31, 31), bool)).sum() < 31
