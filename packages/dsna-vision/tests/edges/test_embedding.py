"""How patches are described and compared: against means taken cell by cell, and plain linear algebra."""

from itertools import product

import numpy as np
from tests.features.test_channels import slow_smooth
from tests.kernels.test_structured import blobs, slow_outline

from dsna_vision.edges.embedding import (
    N_POOLED,
    Context,
    PatchEmbedding,
    blurred_outlines,
    describe,
    mirror_image,
    pooled_features,
)
from dsna_vision.edges.patches import CELLS, Channels

RNG = np.random.default_rng(0)


def test_context_is_means_of_cells_around():
    edges = RNG.random((37, 50)).astype(np.float32)
    maps = [np.pad(one, 64, mode="symmetric") for one in (edges, edges / (edges + edges.mean()))]
    positions = np.array([[0, 0], [36, 48], [20, 4]])
    found = Context(edges).features(positions).reshape(3, -1, 8, 8)
    for (y, x), levels in zip(positions + 64, found, strict=True):
        for (padded, size), cells in zip(product(maps, (2, 4, 8, 16)), levels, strict=True):
            for a, b in np.ndindex(8, 8):
                top, left = y + size * (a - 4), x + size * (b - 4)
                assert np.isclose(cells[a, b], padded[top : top + size, left : left + size].mean(), atol=1e-5)


def test_pooled_features():
    channels = Channels(RNG.integers(0, 256, (40, 50, 3)).astype(np.uint8))
    positions = np.array([[10, 20], [38, 0]])
    found = pooled_features(channels, channels.starts(positions))
    regular, similar = channels.flat.reshape(2, 13, *channels.shape)
    for (y, x), row in zip(positions // 2, found, strict=True):
        fine = regular[:, y : y + 16, x : x + 16].reshape(13, 8, 2, 8, 2).mean(axis=(2, 4))
        coarse = similar[:, y : y + 16, x : x + 16][:, CELLS][:, :, CELLS]
        np.testing.assert_allclose(row, np.concatenate([fine.ravel(), coarse.ravel()]), atol=1e-5)
    context = Context(np.zeros((40, 50), np.float32))
    both = describe(channels, channels.starts(positions), context, positions)
    np.testing.assert_array_equal(both[:, :N_POOLED], found)
    assert np.all(both[:, N_POOLED:] == 0)


def test_blurred_outlines():
    masks = blobs(RNG, 3, 2)
    for mask, blurred in zip(masks, blurred_outlines(masks), strict=True):
        expected = slow_smooth(slow_outline(mask).reshape(16, 16), 2)
        np.testing.assert_allclose(blurred.reshape(16, 16), expected, atol=1e-6)


def test_the_embedding_keeps_what_predicts():
    X = RNG.normal(size=(800, 30)).astype(np.float32) * np.geomspace(0.01, 100, 30, dtype=np.float32) + 5
    causes = (X[:, [3, 20]] - X[:, [3, 20]].mean(axis=0)) / X[:, [3, 20]].std(axis=0)
    Y = (causes @ RNG.normal(size=(2, 40)) + 0.1 * RNG.normal(size=(800, 40))).astype(np.float32)
    embedding = PatchEmbedding.fitted([(X[:300], Y[:300]), (X[300:], Y[300:])], 2)
    Z = embedding(X)
    assert Z.shape == (800, 2)
    assert Z.dtype == np.float64
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=0.05)
    # The two causes, turned and stretched: each is a linear function of the two dimensions, and nothing else is.
    for column, explained in ((3, True), (20, True), (7, False)):
        left = np.linalg.lstsq(Z, X[:, column] - X[:, column].mean(), rcond=None)[1][0]
        assert (left / ((X[:, column] - X[:, column].mean()) ** 2).sum() < 0.05) == explained
    assert Z[:, 0].var() >= Z[:, 1].var()


def test_mirrored_patches_count_as_well():
    feature, pixel = np.array([1, 0, 2, 4, 3]), np.array([2, 1, 0])
    X = (RNG.normal(size=(400, 5)) * [1, 2, 3, 4, 5] + [3, 1, 0, 2, 2]).astype(np.float32)
    Y = (X @ RNG.normal(size=(5, 3)) + RNG.normal(size=(400, 3))).astype(np.float32)
    found = PatchEmbedding.fitted([(X, Y)], 3, (feature, pixel))
    both = PatchEmbedding.fitted([(X, Y), (X[:, feature], Y[:, pixel])], 3)
    assert np.abs(np.diag(np.corrcoef(found(X).T, both(X).T)[:3, 3:])).min() > 0.999
    np.testing.assert_allclose(np.abs(found(X)).mean(axis=0), np.abs(both(X)).mean(axis=0), rtol=1e-3)


def test_a_mirrored_photo_is_described_by_mirrored_features():
    photo = RNG.integers(0, 256, (64, 64, 3)).astype(np.uint8)
    edges = RNG.random((64, 64)).astype(np.float32)
    rows = []
    for colours, values in ((photo, edges), (photo[:, ::-1], edges[:, ::-1])):
        channels, middle = Channels(colours), np.array([[32, 32]])
        rows.append(describe(channels, channels.starts(middle), Context(values), middle)[0])
    feature, _ = mirror_image()
    # The middles of five cells in sixteen pixels are not symmetric: all but the cells agree exactly.
    same = np.r_[0 : 13 * 64, N_POOLED : len(feature)]
    np.testing.assert_allclose(rows[1][same], rows[0][feature][same], atol=1e-4)
    assert np.corrcoef(rows[1], rows[0][feature])[0, 1] > 0.99
