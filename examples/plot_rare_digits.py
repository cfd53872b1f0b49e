"""
Find rare cases, and see the rows behind one
============================================

Twenty handwritten eights hide among eight hundred other digits. How many of new eights does a model find, and which
training pictures make it say "eight"?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from dsna import CostSensitiveForestClassifier, DSNAClassifier
from dsna.inspection import RecallByClassDisplay

N_ROWS, N_TREES = 1797, 100

# %%
# Half of the pictures are kept for the test. Of the eights in the other half, only twenty stay.

X, digit = load_digits(return_X_y=True)
y = np.where(digit == 8, "eight", "other")[:N_ROWS]
X_train, X_test, y_train, y_test = train_test_split(X[:N_ROWS], y, test_size=0.5, stratify=y, random_state=0)
keep = np.setdiff1d(np.arange(len(y_train)), np.flatnonzero(y_train == "eight")[20:])
X_train, y_train = X_train[keep], y_train[keep]
print(f"{len(y_train)} training pictures, {np.sum(y_train == 'eight')} of them eights")

# %%
# A random forest is right about nearly every picture, and misses most of the eights: it was never asked to care.

usual = RandomForestClassifier(N_TREES, random_state=0).fit(X_train, y_train)
model = DSNAClassifier(CostSensitiveForestClassifier(N_TREES), random_state=0).fit(X_train, y_train)

fig, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
for ax, one, name in zip(axes, (usual, model), ("random forest", "dsna"), strict=True):
    RecallByClassDisplay.from_estimator(one, X_test, y_test, ax=ax)
    ax.set_title(name)

# %%
# Why did the model call a picture an eight? ``explain`` names the training rows and what each adds. These rows are
# pictures, so they can be looked at: here those behind the surest of the eights that the random forest missed.

found = np.flatnonzero((y_test == "eight") & (model.predict(X_test) == "eight") & (usual.predict(X_test) == "other"))
surest = found[model.predict_proba(X_test[found])[:, 0].argmax()]
query = X_test[[surest]]
rows = model.explain(query).frame(largest=5)

fig, axes = plt.subplots(1, 6, figsize=(9, 2.2), layout="constrained")
axes[0].imshow(query.reshape(8, 8), cmap="gray_r")
axes[0].set_title("the query")
for ax, row in zip(axes[1:], rows.itertuples(), strict=False):
    ax.imshow(X_train[row.row].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"{y_train[row.row]}\n{row.weight:.0%}")
for ax in axes:
    ax.set_axis_off()
plt.show()
