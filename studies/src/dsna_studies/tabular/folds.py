"""The same stratified folds for all methods."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold

from dsna.tables import TableError

from ..tables import NumericTable

_STRATA = 10


def split(table: NumericTable, folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Split rows into training and test rows of each fold, stratified by class or by deciles of the target.

    The folds are scikit-learn's, not those of ``dsna.model_selection``, so they can be reproduced without this package
    and favour none of the methods.

    Parameters
    ----------
    table : NumericTable
    folds : int
    seed : int

    Returns
    -------
    list of (training rows, test rows)
        Fewer than ten strata are used if rows are few.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_studies.tables import NumericTable
    >>> table = NumericTable("tiny", "classification", np.zeros((6, 1)), np.array([0, 0, 0, 0, 1, 1]), "0")
    >>> [table.y[test].tolist() for _, test in split(table, 2, seed=0)]
    [[0, 0, 1], [0, 0, 1]]
    """
    _check_enough(table, folds)
    strata = table.strata(int(np.clip(len(table.y) // folds, 1, _STRATA)))
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(splitter.split(table.X, strata))


def _check_enough(table: NumericTable, folds: int) -> None:
    """Raise a TableError if a table is so small that training rows could have a single class or target."""
    remedy = "add rows, or use fewer folds with --folds." if folds > 2 else "add rows."
    if table.task == "regression":
        if len(table.y) < 2 * folds:
            problem = f"{len(table.y)} rows are too few for {folds} folds, which need at least {2 * folds}"
            raise TableError(f"{table.name}: {problem}: {remedy}")
        return
    sizes = np.bincount(table.y)
    if sizes.max() < folds:
        problem = f"its most common class has {sizes.max()} of {len(table.y)} rows, too few for {folds} folds"
        raise TableError(f"{table.name}: {problem}: {remedy}")
    if len(sizes) == 2 and sizes.min() == 1:
        raise TableError(
            f"{table.name}: one of its two classes has a single row, which cannot be in training and test: add rows."
        )
