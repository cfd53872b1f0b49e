"""Imputation of missing numbers from the other numbers of their row.

The numeric columns are modelled as jointly normal, and a missing value is replaced by its conditional mean: with
standardised columns and P the inverse of their covariance, the missing values q of a row follow from the observed
values o as z_q = -P_qq^-1 P_qo z_o. Each covariance is estimated from the rows in which both values are observed, and
shrunk toward independence if rows are few. Imputed values are clipped to the training range.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from ..._utils.invariants import LARGEST, Array, Checked, require
from ..._utils.sums import rowwise_product

_MAX_COLUMNS = 200  # whose covariance is learned; with more columns, medians are imputed
_MIN_ROWS = 20
_SIGNIFICANCE = 0.05  # chance that gaps at random count as informative
_MIN_VARIANCE = 0.01  # of any linear combination of standardised columns


def informative_gaps(encoded: np.ndarray, columns: np.ndarray, source: np.ndarray) -> np.ndarray:
    """Find numeric columns whose gaps are correlated with other columns beyond chance.

    Parameters
    ----------
    encoded : (n, w) float64
        All columns, including indicators of missing values, with NaN where numbers are missing.
    columns : (m,) indices of the numeric columns.
    source : (w,) input column of each column; columns from the same input column are not compared.

    Returns
    -------
    (m,) bool
    """
    is_known = ~np.isnan(encoded)
    counts = np.maximum(is_known.sum(axis=0), 1)
    values = np.clip(np.where(is_known, encoded, 0.0), -LARGEST, LARGEST)
    centered = np.where(is_known, values - values.sum(axis=0) / counts, 0.0)
    norms = np.sqrt((centered**2).sum(axis=0))
    gaps = 1.0 - is_known[:, columns]
    gaps -= gaps.mean(axis=0)
    gap_std = gaps.std(axis=0)
    compared = (source[columns][:, None] != source) & (gap_std[:, None] > 0.0) & (norms > 0.0)
    scale = np.where(compared, gap_std[:, None] * np.where(norms > 0.0, norms, 1.0), 1.0)
    deviation = np.where(compared, np.abs(gaps.T @ centered) / scale, 0.0)  # in standard errors
    threshold = norm.isf(0.5 * _SIGNIFICANCE / np.maximum(compared.sum(axis=1), 1))
    return np.asarray(deviation.max(axis=1, initial=0.0) > threshold)


class Filling(Checked):
    """Imputer of missing numbers.

    Attributes
    ----------
    columns : (m,) int64
        Indices of the numeric columns in the matrix, in rising order.
    middle, low, high : (m,) float64
        Median, smallest and largest value of each column.
    mean, spread : (m,) float64
        Mean and standard deviation that standardise the columns.
    precision : (m, m) or (0, 0) float64
        Inverse of the covariance of the standardised columns; empty if medians are imputed.

    Examples
    --------
    >>> import numpy as np
    >>> column = np.arange(101.0)
    >>> filling = Filling.fit(np.column_stack([column, 2.0 * column]), np.array([0, 1]))
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
        is_known = ~np.isnan(values)
        known_values = np.where(is_known, values, 0.0)
        self.columns = columns
        self.middle = np.array([_median(column) for column in values.T])
        self.low = np.where(is_known, values, np.inf).min(axis=0, initial=np.inf)
        self.high = np.where(is_known, values, -np.inf).max(axis=0, initial=-np.inf)
        self.low, self.high = (np.where(np.isfinite(limit), limit, 0.0) for limit in (self.low, self.high))
        self.mean, self.spread = np.zeros(len(columns)), np.ones(len(columns))
        self.precision = np.empty((0, 0))
        can_be_squared = np.abs(known_values).max(axis=0, initial=0.0).max(initial=0.0) < LARGEST
        if len(values) >= _MIN_ROWS and 1 < len(columns) <= _MAX_COLUMNS and can_be_squared:
            self._fit_precision(known_values, is_known)
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(np.all(self.low <= self.high), "Filling.low exceeds high")
        require(sizes["joint"] in (0, sizes["columns"]), "Filling.precision and columns differ in size")
        if sizes["joint"]:
            in_range = np.abs(self.precision).max() <= 2.0 / _MIN_VARIANCE
            require(in_range and np.allclose(self.precision, self.precision.T), "Filling.precision is not symmetric")
            eigenvalues = np.linalg.eigvalsh(self.precision)
            in_range = eigenvalues.min() >= 1e-6 and eigenvalues.max() <= 2.0 / _MIN_VARIANCE
            require(in_range, "Filling.precision is not the inverse of a covariance")

    @classmethod
    def fit(cls, encoded: np.ndarray, columns: np.ndarray) -> Filling:
        """Learn from the numeric columns of an encoded table, which hold NaN where numbers are missing."""
        return cls(columns=columns.astype(np.int64), values=encoded[:, columns])

    def _fit_precision(self, known_values: np.ndarray, is_known: np.ndarray) -> None:
        counts = np.maximum(is_known.sum(axis=0), 1)
        self.mean = known_values.sum(axis=0) / counts
        centered = np.where(is_known, known_values - self.mean, 0.0)
        std = np.sqrt((centered**2).sum(axis=0) / counts)
        self.spread = np.where(std > 1e-12 * (1.0 + np.abs(self.mean)), std, 1.0)
        standardized = centered / self.spread
        pair_counts = is_known.T.astype(np.float64) @ is_known
        covariance = standardized.T @ standardized / np.maximum(pair_counts, 1.0)
        n_rows, n_columns = known_values.shape
        covariance *= n_rows / (n_rows + n_columns)
        covariance[np.diag_indices(n_columns)] = 1.0
        eigenvalues, eigenvectors = np.linalg.eigh(covariance)
        self.precision = (eigenvectors / np.maximum(eigenvalues, _MIN_VARIANCE)) @ eigenvectors.T

    def fill(self, encoded: np.ndarray) -> None:
        """Replace the missing numbers of an encoded table in place."""
        values = encoded[:, self.columns]
        missing = np.isnan(values)
        rows = np.flatnonzero(missing.any(axis=1))
        if not len(rows):
            return
        values, missing = values[rows], missing[rows]
        if len(self.precision):
            imputed = self._conditional_means(values, missing)
        else:
            imputed = np.broadcast_to(self.middle, values.shape)
        encoded[np.ix_(rows, self.columns)] = np.where(missing, np.clip(imputed, self.low, self.high), values)

    def _conditional_means(self, values: np.ndarray, missing: np.ndarray) -> np.ndarray:
        """Return the values, with the conditional means of missing ones given the others of their row."""
        standardized = np.where(missing, 0.0, (np.where(missing, 0.0, values) - self.mean) / self.spread)
        product = rowwise_product(standardized, self.precision)
        n_missing = missing.sum(axis=1)
        for k in np.unique(n_missing).tolist():
            rows = np.flatnonzero(n_missing == k)
            columns = np.nonzero(missing[rows])[1].reshape(len(rows), k)
            precision = self.precision[columns[:, :, None], columns[:, None, :]]
            means = np.linalg.solve(precision, -np.take_along_axis(product[rows], columns, axis=1)[:, :, None])
            standardized[rows[:, None], columns] = means[:, :, 0]
        return np.asarray(standardized * self.spread + self.mean)


def _median(column: np.ndarray) -> float:
    """Median of the known values; 0 if there are none."""
    values = column[~np.isnan(column)]
    return float(np.median(values)) if len(values) else 0.0
