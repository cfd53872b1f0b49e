"""
Decide by what mistakes cost
============================

One fit, many decisions. A missed case may cost as much as twenty false alarms, or as much as two; the model does not
change, only what is made of its probabilities.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import confusion_matrix

from dsna import CostSensitiveForestClassifier, DSNAClassifier

N_ROWS, N_TREES = 3000, 60

# %%
# Payments, of which about 4 % are frauds. Half of them train the model.

X, y = make_classification(N_ROWS, 12, n_informative=5, weights=[0.96], class_sep=0.9, random_state=0)
half = N_ROWS // 2
model = DSNAClassifier(CostSensitiveForestClassifier(N_TREES), random_state=0).fit(X[:half], y[:half])

# %%
# ``with_decision`` takes what mistakes cost: a row for each true class, a column for each predicted one. Each view
# takes a fraction of a second.

costs = [1, 2, 5, 10, 20, 50, 100]
missed, alarms, paid, paid_as_it_is = [], [], [], []
for miss in costs:
    view = model.with_decision([[0, 1], [miss, 0]])
    (_, alarm), (miss_count, _) = confusion_matrix(y[half:], view.predict(X[half:]))
    missed.append(miss_count)
    alarms.append(alarm)
    paid.append(alarm + miss * miss_count)
    (_, alarm), (miss_count, _) = confusion_matrix(y[half:], model.predict_proba(X[half:]).argmax(axis=1))
    paid_as_it_is.append(alarm + miss * miss_count)

# %%
# Left: what is missed, and the price of it in false alarms. Right: what mistakes cost in all, beside a model that
# predicts the most probable class, whatever a miss costs.

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
left.plot(costs, missed, "o-", label="frauds missed")
left.plot(costs, alarms, "s--", label="false alarms")
left.set(xscale="log", xlabel="cost of a miss, in false alarms", ylabel="cases")
left.legend()
right.plot(costs, np.array(paid_as_it_is) / half, "s--", color="tab:gray", label="most probable class")
right.plot(costs, np.array(paid) / half, "o-", label="decided by costs")
right.set(xscale="log", xlabel="cost of a miss, in false alarms", ylabel="cost of a case")
right.legend()

# %%
# Where costs are not known, ask for a recall, a precision or the best value of a measure. On the new rows:

for decision in ("balanced", "f1", "recall>=.9", "precision>=.5"):
    view = model.with_decision(decision)
    (_, alarm), (miss_count, hit) = confusion_matrix(y[half:], view.predict(X[half:]))
    print(f"{decision:>14}: found {hit} of {hit + miss_count}, {alarm} false alarms")
plt.show()
