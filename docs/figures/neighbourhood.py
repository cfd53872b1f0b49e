"""What a neighbourhood looks like: rows that are near, rows that the forest finds, and what each adds to the answer."""

import matplotlib.pyplot as plt
import numpy as np

from dsna import CostSensitiveForestRegressor, DSNARegressor

rng = np.random.default_rng(1)
X = rng.uniform(-2, 2, (700, 2))
y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=700)
model = DSNARegressor(CostSensitiveForestRegressor(60), trend=None, random_state=0).fit(X, y)
query = np.array([[0.2, 0.1]])
frame = model.explain(query).frame()
row = frame["row"].to_numpy()
near = np.argsort(np.linalg.norm(X - query, axis=1))[: len(row)]

fig, axes = plt.subplots(1, 3, figsize=(11, 3.5), sharex=True, sharey=True)
for ax, rows, size, title in (
    (axes[0], near, np.full(len(near), 26.0), "nearest rows"),
    (axes[1], row, 900 * frame["proximity"], "what the forest finds"),
    (axes[2], row, 900 * frame["coefficient"].abs(), "what each adds to the answer"),
):
    shown = ax.scatter(*X.T, c=y, s=7, cmap="coolwarm", alpha=0.45, linewidth=0)
    ax.scatter(*X[rows].T, s=size, c=y[rows], cmap="coolwarm", vmin=-1.2, vmax=1.2, edgecolors="black", linewidth=0.7)
    ax.plot(*query[0], "k*", ms=12)
    ax.set(title=title, xlabel="a column that matters")
axes[0].set_ylabel("a column that does not")
fig.colorbar(shown, label="target")
