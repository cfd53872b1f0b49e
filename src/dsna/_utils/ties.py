"""Choices that do not depend on rounding."""

from __future__ import annotations

import numpy as np

_TIE = 1e-9


def most_probable(proba: np.ndarray) -> np.ndarray:
    """(n,) the most probable class of each row; of classes that differ only by rounding, the first.

    Examples
    --------
    >>> import numpy as np
    >>> most_probable(np.array([[0.2, 0.4 - 1e-16, 0.4]])).item()
    1
    """
    return np.asarray(np.argmax(proba >= proba.max(axis=1, keepdims=True) - _TIE, axis=1))
