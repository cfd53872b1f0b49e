"""Edge channels against plain loops over pixels, and where they must be what is known."""

import math

import numpy as np
import pytest

from dsna_vision.edges.patches import HALF, N_FEATURES, Channels, draw_centres, feature_offsets, near_boundary
from dsna_vision.features.channels import N_CHANNELS, _gradient, edge_channels, luv, smooth

RNG = np.random.default_rng(0)


def slow_smooth(values, radius):
    """Triangle filter of one map, its borders mirrored, pixel by pixel."""
    weight = {step: (radius + 1 - abs(step)) / (radius + 1) ** 2 for step in range(-radius, radius + 1)}
    padded = np.pad(values.astype(float), radius, mode="symmetric")
    out = np.zeros(values.shape)
    for y, x in np.ndindex(values.shape):
        for a, down in weight.items():
            for b, right in weight.items():
                out[y, x] += down * right * padded[y + radius + a, x + radius + b]
    return out


def slow_luv(red, green, blue):
    """CIE L*u*v* of one colour, each level from 0 to 1, taken as linear."""
    x = 0.430574 * red + 0.341550 * green + 0.178325 * blue
    y = 0.222015 * red + 0.706655 * green + 0.071330 * blue
    z = 0.020183 * red + 0.129553 * green + 0.939180 * blue
    lightness = 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y
    total = x + 15 * y + 3 * z
    if total == 0:
        return 0.0, 88 / 270, 134 / 270
    u = 13 * lightness * (4 * x / total - 0.197833)
    v = 13 * lightness * (9 * y / total - 0.468331)
    return lightness / 270, (u + 88) / 270, (v + 134) / 270


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (2, 3), (9, 6)])
@pytest.mark.parametrize("radius", [1, 2, 4])
def test_smoothing(shape, radius):
    values = RNG.random(shape).astype(np.float32)
    found = smooth(values[None], radius)[0]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, slow_smooth(values, radius), atol=1e-6)


def test_luv():
    photo = RNG.integers(0, 256, (4, 5, 3)).astype(np.uint8)
    photo[0, 0], photo[0, 1], photo[0, 2] = 0, 255, (3, 1, 0)  # black, white, and so dark that the curve is a line
    found = luv(photo)
    assert found.dtype == np.float32
    for y, x in np.ndindex(4, 5):
        np.testing.assert_allclose(found[:, y, x], slow_luv(*photo[y, x] / 255), atol=2e-6)


def test_a_constant_photo_has_no_gradient():
    regular, similar = edge_channels(np.full((20, 24, 3), (90, 200, 40), dtype=np.uint8))
    assert np.all(regular[3:] == 0)
    assert np.all(similar[3:] == 0)
    for k, level in enumerate(slow_luv(90 / 255, 200 / 255, 40 / 255)):
        np.testing.assert_allclose(regular[k], level, rtol=1e-5)
        np.testing.assert_allclose(similar[k], level, rtol=1e-5)


@pytest.mark.parametrize("degrees", [0, 10, 22.5, 45, 80, 90, 120, 135, 157.5, 170, 200, 315])
def test_gradient_of_ramps(degrees):
    slope, angle = 0.03, math.radians(degrees)
    y, x = np.mgrid[:24, :26]
    ramp = (slope * (x * math.cos(angle) + y * math.sin(angle))).astype(np.float32)
    colours = np.stack([0 * ramp, ramp, 0.5 * ramp])
    found = _gradient(colours)[:, 12, 13]
    assert found[0] == pytest.approx(slope / (slope + 0.01), rel=1e-4)
    # Four bins, 45 degrees apart, from 0 to 180 and round again; an angle between two is shared.
    for k in range(4):
        apart = abs(degrees % 180 - 45 * k) / 45
        share = max(0.0, 1 - min(apart, 4 - apart))
        assert found[1 + k] == pytest.approx(share * found[0], abs=1e-3)


def test_a_step_is_where_it_is():
    photo = np.full((32, 48, 3), 50, dtype=np.uint8)
    photo[:, 20:] = 180
    regular, _ = edge_channels(photo)
    for magnitude in (regular[3], regular[8]):
        assert set(np.flatnonzero(magnitude[8] == magnitude[8].max())) <= {9, 10}
    np.testing.assert_allclose(regular[4:8, 8].sum(axis=0), regular[3, 8], atol=1e-6)
    assert np.all(regular[5:8, 8] < 1e-6)  # upright: no other orientation


