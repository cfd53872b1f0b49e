"""Columns of dates."""

from __future__ import annotations

import numpy as np

from ..._utils.invariants import Array, Choice, Number, require
from ..cells import Cells
from ..column_types import ColumnType
from ..words import DATE_ORDERS
from .base import FLAG, MISSING_COLUMN, ColumnEncoder, Notes, Settings, check_readable

_DAY = 86_400_000_000.0  # microseconds
_NAMES = ("year", "month", "weekday", "hour")
_LARGEST = 1e18  # microseconds, beyond the year 9999


class DateEncoder(ColumnEncoder):
    """Year, month, weekday and hour, as far as they vary, and the days up to the newest date of training.

    Parameters
    ----------
    parts : names of the parts that have columns.
    newest, fill : newest date of training, and the one that stands for missing ones: microseconds since 1970.
    order : of day, month and year in text.
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
        require(all(part in _NAMES for part in self.parts), "DateEncoder.parts holds none of the parts of a date")

    @classmethod
    def fit(cls, cells: Cells, kind: ColumnType, settings: Settings, notes: Notes) -> ColumnEncoder:
        """Learn from all cells of a training column."""
        when, strange = cells.dates(kind.order)
        check_readable(cells, strange, "dates", notes)
        missing = np.isnat(when)
        known = when[~missing].astype(np.float64)
        varied = [name for name, part in _parts(when[~missing]).items() if np.ptp(part) > 0]
        return cls(
            parts=np.array(varied, dtype=object),
            newest=float(known.max()),
            fill=float(np.sort(known)[len(known) // 2]),
            order=kind.order,
            missing=bool(missing.any()),
        )

    def suffixes(self) -> list[str]:
        """What is added to the name of the column, for each column of numbers."""
        return [f": {part}" for part in self.parts] + [": age in days"] + [MISSING_COLUMN] * self.indicator

    def encode(self, cells: Cells, notes: Notes) -> np.ndarray:
        """(n, n_columns) float64."""
        when, strange = cells.dates(self.order)
        check_readable(cells, strange, "dates", notes)
        missing = np.isnat(when)
        when = np.where(missing, np.array(int(self.fill), dtype="datetime64[us]"), when)
        parts = _parts(when)
        columns = [parts[name] for name in self.parts]
        columns.append((self.newest - when.astype(np.float64)) / _DAY)
        return self._with_missing(columns, missing, cells.name, notes)


def _parts(when: np.ndarray) -> dict[str, np.ndarray]:
    """Year, month, weekday (Monday is 0) and hour of dates without NaT."""
    days = when.astype("datetime64[D]")
    months = when.astype("datetime64[M]").astype(np.int64)
    found = (
        months // 12 + 1970,
        months % 12 + 1,
        (days.astype(np.int64) + 3) % 7,
        (when - days).astype("timedelta64[us]").astype(np.float64) / (_DAY / 24.0),
    )
    return {name: part.astype(np.float64) for name, part in zip(_NAMES, found, strict=True)}
