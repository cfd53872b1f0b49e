"""
When not to use it
==================

With few columns and a truth that is a straight line, logistic regression is as good, a hundred times faster, and
easier to explain. Measure before you choose.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from dsna import CostSensitiveForestClassifier, DSNAClassifier

N_ROWS, N_TREES = 4000, 60

# %%
# Two truths on the same four columns: a line, and a ring. One row in twenty is positive.

rng = np.random.default_rng(0)
X = rng.normal(size=(N_ROWS, 4))
score = {
    "a line": X @ [1.0, -1.0, 0.5, 0.0] + 0.7 * rng.normal(size=N_ROWS),
    "a ring": -np.abs(np.hypot(X[:, 0], X[:, 1]) - 2.2) + 0.1 * rng.normal(size=N_ROWS),
}
train, test = slice(0, N_ROWS // 4), slice(N_ROWS // 4, None)

methods = {
    "logistic regression": LogisticRegression,
    "gradient boosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "dsna": lambda: DSNAClassifier(CostSensitiveForestClassifier(N_TREES), random_state=0),
}
found: dict[str, list[float]] = {name: [] for name in methods}
for truth, value in score.items():
    y = (value > np.quantile(value, 0.95)).astype(int)
    for name, make in methods.items():
        start = time.perf_counter()
        model = make().fit(X[train], y[train])
        found[name].append(roc_auc_score(y[test], model.predict_proba(X[test])[:, 1]))
        print(f"{truth}: {name:>20} AUC {found[name][-1]:.3f}, {time.perf_counter() - start:.2f} s")

# %%
# Where the truth is a line, logistic regression wins; where it is a ring, it is no better than chance. With millions of
# rows and no wish for reasons, gradient boosting is the right tool.

fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
for place, (name, values) in enumerate(found.items()):
    bars = ax.bar(np.arange(2) + 0.27 * (place - 1), values, 0.25, label=name)
    ax.bar_label(bars, fmt="%.2f", padding=2)
ax.set_xticks([0, 1], list(score))
ax.set(ylabel="AUC on new rows", ylim=(0.4, 1.05))
fig.legend(ncols=3, loc="outside upper center", frameon=False)
plt.show()
