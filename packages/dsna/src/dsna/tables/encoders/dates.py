"""Encoder of date columns."""

from __future__ import annotations

import numpy as np

from ..._utils.invariants import Array, Choice, Number, require
from ..cells import Cells
from ..column_types import ColumnType
from ..words import DATE_ORDERS
from .base import FLAG, MISSING_COLUMN, ColumnEncoder, EncoderSettings, Notes, check_readable

_DAY = 86_400_000_000.0  # microseconds
_DATE_PARTS = ("year", "month", "weekday", "hour")
_LARGEST = 1e18  # microseconds: beyond the year 9999


class DateEncoder(ColumnEncoder):
    """Encode dates as year, month, weekday and hour, where these vary, and days before the newest training date.

    Parameters
    ----------
    parts : names of the parts that have output columns.
    newest, fill : newest training date, and the date that replaces missing ones, in microseconds since 1970.
    order : order of day, month and year in text.
    """

    kind = "date"
    FIELDS = {
        "parts": Array("object", "parts"),
        "newest": Number(-_LARGEST, _LARGEST),
        "fill": Number(-_LARGEST, _LARGEST),
        "order": Choice(DATE_ORDERS),
        "missing": FLAG,
        "indicator": FLAG,
    }

    def __init__(self, *, parts: np.ndarray, newest: float, fill: float, order: str, missing: bool):
        self.parts, self.newest, self.fill, self.order = parts, newest, fill, order
        self.missing = self.indicator = missing
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(
            all(name in _DATE_PARTS for name in self.parts),
            "DateEncoder.parts holds unknown parts of dates",
        )

    @classmethod
    def fit(cls, cells: Cells, column_type: ColumnType, settings: EncoderSettings, notes: Notes) -> ColumnEncoder:
        """Fit to the cells of a training column."""
        dates, unreadable = cells.dates(column_type.order)
        check_readable(cells, unreadable, "dates", notes)
        missing = np.isnat(dates)
        microseconds = dates[~missing].astype(np.float64)
        varying_parts = [name for name, values in _date_parts(dates[~missing]).items() if np.ptp(values) > 0]
        return cls(
            parts=np.array(varying_parts, dtype=object),
            newest=float(microseconds.max()),
            fill=float(np.sort(microseconds)[len(microseconds) // 2]),
            order=column_type.order,
            missing=bool(missing.any()),
        )

    def suffixes(self) -> list[str]:
        """Return the suffixes that turn the name of the input column into those of the output columns."""
        return [f": {name}" for name in self.parts] + [": age in days"] + [MISSING_COLUMN] * self.indicator

    def encode(self, cells: Cells, notes: Notes) -> np.ndarray:
        """Encode cells as an (n, n_columns) float64 array."""
        dates, unreadable = cells.dates(self.order)
        check_readable(cells, unreadable, "dates", notes)
        missing = np.isnat(dates)
        dates = np.where(missing, np.array(int(self.fill), dtype="datetime64[us]"), dates)
        values_of_part = _date_parts(dates)
        columns = [values_of_part[name] for name in self.parts]
        columns.append((self.newest - dates.astype(np.float64)) / _DAY)
        return self._with_missing(columns, missing, cells.name, notes)


def _date_parts(dates: np.ndarray) -> dict[str, np.ndarray]:
    """Return year, month, weekday (Monday is 0) and hour of dates without NaT."""
    days = dates.astype("datetime64[D]")
    months = dates.astype("datetime64[M]").astype(np.int64)
    values = (
        months // 12 + 1970,
        months % 12 + 1,
        (days.astype(np.int64) + 3) % 7,
        (dates - days).astype("timedelta64[us]").astype(np.float64) / (_DAY / 24.0),
    )
    return {name: column.astype(np.float64) for name, column in zip(_DATE_PARTS, values, strict=True)}
