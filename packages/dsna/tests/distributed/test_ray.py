"""A distributed model in tasks of Ray, one of whose workers dies, until Ray itself goes away."""

from __future__ import annotations

import os
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from tests.clusters import local_ray
from tests.distributed.tables import classes, classifier
from tests.distributed.workers import dies_once, straggles

from dsna import DSNAError
from dsna.distributed import estimators, placed
from dsna.distributed.engines import ray as engine
from dsna.distributed.engines.ray import open_ray

ray = pytest.importorskip("ray")
pytest.importorskip("ray.data")
pytestmark = pytest.mark.skipif(" " in sys.executable, reason="ray starts no worker from a path with spaces")


@pytest.fixture(scope="module")
def cluster(ray_token):
    with local_ray(ray_token):
        yield


def test_large_blocks_are_cut_and_the_dataset_stays_as_it_was(cluster, monkeypatch):
    X, y = classes(500)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    data = ray.data.from_pandas(frame)
    assert len(open_ray(data, "y", None, None, None).partitions) == 1
    largest = data.context.target_max_block_size
    monkeypatch.setattr(engine, "_BLOCK", 5_000)
    cut = ray.get(open_ray(data, "y", None, None, None).partitions)
    assert len(cut) == -(-data.materialize().size_bytes() // 5_000)
    assert max(len(one["a"]) for one in cut) <= 2 * min(len(one["a"]) for one in cut)
    for name in frame:
        np.testing.assert_array_equal(np.concatenate([one[name] for one in cut]), frame[name])
    assert data.context.target_max_block_size == largest


def test_a_worker_dies_in_fit_and_one_in_predict_then_all_is_gone(cluster, tmp_path, monkeypatch):
    X, y = classes(500)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    parts = [frame[:200], frame[200:210], frame[210:]]
    local = classifier(200).fit(parts, "y")
    monkeypatch.setattr(placed, "offer", straggles(placed.offer, 1.0))
    monkeypatch.setattr(placed, "place", dies_once(placed.place, tmp_path / "fit"))
    model = classifier(200).fit(ray.data.from_pandas(parts), "y")
    queries = classes(40, seed=3)[0]
    monkeypatch.setattr(estimators, "shard_answer", dies_once(estimators.shard_answer, tmp_path / "predict"))
    found = model.predict_proba(ray.data.from_pandas(pd.DataFrame(queries, columns=list("abcd"))))
    told = np.stack([one["data"] for one in found.take_all()])
    np.testing.assert_allclose(told, local.predict_proba(queries), rtol=0, atol=1e-10)
    assert (tmp_path / "fit").exists()
    assert (tmp_path / "predict").exists()
    odd = ray.data.from_pandas([frame[200:].assign(a="text")])
    with pytest.raises(DSNAError, match="partition 0: column 'a' holds text, not numbers"):
        classifier(200).fit(odd, "y")
    placing, data = placed.Passes.place, ray.data.from_pandas(parts)
    elsewhere = threading.Timer(1.0, ray.shutdown)

    def shut_down_meanwhile(*given):
        elsewhere.start()
        return placing(*given)

    monkeypatch.setattr(placed.Passes, "place", shut_down_meanwhile)
    monkeypatch.setattr(placed, "partition_leaf_sums", straggles(placed.partition_leaf_sums, 60.0))
    late = classifier(200)
    with pytest.raises(DSNAError, match="Ray went away"):  # not SystemExit, which ends a script with exit code 0
        late.fit(data, "y")
    elsewhere.join()
    assert not hasattr(late, "classes_")
    with pytest.raises(DSNAError, match="Ray went away"):
        model.save(tmp_path / "model")
    assert sorted(os.listdir(tmp_path)) == ["fit", "predict"]
    with pytest.raises(DSNAError, match="Ray went away"):
        model.predict(queries)
    assert not ray.is_initialized()  # it is not started anew, without the rows
