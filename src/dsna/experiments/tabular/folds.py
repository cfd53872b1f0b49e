"""The same stratified folds for all methods."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold

from ...datasets import Table, TableError

_STRATA = 10


def split(table: Table, folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of each fold, stratified by class or by label decile.

    Parameters
    ----------
    table : Table
    folds : int
    seed : int

    Returns
    -------
    list of (training rows, test rows)
        Fewer strata than ten are used where rows are few.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.datasets import Table
    >>> table = Table("tiny", "classification", np.zeros((6, 1)), np.array([0, 0, 0, 0, 1, 1]), "0")
    >>> [table.y[test].tolist() for _, test in split(table, 2, seed=0)]
    [[0, 0, 1], [0, 0, 1]]
    """
    strata = table.strata(int(np.clip(len(table.y) // folds, 1, _STRATA)))
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        try:
            return list(splitter.split(table.X, strata))
        except ValueError as error:
            raise TableError(f"{table.name}: cannot make {folds} folds ({error}); use fewer with --folds.") from error
