"""Reliability diagrams of predicted probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._utils.optional import import_extra
from ..metrics.classes import equal_mass_bins

_BAND = 1.645


def plot_reliability(
    models: Mapping[str, Any], X: Any, y: Any, *, bins: int = 10, positive: Any = None, ax: Any = None
) -> np.ndarray:
    """Plot the observed share of a class against its predicted probability.

    Rows are sorted by probability and split into bins of equal mass. Each bin is a point, with the range that contains
    90 % of such shares if the probabilities are correct. Points on the diagonal mean calibrated probabilities. A second
    panel shows the distribution of the probabilities, the legend Brier scores (lower is better).

    Parameters
    ----------
    models : mapping of names to fitted classifiers or to probabilities
        Probabilities have shape (n,), of the class ``positive``, or (n, n_classes), a column for each class of
        ``y`` in sorted order.
    X : array of shape (n, n_features)
        Rows that the classifiers have not been fitted on; may be None if all ``models`` are probabilities.
    y : array of shape (n,)
        True classes of the rows.
    bins : int, default=10
        Number of bins, in both panels.
    positive : class, default=None
        Class whose probability is plotted; None stands for the rarest class in ``y``.
    ax : matplotlib axes, pair of these or None, default=None
        Axes of the diagram, or of the diagram and the histogram; None creates a figure with both.

    Returns
    -------
    array of matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.inspection.reliability import plot_reliability
    >>> p = np.linspace(0.0, 1.0, 200)
    >>> y = np.random.RandomState(0).rand(200) < p
    >>> axes = plot_reliability({"right": p, "too sure": np.round(p)}, None, y, positive=True)
    >>> [text.get_text() for text in axes[0].get_legend().get_texts()]
    ['right (Brier 0.183)', 'too sure (Brier 0.310)']
    """
    pyplot = import_extra("matplotlib.pyplot", "report")
    y = np.asarray(y)
    if y.ndim != 1 or not len(y):
        raise ValueError(f"y has shape {y.shape}: pass a non-empty array with one class for each row.")
    if bins < 1 or bins != int(bins):
        raise ValueError(f"bins={bins!r} must be a positive whole number.")
    classes, counts = np.unique(y, return_counts=True)
    positive = classes[counts.argmin()] if positive is None else positive
    truth = (y == positive).astype(np.float64)
    probabilities = {name: _probability(name, model, X, classes, positive, len(y)) for name, model in models.items()}
    if ax is None:
        layout = {"sharex": True, "height_ratios": (3, 1), "layout": "constrained"}
        ax = pyplot.subplots(2, 1, figsize=(5.5, 6.5), **layout)[1]
    axes = np.atleast_1d(ax)
    axes[0].plot((0, 1), (0, 1), color="0.6", linewidth=1.0, linestyle="--", zorder=0)
    for k, (name, proba) in enumerate(probabilities.items()):
        color = f"C{k}"
        mean, share, size = equal_mass_bins(proba, truth, bins)
        low, high = _expected_range(mean, size)
        axes[0].vlines(mean, low, high, color=color, alpha=0.3, linewidth=4.0)
        label = f"{name} (Brier {np.mean((proba - truth) ** 2):.3f})"
        axes[0].plot(mean, share, color=color, marker="o", markersize=4.5, linewidth=1.4, label=label)
        for panel in axes[1:]:
            panel.hist(proba, bins=bins, range=(0.0, 1.0), histtype="step", color=color, linewidth=1.4)
    axes[0].set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), ylabel=f"share of class {positive}")
    axes[0].legend(frameon=False, loc="upper left")
    for panel in axes[1:]:
        panel.set(yscale="log", ylabel="rows")
    axes[-1].set_xlabel(f"predicted probability of class {positive}")
    for panel in axes:
        panel.grid(alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    return axes


def _probability(name: str, model: Any, X: Any, classes: np.ndarray, positive: Any, n: int) -> np.ndarray:
    """(n,) probability of the positive class, predicted by a classifier or given."""
    if hasattr(model, "predict_proba"):
        if X is None:
            raise ValueError(f"{name!r} is a classifier, but X is None: pass the rows to predict.")
        proba, classes = np.asarray(model.predict_proba(X)), np.asarray(model.classes_)
    else:
        proba = np.asarray(model, dtype=np.float64)
    if proba.shape not in ((n,), (n, len(classes))):
        raise ValueError(
            f"{name!r} has probabilities of shape {proba.shape}; y requires ({n},), for class {positive!r} alone, or "
            f"({n}, {len(classes)}), for the classes {classes.tolist()}."
        )
    if not np.all((proba >= -1e-9) & (proba <= 1.0 + 1e-9)):
        raise ValueError(f"{name!r} has probabilities outside [0, 1]: pass the result of predict_proba.")
    if proba.ndim == 1:
        return proba
    columns = np.flatnonzero(classes == positive)
    if len(columns) != 1:
        raise ValueError(f"positive={positive!r} is not among the classes of {name!r}, which are {classes.tolist()}.")
    return proba[:, columns[0]]


def _expected_range(mean: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Range that contains 90 % of the observed shares at these probabilities (normal approximation)."""
    noise = _BAND * np.sqrt(mean * (1.0 - mean) / size)
    return np.maximum(mean - noise, 0.0), np.minimum(mean + noise, 1.0)
