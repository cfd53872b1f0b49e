"""The same stratified folds for all methods."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold

from dsna.tables import TableError

from ..tables import Table

_STRATA = 10


def split(table: Table, folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of each fold, stratified by class or by deciles of the target.

    Folds are scikit-learn's, not those of ``dsna.model_selection``: anybody can make them again without this package,
    and no method in the comparison has had a say in them.

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
    >>> from dsna_studies.tables import Table
    >>> table = Table("tiny", "classification", np.zeros((6, 1)), np.array([0, 0, 0, 0, 1, 1]), "0")
    >>> [table.y[test].tolist() for _, test in split(table, 2, seed=0)]
    [[0, 0, 1], [0, 0, 1]]
    """
    _check_enough(table, folds)
    strata = table.strata(int(np.clip(len(table.y) // folds, 1, _STRATA)))
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(splitter.split(table.X, strata))


def _check_enough(table: Table, folds: int) -> None:
    """Refuse tables so small that some training rows would hold one class or target only."""
    remedy = "add rows, or use fewer folds with --folds." if folds > 2 else "add rows."
    if table.task == "regression":
        if len(table.y) < 2 * folds:
            said = f"{len(table.y)} rows are too few for {folds} folds, which need at least {2 * folds}"
            raise TableError(f"{table.name}: {said}: {remedy}")
        return
    sizes = np.bincount(table.y)
    if sizes.max() < folds:
        said = f"its most common class has {sizes.max()} of {len(table.y)} rows, too few for {folds} folds"
        raise TableError(f"{table.name}: {said}: {remedy}")
    if len(sizes) == 2 and sizes.min() == 1:
        raise TableError(
            f"{table.name}: one of its two classes has a single row, which cannot be in training and test: add rows."
        )
