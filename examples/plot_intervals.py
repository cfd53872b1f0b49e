"""
Intervals that hold for rare targets too
========================================

An interval that is right nine times in ten on average may be right hardly ever where targets are high. These are made
to hold in each range of the target; quantiles answer the other question, for all rows together.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from dsna import CostSensitiveForestRegressor, DSNARegressor

N_ROWS, N_TREES = 2400, 60

# %%
# The noise grows with the target, and high targets are rare.

rng = np.random.default_rng(0)
X = rng.beta(1.0, 2.5, (N_ROWS, 3))
y = 4 * X[:, 0] + 6 * X[:, 0] * X[:, 1] + (0.2 + X[:, 0]) * rng.normal(size=N_ROWS)
half = N_ROWS // 2
model = DSNARegressor(CostSensitiveForestRegressor(N_TREES), random_state=0).fit(X[:half], y[:half])
interval = model.predict_interval(X[half:], coverage=0.9)
quantiles = model.predict_quantiles(X[half:], [0.05, 0.95])

# %%
# Left: the targets of new rows, with their intervals. Right: the share that each holds, by range of the target.

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
order = np.argsort(y[half:])[:: max(1, half // 150)]
place = np.arange(len(order))
left.vlines(place, *interval[order].T, color="tab:blue", alpha=0.5, label="90 % interval")
left.plot(place, y[half:][order], ".", color="black", ms=4, label="target")
left.set(xlabel="new rows, by target", ylabel="target")
left.legend()

edges = np.quantile(y[half:], [0, 0.25, 0.5, 0.75, 0.9, 1])
middle = np.arange(5)
for bounds, name, shift in ((interval, "predict_interval", -0.2), (quantiles, "predict_quantiles", 0.2)):
    held = (bounds[:, 0] <= y[half:]) & (y[half:] <= bounds[:, 1])
    share = [held[(y[half:] >= a) & (y[half:] <= b)].mean() for a, b in pairwise(edges)]
    right.bar(middle + shift, share, 0.4, label=name)
right.axhline(0.9, color="black", lw=0.8)
right.set_xticks(middle, [f"{a:.1f} to {b:.1f}" for a, b in pairwise(edges)], rotation=20)
right.set(ylabel="share held", ylim=(0, 1.05))
right.legend(loc="lower left")
plt.show()