def test_gradients_follow_the_strongest_colour():
    photo = np.full((32, 32, 3), 128, dtype=np.uint8)
    photo[:, 16:, 0], photo[:, 16:, 1] = 190, 109  # about as light, another hue
    regular, _ = edge_channels(photo)
    assert regular[3, 8].argmax() in (7, 8)
    assert regular[3, 8].max() > 0.5


@pytest.mark.parametrize("shape", [(1, 1), (1, 30), (30, 1), (2, 2), (15, 16), (16, 17), (33, 40)])
def test_channels_of_any_size(shape):
    photo = RNG.integers(0, 256, (*shape, 3)).astype(np.uint8)
    channels = Channels(photo)
    even = tuple(side + side % 2 for side in shape)
    assert channels.shape == (even[0] // 2 + HALF, even[1] // 2 + HALF)
    assert channels.flat.shape == (2 * N_CHANNELS * channels.shape[0] * channels.shape[1],)
    assert np.isfinite(channels.flat).all()
    centres = np.stack(np.meshgrid(np.arange(0, shape[0], 2), np.arange(0, shape[1], 2), indexing="ij"), -1)
    first, second = feature_offsets(channels.shape)
    places = channels.starts(centres.reshape(-1, 2))
    assert places.min() == 0
    assert places.max() + max(first.max(), second.max()) < len(channels.flat)  # every pixel has all its features


def test_a_patch_is_what_surrounds_its_centre():
    photo = RNG.integers(0, 256, (70, 90, 3)).astype(np.uint8)
    channels = Channels(photo)
    first, second = feature_offsets(channels.shape)
    assert len(first) == N_FEATURES == 7228
    y, x = 34, 40
    at = channels.starts(np.array([[y, x]]))[0]
    regular, similar = channels.flat.reshape(2, N_CHANNELS, *channels.shape)
    window = np.s_[:, (y - 16) // 2 + 8 : (y + 16) // 2 + 8, (x - 16) // 2 + 8 : (x + 16) // 2 + 8]
    np.testing.assert_array_equal(channels.flat[at + first[: 13 * 256]], regular[window].ravel())
    # The first difference is between the first two cells of the grid.
    near = similar[window][0]
    assert channels.flat[at + first[13 * 256]] == near[1, 1]
    assert channels.flat[at + second[13 * 256]] == near[1, 4]
    # In the middle the mirrored borders are far away: the photo alone gives the same channels.
    alone, _ = edge_channels(photo)
    np.testing.assert_allclose(regular[0, 8:-8, 8:-8][12:20, 12:20], alone[0, 12:20, 12:20], atol=1e-6)


def test_pooled_channels_are_means():
    channels = Channels(RNG.integers(0, 256, (20, 21, 3)).astype(np.uint8))
    half = len(channels.flat) // 2
    regular = channels.flat[:half].reshape(N_CHANNELS, *channels.shape)
    pooled = channels.pooled[:half].reshape(N_CHANNELS, *channels.shape)
    np.testing.assert_allclose(pooled[4, 3, 5], regular[4, 3:5, 5:7].mean(), rtol=1e-5)
    np.testing.assert_array_equal(channels.pooled[half:], channels.flat[half:])


def test_places_near_a_boundary():
    boundary = RNG.random((30, 41)) < 0.004
    assert boundary.any()
    near = near_boundary(boundary)
    assert near.shape == (8, 13)
    drawn = np.argwhere(boundary)
    for i, j in np.ndindex(near.shape):
        away = np.sqrt(((drawn - (8 + 2 * i, 8 + 2 * j)) ** 2).sum(axis=1)).min()
        assert near[i, j] == (away <= 8)
    assert not near_boundary(np.zeros((16, 16), bool)).any()
    assert near_boundary(np.ones((15, 40), bool)).size == 0


def test_half_of_the_patches_are_near():
    near = np.zeros((20, 20), bool)
    near[:3] = True
    centres = draw_centres(near, 100, np.random.default_rng(0))
    assert len(np.unique(centres, axis=0)) == 100
    at = near[tuple(((centres - 8) // 2).T)]
    assert at.sum() == 50
    assert len(draw_centres(near, 1000, np.random.default_rng(0))) == 60 + 340  # as many as there are
    assert len(draw_centres(np.zeros((0, 0), bool), 10, np.random.default_rng(0))) == 0
    # Where a drawing gets one patch only, some still show an edge.
    rng = np.random.default_rng(0)
    singles = np.concatenate([draw_centres(near, 1, rng) for _ in range(40)])
    assert 10 < near[tuple(((singles - 8) // 2).T)].sum() < 30
