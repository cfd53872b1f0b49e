"""Training and test rows; folds that share no person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import GroupKFold


@dataclass(frozen=True)
class Split:
    """Training and test rows.

    Parameters
    ----------
    protocol : str
    fold : str
        The person left out, or the number of the fold.
    train, test : arrays of row numbers

    Examples
    --------
    >>> import numpy as np
    >>> Split("leave one person out", "001", np.arange(3, 9), np.arange(3)).fold
    '001'
    """

    protocol: str
    fold: str
    train: np.ndarray
    test: np.ndarray


def person_folds(groups: np.ndarray, folds: int = 5, seed: int = 0) -> list[Split]:
    """Folds that share no person.

    Parameters
    ----------
    groups : array of shape (n,)
        Person on each picture.
    folds : int, default=5
        Less where there are fewer persons.
    seed : int, default=0

    Returns
    -------
    list of Split

    Examples
    --------
    >>> import numpy as np
    >>> splits = person_folds(np.repeat(np.arange(6), 2), folds=3)
    >>> [len(split.test) for split in splits]
    [4, 4, 4]
    """
    folds = min(folds, len(np.unique(groups)))
    parts = GroupKFold(folds, shuffle=True, random_state=seed).split(groups, groups=groups)
    return [Split(f"{folds} person folds", str(k), train, test) for k, (train, test) in enumerate(parts)]
