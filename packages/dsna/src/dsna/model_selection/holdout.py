"""Random splits into training and test rows that both hold rare rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseShuffleSplit
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.validation import _num_samples

from .._utils.errors import DSNAError
from .._utils.parameters import is_number, is_whole
from .._utils.validation import check_groups, check_new_classes, check_targets
from ..tables import TASKS, guess_task
from .strata import Strata

_TRIES = 20  # random orders of groups


class StratifiedTargetShuffleSplit(BaseShuffleSplit):
    """Random splits for regression: training and test rows hold their share of every range of the targets.

    Of the smallest and of the largest targets of an output, as many as are needed for one test row (four where
    ``test_size=0.25``), one at least is in test and one in training. Rows of several outputs, and groups, are
    dealt by the ranges of all outputs, rare ones first, so that the same holds as far as possible.

    Parameters
    ----------
    n_splits : int, default=10
        Number of splits.
    test_size : float or int, default=None
        Share or number of test rows; None: what `train_size` leaves, or 0.1. With groups it is met as nearly as
        whole groups allow.
    train_size : float or int, default=None
        Share or number of training rows; None: what `test_size` leaves.
    random_state : int, RandomState instance or None, default=None
        Seed.

    See Also
    --------
    rare_first_split : One split, of arrays, that guarantees rare rows on both sides.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.model_selection import StratifiedTargetShuffleSplit
    >>> y = np.random.default_rng(0).lognormal(size=200)
    >>> cv = StratifiedTargetShuffleSplit(3, test_size=0.2, random_state=0)
    >>> [(len(test), int(np.isin(np.argsort(y)[-5:], test).sum())) for _, test in cv.split(y, y)]
    [(40, 1), (40, 1), (40, 1)]
    """

    __metadata_request__split = {"groups": True}

    def __init__(self, n_splits: int = 10, *, test_size: Any = None, train_size: Any = None, random_state: Any = None):
        if not is_whole(n_splits, 1):
            raise DSNAError(f"n_splits={n_splits!r} must be a whole number of at least 1.")
        super().__init__(n_splits, test_size=test_size, train_size=train_size, random_state=random_state)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Training and test rows of each split, in random order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Only its number of rows matters.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        groups : array-like of shape (n_samples,), default=None
            Rows of a group are never both in training and in test.

        Yields
        ------
        train, test : arrays of row numbers
        """
        yield from super().split(X, y, groups)

    def _iter_indices(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        rows = np.arange(_num_samples(X))
        if y is None:
            raise DSNAError("StratifiedTargetShuffleSplit deals rows by y, which is None: pass y to split.")
        sizes = _sizes(len(rows), self.test_size, self.train_size, self._default_test_size)
        targets = check_targets(y, rows).reshape(len(rows), -1)
        strata = Strata.of_targets(targets, check_groups(groups, rows), -(-len(rows) // min(sizes)))
        rng = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            part = strata.parts(*sizes, 1, rng)
            if min(np.sum(part == 0), np.sum(part == 1)) == 0:
                raise DSNAError(f"groups are too few or too large for test_size={self.test_size}: one side is empty.")
            yield rng.permutation(np.flatnonzero(part == 1)), rng.permutation(np.flatnonzero(part == 0))


def rare_first_split(
    *arrays: Any,
    y: Any = None,
    test_size: float | int = 0.25,
    groups: Any = None,
    min_rare: int = 1,
    task: str | None = None,
    random_state: Any = None,
) -> list[Any]:
    """Split arrays into training and test rows such that both hold rare rows, or say why that cannot be.

    Like scikit-learn's `train_test_split`, with one promise more. In classification each side has at least
    `min_rare` rows of every class. In regression each side has at least `min_rare` rows of the
    outermost ranges, lowest and highest, of each output: those of as many rows (or groups) as are needed for `min_rare`
    rows on the smaller side (the 4 largest targets for ``test_size=0.25``, the 20 largest for ``min_rare=5``).
    All other classes and ranges are split in proportion.

    Parameters
    ----------
    *arrays : lists, arrays, sparse matrices, pandas or polars frames of the same length
        What is split. At least one.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        Classes or targets by which rows are dealt, like `stratify` of `train_test_split`; it is split itself only if it
        is among `arrays` too. None: the last of the arrays, as in ``rare_first_split(X, y)``.
    test_size : float or int, default=0.25
        Share or number of test rows. With groups it is met as nearly as whole groups allow.
    groups : array-like of shape (n_samples,), default=None
        Rows of a group stay on the same side.
    min_rare : int, default=1
        How many rows of each class, or of each outermost range, both sides hold.
    task : {"classification", "regression"} or None, default=None
        None: classification where y is text or at most ten whole numbers, otherwise regression.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    list of length 2 * len(arrays)
        Training and test rows of each array, in the array's own type.

    Raises
    ------
    DSNAError
        Where rows or groups are too few for the promise; the message names the class or range.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna import DSNAError
    >>> from dsna.model_selection import rare_first_split
    >>> X, y = np.arange(40).reshape(20, 2), np.array(["no"] * 18 + ["yes"] * 2)
    >>> X_train, X_test, y_train, y_test = rare_first_split(X, y, random_state=0)
    >>> len(X_train), len(X_test), int(np.sum(y_train == "yes")), int(np.sum(y_test == "yes"))
    (15, 5, 1, 1)
    >>> try:
    ...     rare_first_split(X, y=y, groups=np.r_[np.arange(18), 18, 18])
    ... except DSNAError as error:
    ...     print(error)
    Class 'yes' has 2 rows in 1 group: training and test rows cannot both hold min_rare=1 of them.
    """
    if not arrays or (y is None and len(arrays) < 2):
        raise DSNAError("rare_first_split needs arrays to split, and y: rare_first_split(X, y), or (X, y=y).")
    if not is_whole(min_rare, 1):
        raise DSNAError(f"min_rare={min_rare!r} must be a whole number of at least 1.")
    if task not in (None, *TASKS):
        raise DSNAError(f"task={task!r} is unknown: use one of {', '.join(TASKS)}, or None.")
    y = arrays[-1] if y is None else y
    split = indexable(*arrays, y)[:-1]
    rows = np.arange(_num_samples(y))
    sizes = _sizes(len(rows), test_size, None, 0.25)
    group = check_groups(groups, rows)
    if (task or guess_task(np.asarray(y))) == "classification":
        classes, code = check_new_classes(y, rows)
        strata, names = Strata.of_classes(code, group), [f"Class {name!r}" for name in classes.tolist()]
    else:
        targets = check_targets(y, rows).reshape(len(rows), -1)
        strata = Strata.of_targets(targets, group, min_rare * -(-len(rows) // min(sizes)))
        names = _range_names(strata, targets.shape[1], "rows" if group is None else "groups")
    rng = check_random_state(random_state)
    part = _both_sides(strata, names, sizes, min_rare, rng)
    sides = [rng.permutation(np.flatnonzero(part == side)) for side in (1, 0)]
    return [_safe_indexing(array, side) for array in split for side in sides]


def _range_names(strata: Strata, n_outputs: int, unit: str) -> list[str]:
    """What the outermost ranges are called; raises where the lowest and the highest are the same."""
    if np.any(strata.outermost[::2] == strata.outermost[1::2]):
        raise DSNAError(
            f"The targets have no lowest and highest range to split: they are nearly all equal, or of too few {unit}; "
            "use a larger test_size, or a smaller min_rare."
        )
    outputs = [""] if n_outputs == 1 else [f" of output {j}" for j in range(n_outputs)]
    return [f"The range of the {which} targets{output}" for output in outputs for which in ("lowest", "highest")]


def _both_sides(
    strata: Strata, names: list[str], sizes: tuple[int, int], min_rare: int, rng: np.random.RandomState
) -> np.ndarray:
    """(n,) 0 for test rows, 1 for training rows, with ``min_rare`` rows of each outermost stratum on both sides."""
    units, rows = strata.units()[strata.outermost], strata.held(np.zeros_like(strata.unit), 1)[0, strata.outermost]
    hopeless = (units < 2) | (rows < 2 * min_rare)
    if not hopeless.any():
        for _ in range(1 if strata.code is not None else _TRIES):
            part = strata.parts(*sizes, min_rare, rng)
            held = strata.held(part, 2)[:, strata.outermost]
            if held.min() >= min_rare:
                return part
    worst = int(np.argmax(hopeless) if hopeless.any() else held.min(axis=0).argmin())
    has = f"{names[worst]} has {rows[worst]:.0f} row{'' if rows[worst] == 1 else 's'}"
    if not strata.single:
        has += f" in {units[worst]} group{'' if units[worst] == 1 else 's'}"
    if hopeless.any():
        raise DSNAError(f"{has}: training and test rows cannot both hold min_rare={min_rare} of them.")
    raise DSNAError(
        f"{has}, but no split into {sizes[1]} training and {sizes[0]} test rows was found in which both sides hold "
        f"min_rare={min_rare} of them: change test_size, or lower min_rare."
    )


def _sizes(n_rows: int, test_size: Any, train_size: Any, default: float) -> tuple[int, int]:
    """Numbers of test and of training rows."""
    if test_size is None and train_size is None:
        test_size = default
    n_test, n_train = _size(n_rows, test_size, "test_size", np.ceil), _size(n_rows, train_size, "train_size", np.floor)
    n_test = n_rows - n_train if test_size is None else n_test
    n_train = n_rows - n_test if train_size is None else n_train
    if n_test + n_train > n_rows or min(n_test, n_train) < 1:
        raise DSNAError(
            f"test_size={test_size} and train_size={train_size} ask for {n_test} test and {n_train} training rows of "
            f"{n_rows}: both sides need at least one."
        )
    return n_test, n_train


def _size(n_rows: int, size: Any, name: str, whole: Any) -> int:
    """Number of rows that a share or a number stands for; 0 for None."""
    if size is None:
        return 0
    if is_whole(size, 1):
        return int(size)
    if not is_number(size) or not 0.0 < size < 1.0:
        raise DSNAError(f"{name}={size!r} must be a share between 0 and 1, or a whole number of rows from 1 on.")
    return int(whole(size * n_rows))
