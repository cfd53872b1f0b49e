"""Cuts and sparse linear splits of a node: against brute force over all cuts, and scikit-learn's linear SVM."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import LinearSVC
from tests.kernels.test_structured import SEEDS

from dsna_vision._kernels import cuts, sparse_splits


def gini(groups, weight):
    """Impurity of one side, and how much it weighs."""
    n = np.array([(groups == 0).sum() * weight[0], (groups == 1).sum() * weight[1]])
    return (1 - ((n / n.sum()) ** 2).sum(), n.sum()) if n.sum() else (0.0, 0.0)


def slow_cuts(column, groups, weight, min_leaf):
    """Impurity of every cut of a feature that leaves enough rows on both sides."""
    found = {}
    for cut in range(1, 256):
        right = column >= cut
        if min_leaf <= right.sum() <= len(right) - min_leaf:
            sides = [gini(groups[side], weight) for side in (right, ~right)]
            found[cut] = sum(value * share for value, share in sides) / sum(share for _, share in sides)
    return found


@given(SEEDS, st.sampled_from([3, 40, 255]), st.sampled_from([1, 3, 8]), st.sampled_from([0.0, 1.0]))
@settings(max_examples=25)
def test_best_single_feature(seed, spread, min_leaf, cost):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    X = rng.integers(0, spread + 1, (5, n)).astype(np.uint8)
    rows = rng.permutation(n).astype(np.int32)
    group = rng.integers(0, 2, n).astype(np.uint8)  # by position, not by row
    share = np.array([(group == 0).mean(), (group == 1).mean()])
    weight = np.where(share > 0, np.maximum(share, 1e-9) ** -cost, 1.0)
    start, end = (0, n) if n < 10 else (2, n - 3)
    tried = rng.permutation(5)[:3]
    counts = np.empty((256, 2), np.int64)
    impurity, feature, cut = cuts.best_feature(X, rows, start, end, group, weight, tried, min_leaf, counts)
    inside = rows[start:end]
    every = {(f, c): v for f in tried for c, v in slow_cuts(X[f, inside], group[start:end], weight, min_leaf).items()}
    if not every:
        assert (feature, impurity) == (-1, np.inf)
        return
    assert impurity == pytest.approx(min(every.values()), abs=1e-12)
    assert every[feature, cut] == pytest.approx(impurity, abs=1e-12)


def node_of(rng, spread=255, n_features=9):
    """Rows of a node whose groups depend on three features, and what is tried there, as kernels take them."""
    n = int(rng.integers(8, 120))
    X = rng.integers(0, spread + 1, (n_features, n)).astype(np.uint8)
    rows = rng.permutation(n).astype(np.int32)
    score = X[:3, rows].astype(float).sum(axis=0) + rng.normal(0, 0.2 * spread, n)
    group = (score > np.quantile(score, 0.7)).astype(np.uint8)
    return X, rows, group, np.array([1.0, 1.5]), rng.permutation(n_features)[:7]


@given(SEEDS, st.sampled_from([1, 3, 255]), st.integers(1, 7))
@settings(max_examples=25)
def test_best_few_features(seed, spread, kept):
    rng = np.random.default_rng(seed)
    X, rows, group, weight, tried = node_of(rng, spread)
    X[tried[2]] = X[tried[5]]  # equals
    X[tried[4]] = 7  # nothing to cut
    start, end = 3, len(rows) - 2
    chosen = np.empty(kept, np.int64)
    cut = sparse_splits.best_few(X, rows, start, end, group, weight, tried, np.empty((256, 2), np.int64), chosen)
    every = [slow_cuts(X[f, rows[start:end]], group[start:end], weight, 1) for f in tried]
    least = np.array([min(found.values(), default=np.inf) for found in every])
    value = dict(zip(tried.tolist(), least, strict=True))
    assert len(set(chosen.tolist())) == kept
    np.testing.assert_allclose([value[f] for f in chosen], np.sort(least)[:kept], atol=1e-12)
    if tried[5] in chosen:  # of equals, the one tried first
        assert tried[2] in chosen[: chosen.tolist().index(tried[5])]
    if np.isinf(least).all():
        assert cut == 0
    else:
        best = every[tried.tolist().index(chosen[0])]
        assert best[cut] == pytest.approx(least.min(), abs=1e-12)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_weights_of_a_sparse_split_are_those_of_a_weighted_svm(C):
    X, rows, group, weight, tried = node_of(np.random.default_rng(1))
    chosen = tried[:4]
    w = np.empty(4)
    n = len(rows)
    sparse_splits.fit_weights(X, rows, 0, n, group, weight, C, chosen, w)
    Z = X[chosen][:, rows].T.astype(float)
    scale = Z.std(axis=0)
    cost = weight[group] / weight[group].mean()
    svm = LinearSVC(C=C / n, loss="squared_hinge", dual=False, tol=1e-10, max_iter=10_000)
    svm.fit((Z - Z.mean(axis=0)) / scale, group, sample_weight=cost)
    np.testing.assert_allclose(w, svm.coef_[0] / scale, rtol=1e-4)


def judged_cuts(fit, judged, fit_group, judged_group, weight):
    """Impurity on the second rows of the cuts that are best on the first; cuts lie between 256 steps."""
    if fit.max() == fit.min():
        return [np.inf]
    step = (fit.max() - fit.min()) / 255
    found = slow_cuts(np.floor((fit - fit.min()) / step), fit_group, weight, 1)
    best = [cut for cut, value in found.items() if value < min(found.values()) + 1e-12]  # among equals rounding decides
    return [judged_cut(judged >= fit.min() + cut * step, judged_group, weight) for cut in best]


def judged_cut(right, group, weight):
    if right.all() or not right.any():
        return np.inf
    sides = [gini(group[side], weight) for side in (right, ~right)]
    return sum(value * share for value, share in sides) / sum(share for _, share in sides)


@given(SEEDS)
@settings(max_examples=25)
def test_a_sparse_split_is_taken_where_it_gains_on_rows_that_chose_neither(seed):
    X, rows, group, weight, tried = node_of(np.random.default_rng(seed))
    n, m = len(rows), len(rows) // 2
    chosen, w = np.empty(3, np.int64), np.empty(3)
    counts, scores = np.empty((256, 2), np.int64), np.empty(n)
    taken = sparse_splits.sparse_split(X, rows, 0, n, group, weight, 1.0, tried, counts, scores, chosen, w)
    expected, same = np.empty(3, np.int64), np.empty(3)
    cut = sparse_splits.best_few(X, rows, 0, m, group, weight, tried, counts, expected)
    sparse_splits.fit_weights(X, rows, 0, m, group, weight, 1.0, expected, same)
    np.testing.assert_array_equal(chosen, expected)
    np.testing.assert_array_equal(w, same)
    values = sum(w[k] * X[chosen[k], rows] for k in range(3))  # in the order of the kernel, to be the same in all bits
    single = judged_cut(X[chosen[0], rows[m:]] >= cut, group[m:], weight)
    linear = judged_cuts(values[:m], values[m:], group[:m], group[m:], weight)
    if all(value == single == np.inf or abs(value - single) > 1e-9 for value in linear):  # else rounding decides
        assert taken in {value < single for value in linear}


def test_rounded_thresholds_are_counted_as_they_cut():
    scores = np.array([0.0, 1.0, 1.0 + 1e-9, 1.0 + 2e-9, 2.0, 3.0])
    assert cuts.leaves_enough(scores, 6, np.float32(1.5), 2)
    between = np.float32(1.0 + 1.5e-9)  # three to each side, and 1 after rounding
    assert not cuts.leaves_enough(scores, 6, between, 2)
