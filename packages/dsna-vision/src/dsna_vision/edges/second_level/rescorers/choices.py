"""The available rescorers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dsna.extend.optional import import_extra

from .boosted import BoostedTrees, fit_boosted
from .perceptrons import Perceptrons, fit_perceptrons

Rescorer = BoostedTrees | Perceptrons


def check_trainable(rescorer: str) -> None:
    """Raise an ImportError with a remedy if the library that trains a rescorer is missing.

    Examples
    --------
    >>> check_trainable("perceptrons")
    """
    if "boosted" in rescorer.split("+"):
        import_extra("lightgbm", "train", package="dsna-vision")


#: Training functions by name of the rescorer, called with rows, shares, number of trees and seed.
RESCORERS: dict[str, Callable[[np.ndarray, np.ndarray, int, int], Rescorer]] = {
    "boosted": fit_boosted,
    "perceptrons": fit_perceptrons,
}
#: Choices of a second level: one rescorer, or the mean of two.
CHOICES = (*RESCORERS, "boosted+perceptrons")


def fit_rescorers(choice: str, rows: np.ndarray, share: np.ndarray, n_trees: int, seed: int) -> list[Rescorer]:
    """Fit the rescorers of a choice, which are to be averaged.

    Parameters
    ----------
    choice : str
        One of ``CHOICES``.
    rows, share, n_trees, seed
        See :func:`fit_boosted`.

    Returns
    -------
    list of rescorers
    """
    return [RESCORERS[name](rows, share, n_trees, seed) for name in choice.split("+")]
