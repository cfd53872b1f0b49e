"""What a DSNA estimator learns from: its training rows, and the same rows as queries to what has not seen them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .forest.targets import Targets
from .neighbors.neighborhoods import Neighborhoods

_TIE = 1e-9


class Training(NamedTuple):
    """The training rows of a DSNA estimator, checked and encoded."""

    X: np.ndarray  # (n, d) as given
    label: np.ndarray  # (n, q) targets, or class numbers in one column
    values: np.ndarray  # (n_codes, k) what leaves average, of each class or distinct target
    targets: Targets
    weight: np.ndarray
    groups: np.ndarray | None

    @property
    def group_codes(self) -> np.ndarray:
        """(n,) number of each row's group, or of the row itself where there are no groups."""
        if self.groups is None:
            return np.arange(len(self.X))
        return np.asarray(np.unique(self.groups, return_inverse=True)[1].ravel())

    @property
    def strata(self) -> np.ndarray:
        """Class, or one of 20 target ranges, of each row."""
        rank = self.targets.rank
        if self.targets.n_classes:
            return rank
        width = np.ptp(rank)
        return np.asarray(np.floor(20 * (rank - rank.min()) / (width if width > 0 else 1.0) + _TIE))


class AnsweredFold(NamedTuple):
    """Rows of one held-out fold, approximated by rows of the others."""

    rows: np.ndarray  # (n,) the rows
    near: Neighborhoods  # their neighbours, by the numbers of the training rows
    alpha: np.ndarray  # (n, M) coefficients


class OutOfBag(NamedTuple):
    """Training rows as queries to everything that has not seen them."""

    folds: list[AnsweredFold]
    rows: np.ndarray  # (n,) the rows, fold by fold
    weight: np.ndarray  # (n,) how many training rows each represents
