"""Columns of text -> columns of numbers, dates and text, with what is worth a note."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..._utils.errors import setting
from ..column_types import ColumnType, ambiguous_dates, decimal_of, type_of_words
from ..words import MISSING, Words, booleans, dates, is_code, numbers, words_of
from .delimited import listed, plural, short

if TYPE_CHECKING:
    import polars as pl

_SHOWN = 3  # cells that a note names
_CODES = r"^[+-]?(0\d+|\d{16,})$"
_WHOLE = float(2**53)


@dataclass
class Remarks:
    """What is worth a note, of all columns together."""

    missing: dict[str, list[str]] = field(default_factory=dict)
    comma: list[str] = field(default_factory=list)
    by_column: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """One line for each guess."""
        said = []
        if self.comma:
            where = plural("column", self._short(self.comma))
            said.append(f"numbers have a decimal comma in {where} ({setting('decimal', ',')})")
        if self.missing:
            spelled = sorted({word for words in self.missing.values() for word in words})
            where = plural("column", self._short(list(self.missing)))
            said.append(f"{', '.join(map(repr, spelled))} in {where}: taken for missing values")
        return said + self.by_column

    @staticmethod
    def _short(names: list[str]) -> list[str]:
        return [short(name) for name in names]


@dataclass(frozen=True)
class Typing:
    """How text becomes typed columns.

    Parameters
    ----------
    types : dict of ColumnType by column
        Given ones; others are inferred.
    decimals : str
        Decimal signs to try; see :func:`type_of_words`.
    missing : set of str
        Spellings of missing values.
    place : function from row numbers to what messages call them.
    """

    types: dict[str, ColumnType]
    decimals: str = ".,"
    missing: Collection[str] = MISSING
    place: Callable[[int], str] = "row {}".format

    def column(self, series: pl.Series, remarks: Remarks) -> tuple[pl.Series, ColumnType]:
        """A column of text, typed."""
        given = self.types.get(series.name)
        if given is None or (given.kind == "number" and given.decimal == "."):
            plain = self._plain_numbers(series)
            if plain is not None:
                constant = plain.null_count() == len(plain) or (plain.null_count() == 0 and plain.n_unique() == 1)
                if plain.null_count() == len(plain):
                    self._note_missing(series, remarks)
                    remarks.by_column.append(f"column {short(series.name)} holds no value")
                    return plain, given or ColumnType("constant")
                if plain.null_count():
                    self._note_missing(series, remarks)
                return _whole(plain), given or ColumnType("constant" if constant else "number")
        words = words_of(series.to_list(), self.missing)
        if words.missing:
            remarks.missing[series.name] = words.missing
        kind = given or type_of_words(words, self.decimals)
        if kind == ColumnType("number"):
            kind = replace(kind, decimal=decimal_of(words.values, words.counts, self.decimals)[0])
        return self._converted(series.name, words, kind, remarks), kind

    def _plain_numbers(self, series: pl.Series) -> pl.Series | None:
        """Numbers written as programs write them, where all cells are such or missing."""
        import polars as pl

        bare = series.str.strip_chars()
        bare = bare.set(bare.is_in(list(self.missing)), None)
        found = bare.cast(pl.Float64, strict=False)
        good = found.null_count() == bare.null_count() and bool(found.is_finite().all())
        return found if good and not bare.str.contains(_CODES).any() else None

    def _note_missing(self, series: pl.Series, remarks: Remarks) -> None:
        met = set(series.str.strip_chars().unique().to_list()) & (set(self.missing) - {""})
        if met:
            remarks.missing[series.name] = sorted(met)

    def _converted(self, name: str, words: Words, kind: ColumnType, remarks: Remarks) -> pl.Series:
        """Cells as their type says."""
        import polars as pl

        known: np.ndarray | None = None
        if kind.kind == "number":
            decimal = kind.decimal
            known = numbers(words.values, decimal)
            if decimal == ",":
                remarks.comma.append(name)
            self._note_strangers(name, words, np.isnan(known), "numbers", remarks)
            return _whole(pl.Series(name, words.spread(known, np.nan)).fill_nan(None))
        if kind.kind == "date":
            known = dates(words.values, kind.order)
            self._note_strangers(name, words, np.isnat(known), "dates", remarks)
            if ambiguous_dates(words.values, kind.order):
                other = {"dmy": "mdy", "mdy": "dmy"}[kind.order]
                first = "day" if kind.order == "dmy" else "month"
                remarks.by_column.append(
                    f"column {short(name)}: dates such as {short(words.values[0])} are read {first} first "
                    f"(the other way: {setting('types', f'date:{other}', name)})"
                )
            return pl.Series(name, words.spread(known, np.datetime64("NaT")))
        if kind.kind == "boolean" and {value.lower() for value in words.values} <= {"true", "false"}:
            known = booleans(words.values)
            assert known is not None
            return pl.Series(name, [None if code < 0 else bool(known[code]) for code in words.codes], dtype=pl.Boolean)
        if not words.values:
            remarks.by_column.append(f"column {short(name)} holds no value")
        elif all(is_code(value) for value in words.values):
            remarks.by_column.append(
                f"column {short(name)}: numbers such as {short(words.values[0])}, which begin with 0 or are too long "
                f"to be kept exactly, are read as text ({kind.kind})"
            )
        texts = np.array([*words.values, None], dtype=object)[words.codes]
        return pl.Series(name, texts.tolist(), dtype=pl.String)

    def _note_strangers(self, name: str, words: Words, strange: np.ndarray, what: str, remarks: Remarks) -> None:
        """Say which cells are not of the type of the others."""
        if strange.any():
            rows = np.flatnonzero(words.spread(strange, False))
            said = [f"{self.place(int(row))} ({short(words.values[words.codes[row]])})" for row in rows[:_SHOWN]]
            remarks.by_column.append(
                f"column {short(name)} holds {what}, but for {listed(said, len(rows))}: taken for missing values "
                f"(or read it as text: {setting('types', 'category', name)})"
            )


def _whole(column: pl.Series) -> pl.Series:
    """Whole numbers as such, where all are."""
    import polars as pl

    known = column.drop_nulls()
    if len(known) and bool((known == known.round()).all()) and bool((known.abs() < _WHOLE).all()):
        return column.cast(pl.Int64)
    return column


def typed_frame(frame: pl.DataFrame, typing: Typing) -> tuple[pl.DataFrame, dict[str, ColumnType], Remarks]:
    """A frame whose columns of text are typed; others keep what they have.

    Columns that no model takes (lists, structures, bytes) are left out, with a note.
    """
    import polars as pl

    remarks = Remarks()
    columns, types = [], {}
    for series in frame.iter_columns():
        plain = _readable(series, remarks)
        if plain is None:
            continue
        if plain.dtype == pl.String:
            column, types[series.name] = typing.column(plain, remarks)
        else:
            column, types[series.name] = plain, typing.types.get(series.name) or _type_of(plain)
        columns.append(column)
    return pl.DataFrame(columns), types, remarks


def _readable(series: pl.Series, remarks: Remarks) -> pl.Series | None:
    """A column of one of the types that are read further; None where it is left out."""
    import polars as pl

    dtype = series.dtype
    if dtype in (pl.Categorical, pl.Enum) or dtype == pl.Null:
        return series.cast(pl.String)
    if dtype.is_float():
        infinite = int(series.is_infinite().sum() or 0)
        if infinite:
            remarks.by_column.append(
                f"column {short(series.name)}: {infinite} infinite cells are taken for missing values"
            )
            series = series.set(series.is_infinite(), None)
        return series.fill_nan(None)
    if dtype.is_decimal():
        return series.cast(pl.Float64)
    if dtype == pl.Duration:
        remarks.by_column.append(f"column {short(series.name)}: durations are read as seconds")
        return series.dt.total_microseconds() / 1e6
    if dtype == pl.Time:
        remarks.by_column.append(f"column {short(series.name)}: times of day are read as hours")
        return series.cast(pl.Int64) / 3.6e12
    if dtype.is_integer() or dtype in (pl.String, pl.Boolean, pl.Date) or dtype == pl.Datetime:
        return series
    remarks.by_column.append(f"column {short(series.name)} holds {dtype}, which is no value: left out")
    return None


def _type_of(series: pl.Series) -> ColumnType:
    """Type of a column that a file has typed."""
    known = series.drop_nulls()
    if not len(known) or (len(known) == len(series) and known.n_unique() == 1):
        return ColumnType("constant")
    if series.dtype.is_temporal():
        return ColumnType("date")
    return ColumnType("number" if series.dtype.is_numeric() else "boolean")
