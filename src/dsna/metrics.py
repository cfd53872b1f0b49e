"""Scores that a rare class or a rare label region cannot hide in.

Each is a plain function of true and predicted labels, in scikit-learn's order, and becomes a scorer with
:func:`sklearn.metrics.make_scorer`. Recalls (higher is better) for classes:
:func:`g_mean_score`, :func:`minority_recall_score`. Absolute errors (lower is better) for regression:
:func:`balanced_mae_score`, :func:`rare_label_mae_score`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dsna.costs import LabelDensity

__all__ = ["balanced_mae_score", "g_mean_score", "minority_recall_score", "rare_label_mae_score"]


def g_mean_score(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Geometric mean of the recalls of all classes.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted classes, of any type.

    Returns
    -------
    float
        (prod_c recall_c)^(1 / n_classes) over the classes in `y_true`; 0 as soon as one class is never found.

    Examples
    --------
    >>> from dsna.metrics import g_mean_score
    >>> g_mean_score(["no", "no", "no", "no", "yes"], ["no", "yes", "no", "no", "yes"])  # sqrt(.75 * 1)
    0.866...
    >>> g_mean_score([0, 0, 0, 1], [0, 0, 0, 0])
    0.0
    """
    recalls = _recalls(y_true, y_pred)[1]
    # In logarithms: a product over a thousand classes underflows.
    return float(np.exp(np.log(recalls).mean())) if recalls.all() else 0.0


def minority_recall_score(y_true: ArrayLike, y_pred: ArrayLike, *, minority: Any = None) -> float:
    """Share of the rarest class that is found.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted classes, of any type.
    minority : label, default=None
        The class that counts as rare. By default the least frequent one in `y_true`; where several are
        equally rare, their recalls are averaged.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from dsna.metrics import minority_recall_score
    >>> minority_recall_score([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0])
    0.5
    >>> minority_recall_score([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0], minority=0)
    0.75
    """
    classes, recalls, counts = _recalls(y_true, y_pred)
    rare = counts == counts.min() if minority is None else classes == minority
    if not rare.any():
        raise ValueError(f"minority={minority!r} is not among the classes of y_true, which are {classes.tolist()}.")
    return float(recalls[rare].mean())


