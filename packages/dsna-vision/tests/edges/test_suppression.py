"""Non-maximum suppression of edge maps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter, map_coordinates

from dsna_vision.edges.suppression import suppress


def soft_map(height, width, seed=0, sigma=1.5):
    noise = np.random.default_rng(seed).random((height, width))
    soft = gaussian_filter(noise, sigma)
    return ((soft - soft.min()) / max(np.ptp(soft), 1e-9)).astype(np.float32)


def brute_force(values, radius=1, margin=5, multiplier=1.01):
    """The definition, pixel by pixel: kept values, and by how much each is above or below its neighbours."""
    height, width = values.shape
    triangle = np.convolve(np.ones(5), np.ones(5)) / 25
    padded = np.pad(values.astype(float), 5, mode="symmetric")
    smooth = sum(
        triangle[a] * triangle[b] * padded[a : a + height + 2, b : b + width + 2] for a in range(9) for b in range(9)
    )
    out, lead = np.zeros_like(values, dtype=float), np.full(values.shape, np.inf)
    for y in range(height):
        for x in range(width):
            s = smooth[y : y + 3, x : x + 3]
            yy, xx = s[0, 1] - 2 * s[1, 1] + s[2, 1], s[1, 0] - 2 * s[1, 1] + s[1, 2]
            xy = (s[0, 0] + s[2, 2] - s[0, 2] - s[2, 0]) / 4
            bends, directions = np.linalg.eigh(np.array([[yy, xy], [xy, xx]]))
            across = directions[:, np.abs(bends).argmax()]
            steps = [d for d in range(-radius, radius + 1) if d]
            places = np.array([[y + d * across[0], x + d * across[1]] for d in steps]).T
            lead[y, x] = (values[y, x] * multiplier - map_coordinates(values, places, order=1, mode="nearest")).min()
            fade = 1.0
            for place, length in ((y, height), (x, width)):
                edge = min(margin, length // 2)
                fade *= min(place, length - 1 - place, edge) / edge if edge else 1.0
            out[y, x] = values[y, x] * fade * (lead[y, x] >= 0)
    return out, lead


@pytest.mark.parametrize("shape", [(40, 31), (12, 50), (7, 7)])
@pytest.mark.parametrize("options", [{}, {"radius": 2}, {"margin": 0, "multiplier": 1.2}])
def test_agrees_with_the_definition(shape, options):
    values = soft_map(*shape, seed=sum(shape))
    expected, lead = brute_force(values, **options)
    clear = np.abs(lead) > 1e-4  # the rest is decided by rounding
    assert clear.mean() > 0.95
    np.testing.assert_allclose(suppress(values, **options)[clear], expected[clear], atol=1e-6)


@given(
    seed=st.integers(0, 1000),
    height=st.integers(1, 30),
    width=st.integers(1, 30),
    radius=st.integers(1, 3),
    margin=st.integers(0, 20),
)
@settings(max_examples=60)
def test_nothing_grows_and_nothing_comes_of_nothing(seed, height, width, radius, margin):
    values = np.maximum(soft_map(height, width, seed) - 0.3, 0)
    thin = suppress(values, radius, margin)
    assert thin.shape == values.shape
    assert thin.dtype == np.float32
    assert (thin <= values).all()
    assert (thin >= 0).all()
    inside = suppress(values, radius, 0)
    assert ((inside == 0) | (inside == values)).all()


@pytest.mark.parametrize("turn", [np.rot90, np.fliplr, np.flipud, np.transpose])
def test_turned_maps_have_turned_edges(turn):
    values = soft_map(45, 60, seed=3)
    _, lead = brute_force(values)
    clear = turn(np.abs(lead) > 1e-4)
    np.testing.assert_allclose(suppress(turn(values))[clear], turn(suppress(values))[clear], atol=1e-6)


@pytest.mark.parametrize("angle", np.arange(0, 180, 15))
def test_lines_become_one_pixel_wide_in_every_direction(angle):
    y, x = np.mgrid[-30:31, -30:31]
    away = x * np.cos(np.radians(angle)) + y * np.sin(np.radians(angle))
    ridge = np.exp(-((away / 2.5) ** 2) / 2)
    thin = suppress(ridge)
    middle = np.hypot(x, y) < 20
    assert (np.abs(away[middle & (thin > 0)]) < 1).all()
    assert (thin[middle & (np.abs(away) < 0.3)] > 0).all()


@pytest.mark.parametrize("shape", [(1, 1), (1, 20), (20, 1), (2, 2), (1, 2)])
def test_tiny_maps(shape):
    values = soft_map(*shape) + 0.5
    thin = suppress(values)
    assert thin.shape == shape
    assert np.isfinite(thin).all()
    assert suppress(np.ones((1, 1)))[0, 0] == 1
    assert not suppress(np.zeros(shape)).any()


def test_border_fades_linearly():
    flat = suppress(np.ones((31, 31)))
    np.testing.assert_allclose(flat[15, :8], [0, 0.2, 0.4, 0.6, 0.8, 1, 1, 1], atol=1e-6)
    np.testing.assert_allclose(flat, flat[::-1, ::-1].T, atol=1e-6)


@pytest.mark.parametrize(
    "bad, said",
    [
        (np.zeros(5), "height, width"),
        (np.zeros((4, 4, 3)), "one map at a time"),
        (np.zeros((0, 4)), "height, width"),
        (np.full((4, 4), np.nan), "finite numbers"),
        (np.full((4, 4), -1.0), "at least 0"),
    ],
)
def test_maps_that_cannot_be_used(bad, said):
    with pytest.raises(ValueError, match=said):
        suppress(bad)


@pytest.mark.parametrize("options", [{"radius": 0}, {"margin": -1}, {"multiplier": 0}])
def test_parameters_that_cannot_be_used(options):
    with pytest.raises(ValueError, match="at least 1"):
        suppress(np.ones((5, 5)), **options)


def test_one_signature_and_the_callers_map_stays():
    from dsna_vision._kernels.suppression import suppress_nonmaxima

    values = soft_map(20, 20)
    read_only = values.copy()
    read_only.flags.writeable = False
    expected = suppress(values)
    for given_map in (values.astype(float), np.asfortranarray(values), read_only, np.repeat(values, 2, axis=0)[::2]):
        before = given_map.copy()
        np.testing.assert_array_equal(suppress(given_map, np.int32(1), np.int8(5), np.float32(1.01)), expected)
        np.testing.assert_array_equal(given_map, before)
    suppress(np.eye(9, dtype=int), 2, 3, 1)
    assert len(suppress_nonmaxima.signatures) == 1
