"""With how many digits computed numbers are shown and written."""

from __future__ import annotations

import numpy as np

DIGITS = 6  # of a computed number
MOST_DIGITS = 12  # of a number that somebody wrote down


def decimals_of(targets: np.ndarray) -> int | None:
    """Decimals that all targets do with; None where they have more digits than anybody writes.

    Examples
    --------
    >>> import numpy as np
    >>> decimals_of(np.array([1200000.25, 3.5])), decimals_of(np.array([3.0])), decimals_of(np.array([1 / 3]))
    (2, 0, None)
    """
    before = int(np.log10(max(np.abs(targets).max(initial=0.0), 1.0))) + 1
    every = range(max(MOST_DIGITS + 1 - before, 0))
    return next((decimals for decimals in every if np.array_equal(np.round(targets, decimals), targets)), None)


def rounded(values: np.ndarray, decimals: int | None = None) -> np.ndarray:
    """Numbers of six significant digits, or of so many decimals where these are more.

    Examples
    --------
    >>> import numpy as np
    >>> rounded(np.array([1234567.891, 1 / 3])).tolist(), rounded(np.array([1234567.891, 1 / 3]), 2).tolist()
    ([1234570.0, 0.333333], [1234567.89, 0.333333])
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        size = np.floor(np.log10(np.abs(values)))
        places = DIGITS - 1 - np.where(np.isfinite(size), size, 0.0)
        places = places if decimals is None else np.maximum(places, decimals)
        up, down = 10.0 ** np.maximum(places, 0.0), 10.0 ** np.maximum(-places, 0.0)
        short = np.round(values * up / down) * down / up
    return np.where(np.isfinite(short), short, values)


def like_targets(values: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Predictions with six significant digits, or with as many decimals as targets where these are more.

    Examples
    --------
    >>> import numpy as np
    >>> like_targets(np.array([1234567.891]), np.array([0.25, 7.5])).tolist()
    [1234567.89]
    """
    return rounded(values, decimals_of(targets))
