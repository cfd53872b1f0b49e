"""Functions that a trend is linear in."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from dsna._utils.invariants import InvariantError
from dsna.trend.features import Basis, n_landmarks


def test_inner_products_of_radial_columns_are_the_kernel():
    X = np.random.default_rng(0).normal(size=(60, 3))
    picked = np.arange(60)
    basis = Basis(X, 0.5, picked, linear=False)
    F = basis.functions(X) @ basis.columns(X, picked)
    kernel = rbf_kernel(X, X, gamma=0.5 / (2 * X.var(axis=0).sum()))
    np.testing.assert_allclose(F @ F.T, kernel, atol=1e-4)


def test_more_inputs_than_landmarks_are_spanned_by_these():
    X = np.random.default_rng(0).normal(size=(30, 200))
    picked = np.arange(30)
    basis = Basis(X, None, picked, linear=True)
    columns = basis.columns(X, picked)
    assert columns.shape == (200, 29)
    F = basis.functions(X) @ columns
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(F @ F.T, centred @ centred.T, atol=1e-8)


@pytest.mark.parametrize("width, linear", [(None, True), (0.3, False), (0.3, True)])
def test_a_row_does_not_depend_on_the_others(width, linear):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    basis = Basis(X, width, np.arange(20), linear)
    slopes = rng.normal(size=(basis.n_functions, 2))
    together = basis.product(X, slopes)
    assert together.shape == (40, 2)
    np.testing.assert_array_equal(together, np.vstack([basis.product(X[i : i + 1], slopes) for i in range(40)]))


def test_equal_rows_and_constant_columns_are_no_obstacle():
    X = np.repeat(np.array([[1.0, 2.0], [3.0, 2.0]]), 30, axis=0)
    basis = Basis(X, 1.0, np.arange(60), linear=True)
    assert np.all(np.isfinite(basis.columns(X, np.arange(60))))


def test_landmarks_are_fewer_where_rows_are_many():
    assert n_landmarks(100, 5) == 100
    assert n_landmarks(1500, 5) > n_landmarks(10_000, 5) >= n_landmarks(1_000_000, 5) > 0
    assert n_landmarks(5000, 200) > n_landmarks(5000, 5)


def test_a_basis_without_functions_is_refused():
    with pytest.raises(InvariantError, match="no functions"):
        Basis(np.zeros((3, 2)), None, np.arange(3), linear=False)
