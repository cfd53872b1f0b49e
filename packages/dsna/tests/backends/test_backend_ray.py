"""Bit-identical results on the worker processes of ray."""

from __future__ import annotations

import os
import sys

import pytest
from joblib import parallel_config
from tests.backends.answers import KINDS, answers, assert_identical
from tests.clusters import local_ray

from dsna._utils.parallel import in_parallel

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.skipif(" " in sys.executable, reason="ray starts no worker from a path with spaces")


@pytest.fixture(scope="module")
def cluster(ray_token):
    """Ray of two processors, registered with joblib."""
    from ray.util.joblib import register_ray

    with local_ray(ray_token):
        register_ray()
        yield


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_same_as_on_one_job(cluster, kind):
    # Each parallel step starts processes of its own under ray, so one prediction has to do.
    ask = ("predict_proba",) if hasattr(kind, "predict_proba") else ("predict",)
    expected = answers(kind, ask, n_jobs=1)
    with parallel_config(backend="ray", n_jobs=2):
        found = answers(kind, ask)
    assert ask[0] in found
    assert_identical(found, expected)


def test_work_is_done_by_the_workers(cluster):
    with parallel_config(backend="ray", n_jobs=2):
        assert os.getpid() not in in_parallel(os.getpid, [()] * 4, None)
