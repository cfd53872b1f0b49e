"""What leaves hold, against slow sums over their rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsna._kernels.forest.leaves import fill_leaf_means, mark_kept_rows, mean_over_trees


def draw(seed, sizes):
    """(leaf_ptr, leaf_rows, code) of leaves whose rows are sorted by code."""
    rng = np.random.default_rng(seed)
    n = max(sum(sizes), 1)
    code = rng.integers(0, 4, n)
    rows = [rng.choice(n, size, replace=False) for size in sizes]
    rows = [r[np.argsort(code[r], kind="stable")] for r in rows]
    leaf_ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return leaf_ptr, np.concatenate([*rows, np.empty(0)]).astype(np.int32), code


leaf_sizes = st.lists(st.integers(0, 40), min_size=1, max_size=8)


@given(seed=st.integers(0, 1000), sizes=leaf_sizes)
def test_means_of_leaves(seed, sizes):
    leaf_ptr, leaf_rows, code = draw(seed, sizes)
    rng = np.random.default_rng(seed)
    values, weight = rng.normal(size=(4, 3)), rng.uniform(0.1, 2.0, len(code))
    values[:, 2] = 0.1
    means = np.empty((len(sizes), 3))
    fill_leaf_means(leaf_ptr, leaf_rows, values, code, weight, means)
    for leaf, size in enumerate(sizes):
        rows = leaf_rows[leaf_ptr[leaf] : leaf_ptr[leaf + 1]]
        expected = np.average(values[code[rows]], axis=0, weights=weight[rows]) if size else np.zeros(3)
        np.testing.assert_allclose(means[leaf], expected, atol=1e-12)
        assert means[leaf, 2] == (0.1 if size else 0.0)


def test_a_leaf_without_weight_has_the_mean_of_its_first_row():
    means = np.empty((1, 1))
    values, code = np.array([[3.0], [5.0]]), np.array([0, 1])
    fill_leaf_means(np.array([0, 2]), np.array([1, 0], dtype=np.int32), values, code, np.zeros(2), means)
    assert means[0, 0] == 5.0


@given(seed=st.integers(0, 1000), sizes=leaf_sizes, most=st.integers(1, 20))
def test_leaves_keep_a_share_of_each_code(seed, sizes, most):
    leaf_ptr, leaf_rows, code = draw(seed, sizes)
    keep, kept_ptr = np.empty(len(leaf_rows), dtype=bool), np.empty(len(leaf_ptr), dtype=np.int64)
    mark_kept_rows(leaf_ptr, leaf_rows, code, most, keep, kept_ptr)
    for leaf, size in enumerate(sizes):
        part = slice(leaf_ptr[leaf], leaf_ptr[leaf + 1])
        rows, kept = leaf_rows[part], keep[part]
        assert kept.sum() == kept_ptr[leaf + 1] - kept_ptr[leaf]
        for c in np.unique(code[rows]):
            of_code = kept[code[rows] == c]
            share = most * len(of_code) / size
            expected = len(of_code) if size <= most else share
            assert of_code.sum() == pytest.approx(expected, abs=1.0)
            assert of_code[0]
            assert not np.any(np.diff(of_code.astype(int)) > 0), "the first rows are kept"


@given(seed=st.integers(0, 1000), n_trees=st.integers(1, 12))
def test_means_over_the_trees_that_are_used(seed, n_trees):
    rng = np.random.default_rng(seed)
    leaf_value = rng.normal(size=(30, 3))
    leaf_value[:, 2] = 0.1
    leaves = rng.integers(0, 30, (6, n_trees)).astype(np.int32)
    used = rng.random((6, n_trees)) < 0.7
    used[0] = False
    used[1:, rng.integers(n_trees)] = True
    means = np.empty((6, 3))
    mean_over_trees(leaf_value, leaves, used, means)
    assert np.isnan(means[0]).all()
    for i in range(1, 6):
        np.testing.assert_allclose(means[i], leaf_value[leaves[i, used[i]]].mean(axis=0), rtol=1e-12, atol=1e-12)
        assert means[i, 2] == 0.1
