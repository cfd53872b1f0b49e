"""Choosing parameters from out-of-bag neighbourhoods: one forest, many settings.

The parameters of the approximation are searched one at a time; a setting replaces the one in hand only if it is
better by more than half the standard error of the difference, so that noise does not move the defaults.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

APPROXIMATION_GRID: dict[str, tuple[Any, ...]] = {
    "gamma": (0.01, 0.03, 0.1, 0.3, 1.0),
    "lam": (0.0, 0.001, 0.003, 0.01, 0.03),
    "bandwidth": (0.15, 0.3, 0.6, 1.2),
    "n_clusters": (1, 2, 4),
    "tau": (0.3, 1.0, 3.0),
}
FOREST_GRID: dict[str, tuple[Any, ...]] = {
    "max_features": ("auto", "sqrt", 0.5, None),
    "C": (1.0, 10.0, 100.0),
}


_TIE = 1e-9  # settings whose losses differ by a smaller share are equal


def search(
    start: dict[str, Any], grid: dict[str, tuple[Any, ...]], losses: Callable[[dict[str, Any]], np.ndarray]
) -> dict[str, Any]:
    """Best setting found by going through ``grid`` once, parameter by parameter.

    Parameters
    ----------
    start : parameters to start from.
    losses : gives the out-of-bag loss of each row under a setting; rows weigh the same.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.RandomState(0).rand(100)
    >>> search({"a": 1}, {"a": (1, 2, 3)}, lambda s: noise + abs(s["a"] - 3))
    {'a': 3}
    """
    best = dict(start)
    best_losses = losses(best)
    for name, values in grid.items():
        if name == "tau" and best.get("n_clusters", 1) == 1 and best.get("max_iter", 0) == 0:
            continue
        if name == "bandwidth" and best.get("gamma") == 0.0:
            continue
        for value in values:
            if value == best[name]:
                continue
            setting = {**best, name: value}
            found = losses(setting)
            difference = best_losses - found
            noise = difference.std() / np.sqrt(len(difference))
            if difference.mean() > 0.5 * noise + _TIE * abs(best_losses.mean()):
                best, best_losses = setting, found
    return best
