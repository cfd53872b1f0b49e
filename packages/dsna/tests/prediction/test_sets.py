"""Prediction sets: thresholds by brute force, and coverage of every class on rows never seen."""

import numpy as np
import pytest
from scipy.stats import betabinom

from dsna import CostSensitiveForestClassifier, DSNAClassifier, DSNAError
from dsna.prediction.sets import class_thresholds


@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.95])
def test_thresholds_leave_out_as_many_as_allowed(coverage):
    rng = np.random.RandomState(0)
    proba, code = rng.dirichlet(np.ones(3), 200), rng.choice(3, 200, p=[0.8, 0.17, 0.03])
    found = class_thresholds(proba, code, np.ones(200), coverage)
    for c in range(3):
        own = np.sort(proba[code == c, c])
        allowed = int(np.floor((1 - coverage) * (len(own) + 1) + 1e-9))
        assert found[c] == (own[allowed - 1] if allowed else 0.0)


def test_a_weight_of_two_counts_as_two_rows():
    rng = np.random.RandomState(0)
    proba, code = rng.dirichlet(np.ones(2), 400), rng.randint(2, size=400)
    times = 1 + np.arange(400) % 2
    again = np.repeat(np.arange(400), times)
    weighted = class_thresholds(proba, code, times.astype(float), 0.9)
    np.testing.assert_allclose(
        weighted, class_thresholds(proba[again], code[again], np.ones(len(again)), 0.9), atol=0.01
    )


def test_a_fresh_row_of_the_same_kind_is_covered_exactly():
    rng = np.random.RandomState(0)
    covered = []
    for _ in range(400):
        proba = rng.beta(2, 1, (60, 2))
        least = class_thresholds(proba[:59], np.ones(59, dtype=int), np.ones(59), 0.9)
        covered.append(proba[59, 1] >= least[1])
    assert abs(np.mean(covered) - 0.9) < 3 * np.sqrt(0.09 / 400)


def made(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=[0.8, 0.15, 0.05])
    return rng.normal(size=(n, 4)) + np.eye(3, 4)[y] * 2.0, y


def test_every_class_is_covered_on_fresh_rows():
    X, y = made(3000, 0)
    fresh, truth = made(12_000, 1)
    model = DSNAClassifier(CostSensitiveForestClassifier(30), random_state=0).fit(X, y)
    for coverage in (0.8, 0.9):
        sets = model.predict_set(fresh, coverage)
        for c in range(3):
            held, asked = sets[truth == c, c].sum(), np.sum(truth == c)
            known = np.sum(model._code[model.oob_rows_] == c)
            left = int((1 - coverage) * (known + 1))
            low, high = betabinom.interval(0.998, asked, known + 1 - left, left)
            # Trees of out-of-bag rows saw fewer rows: new rows are covered a little more.
            assert low - 1 <= held <= high + 0.03 * asked, (coverage, c, held / asked)


def test_sets_grow_with_coverage_and_follow_no_decision():
    X, y = made(600, 0)
    model = DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0).fit(X, y)
    small, large = model.predict_set(X, 0.6), model.predict_set(X, 0.95)
    assert np.all(small <= large)
    assert small.sum() < large.sum()
    np.testing.assert_array_equal(model.with_decision("f1").predict_set(X, 0.6), small)
    new = np.full((5, 4), 30.0)
    model.add_samples(new, np.full(5, 7))
    assert model.predict_set(X)[:, 3].all()
    for wrong in (0.0, 1.0, "x", None, True):
        with pytest.raises(DSNAError, match="coverage="):
            model.predict_set(X, wrong)


def test_rare_classes_without_enough_rows_are_always_possible():
    X, y = made(300, 0)
    y[:] = 0
    y[:5] = 1
    model = DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0).fit(X, y)
    assert model.predict_set(X)[:, 1].all()
