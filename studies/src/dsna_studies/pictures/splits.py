"""Splits into training and test rows: folds that share no person, and labels that training lacks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

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
    """Split into folds that share no person.

    Parameters
    ----------
    groups : array of shape (n,)
        Person in each picture.
    folds : int, default=5
        Number of folds, fewer if there are fewer persons.
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
    indices = GroupKFold(folds, shuffle=True, random_state=seed).split(groups, groups=groups)
    return [Split(f"{folds} person folds", str(k), train, test) for k, (train, test) in enumerate(indices)]


def with_gap(splits: Iterable[Split], protocol: str, in_gap: np.ndarray) -> list[Split]:
    """Splits with the rows of a gap removed from training and as the only test rows.

    Parameters
    ----------
    splits : iterable of Split
    protocol : str
        Name of the new protocol.
    in_gap : bool array of shape (n,)
        Rows whose labels lie in the gap.

    Returns
    -------
    list of Split
        Splits that have both training and test rows.

    Examples
    --------
    >>> split = Split("folds", "0", np.array([0, 1]), np.array([2, 3]))
    >>> [(s.protocol, s.train, s.test) for s in with_gap([split], "no 30", np.array([True, False, True, False]))]
    [('no 30', array([1]), array([2]))]
    """
    changed = (
        replace(split, protocol=protocol, train=split.train[~in_gap[split.train]], test=split.test[in_gap[split.test]])
        for split in splits
    )
    return [split for split in changed if len(split.test) and len(split.train)]
