"""
Use new rare cases at once
==========================

A new kind of fraud turns up. ``add_samples`` puts its first cases into a trained model, in milliseconds; how many does
it take?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from dsna import CostSensitiveForestClassifier, DSNAClassifier

N_ROWS, N_TREES = 1797, 60

# %%
# A model that has never seen a nine, and handwritten nines to come.

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X[:N_ROWS], y[:N_ROWS], test_size=0.5, stratify=y[:N_ROWS], random_state=0
)
known, nines = y_train < 9, np.flatnonzero(y_train == 9)
model = DSNAClassifier(CostSensitiveForestClassifier(N_TREES), random_state=0).fit(X_train[known], y_train[known])

# %%
# Nines are added a few at a time, and the model is asked about new digits of all kinds.

counts, found, others = [0], [0.0], [np.mean(model.predict(X_test[y_test < 9]) == y_test[y_test < 9])]
for first, last in ((0, 1), (1, 2), (2, 5), (5, 10), (10, 20), (20, 40)):
    rows = nines[first:last]
    if not len(rows):
        break
    right = model.add_samples(X_train[rows], y_train[rows]).predict(X_test) == y_test
    counts.append(int(first + len(rows)))
    found.append(right[y_test == 9].mean())
    others.append(right[y_test < 9].mean())

fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.plot(counts, found, "o-", label="nines found")
ax.plot(counts, others, "s--", color="tab:gray", label="other digits right")
ax.set(xlabel="nines added", ylabel="share", ylim=(0, 1.05))
ax.legend()

# %%
# The trees never saw a nine. When many rows have come, train again.

plt.show()
