"""Rows that are equal in all columns and in the target, and whether chance explains that there are so many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.errors import DSNAError

_FEWEST_DISTINCT = 10  # different rows, below which nothing is said about chance
_FEWEST_REPEATS = 2  # one pair of equal rows may be a coincidence anywhere
_TIMES = 20.0  # as many repeats as expected that chance is still believed to bring about
_MOST_CHANGED = 3  # columns in which rows differ that are nearly equal
_EXAMPLES, _OTHERS, _PAIRS = 300, 4000, 20_000  # rows and pairs that are compared
_PATTERNS = 300  # sets of columns in which rows differ, the most frequent ones
_COMPARED = 40_000_000  # cells that are compared at most


@dataclass(frozen=True, eq=False)
class EqualRows:
    """Which rows of a table are equal.

    Parameters
    ----------
    member : (n,) number of each row among the distinct rows.
    first : (n_distinct,) first row of each of these.
    size : (n_distinct,) how often each occurs.

    Examples
    --------
    >>> import numpy as np
    >>> equal = EqualRows.of(np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]]))
    >>> equal.n_rows, equal.n_repeated, bool(equal.member[0] == equal.member[2])
    (2, 1, True)
    """

    member: np.ndarray
    first: np.ndarray
    size: np.ndarray

    @classmethod
    def of(cls, *tables: np.ndarray) -> EqualRows:
        """Equal rows of tables of finite numbers (n, n_columns), which stand side by side."""
        hashes = row_hashes(*tables)
        _, first, member, size = np.unique(hashes, return_index=True, return_inverse=True, return_counts=True)
        repeated = np.flatnonzero(size[member] > 1)
        if not all(np.array_equal(one[repeated], one[first[member[repeated]]]) for one in tables):
            _, first, member, size = np.unique(  # two rows have one hash
                np.column_stack(tables), axis=0, return_index=True, return_inverse=True, return_counts=True
            )
        return cls(member.ravel(), first, size)

    @property
    def n_rows(self) -> int:
        """Rows that have an equal one."""
        return int(self.size[self.size > 1].sum())

    @property
    def n_repeated(self) -> int:
        """Distinct rows that occur more than once."""
        return int(np.sum(self.size > 1))

    def are_chance(self, strata: np.ndarray, *tables: np.ndarray) -> bool:
        """Whether as many equal rows are to be expected in such a table.

        Where columns hold few different values, rows coincide. Then there are many more rows that are nearly equal,
        which differ in up to three columns. Their number says how many equal ones are to be expected: as many as differ
        in some columns, times the odds that two rows of the table agree in these. Where columns hold numbers that
        hardly repeat, nearly equal rows are as unlikely as equal ones.

        Parameters
        ----------
        strata : (n,) class of each row, or one number for all. Where all rows of a stratum occur twice, or three times,
            and so on, they were copied, however likely equal rows are.
        *tables : (n, n_columns) the tables whose rows are equal.
        """
        if len(self.size) < _FEWEST_DISTINCT or len(self.member) - len(self.size) < _FEWEST_REPEATS:
            return True
        return not self._are_multiplied(strata) and self._repeats_expected(tables)

    def _are_multiplied(self, strata: np.ndarray) -> bool:
        """Whether the distinct rows of a stratum occur in multiples of two or more."""
        stratum = strata[self.first]
        sizes = [self.size[stratum == one] for one in np.unique(stratum)]
        return any(len(size) >= _FEWEST_DISTINCT and np.gcd.reduce(size) > 1 for size in sizes)

    def _repeats_expected(self, tables: Sequence[np.ndarray]) -> bool:
        """Whether nearly equal rows let expect as many equal ones."""
        n, n_columns = len(self.member), sum(table.shape[1] for table in tables)
        rng = np.random.RandomState(0)
        others = rng.permutation(n)[:_OTHERS]
        most = max(10, _COMPARED // (len(others) * n_columns))
        examples = rng.permutation(np.flatnonzero(self.size > 1))[: min(most, _EXAMPLES)]
        known = np.column_stack([table[others] for table in tables])
        nearly: Counter[bytes] = Counter()  # how many rows differ in the columns that are marked
        for example in examples:
            changed = known != np.concatenate([table[self.first[example]] for table in tables])
            number = np.count_nonzero(changed, axis=1)
            near = changed[(number > 0) & (number <= _MOST_CHANGED)]
            nearly.update(near.view(f"V{n_columns}").ravel().tolist())
        left, right = rng.randint(n, size=(2, max(100, min(_PAIRS, _COMPARED // n_columns))))
        apart = self.member[left] != self.member[right]
        differ = np.column_stack([table[left[apart]] != table[right[apart]] for table in tables])
        repeats = (self.size[examples] - 1).sum() * len(others) / n
        around = [
            count * _odds_to_agree(differ[:, np.frombuffer(columns, dtype=bool)])
            for columns, count in nearly.most_common(_PATTERNS)
        ]
        everywhere = 0.5 * n * n * np.prod(1.0 - differ.mean(axis=0))
        pairs = 0.5 * float(self.size @ (self.size - 1))
        return bool(_TIMES * max(around, default=0.0) >= repeats or _TIMES * everywhere >= pairs)


def _odds_to_agree(differ: np.ndarray) -> float:
    """How many times as often pairs agree in all of some columns as they differ in all of them."""
    return float(np.sum(~differ.any(axis=1))) / max(int(np.sum(differ.all(axis=1))), 1)


def row_hashes(*tables: np.ndarray) -> np.ndarray:
    """(n,) uint64 hashes of rows of finite numbers: equal rows have equal ones, and others hardly ever.

    Examples
    --------
    >>> import numpy as np
    >>> hashes = row_hashes(np.array([[0.0, 1.0], [1.0, 0.0], [-0.0, 1.0]]))
    >>> bool(hashes[0] == hashes[2]), bool(hashes[0] == hashes[1])
    (True, False)
    """
    hashes = np.zeros(len(tables[0]), dtype=np.uint64)
    for table in tables:
        for column in table.T:
            hashes ^= (column + 0.0).view(np.uint64)  # which makes 0 of -0
            hashes *= np.uint64(0x9E3779B97F4A7C15)
            hashes ^= hashes >> np.uint64(31)
    return hashes


def equal_rows(X: Any, y: Any) -> np.ndarray:
    """Number the rows so that those equal in all features and in the target have one number.

    Passed as ``groups`` to ``fit`` or to a splitter, these numbers keep equal rows in one fold: a row is then never
    predicted from its own copy.

    Parameters
    ----------
    X : array of shape (n, n_features)
        Numbers.
    y : array of shape (n,) or (n, n_outputs)
        Classes or targets.

    Returns
    -------
    array of shape (n,), int

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.model_selection import equal_rows
    >>> X = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0], [1.0, 2.0]])
    >>> equal_rows(X, ["yes", "no", "yes", "no"]).tolist()
    [0, 1, 0, 2]
    """
    try:
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DSNAError(f"X holds other things than numbers ({error}). Remedy: encode it first.") from error
    target = np.asarray(y)
    if values.ndim != 2 or target.ndim not in (1, 2) or len(target) != len(values):
        raise DSNAError(
            f"X has shape {values.shape} and y {target.shape}. Remedy: give a row of X and a target for each case."
        )
    codes = [np.unique(column, return_inverse=True)[1].ravel() for column in target.reshape(len(target), -1).T]
    equal = EqualRows.of(values, np.column_stack(codes).astype(np.float64))
    return np.asarray(np.unique(equal.first[equal.member], return_inverse=True)[1].ravel())
