"""Arrays as kernels take them: of one type to numba, and without copies of what is mapped read-only."""

import joblib
import numba
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: F401  (loads OpenMP)
from threadpoolctl import threadpool_info

import dsna
from dsna._utils.parallel import bounded_threads, writable


def read_only(values):
    values.flags.writeable = False
    return values


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32, np.int16, bool])
@pytest.mark.parametrize("shape", [(5,), (4, 3), (0,), (0, 2)])
def test_the_same_memory(dtype, shape):
    values = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    assert writable(values) is values
    seen = writable(read_only(values.copy()))
    np.testing.assert_array_equal(seen, values)
    assert numba.typeof(seen) == numba.typeof(values)
    fixed = read_only(values.copy())
    assert writable(fixed).__array_interface__["data"][0] == fixed.__array_interface__["data"][0]


def test_memory_stays_as_long_as_it_is_seen():
    seen = writable(read_only(np.arange(100_000)))
    np.testing.assert_array_equal(seen, np.arange(100_000))


def test_other_layouts_are_copied():
    rows = np.arange(12.0).reshape(3, 4)
    odd = np.frombuffer(bytes(1) + rows.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(3, 4)
    for given in (np.asfortranarray(rows), rows[:, ::2], np.broadcast_to(rows[0], (3, 4)), odd):
        taken = writable(given)
        np.testing.assert_array_equal(taken, given)
        assert numba.typeof(taken) == numba.typeof(rows)


def test_a_model_that_is_mapped_from_a_file(tmp_path):
    X, y = make_classification(300, weights=[0.8], random_state=0)
    model = dsna.DSNAClassifier(dsna.CostSensitiveForestClassifier(5), random_state=0).fit(X[:200], y[:200])
    joblib.dump(model, tmp_path / "model.joblib")
    mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    held = mapped._index.trees.leaf_rows
    assert not held.flags.writeable
    assert np.shares_memory(writable(held), held)
    np.testing.assert_array_equal(mapped.predict_proba(X[200:]), model.predict_proba(X[200:]))


def test_libraries_use_as_many_threads_as_jobs():
    def threads():
        return {library["filepath"]: library["num_threads"] for library in threadpool_info()}

    before = threads()
    assert {library["user_api"] for library in threadpool_info()} >= {"openmp", "blas"}
    with bounded_threads(None):
        assert set(threads().values()) == {1}
    assert threads() == before
