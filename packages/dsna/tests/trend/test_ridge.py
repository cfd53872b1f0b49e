"""Ridge regressions from sums of folds, against scikit-learn's on the rows that are kept."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from dsna.trend.ridge import FoldSums


@pytest.mark.parametrize("left_out", [(), (2,), (0, 4)])
@pytest.mark.parametrize("penalty", [0.01, 1.0, 100.0])
def test_scikit_learn_finds_the_same_slopes(left_out, penalty):
    rng = np.random.default_rng(0)
    F, T, weight = rng.normal(size=(120, 7)), rng.normal(size=(120, 3)), rng.uniform(0.0, 3.0, 120)
    weight[::10] = 0.0
    fold = rng.integers(0, 5, 120)
    slopes, intercept = FoldSums(F, T, weight, fold).solve(left_out, penalty)
    kept = ~np.isin(fold, left_out)
    peer = Ridge(alpha=penalty).fit(F[kept], T[kept], sample_weight=weight[kept])
    np.testing.assert_allclose(slopes, peer.coef_.T, atol=1e-10)
    np.testing.assert_allclose(intercept, peer.intercept_, atol=1e-10)
