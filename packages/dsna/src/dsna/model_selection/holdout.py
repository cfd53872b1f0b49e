"""Random splits into training and test rows, with rare rows on both sides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseShuffleSplit
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.validation import _num_samples

from .._utils.errors import DSNAError
from .._utils.parameters import is_number, is_whole
from .._utils.validation import TASKS, check_groups, check_new_classes, check_targets, guess_task
from .strata import TEST, TRAIN, Strata

_MAX_TRIES = 20  # random orders of groups


class StratifiedTargetShuffleSplit(BaseShuffleSplit):
    """Random splits for regression: training and test rows have their share of every range of the targets.

    Take as many of the largest targets as correspond to one test row (four for ``test_size=0.25``): at least one of
    them is a test row and at least one a training row. The same holds for the smallest targets. With several outputs or
    groups, rare ranges come first, so that this holds as far as possible.

    Parameters
    ----------
    n_splits : int, default=10
        Number of splits.
    test_size : float or int, default=None
        Share or number of test rows; None: the rows that `train_size` leaves, or 0.1. With groups, the number is
        approximate.
    train_size : float or int, default=None
        Share or number of training rows; None: the rows that `test_size` leaves.
    random_state : int, RandomState instance or None, default=None
        Seed.

    See Also
    --------
    rare_first_split : A single split of arrays, with guaranteed rare rows on both sides.

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
            raise DSNAError(f"n_splits must be a whole number of at least 1; got {n_splits!r}.")
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
            raise DSNAError("StratifiedTargetShuffleSplit stratifies by y, which is None: pass y to split.")
        sizes = _sizes(len(rows), self.test_size, self.train_size, self._default_test_size)
        targets = check_targets(y, rows).reshape(len(rows), -1)
        strata = Strata.of_targets(targets, check_groups(groups, rows), -(-len(rows) // min(sizes)))
        rng = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            subset = strata.split(*sizes, 1, rng)
            if min(np.sum(subset == TEST), np.sum(subset == TRAIN)) == 0:
                raise DSNAError(f"groups are too few or too large for test_size={self.test_size}: one side is empty.")
            yield rng.permutation(np.flatnonzero(subset == TRAIN)), rng.permutation(np.flatnonzero(subset == TEST))


def rare_first_split(
    *arrays: Any,
    y: Any = None,
    test_size: float | int = 0.25,
    groups: Any = None,
    min_rare: int = 1,
    task: str | None = None,
    random_state: Any = None,
) -> list[Any]:
    """Split arrays into training and test rows, with rare rows on both sides; raise an error if this is impossible.

    Like scikit-learn's `train_test_split`, with an additional guarantee. In classification, each side has at least
    `min_rare` rows of every class. In regression, each side has at least `min_rare` rows of the lowest and of the
    highest range of each output. These ranges have as many rows (or groups) as correspond to `min_rare` rows on the
    smaller side: the 4 largest targets for ``test_size=0.25``, the 20 largest with ``min_rare=5``.
    All other classes and ranges are split in proportion.

    Parameters
    ----------
    *arrays : lists, arrays, sparse matrices, pandas or polars frames of the same length
        Arrays to split, at least one.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        Classes or targets to stratify by, like `stratify` of `train_test_split`; it is split itself only if it is also
        among `arrays`. None: the last of the arrays, as in ``rare_first_split(X, y)``.
    test_size : float or int, default=0.25
        Share or number of test rows. With groups, the number is approximate.
    groups : array-like of shape (n_samples,), default=None
        Rows of a group stay on the same side.
    min_rare : int, default=1
        Smallest number of rows of each class, or of each outermost range, on both sides.
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
        If there are too few rows or groups for the guarantee; the message names the class or range.

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
    Class 'yes' has 2 rows in 1 group: training and test rows cannot both have min_rare=1 of them.
    """
    if not arrays or (y is None and len(arrays) < 2):
        raise DSNAError("rare_first_split needs arrays to split, and y: rare_first_split(X, y), or (X, y=y).")
    if not is_whole(min_rare, 1):
        raise DSNAError(f"min_rare must be a whole number of at least 1; got {min_rare!r}.")
    if task not in (None, *TASKS):
        raise DSNAError(f"task={task!r} is unknown: use one of {', '.join(TASKS)}, or None.")
    y = arrays[-1] if y is None else y
    indexable_arrays = indexable(*arrays, y)[:-1]
    rows = np.arange(_num_samples(y))
    sizes = _sizes(len(rows), test_size, None, 0.25)
    group_codes = check_groups(groups, rows)
    if (task or guess_task(np.asarray(y))) == "classification":
        classes, code = check_new_classes(y, rows)
        strata, names = Strata.of_classes(code, group_codes), [f"Class {label!r}" for label in classes.tolist()]
    else:
        targets = check_targets(y, rows).reshape(len(rows), -1)
        strata = Strata.of_targets(targets, group_codes, min_rare * -(-len(rows) // min(sizes)))
        names = _range_names(strata, targets.shape[1], "rows" if group_codes is None else "groups")
    rng = check_random_state(random_state)
    subset_of_row = _split_with_rare_rows(strata, names, sizes, min_rare, rng)
    subsets = [rng.permutation(np.flatnonzero(subset_of_row == subset)) for subset in (TRAIN, TEST)]
    return [_safe_indexing(array, subset) for array in indexable_arrays for subset in subsets]


def _range_names(strata: Strata, n_outputs: int, unit: str) -> list[str]:
    """Names of the outermost ranges; raise an error if the lowest and the highest are the same."""
    if np.any(strata.outermost[::2] == strata.outermost[1::2]):
        raise DSNAError(
            "The targets have no lowest and highest range to split: they are nearly all equal, or there are too few "
            f"{unit}. Use a larger test_size, or a smaller min_rare."
        )
    outputs = [""] if n_outputs == 1 else [f" of output {j}" for j in range(n_outputs)]
    return [f"The range of the {extreme} targets{output}" for output in outputs for extreme in ("lowest", "highest")]


def _split_with_rare_rows(
    strata: Strata, names: list[str], sizes: tuple[int, int], min_rare: int, rng: np.random.RandomState
) -> np.ndarray:
    """(n,) TEST, TRAIN or UNUSED for each row, with ``min_rare`` test and training rows of each outermost stratum."""
    n_units = strata.unit_counts()[strata.outermost]
    n_rows = strata.row_counts(np.zeros_like(strata.unit), 1)[0, strata.outermost]
    impossible = (n_units < 2) | (n_rows < 2 * min_rare)
    if not impossible.any():
        for _ in range(1 if strata.code is not None else _MAX_TRIES):
            subset = strata.split(*sizes, min_rare, rng)
            counts = strata.row_counts(subset, 2)[:, strata.outermost]
            if counts.min() >= min_rare:
                return subset
    worst = int(np.argmax(impossible) if impossible.any() else counts.min(axis=0).argmin())
    description = f"{names[worst]} has {n_rows[worst]:.0f} row{'' if n_rows[worst] == 1 else 's'}"
    if not strata.rows_are_units:
        description += f" in {n_units[worst]} group{'' if n_units[worst] == 1 else 's'}"
    if impossible.any():
        raise DSNAError(f"{description}: training and test rows cannot both have min_rare={min_rare} of them.")
    raise DSNAError(
        f"{description}, but no split into {sizes[1]} training and {sizes[0]} test rows was found in which both sides "
        f"have min_rare={min_rare} of them: change test_size, or lower min_rare."
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
            f"test_size={test_size} and train_size={train_size} request {n_test} test rows and {n_train} training rows "
            f"of {n_rows}: both sides need at least one, and together at most {n_rows}."
        )
    return n_test, n_train


def _size(n_rows: int, size: Any, name: str, rounding: Any) -> int:
    """Number of rows from a share or a number of rows; 0 for None."""
    if size is None:
        return 0
    if is_whole(size, 1):
        return int(size)
    if not is_number(size) or not 0.0 < size < 1.0:
        raise DSNAError(f"{name} must be a share between 0 and 1, or a positive whole number of rows; got {size!r}.")
    return int(rounding(size * n_rows))
