"""A large table with a rare class: processor time and peak memory of a fit, beside LightGBM's."""

from __future__ import annotations

import json

from measure import Report, duration, fresh, megabytes

# Rows are made without temporary copies of the table, so that the peak is that of the fit.
_FIT = """
import json, resource, sys, time
import numpy as np
from {module} import {estimator}
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

rng = np.random.default_rng(0)
slope = rng.normal(size=8)

def table(n):
    X = rng.normal(size=(n, 30))
    score = X[:, :8] @ slope + X[:, 8] * X[:, 9] + 2.0 * rng.normal(size=n)
    return X, (score > np.quantile(score, 0.985)).astype(int)

{estimator}(n_jobs=1).fit(*table(2000)).predict(table(10)[0])  # compile or load all kernels
X, y = table({n})
model = {estimator}(n_jobs=1, random_state=0)
start = time.process_time()
model.fit(X, y)
took = time.process_time() - start
if sys.platform == "linux":  # where getrusage would remember the process that started this one
    peak = 1024 * int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
X, y = table(20_000)
start = time.process_time()
proba = model.predict_proba(X)[:, 1]
asked = (time.process_time() - start) / 20_000
print(json.dumps(dict(
    took=took, peak=peak, asked=asked, auc=roc_auc_score(y, proba),
    balanced=balanced_accuracy_score(y, model.predict(X)),
)))
"""


def rare(report: Report, quick: bool) -> None:
    """Fit on a table with 1.5 % of positives."""
    n = 20_000 if quick else 100_000
    report.title(f"rare: {n:,} x 30 with 1.5 % of positives, default parameters, one thread; peer: LGBMClassifier")
    ours, theirs = (
        [json.loads(fresh(_FIT.format(module=module, estimator=name, n=n)).stdout.splitlines()[-1]) for _ in range(3)]
        for module, name in (("dsna", "DSNAClassifier"), ("lightgbm", "LGBMClassifier"))
    )
    took, peer = (min(run["took"] for run in runs) for runs in (ours, theirs))
    report.add("CPU time of fit", duration(took), duration(peer), took / peer, "<= 7", took <= 7 * peer)
    peak, peer = (max(run["peak"] for run in runs) for runs in (ours, theirs))
    report.add("peak memory of the process", megabytes(peak), megabytes(peer), peak / peer, "<= 400 MB", peak <= 400e6)
    asked, peer = (min(run["asked"] for run in runs) for runs in (ours, theirs))
    report.add("CPU time of a query", duration(asked), duration(peer), asked / peer)
    for name, key in (("balanced accuracy", "balanced"), ("AUC", "auc")):
        report.add(f"{name} on 20,000 other rows", f"{ours[0][key]:.3f}", f"{theirs[0][key]:.3f}")
