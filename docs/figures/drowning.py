"""Why averaging drowns the rare: the votes of the nearest rows, and the decision of a balanced model."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from two_classes import COMMON, RARE, fitted, scatter

model, X, y = fitted()
query = np.array([[1.8, 1.2]])
votes = KNeighborsClassifier(25).fit(X, y)
near = votes.kneighbors(query, return_distance=False)[0]

fig, axes = plt.subplots(1, 3, figsize=(10, 3.2), width_ratios=[1.1, 0.7, 1.1])
left, middle, right = axes
scatter(left, X, y)
left.scatter(*X[near].T, s=26, facecolors="none", edgecolors="black", linewidth=0.8)
left.plot(*query[0], "k*", ms=12)
left.set_title("a query in the middle of the rare\nand its 25 nearest rows")

share = np.array([np.mean(y[near] == 0), np.mean(y[near] == 1)])
middle.bar(["common", "rare"], share, color=[COMMON, RARE])
middle.bar_label(middle.containers[0], fmt="%.2f")
middle.set(title="their votes", ylim=(0, 1))

x, z = np.meshgrid(np.linspace(-0.5, 4, 60), np.linspace(-1, 3, 50))
grid = np.column_stack([x.ravel(), z.ravel()])
assert not votes.predict(grid).any()
right.contour(x, z, model.predict(grid).reshape(x.shape), [0.5], colors="black")
scatter(right, X, y)
right.plot(*query[0], "k*", ms=12)
right.set(xlim=(-0.5, 4), ylim=(-1, 3), title="called rare: beyond the line by dsna,\nnowhere by votes")
