"""
Rows of one patient belong together
===================================

Several rows come from each patient. A score on rows of patients that the model knows is too good; naming the groups
mends the score, and costs nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import balanced_accuracy_score

from dsna import CostSensitiveForestClassifier, DSNAClassifier

N_ROWS, N_TREES = 3600, 60

# %%
# Every patient has six visits. What is measured says more about who it is than about the disease.

rng = np.random.default_rng(0)
patient = np.arange(N_ROWS) // 6
person = rng.normal(size=(patient.max() + 1, 8))
ill = (person[:, 0] + person[:, 1] + 2 * rng.normal(size=len(person)) > 2.5).astype(int)
X, y = person[patient] + 0.2 * rng.normal(size=(N_ROWS, 8)), ill[patient]
train = patient < 0.5 * patient.max()

# %%
# The score out of bag, with and without groups, beside the score on patients that no model has seen.

scores = {}
for name, groups in (("rows", None), ("patients", patient[train])):
    model = DSNAClassifier(CostSensitiveForestClassifier(N_TREES), random_state=0)
    model.fit(X[train], y[train], groups=groups)
    scores[f"out of bag by {name}"] = model.oob_balanced_accuracy_
scores["truth: new patients"] = balanced_accuracy_score(y[~train], model.predict(X[~train]))

fig, ax = plt.subplots(figsize=(6, 2.2), layout="constrained")
ax.barh(list(scores), list(scores.values()), color=["tab:red", "tab:blue", "tab:gray"])
ax.bar_label(ax.containers[0], fmt="%.2f", padding=3)
ax.set(xlim=(0, 1.1), xlabel="balanced accuracy")
ax.invert_yaxis()
plt.show()
