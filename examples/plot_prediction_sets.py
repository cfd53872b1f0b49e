"""
Say "either of these two" where one answer would be a guess
============================================================

``predict_set`` gives all classes that a row may well have, so that of each class, rare ones included, nine tenths of
the rows are covered.
"""

import matplotlib.pyplot as plt
import numpy as np

from dsna import CostSensitiveForestClassifier, DSNAClassifier

N_ROWS, N_TREES = 1600, 60

# %%
# Three kinds of parts by two measurements; the third kind is rare and overlaps with the second.

rng = np.random.default_rng(0)
kind = rng.choice(3, N_ROWS, p=[0.6, 0.35, 0.05])
X = np.array([[0.0, 0.0], [3.0, 0.5], [4.6, 1.6]])[kind] + rng.normal(size=(N_ROWS, 2))
half = N_ROWS // 2
model = DSNAClassifier(CostSensitiveForestClassifier(N_TREES), random_state=0).fit(X[:half], kind[:half])

# %%
# The number of classes in the set, on a grid: one almost everywhere, two or three where kinds overlap.

x, y = np.meshgrid(np.linspace(-3, 8, 60), np.linspace(-3, 5, 45))
grid = np.column_stack([x.ravel(), y.ravel()])
size = model.predict_set(grid, coverage=0.9).sum(axis=1).reshape(x.shape)

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
shown = ax.pcolormesh(x, y, size, cmap="Blues", vmin=0, vmax=3, shading="nearest")
fig.colorbar(shown, label="classes in the set", ticks=[0, 1, 2, 3])
for one, colour in enumerate(("tab:green", "tab:orange", "tab:red")):
    rows = X[:half][kind[:half] == one][:150]
    ax.scatter(*rows.T, s=8, color=colour, label=f"kind {one}: {np.mean(kind == one):.0%}")
ax.legend(loc="upper left")

# %%
# On new rows, the share of each kind whose set holds it:

sets = model.predict_set(X[half:], coverage=0.9)
for one in range(3):
    rows = kind[half:] == one
    covered, size = sets[rows, one].mean(), sets[rows].sum(axis=1).mean()
    print(f"kind {one}: {rows.sum()} rows, covered {covered:.2f}, {size:.2f} classes in a set")
plt.show()
