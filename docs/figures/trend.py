"""What the trend does: targets past those seen, without and with one."""

import matplotlib.pyplot as plt
import numpy as np

from dsna import CostSensitiveForestRegressor, DSNARegressor

rng = np.random.default_rng(0)
X = np.sort(rng.uniform(0, 10, 350))[:, None]
y = 3 + 0.8 * X[:, 0] + np.sin(X[:, 0]) + 0.4 * rng.normal(size=350)
seen = X[:, 0] < 7.5
line = np.linspace(0, 10, 200)[:, None]

fig, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True)
for ax, trend, title in ((axes[0], None, "targets taken over as they are"), (axes[1], "auto", "carried along a trend")):
    model = DSNARegressor(CostSensitiveForestRegressor(40), balance=0.0, trend=trend, random_state=0)
    model.fit(X[seen], y[seen])
    ax.plot(X[seen], y[seen], ".", ms=4, color="#5b7fa6", label="training rows")
    ax.plot(X[~seen], y[~seen], ".", ms=4, color="#b9b9b9", label="not seen")
    ax.plot(line, model.predict(line), color="#c2410c", lw=2, label="prediction")
    ax.set(title=title, xlabel="input")
axes[0].set_ylabel("target")
axes[0].legend()
