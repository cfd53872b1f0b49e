"""Choices between classes that do not depend on rounding."""

from __future__ import annotations

import numpy as np

_TIE = 1e-9
_TINY = 1e-300


def most_probable(proba: np.ndarray) -> np.ndarray:
    """Return (n,) most probable classes; the first of classes that differ only by rounding.

    Examples
    --------
    >>> import numpy as np
    >>> most_probable(np.array([[0.2, 0.4 - 1e-16, 0.4]])).item()
    1
    """
    return np.asarray(np.argmax(proba >= proba.max(axis=1, keepdims=True) - _TIE, axis=1))


def best_class(proba: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Return (n,) classes of largest expected gain, ``proba @ gain``; the first of those that differ only by rounding.

    Examples
    --------
    >>> import numpy as np
    >>> best_class(np.array([[0.7, 0.3], [0.9, 0.1]]), np.diag([0.25, 1.0])).tolist()
    [1, 0]
    """
    expected = proba @ gain
    best = expected.max(axis=1, keepdims=True)
    return np.asarray(np.argmax(expected >= best - _TIE * np.abs(best), axis=1))


def class_factors(gain: np.ndarray) -> np.ndarray:
    """Return (n_classes,) factors of the class probabilities: gain of finding the class minus that of the worst error.

    Examples
    --------
    >>> import numpy as np
    >>> class_factors(np.array([[0.0, -1.0], [-20.0, 0.0]])).tolist()
    [1.0, 20.0]
    """
    return np.asarray(np.diag(gain) - gain.min(axis=1))


def balanced_gain(prior: np.ndarray, balance: float) -> np.ndarray:
    """Return (n_classes, n_classes) gains, inverse to the class shares to the power of ``balance``.

    Examples
    --------
    >>> import numpy as np
    >>> balanced_gain(np.array([0.8, 0.2]), balance=1.0)
    array([[0.25, 0.  ],
           [0.  , 1.  ]])
    """
    scale = np.where(prior > 0, np.maximum(prior, _TINY) ** -balance, 0.0)
    return np.diag(scale / scale.max())
