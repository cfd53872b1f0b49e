"""Missing numbers, filled in with what the other numbers of their row suggest.

The columns of numbers are taken for jointly normal. A missing value is then best guessed by its mean given those that
are there: with the columns standardised and P the inverse of their covariance, the missing values q of a row follow
from the others o as z_q = -P_qq^-1 P_qo z_o. The covariance is that of the rows in which both values are there,
shrunk toward independent columns where rows are few. Guesses stay within the values of training.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from ..._utils.invariants import LARGEST, Array, Checked, require
from ..._utils.sums import rowwise_product

_MOST_COLUMNS = 200  # whose covariance is learned; beyond, medians fill in
_LEAST_ROWS = 20
_CHANCE = 0.05  # of gaps at random that are taken for telling ones
_LEAST_VARIANCE = 0.01  # of any mixture of standardised columns


def telling_gaps(encoded: np.ndarray, columns: np.ndarray, source: np.ndarray) -> np.ndarray:
    """Which columns of numbers lack values in a way that goes with other columns, more than chance lets them.

    Parameters
    ----------
    encoded : (n, w) float64
        All columns, with NaN where numbers are missing, and indicators of missing values among them.
    columns : (m,) places of the columns of numbers.
    source : (w,) input column of each column: those of the same one are not compared.

    Returns
    -------
    (m,) bool
    """
    known = ~np.isnan(encoded)
    counts = np.maximum(known.sum(axis=0), 1)
    inside = np.clip(np.where(known, encoded, 0.0), -LARGEST, LARGEST)
    away = np.where(known, inside - inside.sum(axis=0) / counts, 0.0)
    size = np.sqrt((away**2).sum(axis=0))
    gaps = 1.0 - known[:, columns]
    gaps -= gaps.mean(axis=0)
    spread = gaps.std(axis=0)
    compared = (source[columns][:, None] != source) & (spread[:, None] > 0.0) & (size > 0.0)
    scale = np.where(compared, spread[:, None] * np.where(size > 0.0, size, 1.0), 1.0)
    deviation = np.where(compared, np.abs(gaps.T @ away) / scale, 0.0)  # in standard errors
    bound = norm.isf(0.5 * _CHANCE / np.maximum(compared.sum(axis=1), 1))
    return np.asarray(deviation.max(axis=1, initial=0.0) > bound)


class Filling(Checked):
    """What fills in missing numbers.

    Parameters
    ----------
    columns : (m,) int64
        Places of the columns of numbers in the matrix, rising.
    middle, low, high : (m,) float64
        Median, smallest and largest value of each.
    mean, spread : (m,) float64
        That standardise them.
    precision : (m, m) float64
        Inverse of the covariance of the standardised columns; a unit matrix fills in means.

    Examples
    --------
    >>> import numpy as np
    >>> known = np.arange(101.0)
    >>> filling = Filling.fit(np.column_stack([known, 2.0 * known]), np.array([0, 1]))
    >>> rows = np.array([[np.nan, 60.0], [np.nan, np.nan]])
    >>> filling.fill(rows)
    >>> rows.round().tolist()
    [[30.0, 60.0], [50.0, 100.0]]
    """

    FIELDS = {
        "columns": Array("int64", "columns", 0),
        "middle": Array("float64", "columns"),
        "low": Array("float64", "columns"),
        "high": Array("float64", "columns"),
        "mean": Array("float64", "columns"),
        "spread": Array("float64", "columns", 1e-300),
        "precision": Array("float64", "joint, joint"),
    }

    def __init__(self, *, columns: np.ndarray, values: np.ndarray):
        """Learn from (n, m) values with NaN where they are missing."""
        known = ~np.isnan(values)
        inside = np.where(known, values, 0.0)
        self.columns = columns
        self.middle = np.array([_median(column) for column in values.T])
        self.low = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
        self.high = np.where(known, values, -np.inf).max(axis=0, initial=-np.inf)
        self.low, self.high = (np.where(np.isfinite(end), end, 0.0) for end in (self.low, self.high))
        self.mean, self.spread = np.zeros(len(columns)), np.ones(len(columns))
        self.precision = np.empty((0, 0))
        within = np.abs(inside).max(axis=0, initial=0.0).max(initial=0.0) < LARGEST
        if len(values) >= _LEAST_ROWS and 1 < len(columns) <= _MOST_COLUMNS and within:
            self._learn_jointly(inside, known)
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(np.all(self.low <= self.high), "Filling.low exceeds high")
        require(sizes["joint"] in (0, sizes["columns"]), "Filling.precision has another size than columns")
        if sizes["joint"]:
            within = np.abs(self.precision).max() <= 2.0 / _LEAST_VARIANCE
            require(within and np.allclose(self.precision, self.precision.T), "Filling.precision is not symmetric")
            sizes_of = np.linalg.eigvalsh(self.precision)
            right = sizes_of.min() >= 1e-6 and sizes_of.max() <= 2.0 / _LEAST_VARIANCE
            require(right, "Filling.precision is the inverse of no covariance")

    @classmethod
    def fit(cls, encoded: np.ndarray, columns: np.ndarray) -> Filling:
        """Learn from an encoded table, of which some columns are numbers with NaN where they are missing."""
        return cls(columns=columns.astype(np.int64), values=encoded[:, columns])

    def _learn_jointly(self, inside: np.ndarray, known: np.ndarray) -> None:
        counts = np.maximum(known.sum(axis=0), 1)
        self.mean = inside.sum(axis=0) / counts
        away = np.where(known, inside - self.mean, 0.0)
        spread = np.sqrt((away**2).sum(axis=0) / counts)
        self.spread = np.where(spread > 1e-12 * (1.0 + np.abs(self.mean)), spread, 1.0)
        away /= self.spread
        together = known.T.astype(np.float64) @ known
        covariance = away.T @ away / np.maximum(together, 1.0)
        n, m = inside.shape
        covariance *= n / (n + m)
        covariance[np.diag_indices(m)] = 1.0
        sizes, ways = np.linalg.eigh(covariance)
        self.precision = (ways / np.maximum(sizes, _LEAST_VARIANCE)) @ ways.T

    def fill(self, encoded: np.ndarray) -> None:
        """Fill in the missing numbers of an encoded table; the others stay as they are."""
        values = encoded[:, self.columns]
        missing = np.isnan(values)
        some = np.flatnonzero(missing.any(axis=1))
        if not len(some):
            return
        values, missing = values[some], missing[some]
        guesses = self._guesses(values, missing) if len(self.precision) else np.broadcast_to(self.middle, values.shape)
        encoded[np.ix_(some, self.columns)] = np.where(missing, np.clip(guesses, self.low, self.high), values)

    def _guesses(self, values: np.ndarray, missing: np.ndarray) -> np.ndarray:
        """Values where they are missing, given those that are there."""
        standard = np.where(missing, 0.0, (np.where(missing, 0.0, values) - self.mean) / self.spread)
        pull = rowwise_product(standard, self.precision)
        number = missing.sum(axis=1)
        for k in np.unique(number).tolist():
            rows = np.flatnonzero(number == k)
            places = np.nonzero(missing[rows])[1].reshape(len(rows), k)
            among = self.precision[places[:, :, None], places[:, None, :]]
            found = np.linalg.solve(among, -np.take_along_axis(pull[rows], places, axis=1)[:, :, None])
            standard[rows[:, None], places] = found[:, :, 0]
        return np.asarray(standard * self.spread + self.mean)


def _median(column: np.ndarray) -> float:
    """Median of the known values; 0 where there is none."""
    known = column[~np.isnan(column)]
    return float(np.median(known)) if len(known) else 0.0
