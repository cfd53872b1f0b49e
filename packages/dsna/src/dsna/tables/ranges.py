"""Warnings about numbers outside their training range, where trees and neighbours cannot extrapolate."""

from __future__ import annotations

import numpy as np

from .encoder import TableEncoder
from .files.delimited import short


class TrainingRanges:
    """Count the rows whose numbers lie outside the training range, over successive chunks of a table.

    Parameters
    ----------
    encoder : fitted TableEncoder.

    Examples
    --------
    >>> import polars
    >>> encoder = TableEncoder().fit(polars.DataFrame({"amount": [1.0, 5.0, 9.0]}))
    >>> ranges = TrainingRanges(encoder)
    >>> ranges.add(np.array([[3.0], [17.0]]))
    >>> ranges.notes()
    ["column 'amount': 1 of 2 rows lies outside the training range 1 to 9: 17 in row 2, by 1 times its width"]
    """

    def __init__(self, encoder: TableEncoder) -> None:
        filling = encoder._filling
        kinds = [column.kind for column in encoder._columns if column.filled]
        names = [name for name, column in zip(encoder.types_, encoder._columns, strict=True) if column.filled]
        numbers = [k for k, kind in enumerate(kinds) if kind == "number"]
        self._names = [names[k] for k in numbers]
        self._columns, self._low, self._high = filling.columns[numbers], filling.low[numbers], filling.high[numbers]
        self._outside = np.zeros(len(numbers), dtype=np.int64)
        self._excess = np.zeros(len(numbers))  # the largest so far, and the value and the row that have it
        self._value, self._row = np.zeros(len(numbers)), np.zeros(len(numbers), dtype=np.int64)
        self._rows = 0

    def add(self, encoded: np.ndarray) -> None:
        """Count encoded rows; missing values were filled in with values within the range."""
        if not len(encoded):
            return
        values = encoded[:, self._columns]
        with np.errstate(over="ignore"):
            excess = np.maximum(self._low - values, values - self._high)
        self._outside += (excess > 0.0).sum(axis=0)
        furthest = excess.argmax(axis=0)
        columns = np.arange(len(furthest))
        further = excess[furthest, columns] > self._excess
        self._excess = np.where(further, excess[furthest, columns], self._excess)
        self._value = np.where(further, values[furthest, columns], self._value)
        self._row = np.where(further, self._rows + furthest + 1, self._row)
        self._rows += len(encoded)

    def notes(self) -> list[str]:
        """Return a line for each column with such rows: their number, the range and the furthest value."""
        return [self._note(int(k)) for k in np.flatnonzero(self._outside)]

    def _note(self, k: int) -> str:
        n_outside, low, high, value = int(self._outside[k]), self._low[k], self._high[k], self._value[k]
        with np.errstate(over="ignore"):
            width = high - low
            times = self._excess[k] / width if width > 0.0 else np.inf
        distance = f", by {times:.2g} times its width" if np.isfinite(width) and np.isfinite(times) else ""
        limits = f"outside the training range {low:.6g} to {high:.6g}"
        column = f"column {short(self._names[k])}"
        if self._rows == 1:
            return f"{column}: {value:.6g} lies {limits}{distance}"
        count = f"{n_outside:,} of {self._rows:,} rows {'lies' if n_outside == 1 else 'lie'} {limits}"
        furthest = "" if n_outside == 1 else "the furthest is "
        return f"{column}: {count}: {furthest}{value:.6g} in row {self._row[k]:,}{distance}"
