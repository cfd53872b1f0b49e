"""How much a rare class or label counts: the cost f(p), class shares and label densities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

COSTS = ("paper", "inverse", None)


def cost_code(cost: str | Callable[[Any], Any] | None) -> tuple[int, np.ndarray]:
    """Number and table by which the kernels know a cost.

    Parameters
    ----------
    cost : {"paper", "inverse"}, None or callable
        f(p) = (1 - p) / p, f(p) = 1 / p, no cost, or a function of an array of shares p in (0, 1].
    """
    if callable(cost):
        table = np.asarray(cost(np.logspace(-6, 0, 1025)), dtype=np.float64)
        if table.shape != (1025,) or not np.all(np.isfinite(table)) or np.any(table < 0):
            raise ValueError(
                "The callable cost must map an array of shares p in (0, 1] to as many finite, non-negative costs."
            )
        return 3, table
    if cost not in COSTS:
        raise ValueError(f"cost={cost!r} is unknown: use 'paper', 'inverse', None or a callable f(p).")
    return {None: 0, "paper": 1, "inverse": 2}[cost], np.ones(2)


def class_shares(code: np.ndarray, n_classes: int, sample_weight: np.ndarray) -> np.ndarray:
    """Share of each class in the training rows.

    Examples
    --------
    >>> import numpy as np
    >>> class_shares(np.array([0, 0, 0, 1]), 2, np.ones(4))
    array([0.75, 0.25])
    """
    counts = np.bincount(code, weights=sample_weight, minlength=n_classes)
    return counts / counts.sum()
