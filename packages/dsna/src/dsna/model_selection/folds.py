"""Cross-validation folds that each have their share of every target range or class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from .._utils.errors import DSNAError, warn_caller
from .._utils.parameters import is_whole
from .._utils.validation import check_groups, check_new_classes, check_targets
from .strata import Strata


class _StratifiedKFold(BaseCrossValidator):
    """Base class of stratified folds, which keep groups together where they are given."""

    __metadata_request__split = {"groups": True}

    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None):
        if not is_whole(n_splits, 2):
            raise DSNAError(f"n_splits must be a whole number of at least 2; got {n_splits!r}.")
        if shuffle not in (True, False):
            raise DSNAError(f"shuffle must be True or False; got {shuffle!r}.")
        if not shuffle and random_state is not None:
            raise DSNAError("random_state has no effect without shuffling: pass shuffle=True, or no random_state.")
        self.n_splits = int(n_splits)
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds; the arguments are ignored."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Training and test rows of each fold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Only its number of rows matters.
        y : array-like
            Classes or targets.
        groups : array-like of shape (n_samples,), default=None
            Rows of a group are never both in training and in test.

        Yields
        ------
        train, test : arrays of row numbers
        """
        yield from super().split(X, y, groups)

    def _iter_test_masks(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[np.ndarray]:
        rows = np.arange(_num_samples(X))
        if y is None:
            raise DSNAError(f"{type(self).__name__} stratifies by y, which is None: pass y to split.")
        if self.n_splits > len(rows):
            raise DSNAError(f"n_splits={self.n_splits} is greater than the number of rows, {len(rows)}.")
        rng = check_random_state(self.random_state) if self.shuffle else None
        fold = self._assign_folds(y, rows, check_groups(groups, rows), rng)
        for f in range(self.n_splits):
            yield fold == f

    @abstractmethod
    def _assign_folds(self, y: Any, rows: np.ndarray, groups: np.ndarray | None, rng: Any) -> np.ndarray:
        """(n,) fold of each row."""


class StratifiedTargetKFold(_StratifiedKFold):
    """K folds for regression: each has its share of every range of the targets, rare ranges included.

    With at least ``2 * n_splits`` rows, the ``n_splits`` smallest targets are in different folds, and so are the
    ``n_splits`` largest. The same holds for each range of ``n_splits`` neighbouring targets where targets are rare;
    where they are common, longer ranges are split evenly. Targets that repeat (at least three rows each on average, as
    with ages or ratings) are split evenly for each value. With several outputs, one assignment serves the ranges of all
    outputs, rare ones first, so this holds approximately, as it does with groups.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=False
        Whether rows of a range are assigned to folds at random. Otherwise the first rows of the table are in the first
        fold, as in scikit-learn's `StratifiedKFold`.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffle.

    See Also
    --------
    StratifiedRareKFold : Folds for classification.
    StratifiedTargetShuffleSplit : Random splits for regression.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import cross_val_score
    >>> from dsna.model_selection import StratifiedTargetKFold
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = np.exp(X[:, 0])
    >>> cv = StratifiedTargetKFold(4, shuffle=True, random_state=0)
    >>> [int(np.isin(np.argsort(y)[-8:], test).sum()) for _, test in cv.split(X, y)]
    [2, 2, 2, 2]
    >>> cross_val_score(Ridge(), X, y, cv=cv).shape
    (4,)
    """

    def _assign_folds(self, y: Any, rows: np.ndarray, groups: np.ndarray | None, rng: Any) -> np.ndarray:
        targets = check_targets(y, rows).reshape(len(rows), -1)
        return Strata.of_targets(targets, groups, self.n_splits, split_values=True).folds(self.n_splits, rng)


class StratifiedRareKFold(_StratifiedKFold):
    """K folds for classification: classes are split evenly, rare ones first, and groups are kept together.

    Without groups, the counts of each class differ by at most one between folds. With groups, those with the rarest
    class (the one in the fewest groups) are assigned first, one to each fold before any fold gets a second, then those
    with the next class. scikit-learn's `StratifiedGroupKFold` balances class shares on average, and may leave a rare
    class out of a fold even where this could be avoided. If a class is missing from a fold, a warning names the class
    and the number of its rows or groups.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=False
        Whether rows of a class, and groups of similar size, are assigned to folds at random. Otherwise the first rows
        of the table are in the first fold, as in scikit-learn's `StratifiedKFold`.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffle.

    See Also
    --------
    StratifiedTargetKFold : Folds for regression.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.model_selection import StratifiedRareKFold
    >>> y = np.repeat(["common", "rare"], [90, 6])
    >>> patient = np.r_[np.arange(90) // 3, 30, 30, 30, 31, 32, 32]
    >>> cv = StratifiedRareKFold(3)
    >>> for train, test in cv.split(y, y, groups=patient):
    ...     print(len(test), int(np.sum(y[test] == "rare")), np.intersect1d(patient[train], patient[test]))
    33 3 []
    32 2 []
    31 1 []
    """

    def _assign_folds(self, y: Any, rows: np.ndarray, groups: np.ndarray | None, rng: Any) -> np.ndarray:
        classes, code = check_new_classes(y, rows)
        strata = Strata.of_classes(code, groups)
        fold = strata.folds(self.n_splits, rng)
        n_missing = (strata.row_counts(fold, self.n_splits) == 0).sum(axis=0)
        if n_missing.any():
            unit_counts = strata.unit_counts()
            unit = "row" if groups is None else "group"
            descriptions = [
                f"{classes.tolist()[c]!r} ({unit_counts[c]} {unit}{'s' if unit_counts[c] > 1 else ''}) "
                f"from {n_missing[c]}"
                for c in np.flatnonzero(n_missing)
            ]
            warn_caller(
                f"Classes are missing from the test rows of some of the n_splits={self.n_splits} folds: "
                f"{', '.join(descriptions)}. Use fewer splits, or collect more {unit}s of these classes."
            )
        return fold
