"""The numerical tests under other code generation, and how far predictions move: `make portable`.

Processors differ in the instructions that numba, OpenBLAS and numpy choose, and so in the last bits of their results.
This machine can play older ones, each with a numba cache of its own.  It belongs to the tests, not to the benchmarks,
because it passes or fails: it fails where a test does, where a number moves farther than ``FARTHEST``, or where a class
changes.  pytest does not collect it, for each run compiles all kernels again.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "packages" / "dsna"))  # helpers of the tests
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "packages" / "dsna-vision"))

from tests.small_models import build

ROOT = Path(__file__).resolve().parents[1]
TESTS = (
    "packages/dsna/tests/kernels/approximation",
    "packages/dsna-vision/tests/kernels",
    "packages/dsna/tests/kernels/forest",
    "packages/dsna/tests/estimators/test_batches.py",
    "packages/dsna/tests/estimators/test_ties.py",
    "packages/dsna-vision/tests/edges/test_detector.py",
)
QUICK_TESTS = (
    "packages/dsna/tests/kernels/approximation/test_query.py",
    "packages/dsna/tests/kernels/approximation/test_hull.py",
    "packages/dsna/tests/estimators/test_ties.py",
)
# Targets in standard deviations, probabilities and edge maps as they are; rounding moves them by 1e-14.
FARTHEST = 1e-9
QUICK = "OpenBLAS Nehalem"  # as quick as any (86 s of CPU), and the one that every x86 processor has


def generations() -> dict[str, dict[str, str]]:
    """Environment variables by name; those whose instructions this processor lacks are left out."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    found = {
        "numba generic": {"NUMBA_CPU_NAME": "generic"},  # implies no features
        "numpy baseline": {"NPY_DISABLE_CPU_FEATURES": " ".join(f for f in __cpu_dispatch__ if __cpu_features__[f])},
    }
    if platform.machine() in ("x86_64", "AMD64"):
        found["OpenBLAS Nehalem"] = {"OPENBLAS_CORETYPE": "Nehalem"}
    if __cpu_features__.get("AVX2") or __cpu_features__.get("X86_V3"):
        found["OpenBLAS Haswell"] = {"OPENBLAS_CORETYPE": "Haswell"}
    if __cpu_features__.get("AVX512_SKX") or __cpu_features__.get("X86_V4"):
        found["OpenBLAS SkylakeX"] = {"OPENBLAS_CORETYPE": "SkylakeX"}
    return found


def answers() -> dict[str, np.ndarray]:
    """What models of fixed seeds say: on tables with many ties, with several outputs, with all of Algorithm 1."""
    from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
    from tests.boundary_folders import shapes, write_shapes

    import dsna
    from dsna_vision.datasets import load_bsds500
    from dsna_vision.edges import EdgeDetector, pretrained

    few = {"n_estimators": 30, "random_state": 0}
    said = {}

    def say(name: str, model, X: np.ndarray, y: np.ndarray) -> None:
        model.fit(X[::2], y[::2])
        if hasattr(model, "predict_proba"):
            said[f"{name}, probabilities"] = model.predict_proba(X[1::2])
            said[f"{name}, classes"] = model.predict(X[1::2])
        else:
            said[f"{name}, targets"] = model.predict(X[1::2]) / y.std(axis=0)

    tumours, diabetes, iris = (load(return_X_y=True) for load in (load_breast_cancer, load_diabetes, load_iris))
    rare = (diabetes[1] > 230).astype(int)
    two = np.c_[diabetes[1], diabetes[0][:, 2] + 0.1 * diabetes[0][:, 3]]
    say("tumours", build(dsna.DSNAClassifier, **few), *tumours)
    say("tumours, CS-RF", dsna.CostSensitiveForestClassifier(**few), *tumours)
    say("rare diabetes", build(dsna.DSNAClassifier, **few), diabetes[0], rare)
    say("iris", build(dsna.DSNAClassifier, **few), *iris)
    say("iris, paper", dsna.DSNAClassifier(**dsna.presets.paper("classification"), random_state=0), *iris)
    say("petal width", build(dsna.DSNARegressor, **few), iris[0][:, :3], iris[0][:, 3])
    say(
        "petal width, paper",
        dsna.DSNARegressor(**dsna.presets.paper("regression"), random_state=0),
        iris[0][:, :3],
        iris[0][:, 3],
    )
    say("diabetes", build(dsna.DSNARegressor, **few), *diabetes)
    say("diabetes, two outputs", build(dsna.DSNARegressor, **few), diabetes[0], two)
    say("diabetes, CS-RF", dsna.CostSensitiveForestRegressor(**few), *diabetes)
    say("diabetes, two forests", build(dsna.DSNARegressor, **few, metric_rounds=2), *diabetes)
    with tempfile.TemporaryDirectory() as folder:
        write_shapes(Path(folder))
        detector = EdgeDetector(n_estimators=4, n_patches=400, n_pool=400, random_state=0)
        detector.fit(load_bsds500(folder, "train"))
    photo = shapes(100)[0]
    said["edges, trained here"] = detector.detect(photo, suppress=False)
    said["edges, shipped"] = pretrained(levels=1).detect(photo, suppress=False)
    return said


