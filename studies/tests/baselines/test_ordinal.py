"""Ordinal machines and SMOTE with a forest, against plain versions of themselves."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import mean_absolute_error
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from dsna_studies.baselines import REDSVM, OHRank, smote


@parametrize_with_checks([REDSVM(C=10), OHRank(C=10)])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def ages(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.round(20 + 12 * np.tanh(X[:, 0]) + 6 * X[:, 1] ** 2 + rng.normal(0, 1, n))
    return X, y


def test_redsvm_is_a_linear_machine_on_extended_rows():
    X, y = ages(60)
    y = np.digitize(y, [16, 22, 28]) * np.array(5.0)
    y[y == 15] = 21
    ours = REDSVM(C=0.3, kernel="linear", tol=1e-10).fit(X, y)
    values = np.unique(y)
    k = len(values) - 1
    extended = np.hstack([np.repeat(X, k, axis=0), np.tile(np.eye(k), (len(X), 1))])
    above = (y[:, None] > values[:-1]).ravel()
    cost = np.tile(np.diff(values), len(X))
    machine = LinearSVC(C=0.3, fit_intercept=False, dual=False, tol=1e-10, max_iter=10000)
    machine.fit(extended, above, sample_weight=cost)
    assert_allclose(np.r_[ours.coef_, ours.intercept_], machine.coef_[0], atol=1e-4)
    assert_array_equal(np.sort(ours.intercept_)[::-1], ours.intercept_)
    counted = values[(machine.decision_function(extended).reshape(-1, k) > 0).sum(axis=1)]
    assert_array_equal(ours.predict(X), counted)


def test_redsvm_weights_count_as_repetition():
    X, y = ages(80)
    weight = np.random.default_rng(0).integers(0, 3, 80)
    weighted = REDSVM(kernel="linear", tol=1e-10).fit(X, y, sample_weight=weight)
    repeated = REDSVM(kernel="linear", tol=1e-10).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(weighted.margins(X), repeated.margins(X), atol=1e-4)


@pytest.mark.parametrize("cost", ["absolute", None])
def test_ohrank_is_one_machine_for_each_threshold(cost):
    X, y = ages(70)
    y = np.digitize(y, [16, 22, 28]) * 10.0
    ours = OHRank(C=5, gamma=0.3, cost=cost, tol=1e-6).fit(X, y)
    new = ages(30, seed=1)[0]
    for k, threshold in enumerate([5.0, 15.0, 25.0]):
        away = np.abs(y - threshold)
        weight = np.ones(len(y)) if cost is None else away / away.mean()
        machine = SVC(C=5, gamma=0.3, tol=1e-6).fit(X, y > threshold, sample_weight=weight)
        assert_allclose(ours.margins(new)[:, k], machine.decision_function(new), atol=1e-3)
    assert_array_equal(ours.predict(new), 10.0 * (ours.margins(new) > 0).sum(axis=1))
    assert ours.dual_coef_.shape == (3, 70)
    by_hand = rbf_kernel(new, X, gamma=0.3) @ ours.dual_coef_[0] + ours.intercept_[0]
    assert_allclose(ours.margins(new)[:, 0], by_hand)


@pytest.mark.parametrize("model", [REDSVM(C=10, random_state=0), OHRank(C=10)], ids=["REDSVM", "OHRank"])
def test_machines_learn_ages(model):
    X, y = ages()
    new, truth = ages(200, seed=1)
    model.fit(X, y)
    assert mean_absolute_error(truth, model.predict(new)) < 0.5 * np.abs(truth - np.median(y)).mean()
    assert np.isin(model.predict(new), y).all()


def test_a_single_label_is_all_that_is_predicted():
    X = ages(10)[0]
    for model in (REDSVM(), OHRank()):
        assert_array_equal(model.fit(X, np.full(10, 7.0)).predict(X), 7.0)


@pytest.mark.parametrize(
    "model, message",
    [
        (REDSVM(kernel="cubic"), "kernel"),
        (OHRank(C=0), "C=0"),
        (REDSVM(gamma="auto"), "gamma"),
        (OHRank(cost="squared"), "cost"),
    ],
)
def test_bad_parameters_are_named(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*ages(20))


def test_smote_brings_labels_to_equal_numbers():
    X, _ = ages(40)
    y = np.r_[np.zeros(20), np.ones(15), np.full(4, 2.0), 9.0]
    rows, labels = smote(X, y, np.random.RandomState(0))
    assert_array_equal(np.unique(labels, return_counts=True)[1], [20, 20, 20, 20])
    assert_array_equal(rows[:40], X)
    # Every new row lies between rows of its own label.
    for label in (1.0, 2.0, 9.0):
        old, new = X[y == label], rows[40:][labels[40:] == label]
        assert (new >= old.min(axis=0) - 1e-9).all()
        assert (new <= old.max(axis=0) + 1e-9).all()


def test_smote_takes_two_angles_as_one_label():
    X, _ = ages(30)
    y = np.c_[np.repeat([0, 15, 15], [15, 10, 5]), np.repeat([0, 0, 30], [15, 10, 5])]
    rows, labels = smote(X, y, np.random.RandomState(0))
    assert rows.shape == (45, X.shape[1])
    assert_array_equal(np.unique(labels, axis=0, return_counts=True)[1], [15, 15, 15])
