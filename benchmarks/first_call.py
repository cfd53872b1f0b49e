"""What a user waits for at first: the import, and the first fit and predict of a process."""

from __future__ import annotations

import tempfile

from measure import Report, duration, fresh, seconds

_IMPORT = """
import sys, time
start = time.perf_counter()
import dsna
print(time.perf_counter() - start)
print(*({"numba", "sklearn", "scipy", "pandas", "matplotlib"} & set(sys.modules)))
"""
_FIT = """
from sklearn.datasets import load_breast_cancer
from {module} import {estimator}
X, y = load_breast_cancer(return_X_y=True)
{estimator}(random_state=0).fit(X[:300], y[:300]).predict(X[300:])
import os
print(sum(os.times()[:2]))
"""
_OURS = ("DSNAClassifier", "DSNARegressor")
_PEERS = ("RandomForestClassifier", "RandomForestRegressor")


def first_call(report: Report, quick: bool) -> None:
    """Import and first use, in fresh processes."""
    report.title("first call: fresh processes, 300 x 30 rows")
    printed = [fresh(_IMPORT).stdout.splitlines() for _ in range(5)]
    took = min(float(lines[0]) for lines in printed)
    report.add("import dsna", duration(took), target="<= 0.3 s", ok=took <= 0.3)
    also = printed[0][1] if len(printed[0]) > 1 else ""
    report.add(
        "of numba, scikit-learn, scipy, pandas and matplotlib it imports", also or "none", target="none", ok=not also
    )
    for ours, peer in zip(_OURS, _PEERS, strict=True):
        code = _FIT.format(module="dsna", estimator=ours)
        fresh(code)
        took = seconds(fresh, code, repeats=3)[0]
        theirs = seconds(fresh, _FIT.format(module="sklearn.ensemble", estimator=peer), repeats=3)[0]
        what = f"{ours}: fit and predict, warm cache (peer: RandomForest)"
        report.add(what, duration(took), duration(theirs), took / theirs, "< 5 s", took < 5)
        if quick and ours != _OURS[0]:
            continue
        with tempfile.TemporaryDirectory() as empty:
            process = fresh(code, empty)
        said = process.stderr.splitlines()
        took = float(process.stdout)
        report.add(f"{ours}: the same, cold cache, CPU time", duration(took), target="<= 40 s", ok=took <= 40)
        one = len(said) == 1 and "compil" in said[0]
        report.add("  lines on stderr about compiling", str(len(said)), target="1", ok=one)
        report.note(" | ".join(said))
