"""Scores of classes and of their probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._utils.errors import DSNAError

__all__ = [
    "equal_mass_bins",
    "expected_calibration_error",
    "g_mean_score",
    "minority_precision_score",
    "minority_recall_score",
]


def g_mean_score(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Geometric mean of the recalls of all classes.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted classes, of any type.

    Returns
    -------
    float
        (prod_c recall_c)^(1 / n_classes) over the classes in `y_true`; 0 if the recall of any class is 0.

    Examples
    --------
    >>> from dsna.metrics import g_mean_score
    >>> g_mean_score(["no", "no", "no", "no", "yes"], ["no", "yes", "no", "no", "yes"])  # sqrt(.75 * 1)
    0.866...
    >>> g_mean_score([0, 0, 0, 1], [0, 0, 0, 0])
    0.0
    """
    recalls = _recalls(y_true, y_pred)[1]
    # Sum of logarithms: a product over a thousand classes underflows.
    return float(np.exp(np.log(recalls).mean())) if recalls.all() else 0.0


def minority_recall_score(y_true: ArrayLike, y_pred: ArrayLike, *, minority: Any = None) -> float:
    """Recall of the rarest class.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted classes, of any type.
    minority : class, default=None
        The class that counts as rare. By default the least frequent one in `y_true`; where several are
        equally rare, their recalls are averaged.

    Returns
    -------
    float
        Recall of the rarest class, between 0 and 1.

    Examples
    --------
    >>> from dsna.metrics import minority_recall_score
    >>> minority_recall_score([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0])
    0.5
    >>> minority_recall_score([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0], minority=0)
    0.75
    """
    classes, recalls, counts = _recalls(y_true, y_pred)
    return float(recalls[_rarest(classes, counts, minority)].mean())


def minority_precision_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, minority: Any = None, zero_division: float = 0.0
) -> float:
    """Precision of the rarest class.

    Parameters
    ----------
    y_true, y_pred, minority
        As in :func:`minority_recall_score`; where several classes are equally rare, their precisions are averaged.
    zero_division : float, default=0.0
        The precision of a class that is never predicted.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from dsna.metrics import minority_precision_score
    >>> minority_precision_score([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1])  # two of three
    0.666...
    """
    classes, _, counts = _recalls(y_true, y_pred)
    truth, predicted = np.asarray(y_true), np.asarray(y_pred)
    precisions = []
    for rare_class in classes[_rarest(classes, counts, minority)]:
        mask = predicted == rare_class
        precisions.append(np.mean(truth[mask] == rare_class) if mask.any() else zero_division)
    return float(np.mean(precisions))


def expected_calibration_error(
    y_true: ArrayLike, y_proba: ArrayLike, *, labels: ArrayLike | None = None, bins: int = 10
) -> float:
    """Mean absolute difference between predicted probabilities and observed class frequencies, by bins.

    For each class, rows are sorted by its probability and cut into bins of equal numbers of rows (equal probabilities
    stay together). The error of a class is the absolute difference between mean probability and share of the class in a
    bin, averaged over rows. The result is the mean over classes, each with the same weight.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes, of any type.
    y_proba : array-like of shape (n_samples, n_classes) or (n_samples,)
        Probability of each class in sorted order, or of the second of two classes.
    labels : array-like of shape (n_classes,), default=None
        The classes of the columns, needed where `y_true` lacks some; None: the sorted classes of `y_true`.
    bins : int, default=10
        Largest number of bins for each class.

    Returns
    -------
    float
        Between 0 (calibrated) and 1.

    Examples
    --------
    >>> from dsna.metrics import expected_calibration_error
    >>> expected_calibration_error([0, 0, 0, 1], [0.25, 0.25, 0.25, 0.25])
    0.0
    >>> expected_calibration_error([0, 0, 0, 1], [[0.5, 0.5]] * 4)
    0.25
    """
    truth, proba = np.asarray(y_true), np.asarray(y_proba, dtype=np.float64)
    classes = np.unique(truth) if labels is None else np.asarray(labels)
    if proba.ndim == 1:
        proba = np.stack([1.0 - proba, proba], axis=1)
    if not len(truth) or proba.shape != (len(truth), len(classes)):
        raise DSNAError(
            f"y_proba must have {len(truth)} rows and one column for each of the classes {classes.tolist()}; got shape "
            f"{np.shape(y_proba)}. If y_true lacks some classes, pass the classes of the columns as labels=."
        )
    if bins < 1 or bins != int(bins):
        raise DSNAError(f"bins must be a positive whole number; got {bins!r}.")
    errors = []
    for label, column in zip(classes, proba.T, strict=True):
        mean, share, size = equal_mass_bins(column, (truth == label).astype(np.float64), int(bins))
        errors.append(np.average(np.abs(mean - share), weights=size))
    return float(np.mean(errors))


def equal_mass_bins(
    proba: NDArray[np.float64], truth: NDArray[np.float64], bins: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Mean probability, share of the class and number of rows of each bin; equal probabilities stay together.

    Examples
    --------
    >>> import numpy as np
    >>> mean, share, size = equal_mass_bins(np.array([0.1, 0.3, 0.8, 0.8]), np.array([0.0, 0.0, 1.0, 1.0]), 2)
    >>> mean, share, size
    (array([0.2, 0.8]), array([0., 1.]), array([2, 2]))
    """
    order = np.argsort(proba, kind="stable")
    sorted_proba = proba[order]
    starts = np.arange(bins) * len(proba) // bins
    cuts = np.unique(np.searchsorted(sorted_proba, sorted_proba[starts]))
    size = np.diff(np.r_[cuts, len(proba)])
    return np.add.reduceat(sorted_proba, cuts) / size, np.add.reduceat(truth[order], cuts) / size, size


def _rarest(classes: NDArray[Any], counts: NDArray[np.int64], minority: Any) -> NDArray[np.bool_]:
    """Mask of the rarest classes."""
    rare = counts == counts.min() if minority is None else classes == minority
    if not rare.any():
        raise DSNAError(f"minority must be one of the classes of y_true, {classes.tolist()}; got {minority!r}.")
    return np.asarray(rare)


def _recalls(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.int64]]:
    """Classes of `y_true`, with recall and number of rows of each."""
    truth, predicted = np.asarray(y_true), np.asarray(y_pred)
    if truth.ndim != 1 or truth.shape != predicted.shape:
        raise DSNAError(
            "y_true and y_pred must be one-dimensional and of the same length; "
            f"got shapes {truth.shape} and {predicted.shape}."
        )
    if not len(truth):
        raise DSNAError("y_true is empty: a score needs at least one row.")
    classes, code, counts = np.unique(truth, return_inverse=True, return_counts=True)
    hits = np.bincount(code, weights=truth == predicted, minlength=len(classes))
    return classes, hits / counts, counts
