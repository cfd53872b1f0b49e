"""Parameter search on out-of-bag neighbourhoods: one forest, many settings.

Parameters are searched one at a time. A value replaces the current one only if it lowers the loss by more than half the
standard error of the difference, so noise does not change the defaults.
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
_TIE = 1e-9  # losses that differ by a smaller share are equal


def search(
    start: dict[str, Any], grid: dict[str, tuple[Any, ...]], losses: Callable[[dict[str, Any]], np.ndarray]
) -> dict[str, Any]:
    """Best settings of one pass through ``grid``, parameter by parameter.

    Parameters
    ----------
    start : initial values of the parameters.
    losses : function that returns the out-of-bag loss of each row under some settings; rows have equal weights.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.RandomState(0).rand(100)
    >>> search({"a": 1}, {"a": (1, 2, 3)}, lambda settings: noise + abs(settings["a"] - 3))
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
            settings = {**best, name: value}
            new_losses = losses(settings)
            difference = best_losses - new_losses
            standard_error = difference.std() / np.sqrt(len(difference))
            if difference.mean() > 0.5 * standard_error + _TIE * abs(best_losses.mean()):
                best, best_losses = settings, new_losses
    return best
