"""Errors of a regression in which rare regions of the target count as much as common ones."""

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
        of the bins; targets beyond the first or last edge belong to the first or last bin. With edges from the
        training targets, the scores of several folds are comparable.

    Returns
    -------
    float
        Mean absolute error of each bin, averaged over the bins that are not empty. Several outputs are binned
        separately and their scores averaged.

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
        Training targets, to which a :class:`dsna.forest.density.TargetDensity` is fitted. Pass this or `density`.
    density : TargetDensity or callable, default=None
        A fitted density, or a function from targets to densities.
    share : float, default=0.1
        Share of the rows of `y_true` that count as rare: the ``ceil(share * n_samples)`` rows of lowest
        density, and the rows that tie with the last of them.

    Returns
    -------
    float
        Mean absolute error over the rare rows and, if there are several, over the outputs.

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
    ``sum_i phi(y_i) (y_i - prediction_i)^2``, which is computed exactly, without a grid of t.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True and predicted targets.
    y_train : array-like of shape (n_train,) or (n_train, n_outputs), default=None
        Training targets, to which a :class:`dsna.metrics.relevance.TargetRelevance` is fitted, one for each output.
        Control points and functions do not need them.
    relevance : {"boxplot", "density", "high", "low"}, callable or sequence of pairs, default=None
        Which targets matter: "boxplot" (the default), both extremes; "high" or "low", one of them. A callable maps
        targets (n_samples,) to relevances in [0, 1]; pairs (target, relevance) are control points. To fit a model for
        these targets, pass the same value to ``DSNARegressor(relevance=...)``.
    normalize : bool, default=False
        Whether to divide the sum over rows by their number.

    Returns
    -------
    float
        The area, averaged over outputs if there are several.

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
            "Pass y_train, targets to fit the relevance to, or a relevance that needs none: a function or "
            "(target, relevance) pairs."
        )
    kind = "boxplot" if relevance is None else relevance
    train_targets = truth if y_train is None else _training_columns(y_train, truth)
    columns = zip(train_targets.T, truth.T, strict=True)
    phi = np.stack([TargetRelevance(train, kind).evaluate(test) for train, test in columns], axis=1)
    areas = (phi * error**2).sum(axis=0)
    return float(areas.mean() / (len(truth) if normalize else 1))


def rare_rows(
    truth: NDArray[np.float64], y_train: ArrayLike | None, density: Density | None, share: float
) -> NDArray[np.bool_]:
    """Mask of the rare rows of `truth` (n_samples, n_outputs); see :func:`rare_target_absolute_error`.

    Examples
    --------
    >>> import numpy as np
    >>> rare_rows(np.array([[1.0], [2.0], [9.0]]), [1, 1, 1, 2, 2, 9], None, 0.1)
    array([False, False,  True])
    """
    if not 0 < share <= 1:
        raise DSNAError(f"share must be above 0 and at most 1; got {share!r}.")
    if (y_train is None) == (density is None):
        raise DSNAError("Pass either y_train (targets to fit a density to) or density, not both.")
    if y_train is not None:
        targets = _training_columns(y_train, truth)
        density = TargetDensity(targets[:, 0] if targets.shape[1] == 1 else targets)
    evaluate = density.evaluate if isinstance(density, TargetDensity) else density
    densities = _evaluate_density(evaluate, truth[:, 0] if truth.shape[1] == 1 else truth)
    rank = int(np.ceil(share * len(densities))) - 1
    return np.asarray(densities <= np.partition(densities, rank)[rank])


def _training_columns(y_train: ArrayLike, truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Training targets in columns, checked to have as many as the true targets."""
    targets = as_columns(y_train, "y_train")
    if targets.shape[1] != truth.shape[1]:
        raise DSNAError(
            f"y_train and y_true must have the same number of outputs; got {targets.shape[1]} and {truth.shape[1]}."
        )
    return targets


def _evaluate_density(density: Any, targets: NDArray[np.float64]) -> NDArray[np.float64]:
    """Checked density of each target."""
    values = np.asarray(density(targets), dtype=np.float64)
    if values.shape != (len(targets),) or np.isnan(values).any():
        raise DSNAError(
            f"density must return one number, not NaN, for each of {len(targets)} rows; got shape {values.shape}."
        )
    return values


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
            f"{name} must have shape (n_samples,) or (n_samples, n_outputs), and not be empty; got {targets.shape}."
        )
    if not np.isfinite(targets).all():
        raise DSNAError(f"{name} contains NaN or infinity.")
    return targets.reshape(len(targets), -1)


def _absolute_errors(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """True targets in columns, and the absolute errors of their predictions."""
    truth, predicted = as_columns(y_true, "y_true"), as_columns(y_pred, "y_pred")
    if truth.shape != predicted.shape:
        raise DSNAError(f"y_true and y_pred must have the same shape; got {np.shape(y_true)} and {np.shape(y_pred)}.")
    return truth, np.abs(truth - predicted)


def _bin_edges(bins: int | ArrayLike, truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n_edges, n_outputs) bin edges, or (n_edges, 1) where they are given."""
    if np.ndim(bins) == 0:
        if not isinstance(bins, (int, np.integer)) or bins < 1:
            raise DSNAError(f"bins must be a positive integer or increasing edges; got {bins!r}.")
        return np.linspace(truth.min(axis=0), truth.max(axis=0), int(bins) + 1)
    edges = np.asarray(bins, dtype=np.float64)
    if edges.ndim != 1 or len(edges) < 2 or not (np.diff(edges) > 0).all():
        raise DSNAError("bins must be a positive integer or a one-dimensional, increasing list of at least two edges.")
    return edges[:, None]
