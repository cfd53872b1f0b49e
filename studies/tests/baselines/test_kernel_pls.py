"""Kernel PLS against scikit-learn's PLS on the features of the kernel."""

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

from dsna_studies.baselines import KernelPLS
from dsna_studies.baselines.kernel_machines import FittingWidth

RNG = np.random.RandomState(0)
X = RNG.normal(size=(90, 3))
Y = np.c_[np.sin(2 * X[:, 0]) + X[:, 1], X[:, 1] * X[:, 2]] + 0.05 * RNG.normal(size=(90, 2))
TRAIN, TEST = slice(0, 60), slice(60, 90)


@pytest.mark.parametrize("n_components", [1, 2, 8])
def test_it_is_pls_on_the_features_of_the_kernel(n_components):
    sizes, directions = np.linalg.eigh(rbf_kernel(X, gamma=0.3))
    features = directions * np.sqrt(np.maximum(sizes, 0.0))  # inner products of rows are the kernel
    peer = PLSRegression(n_components, scale=False, max_iter=10_000, tol=1e-14).fit(features[TRAIN], Y[TRAIN])
    model = KernelPLS(n_components, gamma=0.3).fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_allclose(model.predict(X[TEST]), peer.predict(features[TEST]), atol=1e-6)


def test_with_all_components_the_training_targets_are_met():
    model = KernelPLS(59, gamma=2.0).fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_allclose(model.predict(X[TRAIN]), Y[TRAIN], atol=1e-3)


def test_equal_targets_leave_nothing_to_explain():
    np.testing.assert_allclose(KernelPLS(3).fit(X, np.full(90, 7.0)).predict(X[:4]), 7.0)


def test_width_and_components_are_chosen_on_inner_folds():
    model = FittingWidth(KernelPLS(), (0.5, 1.0), {"n_components": [1, 6, 12]}).fit(X[TRAIN], Y[TRAIN])
    assert model.estimator_.n_components > 1
    error = np.abs(model.predict(X[TEST]) - Y[TEST]).mean()
    ridge = FittingWidth(KernelRidge(kernel="rbf"), (0.5, 1.0), {"alpha": [0.01, 0.1]}, centre=True)
    assert error < 1.2 * np.abs(ridge.fit(X[TRAIN], Y[TRAIN]).predict(X[TEST]) - Y[TEST]).mean()
