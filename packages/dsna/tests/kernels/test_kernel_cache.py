"""Compiled kernels on disk: damaged files, full disks and folders that cannot be written to stop nobody."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

# One small kernel, in a process of its own.
PROGRAM = """
import numpy as np
{before}
from dsna._kernels.sorting import order_of
print(*order_of(np.array([3.0, 1.0, 2.0])))
"""
COMPILING = "dsna: compiling numerical kernels"
PROMISE = "later runs load them from the cache"


def run(cache, before="", **variables):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    environment |= {"NUMBA_CACHE_DIR": str(cache), **variables}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(before=before)], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1", "2", "0"]
    return done.stderr.splitlines()


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache, and what the run that filled it said."""
    folder = tmp_path_factory.mktemp("cache")
    return folder, run(folder)


def test_the_second_run_loads_what_the_first_compiled(filled):
    folder, (said,) = filled
    assert said.startswith(COMPILING)
    assert PROMISE in said
    assert run(folder) == []


@pytest.mark.parametrize("ending, damage", [(".nbi", "empty"), (".nbi", "half"), (".nbc", "half"), (".nbc", "garbage")])
def test_damaged_files_are_replaced(filled, tmp_path, ending, damage):
    shutil.copytree(filled[0], tmp_path, dirs_exist_ok=True)
    files = [path for path in tmp_path.rglob("*") if path.suffix == ending]
    assert files
    for path in files:
        content = path.read_bytes()
        path.write_bytes({"empty": b"", "half": content[: len(content) // 2], "garbage": b"\x80" * 100}[damage])
    (said,) = run(tmp_path)
    assert said.startswith(COMPILING)
    assert run(tmp_path) == []


def test_a_full_disk_means_no_cache(tmp_path):
    pytest.importorskip("resource")
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"
    said = run(tmp_path, full)
    assert len(said) == 2
    assert "cannot be cached" in said[0]
    assert "NUMBA_CACHE_DIR" in said[0]
    assert str(tmp_path) in said[0]
    assert said[1].startswith(COMPILING)
    assert PROMISE not in "".join(said)
    assert len(run(tmp_path)) == 1  # with room again, it is compiled and kept
    assert run(tmp_path) == []


def test_a_disk_that_fills_up_on_the_way(tmp_path):
    fills = """
import resource
from dsna._kernels.jit import KernelCache
probe = KernelCache.probe
def fill(self):
    probe(self)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
KernelCache.probe = fill
"""
    pytest.importorskip("resource")
    said = run(tmp_path, fills)
    assert len(said) == 2
    assert said[0].startswith(COMPILING)
    assert "cannot be cached" in said[1]


def test_no_place_for_a_cache(tmp_path):
    nowhere = "from numba.core import caching; caching.CacheImpl._locator_classes = []"
    said = run(tmp_path, nowhere)
    assert len(said) == 2
    assert "cannot be cached" in said[0]
    assert said[1].startswith(COMPILING)
    assert PROMISE not in "".join(said)


def test_without_compilation_kernels_are_plain_python(tmp_path):
    (said,) = run(tmp_path, NUMBA_DISABLE_JIT="1")
    assert "NUMBA_DISABLE_JIT" in said


INTERPRETED = """
import sys
import numpy as np
from dsna import DSNAClassifier, DSNARegressor
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
for model, y in ((DSNAClassifier, X[:, 0] > 0.5), (DSNARegressor, X[:, 0])):
    forest = model().default_forest().set_params(n_estimators=2, n_draws=3)
    print(*model(forest, random_state=0).fit(X, y).predict(X[:5]).astype(float))
"""


def test_plain_python_answers_as_compiled_kernels_do():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    answers = []
    for off in ("0", "1"):
        environment["NUMBA_DISABLE_JIT"] = off
        done = subprocess.run([sys.executable, "-c", INTERPRETED], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        assert "Warning" not in done.stderr
        answers.append(np.array([line.split() for line in done.stdout.splitlines()], dtype=float))
    np.testing.assert_allclose(answers[0], answers[1], atol=1e-6)


def test_progress_is_counted_on_a_terminal(capsys, monkeypatch):
    from dsna._kernels.notices import Notices

    class Started:
        def __init__(self):
            def kernel():
                """Stand for one of ours."""

            kernel.__module__ = "dsna._kernels.tree"
            self.data = {"dispatcher": type("Dispatcher", (), {"py_func": staticmethod(kernel), "_cache": self})}

        def probe(self):
            """Nothing is wrong."""

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    notices = Notices()
    outer, inner = Started(), Started()
    notices.on_start(outer)
    notices.on_start(inner)
    notices.on_end(inner)
    assert "1 kernels compiled" in capsys.readouterr().err
    notices.on_end(outer)
    assert capsys.readouterr().err.endswith("\r\x1b[K")
    assert notices.compiled == 2
