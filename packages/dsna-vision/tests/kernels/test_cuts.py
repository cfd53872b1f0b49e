"""Cuts of a node against brute force over all cuts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.test_structured import SEEDS

from dsna_vision._kernels import cuts


def gini(groups):
    """Impurity of one side."""
    return 1 - ((np.bincount(groups, minlength=2) / len(groups)) ** 2).sum()


def slow_cuts(column, groups, min_leaf):
    """Impurity of every cut of a feature that leaves enough rows on both sides."""
    found = {}
    for cut in range(1, 256):
        right = column >= cut
        if min_leaf <= right.sum() <= len(right) - min_leaf:
            found[cut] = sum(gini(groups[side]) * side.mean() for side in (right, ~right))
    return found


@given(SEEDS, st.sampled_from([3, 40, 255]), st.sampled_from([1, 3, 8]))
@settings(max_examples=25)
def test_best_single_feature(seed, spread, min_leaf):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    X = rng.integers(0, spread + 1, (5, n)).astype(np.uint8)
    rows = rng.permutation(n).astype(np.int32)
    group = rng.integers(0, 2, n).astype(np.uint8)  # by position, not by row
    start, end = (0, n) if n < 10 else (2, n - 3)
    tried = rng.permutation(5)[:3]
    counts = np.empty((256, 2), np.int64)
    impurity, feature, cut = cuts.best_feature(X, rows, start, end, group, tried, min_leaf, counts)
    inside = rows[start:end]
    every = {(f, c): v for f in tried for c, v in slow_cuts(X[f, inside], group[start:end], min_leaf).items()}
    if not every:
        assert (feature, impurity) == (-1, np.inf)
        return
    assert impurity == pytest.approx(min(every.values()), abs=1e-12)
    assert every[feature, cut] == pytest.approx(impurity, abs=1e-12)
