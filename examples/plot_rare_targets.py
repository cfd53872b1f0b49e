"""
Predict rare ranges of a number
===============================

A model that averages pulls high and low targets toward the middle. ``balance`` says how much the rare counts against
the average error, and can be changed without another fit.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestRegressor

from dsna import CostSensitiveForestRegressor, DSNARegressor
from dsna.inspection import BalanceCurveDisplay, ErrorByRangeDisplay

N_ROWS, N_TREES = 2000, 60

# %%
# Claims of an insurance: most are small, few are large, and large ones are what matters.

rng = np.random.default_rng(0)
X = rng.normal(size=(N_ROWS, 6))
y = np.exp(0.4 * X[:, 0] + 0.25 * X[:, 1] * X[:, 2] + 0.35 * rng.normal(size=N_ROWS))
half = N_ROWS // 2
usual = RandomForestRegressor(N_TREES, random_state=0).fit(X[:half], y[:half])
model = DSNARegressor(CostSensitiveForestRegressor(N_TREES), random_state=0).fit(X[:half], y[:half])
print(f"balance chosen by 'auto': {model.balance_:.2f}")

# %%
# The error in each range of the target, with the number of rows in it.

fig, axes = plt.subplots(1, 3, figsize=(12, 3.6), sharey=True, layout="constrained")
strong = model.with_settings(balance=1.0)  # no second fit
views = {"random forest": usual, "dsna": model, "dsna, balance=1": strong}
for ax, (name, one) in zip(axes, views.items(), strict=True):
    ErrorByRangeDisplay.from_estimator(one, X[half:], y[half:], bins=6, ax=ax)
    ax.set_title(name)

# %%
# What more weight for the rare gains, and what it costs on average, out of bag: on the training rows, each predicted
# by trees that never saw it.

BalanceCurveDisplay.from_estimator(model, X[:half], y[:half])
plt.show()
