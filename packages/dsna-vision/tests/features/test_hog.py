"""Histograms of oriented gradients."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from skimage.feature import hog
from sklearn.base import clone

from dsna_vision.features import HOG

RNG = np.random.default_rng(0)


def test_equal_sizes_agree_with_scikit_image():
    images = RNG.uniform(0, 255, (3, 64, 48)).astype(np.float32)
    ours = HOG(size=(64, 48), orientations=8, pixels_per_cell=(16, 8), cells_per_block=(1, 2)).fit_transform(images)
    theirs = [hog(image, orientations=8, pixels_per_cell=(16, 8), cells_per_block=(1, 2)) for image in images]
    assert_allclose(ours, theirs)


def test_images_of_different_sizes_and_colours():
    stripes = np.tile(np.repeat([0.0, 200.0], 10), (100, 5))
    wide = np.repeat(np.repeat(stripes, 2, axis=0), 2, axis=1)
    colour = np.repeat(stripes[:, :, None], 3, axis=2)
    model = HOG().fit()
    rows = model.transform([stripes, wide, colour])
    assert rows.shape == (3, model.n_features_out_) == (3, 900)
    assert_allclose(rows[1], rows[0], atol=0.1)
    assert_allclose(rows[2], rows[0], atol=1e-4)


def test_conventions():
    model = HOG(orientations=6)
    assert clone(model).get_params() == model.get_params()
    images = RNG.uniform(size=(2, 32, 32))
    assert_array_equal(model.transform(images), model.fit(images).transform(images))
    assert len(model.get_feature_names_out()) == model.n_features_out_
    assert model.transform([]).shape == (0, model.n_features_out_)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"size": (8, 8)}, "does not fit"),
        ({"size": 64}, "pair"),
        ({"orientations": 0}, "orientations"),
        ({"pixels_per_cell": (8, 0)}, "pixels_per_cell"),
        ({"cells_per_block": (2.0, 2)}, "cells_per_block"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        HOG(**parameters).fit()


def test_bad_images_are_named():
    with pytest.raises(ValueError, match="height, width"):
        HOG().transform([np.zeros(5)])