def balanced_mae_score(y_true: ArrayLike, y_pred: ArrayLike, bins: int | ArrayLike = 10) -> float:
    """Mean absolute error with every region of the label range counting alike.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True and predicted labels.
    bins : int or array-like of shape (n_edges,), default=10
        Number of bins of equal width between the smallest and the largest true label, or the increasing edges
        of the bins; labels beyond the first or last edge belong to the first or last bin. Edges from the
        training labels make the scores of several folds comparable.

    Returns
    -------
    float
        Mean, over the bins that hold a row, of the mean absolute error in the bin. Several outputs are binned
        one by one and their scores averaged.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.metrics import balanced_mae_score
    >>> y_true = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 50.0])
    >>> y_pred = np.zeros(10)
    >>> float(np.abs(y_true - y_pred).mean()), balanced_mae_score(y_true, y_pred)
    (5.0, 25.0)
    >>> balanced_mae_score([1, 2, 8, 9], [1, 2, 8, 7], bins=[0, 5, 10])
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


def rare_label_mae_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    y_train: ArrayLike | None = None,
    density: LabelDensity | Callable[[NDArray[np.float64]], ArrayLike] | None = None,
    share: float = 0.1,
) -> float:
    """Mean absolute error on the rows whose labels were rarest in training.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True and predicted labels.
    y_train : array-like of shape (n_train,) or (n_train, n_outputs), default=None
        Training labels, to which a :class:`dsna.costs.LabelDensity` is fitted. Give either this or `density`.
    density : LabelDensity or callable, default=None
        A density fitted before, or a function from labels to densities.
    share : float, default=0.1
        Share of the rows of `y_true` that counts as rare: the ``ceil(share * n_samples)`` rows of lowest
        density, and the rows that tie with the last of them.

    Returns
    -------
    float
        Mean absolute error over the rare rows, and over the outputs where there are several.

    Examples
    --------
    >>> from dsna.metrics import rare_label_mae_score
    >>> y_train = [20] * 6 + [30] * 5 + [70]
    >>> rare_label_mae_score([20, 20, 20, 30, 70], [21, 20, 20, 31, 50], y_train=y_train)
    20.0
    """
    truth, error = _absolute_errors(y_true, y_pred)
    if not 0 < share <= 1:
        raise ValueError(f"share must lie in (0, 1]; got {share!r}.")
    if (y_train is None) == (density is None):
        raise ValueError("Give either y_train (labels to fit a density to) or density, and not both.")
    labels = truth[:, 0] if truth.shape[1] == 1 else truth
    if density is None:
        reference = _as_columns(y_train, "y_train")
        if reference.shape[1] != truth.shape[1]:
            raise ValueError(f"y_train has {reference.shape[1]} outputs, y_true {truth.shape[1]}.")
        density = LabelDensity(reference[:, 0] if reference.shape[1] == 1 else reference)
    evaluate = density.evaluate if isinstance(density, LabelDensity) else density
    value = np.asarray(evaluate(labels), dtype=np.float64)
    if value.shape != (len(truth),) or np.isnan(value).any():
        raise ValueError(
            f"density must give one number, not NaN, for each of {len(truth)} rows; got shape {value.shape}."
        )
    rank = int(np.ceil(share * len(value))) - 1
    return float(error[value <= np.partition(value, rank)[rank]].mean())


def _recalls(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.int64]]:
    """Classes of `y_true`, the recall of each and the number of its rows."""
    truth, predicted = np.asarray(y_true), np.asarray(y_pred)
    if truth.ndim != 1 or truth.shape != predicted.shape:
        raise ValueError(
            "y_true and y_pred must be one-dimensional and equally long; "
            f"got shapes {truth.shape} and {predicted.shape}."
        )
    if not len(truth):
        raise ValueError("y_true is empty: a score needs at least one row.")
    classes, code, counts = np.unique(truth, return_inverse=True, return_counts=True)
    found = np.bincount(code, weights=truth == predicted, minlength=len(classes))
    return classes, found / counts, counts


def _as_columns(y: ArrayLike | None, name: str) -> NDArray[np.float64]:
    """Labels as finite floats of shape (n_samples, n_outputs)."""
    labels = np.asarray(y, dtype=np.float64)
    if labels.ndim not in (1, 2) or not labels.size:
        raise ValueError(
            f"{name} must have shape (n_samples,) or (n_samples, n_outputs), not empty; got {labels.shape}."
        )
    if not np.isfinite(labels).all():
        raise ValueError(f"{name} contains NaN or infinity.")
    return labels.reshape(len(labels), -1)


def _absolute_errors(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    truth, predicted = _as_columns(y_true, "y_true"), _as_columns(y_pred, "y_pred")
    if truth.shape != predicted.shape:
        raise ValueError(f"y_true and y_pred differ in shape: {np.shape(y_true)} and {np.shape(y_pred)}.")
    return truth, np.abs(truth - predicted)


def _bin_edges(bins: int | ArrayLike, truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Edges in rows: one column per output for a number of bins, a single column for given edges."""
    if np.ndim(bins) == 0:
        if not isinstance(bins, (int, np.integer)) or bins < 1:
            raise ValueError(f"bins must be a positive integer or increasing edges; got {bins!r}.")
        return np.linspace(truth.min(axis=0), truth.max(axis=0), int(bins) + 1)
    edges = np.asarray(bins, dtype=np.float64)
    if edges.ndim != 1 or len(edges) < 2 or not (np.diff(edges) > 0).all():
        raise ValueError("bins must be a positive integer or a one-dimensional, increasing list of two edges or more.")
    return edges[:, None]