def run(setting: dict[str, str], *command: str) -> tuple[int, str]:
    """Exit code and output of a Python process with these environment variables."""
    environment = {**os.environ, **setting, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = (sys.executable, *command)
    done = subprocess.run(command, cwd=ROOT, env=environment, text=True, stdout=-1, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def asked(setting: dict[str, str]) -> dict[str, np.ndarray]:
    """``answers`` of another process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.npz"
        code, output = run(setting, "-m", "tools.portable", "--answers", str(path))
        if code:
            sys.exit(output)
        with np.load(path) as saved:
            return dict(saved)


def moved(found: dict[str, np.ndarray], native: dict[str, np.ndarray]) -> tuple[float, str, float]:
    """Largest difference of a number, where, and the share of classes that changed.

    Numbers that are given in single precision, as edge maps are, count as equal where they round to neighbours there.
    """
    numbers = [name for name in native if not name.endswith("classes")]
    apart = {name: float(np.abs(found[name] - native[name]).max()) for name in numbers}
    for name in numbers:
        if apart[name] <= np.finfo(native[name].dtype).eps:
            apart[name] = 0.0
    where = max(apart, key=lambda name: apart[name])
    changed = np.concatenate([found[name] != native[name] for name in native if name not in numbers])
    return apart[where], where, float(changed.mean())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one generation and fewer tests")
    parser.add_argument("--only", help="one generation, by name")
    parser.add_argument("--answers", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.answers:
        np.savez(given.answers, **answers())
        return 0
    chosen = generations()
    if given.only and given.only not in chosen:
        parser.error(f"--only {given.only!r}: use one of {', '.join(chosen)}.")
    if given.quick or given.only:
        name = given.only or (QUICK if QUICK in chosen else "numba generic")
        chosen = {name: chosen[name]}
    tests = QUICK_TESTS if given.quick else TESTS
    failed = False
    native = asked({})
    for name, setting in chosen.items():
        before = os.times()
        with tempfile.TemporaryDirectory() as cache:
            setting = {**setting, "NUMBA_CACHE_DIR": cache}
            far, where, share = moved(asked(setting), native)
            code, output = run(setting, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
        after = os.times()
        seconds = after.children_user + after.children_system - before.children_user - before.children_system
        failed |= bool(code) or far > FARTHEST or share > 0
        print(
            f"{name}: {output.splitlines()[-1]}; predictions move by {far:.1e} at most ({where}), "
            f"{share:.2%} of the classes change; {seconds:.0f} s of CPU",
            flush=True,
        )
        if code:
            print(output)
    print(f"{'FAILED' if failed else 'passed'}: tests pass, numbers move by {FARTHEST} at most and no class changes")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
