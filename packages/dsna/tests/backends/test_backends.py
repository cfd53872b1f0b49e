"""Results do not depend on the number of jobs or on joblib's backend, to the last bit."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest
from joblib import parallel_config
from tests.backends.answers import KINDS, answers, assert_identical, table
from tests.small_models import build
from threadpoolctl import threadpool_info, threadpool_limits

from dsna._utils.parallel import in_parallel


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.__name__)
def alone(request):
    """An estimator class and what it answers on one job."""
    return request.param, answers(request.param, n_jobs=1)


def test_the_state_holds_trees_and_rows(alone):
    _, expected = alone
    assert sum(isinstance(v, np.ndarray) for v in expected.values()) > 15
    assert np.unique(expected["predict"]).size > 1


@pytest.mark.parametrize("n_jobs", (None, 2, -1))
def test_number_of_jobs(alone, n_jobs):
    kind, expected = alone
    assert_identical(answers(kind, n_jobs=n_jobs), expected)


def test_loky_works_elsewhere():
    with parallel_config(backend="loky", n_jobs=2):
        assert os.getpid() not in in_parallel(os.getpid, [()] * 4, None)


@pytest.mark.parametrize("backend", ("threading", "loky"))
def test_backend(alone, backend):
    kind, expected = alone
    with parallel_config(backend=backend, n_jobs=2):
        assert_identical(answers(kind), expected)


def test_queries_may_come_in_parts(alone):
    kind, expected = alone
    X, y, queries = table(kind)
    model = build(kind, n_estimators=12, random_state=3, n_jobs=2).fit(X, y, groups=np.arange(len(X)) // 3)
    parts = [model.predict(queries[part]) for part in (slice(0, 1), slice(1, 290), slice(290, None))]
    np.testing.assert_array_equal(np.concatenate(parts), expected["predict"])


def test_blas_has_one_thread_in_all_tasks_and_as_many_as_before_after():
    def threads(wait):
        time.sleep(wait)  # the others have left, or come
        return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]

    with threadpool_limits(2, user_api="blas"):
        before = threads(0)
        found = in_parallel(threads, [(0.01 * k,) for k in range(6)], 2)
        assert {n for each in found for n in each} == {1}
        assert threads(0) == before
