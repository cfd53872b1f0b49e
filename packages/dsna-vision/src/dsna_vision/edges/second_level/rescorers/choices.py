"""Which rescorers there are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dsna.extend.optional import import_extra

from .boosted import BoostedTrees, fit_boosted
from .perceptrons import Perceptrons, fit_perceptrons

Rescorer = BoostedTrees | Perceptrons


def check_trainable(rescorer: str) -> None:
    """Raise an ImportError that names the remedy where the library that trains a rescorer is missing.

    Examples
    --------
    >>> check_trainable("perceptrons")
    """
    if "boosted" in rescorer.split("+"):
        import_extra("lightgbm", "train", package="dsna-vision")


#: How rescorers are trained, by name: from rows, shares, number of trees and seed.
RESCORERS: dict[str, Callable[[np.ndarray, np.ndarray, int, int], Rescorer]] = {
    "boosted": fit_boosted,
    "perceptrons": fit_perceptrons,
}
#: What a second level may ask: one of them, or the mean of two.
CHOICES = (*RESCORERS, "boosted+perceptrons")


def fit_rescorers(choice: str, rows: np.ndarray, share: np.ndarray, n_trees: int, seed: int) -> list[Rescorer]:
    """The rescorers of a choice, whose mean counts.

    Parameters
    ----------
    choice : str
        One of ``CHOICES``.
    rows, share, n_trees, seed
        As :func:`fit_boosted` takes them.

    Returns
    -------
    list of rescorers
    """
    return [RESCORERS[name](rows, share, n_trees, seed) for name in choice.split("+")]
