"""Distributed models beside one machine: sorted or shuffled, with a slow worker, and on a cluster that goes away."""

from __future__ import annotations

import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score
from tests.clusters import dask_client
from tests.distributed.tables import classes, classifier, pairs_of_targets, regressor
from tests.distributed.workers import slow_on_dask

from dsna import CostSensitiveForestClassifier, DSNAClassifier, DSNAError
from dsna.distributed import DistributedDSNAClassifier, placed

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


@pytest.fixture
def cluster(tmp_path):
    pytest.importorskip("distributed")
    with dask_client(4, tmp_path) as client:
        yield client.cluster


def test_one_worker_of_four_is_slow(cluster, monkeypatch):
    """Two outputs, chunks of unknown lengths, and a worker that takes half a second longer for everything."""
    dd = pytest.importorskip("dask.dataframe")
    X, y = pairs_of_targets()
    frame = pd.DataFrame(np.hstack([X, y]), columns=list("abcduv"))
    table = dd.from_pandas(frame, npartitions=7)
    local = regressor().fit([table.get_partition(k).compute() for k in range(7)], ["u", "v"])
    for name in ("summarize", "offer", "partition_leaf_sums", "place", "trend_sums"):
        monkeypatch.setattr(placed, name, slow_on_dask(getattr(placed, name), 0.5, worker=0))
    model = regressor().fit(table[list("abcd")].to_dask_array(), table[["u", "v"]].to_dask_array())
    found = model.predict(table[list("abcd")]).compute()
    np.testing.assert_allclose(found, local.predict(X), rtol=0, atol=1e-10 * np.ptp(y))


def test_a_cluster_is_closed_while_workers_are_busy(cluster, monkeypatch):
    dd = pytest.importorskip("dask.dataframe")
    X, y = classes(500)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    placing = placed.Passes.place

    def closing(*given):
        threading.Timer(1.0, cluster.close).start()
        return placing(*given)

    monkeypatch.setattr(placed, "place", slow_on_dask(placed.place, 60.0))
    monkeypatch.setattr(placed.Passes, "place", closing)
    with pytest.raises(DSNAError, match="The Dask cluster went away"):
        classifier(200).fit(dd.from_pandas(frame, npartitions=3), "y")
