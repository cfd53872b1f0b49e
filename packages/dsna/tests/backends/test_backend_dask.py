"""Bit-identical results on the worker processes of a dask cluster."""

from __future__ import annotations

import os

import pytest
from joblib import parallel_config
from tests.backends.answers import KINDS, answers, assert_identical
from tests.clusters import dask_client

from dsna._utils.parallel import in_parallel

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with dask_client(2, tmp_path_factory.mktemp("dask")) as client:
        yield client


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_same_as_on_one_job(cluster, kind):
    expected = answers(kind, n_jobs=1)
    with parallel_config(backend="dask"):
        found = answers(kind)
    assert_identical(found, expected)


def test_work_is_done_by_the_workers(cluster):
    with parallel_config(backend="dask"):
        pids = set(in_parallel(os.getpid, [()] * 8, None))
    assert pids <= set(cluster.run(os.getpid).values())
    assert os.getpid() not in pids
