"""What the two penalties do to the coefficients of one prediction."""

import matplotlib.pyplot as plt
import numpy as np

from dsna import Approximation, CostSensitiveForestRegressor, DSNARegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(500, 4))
y = X @ [2.0, -1.0, 0.5, 0.0] + 0.3 * rng.normal(size=500)
model = DSNARegressor(CostSensitiveForestRegressor(40), random_state=0).fit(X, y)
query = np.array([[0.5, -0.5, 0.3, 0.0]])

cases = {
    "neither": {"lam": 0.0, "gamma": 0.0},
    "first only: few rows": {"lam": 0.01, "gamma": 0.0},
    "second only: near rows": {"lam": 0.0, "gamma": 0.3},
    "both (default)": {},
}
fig, axes = plt.subplots(1, 4, figsize=(11, 2.9), sharey=True)
for ax, (name, values) in zip(axes, cases.items(), strict=True):
    frame = model.with_settings(approximation=Approximation(**values)).explain(query).frame()
    distance = np.linalg.norm(X[frame["row"]] - query, axis=1)
    used = frame["coefficient"].abs() > 1e-6
    ax.vlines(distance[used], 0, frame["coefficient"][used], color="#5b7fa6", lw=1.4)
    ax.plot(distance[used], frame["coefficient"][used], "o", ms=3.5, color="#c2410c")
    ax.axhline(0, color="black", lw=0.6)
    ax.set(title=f"{name}\n{used.sum()} rows", xlabel="distance from the query")
axes[0].set_ylabel("coefficient")
