"""Affine hulls against least squares and a plain singular value decomposition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.slow_algorithm import nearest_in_hull
from dsna._kernels.approximation.hull import hull_point

modest = settings(max_examples=60)
shapes = st.tuples(st.integers(0, 10_000), st.integers(1, 15), st.integers(1, 10))


def draw(seed, m, d):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, d)) @ rng.normal(size=(d, d)), 3.0 * rng.normal(size=d)


def nearest(L, q, energy):
    point = np.empty(len(q))
    away = hull_point(np.ascontiguousarray(L), len(L), energy, q, point)
    assert away == pytest.approx(np.linalg.norm(q - point), abs=1e-12)
    return point, away


def by_least_squares(L, q):
    mean = L.mean(axis=0)
    span = (L - mean).T
    return mean + span @ np.linalg.lstsq(span, q - mean, rcond=1e-9)[0]


@modest
@given(shapes)
def test_full_energy_is_least_squares(shape):
    L, q = draw(*shape)
    point, away = nearest(L, q, 1.0)
    expected = by_least_squares(L, q)
    np.testing.assert_allclose(point, expected, atol=1e-5)
    assert away == pytest.approx(np.linalg.norm(q - expected), abs=1e-5)


@modest
@given(shapes, st.sampled_from([0.05, 0.3, 0.5, 0.7, 0.9, 0.99]))
def test_truncation_is_that_of_the_svd(shape, energy):
    L, q = draw(*shape)
    np.testing.assert_allclose(nearest(L, q, energy)[0], nearest_in_hull(L, q, energy), atol=1e-7)


@pytest.mark.parametrize("m, d", [(3, 8), (8, 3), (5, 5)])
def test_rank_deficient_rows(m, d):
    rng = np.random.default_rng(m)
    L = rng.normal(size=(m, 1)) @ rng.normal(size=(1, d)) + rng.normal(size=d)
    q = rng.normal(size=d)
    np.testing.assert_allclose(nearest(L, q, 1.0)[0], by_least_squares(L, q), atol=1e-9)


@pytest.mark.parametrize("m", range(1, 13))
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_equal_rows_are_a_point(m, size):
    """Rounding in the mean must not be taken for a direction."""
    rng = np.random.default_rng(m)
    row, q = size * rng.normal(size=5), rng.normal(size=5)
    point, away = nearest(np.repeat(row[None], m, axis=0), q, 0.9)
    np.testing.assert_allclose(point, row, rtol=1e-12)
    assert away == pytest.approx(np.linalg.norm(q - row))


def test_one_row():
    point, away = nearest(np.array([[1.0, 2.0]]), np.array([1.0, 5.0]), 1.0)
    assert list(point) == [1.0, 2.0]
    assert away == 3.0


def test_only_the_leading_rows_count():
    L, q = draw(0, 9, 4)
    point, other = np.empty(4), np.empty(4)
    hull_point(L, 3, 0.9, q, point)
    L[3:] = 1e6
    hull_point(L, 3, 0.9, q, other)
    assert np.array_equal(point, other)


@modest
@given(shapes, st.sampled_from([0.5, 0.9, 1.0]))
def test_moving_turning_and_scaling(shape, energy):
    L, q = draw(*shape)
    point, away = nearest(L, q, energy)
    rng = np.random.default_rng(1)
    turn = np.linalg.qr(rng.normal(size=(len(q), len(q))))[0]
    shift = rng.normal(size=len(q))
    moved, moved_away = nearest(2.0 * L @ turn + shift, 2.0 * q @ turn + shift, energy)
    np.testing.assert_allclose(moved, 2.0 * point @ turn + shift, atol=1e-5)
    assert moved_away == pytest.approx(2.0 * away, abs=1e-5)
    order = rng.permutation(len(L))
    np.testing.assert_allclose(nearest(L[order], q, energy)[0], point, atol=1e-6)


@modest
@given(shapes)
def test_larger_hulls_fit_better_and_points_of_the_hull_stay(shape):
    L, q = draw(*shape)
    away = [nearest(L, q, energy)[1] for energy in (0.2, 0.5, 0.9, 0.99, 1.0)]
    assert np.all(np.diff(away) <= 1e-9)
    assert away[0] <= np.linalg.norm(q - L.mean(axis=0)) + 1e-12
    point, _ = nearest(L, q, 0.9)
    np.testing.assert_allclose(nearest(L, point, 0.9)[0], point, atol=1e-7)
