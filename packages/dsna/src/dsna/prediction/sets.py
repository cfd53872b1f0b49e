"""Prediction sets: all classes that a row may well have, with a coverage that holds for each class."""

from __future__ import annotations

import numpy as np

_ROUNDING = 1e-9


def class_thresholds(proba: np.ndarray, code: np.ndarray, weight: np.ndarray, coverage: float) -> np.ndarray:
    """(n_classes,) least probability at which a class belongs to a set.

    Of the rows of a class, at most 1 - ``coverage`` lie below; zero where they are too few to say so.

    Parameters
    ----------
    proba : (n, n_classes) probabilities of rows that have not been learned from.
    code, weight : (n,) their classes and weights.

    Examples
    --------
    >>> import numpy as np
    >>> proba = np.linspace(0.05, 0.95, 19)
    >>> class_thresholds(np.stack([1 - proba, proba], axis=1), np.ones(19, dtype=int), np.ones(19), 0.9).tolist()
    [0.0, 0.1]
    """
    least = np.zeros(proba.shape[1])
    for c in np.unique(code):
        own, weights = proba[code == c, c], weight[code == c]
        order = np.argsort(own, kind="stable")
        reached = np.cumsum(weights[order]) / weights.mean()
        below = np.searchsorted(reached, (1.0 - coverage) * (reached[-1] + 1.0) + _ROUNDING, side="right")
        least[c] = own[order[below - 1]] if below else 0.0
    return least
