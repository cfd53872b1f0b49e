"""Sample weights and groups, bad and extreme ones included."""

from __future__ import annotations

import numpy as np
import pytest
from tests.small_models import CLASSIFIERS, answers, each_classifier, every, make, mistake, read_only, table


@every
@pytest.mark.parametrize(
    "weight, message",
    (
        (np.zeros(80), "at least one (row|non-zero)"),
        (-np.ones(80), "Negative values"),
        (np.ones(50), r"sample_weight.shape == \(50,\), expected \(80,\)"),
        (np.ones((80, 2)), "Sample weights must be 1D"),
        (np.full(80, np.nan), "sample_weight contains NaN"),
        (np.full(80, np.inf), "sample_weight contains infinity"),
    ),
)
def test_bad_weights(kind, weight, message):
    X, y = table(kind)
    with pytest.raises(ValueError, match=message):
        make(kind).fit(X, y, sample_weight=weight)


@every
@pytest.mark.parametrize("factor", (1e-290, 1e290))
def test_extreme_weights(kind, factor):
    X, y = table(kind)
    assert mistake(kind, make(kind).fit(X, y, np.full(80, factor)), X, y) < 0.15


@every
def test_rows_of_weight_zero_have_no_say(kind):
    X, y = table(kind, 160)
    weight = (np.arange(160) < 80).astype(float)
    spoiled_X, spoiled_y = X.copy(), y.copy()
    spoiled_X[80:] *= 1e3
    spoiled_y[80:] = spoiled_y[80:][::-1]
    model = make(kind).fit(spoiled_X, spoiled_y, weight)
    assert mistake(kind, model, X[:80], y[:80]) < 0.15
    if hasattr(model, "explain"):
        why = model.explain(X)
        assert np.all(why.rows[why.weight != 0.0] < 80)


@each_classifier
def test_class_of_weight_zero_is_never_predicted(kind):
    X, y = table(kind)
    model = make(kind).fit(X, y, np.where(y == 1, 0.0, 1.0))
    np.testing.assert_array_equal(model.classes_, [0, 1])
    np.testing.assert_array_equal(answers(model, X), 0)


@every
@pytest.mark.parametrize("n", (1, 2, 5))
def test_few_rows_of_weight(kind, n):
    X, y = table(kind)
    weight = np.zeros(80)
    weight[[0, 1, 2, 3, 4][:n]] = 1.0
    found = answers(make(kind).fit(X, y, weight), X)
    seen = y[:n]
    if kind in CLASSIFIERS:
        assert set(found) <= set(seen)
    else:
        slack = 2.0 * np.ptp(seen) + 1e-9
        assert np.all((found >= seen.min() - slack) & (found <= seen.max() + slack))


@every
@pytest.mark.parametrize(
    "groups, message",
    (
        (np.zeros(80), "single group; at least two"),
        (np.zeros(50), r"groups has shape \(50,\); one group for each of the 80 rows"),
        (np.zeros((80, 2)), r"groups has shape \(80, 2\)"),
        (np.where(np.arange(80) == 4, np.nan, 1.0), "groups contains NaN, inf or a missing value in row 4"),
        (np.array(["anna", None] * 40, dtype=object), "groups contains NaN, inf or a missing value in row 1"),
    ),
)
def test_bad_groups(kind, groups, message):
    X, y = table(kind)
    with pytest.raises(ValueError, match=message):
        make(kind).fit(X, y, groups=groups)


@every
@pytest.mark.parametrize(
    "groups",
    (
        np.arange(80) % 2,
        np.arange(80) % 23,
        np.array(["anna", "bert", "carl", "dora"])[np.arange(80) % 4],
        np.array(["anna", 1, 2.5, "dora"] * 20, dtype=object),
        (np.arange(80) == 0).astype(int),
    ),
    ids=("two", "many", "names", "mixed", "one row against all"),
)
def test_groups(kind, groups):
    X, y = table(kind)
    model = make(kind).fit(X, y, groups=groups)
    fold = model.fold_ if hasattr(model, "fold_") else model._index.fold
    for name in set(groups.tolist()):
        assert len(np.unique(fold[[g == name for g in groups]])) == 1
    assert mistake(kind, model, X, y) < 0.3


@every
def test_read_only_labels_weights_and_groups(kind):
    X, y = table(kind)
    weight, groups = np.linspace(0.5, 1.5, 80), np.arange(80) % 9
    expected = make(kind).fit(X, y, weight, groups).predict(X)
    frozen = [read_only(a) for a in (X, y, weight, groups)]
    np.testing.assert_array_equal(make(kind).fit(*frozen).predict(frozen[0]), expected)
    strided = [np.repeat(a, 2, axis=0)[::2] for a in (X, y, weight, groups)]
    np.testing.assert_array_equal(make(kind).fit(*strided).predict(strided[0]), expected)
