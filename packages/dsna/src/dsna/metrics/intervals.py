"""Scores of prediction intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._utils.errors import DSNAError
from .targets import Density, as_columns, rare_rows

__all__ = ["interval_coverage_score", "rare_target_coverage_score"]


def interval_coverage_score(y_true: ArrayLike, intervals: ArrayLike) -> float:
    """Share of the targets that lie in their intervals.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True targets.
    intervals : array-like of shape (n_samples, 2) or (n_samples, n_outputs, 2)
        Lower and upper bounds, as ``DSNARegressor.predict_interval`` gives them; bounds count as inside.

    Returns
    -------
    float
        Between 0 and 1; compare it with the requested coverage.

    Examples
    --------
    >>> from dsna.metrics import interval_coverage_score
    >>> interval_coverage_score([1.0, 2.0, 3.0, 9.0], [[0, 2], [1, 3], [2, 4], [3, 5]])
    0.75
    """
    return float(_covered(y_true, intervals)[1].mean())


def rare_target_coverage_score(
    y_true: ArrayLike,
    intervals: ArrayLike,
    *,
    y_train: ArrayLike | None = None,
    density: Density | None = None,
    share: float = 0.1,
) -> float:
    """Share of the rows of the rarest targets that lie in their intervals.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True targets.
    intervals : array-like of shape (n_samples, 2) or (n_samples, n_outputs, 2)
        Lower and upper bounds.
    y_train, density, share
        Definition of rare rows, as in :func:`rare_target_absolute_error`.

    Returns
    -------
    float
        As from :func:`interval_coverage_score`, over the rare rows.

    Examples
    --------
    >>> from dsna.metrics import rare_target_coverage_score
    >>> y_train = [20] * 6 + [30] * 5 + [70]
    >>> rare_target_coverage_score([20, 20, 30, 70], [[19, 21], [19, 21], [29, 31], [40, 60]], y_train=y_train)
    0.0
    """
    truth, covered = _covered(y_true, intervals)
    return float(covered[rare_rows(truth, y_train, density, share)].mean())


def _covered(y_true: ArrayLike, intervals: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """True targets in columns, and whether each lies in its interval."""
    truth = as_columns(y_true, "y_true")
    bounds = np.asarray(intervals, dtype=np.float64)
    if bounds.shape != (*np.shape(y_true), 2) or np.isnan(bounds).any():
        raise DSNAError(
            f"intervals must have shape {(*np.shape(y_true), 2)}, two bounds for each target, without NaN; got shape "
            f"{bounds.shape}."
        )
    bounds = bounds.reshape(*truth.shape, 2)
    return truth, (bounds[..., 0] <= truth) & (truth <= bounds[..., 1])
