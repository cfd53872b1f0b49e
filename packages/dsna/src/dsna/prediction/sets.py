"""Prediction sets: all plausible classes of a row, with a coverage that holds for each class."""

from __future__ import annotations

import numpy as np

_ROUNDING = 1e-9


def class_thresholds(proba: np.ndarray, code: np.ndarray, weight: np.ndarray, coverage: float) -> np.ndarray:
    """(n_classes,) smallest probability at which a class belongs to a set.

    At most a share 1 - ``coverage`` of the rows of a class have a smaller one. It is 0 for classes of too few rows.

    Parameters
    ----------
    proba : (n, n_classes) probabilities of rows, learned without these rows.
    code, weight : (n,) class numbers and weights of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> proba = np.linspace(0.05, 0.95, 19)
    >>> class_thresholds(np.stack([1 - proba, proba], axis=1), np.ones(19, dtype=int), np.ones(19), 0.9).tolist()
    [0.0, 0.1]
    """
    thresholds = np.zeros(proba.shape[1])
    for c in np.unique(code):
        class_proba, weights = proba[code == c, c], weight[code == c]
        order = np.argsort(class_proba, kind="stable")
        counts = np.cumsum(weights[order]) / weights.mean()
        n_below = np.searchsorted(counts, (1.0 - coverage) * (counts[-1] + 1.0) + _ROUNDING, side="right")
        thresholds[c] = class_proba[order[n_below - 1]] if n_below else 0.0
    return thresholds
