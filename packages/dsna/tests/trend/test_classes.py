"""Trends of classes: against plain logistic regression, and that no fold sees itself."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from dsna import DSNAError
from dsna.forest.scaling import Scaling
from dsna.trend.classes import (
    _COST,
    _MAX_ROWS,
    _N_LANDMARKS,
    _PENALTY,
    _WIDTH,
    ClassRows,
    fit_class_trend,
    proba_of_all_classes,
)

AS_GIVEN = Scaling(np.ones((2, 3)), "none", np.ones(2))


def table(n, n_classes=2, seed=0, weight=None):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, 3))
    code = np.clip(np.round(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=n)), 0, n_classes - 1).astype(int)
    rows = ClassRows(X, code, np.ones(n) if weight is None else weight, np.arange(n) % 5)
    return rows, np.full((n, n_classes), 1.0 / n_classes)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities_are_those_of_a_logistic_regression_on_kernels(n_classes):
    rows, vote = table(90, n_classes, weight=0.5 + np.random.RandomState(1).rand(90))
    trend, own = fit_class_trend("logistic", rows, AS_GIVEN, np.arange(90), vote)
    fresh = np.random.RandomState(2).normal(size=(20, 3))

    def columns(X, known):
        """Columns whose inner products are the kernel and the products of the inputs; all rows are landmarks."""
        gamma = _WIDTH / (2.0 * known.var(axis=0).sum())
        kernel = [np.exp(-gamma * np.sum((a[:, None] - known) ** 2, axis=2)) for a in (known, X)]
        values, vectors = np.linalg.eigh(kernel[0] + 1e-6 * np.eye(len(known)))
        return np.hstack([X - known.mean(axis=0), kernel[1] @ vectors / np.sqrt(values) @ vectors.T])

    def expected(kept, X):
        share = np.bincount(rows.code[kept], weights=rows.weight[kept])
        weight = (rows.weight * share[rows.code] ** -_COST)[kept]
        plain = LogisticRegression(C=1.0 / _PENALTY, tol=1e-8, max_iter=10_000)
        plain.fit(columns(rows.X[kept], rows.X[kept]), rows.code[kept], weight / weight.mean())
        return plain.predict_proba(columns(X, rows.X[kept]))

    assert len(rows.X) <= _N_LANDMARKS
    np.testing.assert_allclose(trend.probabilities(fresh), expected(rows.fold >= 0, fresh), atol=2e-3)
    for b in range(5):
        np.testing.assert_allclose(own[rows.fold == b], expected(rows.fold != b, rows.X[rows.fold == b]), atol=2e-3)


@pytest.mark.parametrize("trend", ["logistic", HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=5)])
def test_rows_are_asked_of_fits_without_their_fold(trend):
    rows, vote = table(300, 3)
    asked = np.arange(0, 300, 2)
    own = fit_class_trend(trend, rows, AS_GIVEN, asked, vote[asked])[1]
    other = rows.code.copy()
    other[rows.fold == 2] = (other[rows.fold == 2] + 1) % 3
    changed = fit_class_trend(trend, rows._replace(code=other), AS_GIVEN, asked, vote[asked])[1]
    held_out = rows.fold[asked] == 2
    np.testing.assert_allclose(changed[held_out], own[held_out], atol=1e-6)
    assert np.abs(changed[~held_out] - own[~held_out]).max() > 0.05


def test_permuted_classes_are_not_learned():
    rng = np.random.RandomState(0)
    found = []
    for seed in range(10):
        rows, vote = table(300, seed=seed)
        rows = rows._replace(code=rng.permutation(rows.code))
        own = fit_class_trend("logistic", rows, AS_GIVEN, np.arange(300), vote)[1]
        found.append(roc_auc_score(rows.code, own[:, 1]))
    # Held-out rows of a balanced draw lean a little away from the truth, as everywhere in cross-validation.
    assert 0.4 < np.mean(found) < 0.54


def test_many_rows_are_thinned_and_rare_ones_kept():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(3 * _MAX_ROWS, 3))
    code = (X[:, 0] > 2.5).astype(int)
    rows = ClassRows(X, code, np.ones(len(X)), np.arange(len(X)) % 5)
    trend, own = fit_class_trend("logistic", rows, AS_GIVEN, np.arange(500), np.full((500, 2), 0.5))
    assert len(own) == 500
    proba = trend.probabilities(X)[:, 1]
    assert roc_auc_score(code, proba) > 0.99
    # Rows that are left out are stood for: probabilities are not those of the sample, in which a third is rare.
    assert proba.mean() < 5 * code.mean()


def test_classes_that_a_fold_alone_has_are_left_to_the_vote():
    rows = table(200)[0]
    code = rows.code.copy()
    code[0] = 2
    vote = np.random.RandomState(0).dirichlet(np.ones(3), 200)
    trend, own = fit_class_trend("logistic", rows._replace(code=code), AS_GIVEN, np.arange(200), vote)
    np.testing.assert_allclose(own[rows.fold == 0][:, 2], vote[rows.fold == 0][:, 2])
    np.testing.assert_allclose(own.sum(axis=1), 1.0)
    assert trend.probabilities(rows.X).shape == (200, 3)


@pytest.mark.parametrize("n", [40, 200])
def test_too_few_rows_or_classes_have_no_trend(n):
    rows, vote = table(n)
    if n > 100:
        rows, vote = rows._replace(code=np.zeros(n, dtype=int)), np.ones((n, 1))
    trend, own = fit_class_trend("logistic", rows, AS_GIVEN, np.arange(n), vote)
    assert trend is None
    np.testing.assert_array_equal(own, vote)


def test_probabilities_of_a_row_depend_on_no_other():
    rows, vote = table(200, 3)
    trend = fit_class_trend("logistic", rows, AS_GIVEN, np.arange(5), vote[:5])[0]
    alone = np.vstack([trend.probabilities(row[None]) for row in rows.X])
    np.testing.assert_array_equal(alone, trend.probabilities(rows.X))
    far = trend.probabilities(1e100 * rows.X)
    assert np.all(np.isfinite(far))
    np.testing.assert_allclose(far.sum(axis=1), 1.0)


def test_a_classifier_without_probabilities_is_refused():
    class Odd(LogisticRegression):
        def predict_proba(self, X):
            return super().predict_proba(X) * 3.0

    rows, vote = table(200)
    with pytest.raises(DSNAError, match="does not give 2 probabilities between 0 and 1"):
        fit_class_trend(Odd(), rows, AS_GIVEN, np.arange(5), vote[:5])


def test_probabilities_sum_to_one():
    rng = np.random.RandomState(0)
    proba, vote = rng.dirichlet(np.ones(3), 20), rng.dirichlet(np.ones(4), 20)
    wide = proba_of_all_classes(proba, np.array([0, 1, 3]), vote)
    np.testing.assert_allclose(wide.sum(axis=1), 1.0)
    np.testing.assert_array_equal(wide[:, 2], vote[:, 2])
    np.testing.assert_array_equal(proba_of_all_classes(proba, np.arange(3), vote[:, :3]), proba)
