"""Errors of a regression that count rare regions of the target as much as common ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._utils.errors import DSNAError
from ..forest.density import TargetDensity
from .relevance import Relevance, TargetRelevance

__all__ = ["balanced_absolute_error", "rare_target_absolute_error", "sera_error"]

#: A density of targets: fitted, or a function from targets to densities.
Density = TargetDensity | Callable[[NDArray[np.float64]], ArrayLike]


def balanced_absolute_error(y_true: ArrayLike, y_pred: ArrayLike, bins: int | ArrayLike = 10) -> float:
    """Mean absolute error with equal weight for every region of the target range.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True and predicted targets.
    bins : int or array-like of shape (n_edges,), default=10
        Number of bins of equal width between the smallest and the largest true target, or the increasing edges
        of the bins; targets beyond the first or last edge belong to the first or last bin. Edges from the
        training targets make the scores of several folds comparable.

    Returns
    -------
    float
        Mean, over the bins that hold a row, of the mean absolute error in the bin. Several outputs are binned
        one by one and their scores averaged.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.metrics import balanced_absolute_error
    >>> y_true = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 50.0])
    >>> y_pred = np.zeros(10)
    >>> float(np.abs(y_true - y_pred).mean()), balanced_absolute_error(y_true, y_pred)
    (5.0, 25.0)
    >>> balanced_absolute_error([1, 2, 8, 9], [1, 2, 8, 7], bins=[0, 5, 10])
    0.5
    """
    truth, error = _absolute_errors(y_true, y_pred)
    edges = _bin_edges(bins, truth)
    scores = []
    for column in range(truth.shape[1]):
        inner = edges[1:-1, min(column, edges.shape[1] - 1)]
        region = np.searchsorted(inner, truth[:, column], side="right")
        counts = np.bincount(region)
        sums = np.bincount(region, weights=error[:, column])
        scores.append(np.mean(sums[counts > 0] / counts[counts > 0]))
    return float(np.mean(scores))


def rare_target_absolute_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    y_train: ArrayLike | None = None,
    density: Density | None = None,
    share: float = 0.1,
) -> float:
    """Mean absolute error on the rows whose targets were rarest in training.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True and predicted targets.
    y_train : array-like of shape (n_train,) or (n_train, n_outputs), default=None
        Training targets, to which a :class:`dsna.forest.density.TargetDensity` is fitted. Give this or `density`.
    density : TargetDensity or callable, default=None
        A density fitted before, or a function from targets to densities.
    share : float, default=0.1
        Share of the rows of `y_true` that counts as rare: the ``ceil(share * n_samples)`` rows of lowest
        density, and the rows that tie with the last of them.

    Returns
    -------
    float
        Mean absolute error over the rare rows, and over the outputs where there are several.

    Examples
    --------
    >>> from dsna.metrics import rare_target_absolute_error
    >>> y_train = [20] * 6 + [30] * 5 + [70]
    >>> rare_target_absolute_error([20, 20, 20, 30, 70], [21, 20, 20, 31, 50], y_train=y_train)
    20.0
    """
    truth, error = _absolute_errors(y_true, y_pred)
    return float(error[rare_rows(truth, y_train, density, share)].mean())


def sera_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    y_train: ArrayLike | None = None,
    relevance: Relevance | None = None,
    normalize: bool = False,
) -> float:
    """Squared error-relevance area (SERA; Ribeiro and Moniz, 2020).

    With SER_t the sum of squared errors over the rows whose relevance phi(y) is t or more, SERA is the integral of
    SER_t over t from 0 to 1.  A row is in SER_t for all t up to its relevance, so the integral is
    ``sum_i phi(y_i) (y_i - prediction_i)^2``, which is computed without steps.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True and predicted targets.
    y_train : array-like of shape (n_train,) or (n_train, n_outputs), default=None
        Training targets, to which a :class:`dsna.metrics.relevance.TargetRelevance` is fitted, one for each output.
        Control points and functions do not need them.
    relevance : {"boxplot", "density", "high", "low"}, callable or sequence of pairs, default=None
        Which targets matter; None stands for "boxplot", both extremes. "high" and "low" count one of them. A callable
        maps targets (n_samples,) to relevances in [0, 1]; pairs (target, relevance) are control points. The same values
        make ``DSNARegressor(relevance=...)`` serve these targets.
    normalize : bool, default=False
        Whether the mean over rows is returned and not their sum.

    Returns
    -------
    float
        The area; the mean over outputs where there are several.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.metrics import sera_error
    >>> sera_error([0.0, 5.0, 10.0], [1.0, 7.0, 7.0], relevance=lambda y: y / 10)  # 0 * 1 + .5 * 4 + 1 * 9
    11.0
    >>> sera_error([50.0, 100.0], [40.0, 90.0], y_train=np.arange(101.0))  # the median does not count
    100.0
    >>> sera_error([0.0, 100.0], [5.0, 90.0], y_train=np.arange(101.0), relevance="high")
    100.0
    """
    truth, error = _absolute_errors(y_true, y_pred)
    if y_train is None and (relevance is None or isinstance(relevance, str)):
        raise DSNAError(
            "Give either y_train, targets to fit a relevance to, or a relevance that needs none: a function or "
            "(target, relevance) pairs."
        )
    kind = "boxplot" if relevance is None else relevance
    reference = truth if y_train is None else _reference(y_train, truth)
    columns = zip(reference.T, truth.T, strict=True)
    phi = np.stack([TargetRelevance(known, kind).evaluate(asked) for known, asked in columns], axis=1)
    areas = (phi * error**2).sum(axis=0)
    return float(areas.mean() / (len(truth) if normalize else 1))


def rare_rows(
    truth: NDArray[np.float64], y_train: ArrayLike | None, density: Density | None, share: float
) -> NDArray[np.bool_]:
    """Which rows of `truth` (n_samples, n_outputs) count as rare; see :func:`rare_target_absolute_error`.

    Examples
    --------
    >>> import numpy as np
    >>> rare_rows(np.array([[1.0], [2.0], [9.0]]), [1, 1, 1, 2, 2, 9], None, 0.1)
    array([False, False,  True])
    """
    if not 0 < share <= 1:
        raise DSNAError(f"share must lie in (0, 1]; got {share!r}.")
    if (y_train is None) == (density is None):
        raise DSNAError("Give either y_train (targets to fit a density to) or density, and not both.")
    if y_train is not None:
        reference = _reference(y_train, truth)
        density = TargetDensity(reference[:, 0] if reference.shape[1] == 1 else reference)
    evaluate = density.evaluate if isinstance(density, TargetDensity) else density
    value = _values(evaluate, truth[:, 0] if truth.shape[1] == 1 else truth, "density")
    rank = int(np.ceil(share * len(value))) - 1
    return np.asarray(value <= np.partition(value, rank)[rank])


def _reference(y_train: ArrayLike, truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Training targets in columns, as many as the true ones have."""
    reference = as_columns(y_train, "y_train")
    if reference.shape[1] != truth.shape[1]:
        raise DSNAError(f"y_train has {reference.shape[1]} outputs, y_true {truth.shape[1]}.")
    return reference


