"""What balance does: where a row is called rare, for three values."""

import matplotlib.pyplot as plt
import numpy as np
from two_classes import fitted, rows, scatter

model, X, y = fitted()
X_new, y_new = rows(seed=4)
x, z = np.meshgrid(np.linspace(-3, 4.5, 80), np.linspace(-2.5, 3, 60))
grid = np.column_stack([x.ravel(), z.ravel()])

fig, axes = plt.subplots(1, 3, figsize=(10, 3.1), sharex=True, sharey=True)
for ax, balance in zip(axes, (0.0, 0.5, 1.0), strict=True):
    view = model.with_decision("balanced", balance=balance)
    said = view.predict(grid).reshape(x.shape)
    ax.contourf(x, z, said, [-0.5, 0.5, 1.5], colors=["#ffffff", "#fbd9c6"])
    scatter(ax, X, y)
    said = view.predict(X_new)
    found, alarms = said[y_new == 1].sum(), said[y_new == 0].sum()
    ax.set_title(f"balance = {balance:g}\n{found} of {y_new.sum()} found, {alarms} false alarms")
    ax.set(xlim=(-3, 4.5), ylim=(-2.5, 3))
