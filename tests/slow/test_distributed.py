"""Distributed models beside one machine: sorted or shuffled, and how much memory a process holds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from dsna import CostSensitiveForestClassifier, DSNAClassifier
from dsna.distributed import DistributedDSNAClassifier

pytestmark = pytest.mark.slow


def table(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n)
    return X, (score > 2.6).astype(int)


@pytest.mark.parametrize("sort", [None, "target", "feature"])
def test_as_good_as_one_machine(sort):
    X, y = table(60_000, 0)
    queries, truth = table(40_000, 1)
    ordinary = DSNAClassifier(CostSensitiveForestClassifier(30), random_state=0)
    expected = balanced_accuracy_score(truth, ordinary.fit(X, y).predict(queries))
    order = {None: np.arange(len(y)), "target": np.argsort(y, kind="stable"), "feature": np.argsort(X[:, 0])}[sort]
    parts = [(X[some], y[some]) for some in np.array_split(order, 12)]
    model = DistributedDSNAClassifier(ordinary, sample_size=30_000, shard_rows=15_000).fit(parts, None)
    found = balanced_accuracy_score(truth, model.predict(queries))
    assert found > expected - 0.005