def _values(function: Any, targets: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """The value of a function at each target, checked."""
    value = np.asarray(function(targets), dtype=np.float64)
    if value.shape != (len(targets),) or np.isnan(value).any():
        raise DSNAError(
            f"{name} must give one number, not NaN, for each of {len(targets)} rows; got shape {value.shape}."
        )
    return value


def as_columns(y: ArrayLike | None, name: str) -> NDArray[np.float64]:
    """Targets as finite floats of shape (n_samples, n_outputs).

    Examples
    --------
    >>> as_columns([1, 2], "y")
    array([[1.],
           [2.]])
    """
    targets = np.asarray(y, dtype=np.float64)
    if targets.ndim not in (1, 2) or not targets.size:
        raise DSNAError(
            f"{name} must have shape (n_samples,) or (n_samples, n_outputs), not empty; got {targets.shape}."
        )
    if not np.isfinite(targets).all():
        raise DSNAError(f"{name} contains NaN or infinity.")
    return targets.reshape(len(targets), -1)


def _absolute_errors(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    truth, predicted = as_columns(y_true, "y_true"), as_columns(y_pred, "y_pred")
    if truth.shape != predicted.shape:
        raise DSNAError(f"y_true and y_pred differ in shape: {np.shape(y_true)} and {np.shape(y_pred)}.")
    return truth, np.abs(truth - predicted)


def _bin_edges(bins: int | ArrayLike, truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Edges in rows: one column per output for a number of bins, a single column for given edges."""
    if np.ndim(bins) == 0:
        if not isinstance(bins, (int, np.integer)) or bins < 1:
            raise DSNAError(f"bins must be a positive integer or increasing edges; got {bins!r}.")
        return np.linspace(truth.min(axis=0), truth.max(axis=0), int(bins) + 1)
    edges = np.asarray(bins, dtype=np.float64)
    if edges.ndim != 1 or len(edges) < 2 or not (np.diff(edges) > 0).all():
        raise DSNAError("bins must be a positive integer or a one-dimensional, increasing list of two edges or more.")
    return edges[:, None]
