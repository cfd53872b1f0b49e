"""A distributed model on the worker processes of a Dask cluster, one of which dies, and on one that goes away."""

from __future__ import annotations

import gc
import logging
import os

import numpy as np
import pandas as pd
import pytest
from tests.clusters import dask_client
from tests.distributed.tables import classes, classifier
from tests.distributed.workers import dies_once, straggles

from dsna import DSNAError
from dsna.distributed import estimators, load, placed

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with dask_client(2, tmp_path_factory.mktemp("dask")) as client:
        yield client


def test_a_worker_dies_in_fit_and_one_in_predict(client, tmp_path, monkeypatch):
    X, y = classes(500)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    table = dd.from_pandas(frame, npartitions=3)
    local = classifier(200).fit([table.get_partition(k).compute() for k in range(3)], "y")
    monkeypatch.setattr(placed, "offer", straggles(placed.offer, 1.0))
    monkeypatch.setattr(placed, "place", dies_once(placed.place, tmp_path / "fit"))
    model = classifier(200).fit(table, "y")
    queries = classes(60, seed=3)[0]
    monkeypatch.setattr(estimators, "shard_answer", dies_once(estimators.shard_answer, tmp_path / "predict"))
    found = model.predict_proba(da.from_array(queries, chunks=(40, 4)))
    assert isinstance(found, da.Array)
    assert found.chunks == ((40, 20), (2,))
    expected = local.predict_proba(queries)
    np.testing.assert_allclose(found.compute(), expected, rtol=0, atol=1e-10)
    assert (tmp_path / "fit").exists()
    assert (tmp_path / "predict").exists()
    # Chunks of unknown lengths, too.
    of_frame = model.predict_proba(dd.from_pandas(frame[["a", "b", "c", "d"]][:30], npartitions=2).to_dask_array())
    np.testing.assert_allclose(of_frame.compute(), local.predict_proba(X[:30]), rtol=0, atol=1e-10)
    # Plain rows are asked on the cluster, and a saved model is asked anywhere.
    np.testing.assert_allclose(model.predict_proba(queries[:5]), expected[:5], rtol=0, atol=1e-10)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_allclose(again.predict_proba(queries), expected, rtol=0, atol=1e-10)
    lazily = again.predict(dd.from_pandas(frame[["d", "c", "b", "a"]][:30], npartitions=2)).compute()
    assert lazily.tolist() == local.predict(X[:30]).tolist()
    with pytest.raises(DSNAError, match="lacks column b"):
        model.predict(dd.from_pandas(frame[["a", "c", "d"]], npartitions=2))


def test_answers_become_a_column(client):
    """Dask's frames forget the futures of an array that is assigned to them, so something else must keep these."""
    X, y = classes(200)
    table = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")).assign(y=y), npartitions=3)
    model = classifier(100).fit(table, "y")
    for _ in range(4):
        answered = table.assign(risk=model.predict_proba(table)[:, 1])
        gc.collect()
        assert answered.compute()["risk"].between(0.0, 1.0).all()


def test_arrays_that_are_not_cut_alike(client):
    X = classes(60)[0]
    with pytest.raises(DSNAError, match="rechunk them alike"):
        classifier().fit(da.from_array(X, chunks=(20, 4)), da.from_array(np.arange(60.0), chunks=30))
    with pytest.raises(DSNAError, match="no named columns"):
        classifier().fit(da.from_array(X, chunks=(20, 4)), "y")


@pytest.mark.parametrize("role", ["y", "sample_weight", "groups"])
def test_columns_of_another_kind(client, role):
    X, y = classes(60)
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")).assign(y=y), npartitions=2)
    array, labels = da.from_array(X, chunks=(30, 4)), da.from_array(y, chunks=30)
    numbers = np.ones(60)
    column = dd.from_pandas(pd.Series(numbers), npartitions=2)
    beside_frame = "must be a column name, or a dask Series or Array cut like X"
    for given in (numbers, pd.Series(numbers), column.to_frame("c"), da.ones((60, 1), chunks=(30, 1)), 5):
        with pytest.raises(DSNAError, match=f"{role} {beside_frame}"):
            classifier().fit(frame, **{"y": "y", role: given})
    with pytest.raises(DSNAError, match="rechunk them alike"):
        classifier().fit(frame, **{"y": "y", role: da.ones(60, chunks=15)})
    for given in (numbers, pd.Series(numbers), column, column.to_frame("c"), 5):
        with pytest.raises(DSNAError, match=f"{role} must be a dask Array cut like X"):
            classifier().fit(array, **{"y": labels, role: given})


def test_no_client(monkeypatch):
    def none():
        raise ValueError("No global client found")

    monkeypatch.setattr(distributed, "get_client", none)
    with pytest.raises(DSNAError, match="There is no Dask client"):
        classifier().fit(da.zeros((4, 2)), da.zeros(4))


def test_a_cluster_that_goes_away(tmp_path, monkeypatch):
    X, y = classes(200)
    table = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")).assign(y=y), npartitions=2)
    placing = placed.Passes.place
    with (
        distributed.LocalCluster(
            n_workers=1, processes=False, dashboard_address=None, silence_logs=logging.CRITICAL
        ) as cluster,
        distributed.Client(cluster),
    ):
        model = classifier(100).fit(table, "y")

        def closed(*given):
            cluster.close()
            return placing(*given)

        monkeypatch.setattr(placed.Passes, "place", closed)
        late = classifier(100)
        with pytest.raises(DSNAError, match="The Dask cluster went away"):
            late.fit(table, "y")
        assert not hasattr(late, "classes_")
        with pytest.raises(DSNAError, match="The Dask cluster went away"):
            model.save(tmp_path / "model")
        assert os.listdir(tmp_path) == []
        with pytest.raises(DSNAError, match="The Dask cluster went away"):
            model.predict(X)


def test_a_cluster_without_workers(monkeypatch):
    from dsna.distributed.engines import dask

    monkeypatch.setattr(dask, "WITHOUT_WORKERS", 0.2)
    monkeypatch.setattr(dask, "_POLL_SECONDS", 0.1)
    X, y = classes(100)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        pytest.raises(DSNAError, match=r"The Dask cluster went away.*no worker for 0\.2 s"),
    ):
        classifier(100).fit(da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50))
