"""Conversion of columns of text to numbers, dates and booleans, with notes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..._utils.errors import setting
from ..cells import Unreadable
from ..column_types import ColumnType, ambiguous_dates, type_of_words
from ..notation import Evidence, Notation, evidence_of
from ..words import MISSING, Words, booleans, dates, is_code, numbers, words_of
from .delimited import listed, plural, short

if TYPE_CHECKING:
    import polars as pl

_SHOWN = 3  # cells shown in a note
_CODES = r"^[+-]?(0\d+|\d{16,})$"
_THOUSANDS = r"^[+-]?[1-9]\d{0,2}\.\d{3}$"  # also a number with a decimal point
_EXACT_INTEGERS = float(2**53)  # smaller floats hold integers exactly


@dataclass
class Remarks:
    """Notes on the columns of a table, and their unreadable cells."""

    missing: dict[str, list[str]] = field(default_factory=dict)
    comma: list[str] = field(default_factory=list)
    by_column: list[str] = field(default_factory=list)
    unreadable: dict[str, Unreadable] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Return one line for each guess."""
        lines = []
        if self.comma:
            columns = plural("column", [short(name) for name in self.comma])
            lines.append(f"numbers have a decimal comma in {columns} ({setting('decimal', ',')})")
        if self.missing:
            spellings = sorted({word for words in self.missing.values() for word in words})
            columns = plural("column", [short(name) for name in self.missing])
            lines.append(f"{', '.join(map(repr, spellings))} in {columns}: taken for missing values")
        return lines + self.by_column


@dataclass
class TextColumn:
    """A column of text before its conversion.

    Parameters
    ----------
    series : polars.Series
    type : ColumnType
        Type of the column, specified, learned or inferred.
    plain : polars.Series or None
        Its numbers, if all are plain numbers with a decimal point.
    words : Words or None
        Its distinct values, if they were needed.
    evidence : Evidence or None
        Evidence of its cells for one notation; None if there is only one.
    """

    series: pl.Series
    type: ColumnType
    plain: pl.Series | None = None
    words: Words | None = None
    evidence: Evidence | None = None


@dataclass(frozen=True)
class Typing:
    """Settings for the conversion of text to typed columns.

    Parameters
    ----------
    types : dict of ColumnType by column
        Types specified by the user.
    learned : dict of ColumnType by column
        Types of a model; the notation of the table overrides theirs.
    notation : Notation
        Notation of the table so far.
    missing : set of str
        Spellings of missing values.
    row_name : function from the index of a row to its name in messages
    only_known : bool
        Whether columns whose type is neither specified nor learned stay text.
    """

    types: Mapping[str, ColumnType]
    learned: Mapping[str, ColumnType] = field(default_factory=dict)
    notation: Notation = field(default_factory=Notation)
    missing: Collection[str] = MISSING
    row_name: Callable[[int], str] = "row {}".format
    only_known: bool = False

    def inspect(self, series: pl.Series, declared: bool = False) -> TextColumn:
        """Find the type and notation of a column of text; ``declared`` if its data type is categorical."""
        column_type = self.types.get(series.name) or self.learned.get(series.name)
        if column_type is None and self.only_known:
            column_type = ColumnType("text")
        points = self.notation.points
        if not declared and (column_type is None or column_type.kind == "number"):
            stripped = self._stripped(series)
            plain = _plain_numbers(stripped)
            if plain is not None:
                is_constant = plain.null_count() == len(plain) or (plain.null_count() == 0 and plain.n_unique() == 1)
                if column_type is None and is_constant and not self.learned:
                    return TextColumn(series, ColumnType("constant"), plain)
                evidence = _plain_evidence(stripped, points, self.row_name)
                return TextColumn(series, column_type or ColumnType("number"), plain, evidence=evidence)
        words = words_of(series.to_list(), self.missing)
        if column_type is None:
            column_type = type_of_words(words, several=not self.learned)
            if declared and column_type.kind != "constant":
                column_type = ColumnType("category")
        has_learned_order = series.name not in self.types and self.notation.has_order(series.name, column_type)
        if column_type.kind == "number" or has_learned_order:
            return TextColumn(
                series, column_type, words=words, evidence=evidence_of(words, column_type.kind, points, self.row_name)
            )
        return TextColumn(series, column_type, words=words)

    def way(self, column: TextColumn) -> str | None:
        """Return the notation set by the user or shown by the cells; None if other columns have to resolve it."""
        specified = self.types.get(column.series.name)
        if column.evidence is None or (specified is not None and specified.way):
            return column.type.way
        return self.notation.way(column.series.name, column.evidence)

    def _stripped(self, series: pl.Series) -> pl.Series:
        """Strip blanks around cells, and replace missing values by null."""
        stripped = series.str.strip_chars()
        return stripped.set(stripped.is_in(list(self.missing)), None)

    def convert(self, column: TextColumn, way: str, remarks: Remarks) -> tuple[pl.Series, ColumnType]:
        """Convert a column in this notation, and return it with its type."""
        name, column_type = column.series.name, column.type.written(way)
        self._note_sign(column, way or ".", remarks)
        if column.plain is not None and way != ",":
            n_missing = column.plain.null_count()
            if n_missing:
                self._note_missing(column.series, remarks)
            if n_missing == len(column.plain):
                remarks.by_column.append(f"column {short(name)} holds no value")
                return column.plain, column_type
            remarks.unreadable[name] = Unreadable(0, len(column.plain) - n_missing)
            return _as_integers(column.plain), column_type
        words = words_of(column.series.to_list(), self.missing) if column.words is None else column.words
        if words.missing:
            remarks.missing[name] = words.missing
        return self._convert_words(name, words, column_type, remarks), column_type

    def _note_missing(self, series: pl.Series, remarks: Remarks) -> None:
        spellings = set(series.str.strip_chars().unique().to_list()) & (set(self.missing) - {""})
        if spellings:
            remarks.missing[series.name] = sorted(spellings)

    def _convert_words(self, name: str, words: Words, column_type: ColumnType, remarks: Remarks) -> pl.Series:
        """Convert words to their type."""
        import polars as pl

        values: np.ndarray | None
        if column_type.kind == "number":
            values = numbers(words.values, column_type.decimal or ".")
            self._note_unreadable(name, words, np.isnan(values), "numbers", remarks)
            return _as_integers(pl.Series(name, words.expand(values, np.nan)).fill_nan(None))
        if column_type.kind == "date":
            values = dates(words.values, column_type.order)
            self._note_unreadable(name, words, np.isnat(values), "dates", remarks)
            if name not in self.learned and ambiguous_dates(words.values, column_type.order):
                other = {"dmy": "mdy", "mdy": "dmy"}[column_type.order]
                first = "day" if column_type.order == "dmy" else "month"
                remarks.by_column.append(
                    f"column {short(name)}: dates such as {short(words.values[0])} are read {first} first "
                    f"(the other way: {setting('types', f'date:{other}', name)})"
                )
            return pl.Series(name, words.expand(values, np.datetime64("NaT")))
        if column_type.kind == "boolean" and {value.lower() for value in words.values} <= {"true", "false"}:
            values = booleans(words.values)
            assert values is not None
            return pl.Series(name, [None if code < 0 else bool(values[code]) for code in words.codes], dtype=pl.Boolean)
        if not words.values:
            remarks.by_column.append(f"column {short(name)} holds no value")
        elif all(is_code(value) for value in words.values):
            remarks.by_column.append(
                f"column {short(name)}: numbers such as {short(words.values[0])}, which begin with 0 or are too long "
                f"to be kept exactly, are read as text ({column_type.kind})"
            )
        texts = np.array([*words.values, None], dtype=object)[words.codes]
        return pl.Series(name, texts.tolist(), dtype=pl.String)

    def _note_sign(self, column: TextColumn, sign: str, remarks: Remarks) -> None:
        """Note the decimal sign of a column if it is unexpected."""
        if column.evidence is None or column.evidence.kind != "number":
            return
        name, decimal = column.series.name, self.notation.decimal
        sign_name, other_name, separator = ("comma", "point", ".") if sign == "," else ("point", "comma", ",")
        ambiguous_cell = column.evidence.examples.get("", ("", ""))[0]
        occurs = bool(column.evidence.counts.get(sign)) or sign in ambiguous_cell
        if name in self.notation.examples and separator in ambiguous_cell:
            remarks.by_column.append(
                f"column {short(name)}: {other_name}s as in {self.notation.examples[name]} stand between thousands, "
                f"as numbers have a decimal {sign_name} (otherwise: {setting('types', f'number:{other_name}', name)})"
            )
        elif decimal and sign != decimal and occurs:
            remarks.by_column.append(
                f"column {short(name)}: numbers have a decimal {sign_name}, although {setting('decimal', decimal)}"
            )
        elif sign == "," and occurs:
            remarks.comma.append(name)

    def _note_unreadable(
        self, name: str, words: Words, is_unreadable: np.ndarray, expected: str, remarks: Remarks
    ) -> None:
        """Count unreadable cells, and note examples unless there is a model, whose users sum these up themselves."""
        rows = np.flatnonzero(words.expand(is_unreadable, False))
        examples = tuple(
            f"{self.row_name(int(row))} ({short(words.values[words.codes[row]])})" for row in rows[:_SHOWN]
        )
        unreadable = Unreadable(len(rows), int((words.codes >= 0).sum()), expected, examples)
        remarks.unreadable[name] = unreadable
        if not len(rows) or self.learned:
            return
        if name in self.types:
            remarks.by_column.append(f"column {short(name)}: {unreadable.text()}: taken for missing values")
        else:
            remarks.by_column.append(
                f"column {short(name)} holds {expected}, except in {listed(examples, len(rows))}: taken for missing "
                f"values (or read it as text: {setting('types', 'category', name)})"
            )


def _plain_numbers(cells: pl.Series) -> pl.Series | None:
    """Parse cells as plain numbers with a decimal point; None if some cells are not."""
    import polars as pl

    parsed = cells.cast(pl.Float64, strict=False)
    are_numbers = parsed.null_count() == cells.null_count() and bool(parsed.is_finite().all())
    return parsed if are_numbers and not cells.str.contains(_CODES).any() else None


def _plain_evidence(cells: pl.Series, points: bool, row_name: Callable[[int], str]) -> Evidence:
    """Collect the evidence of plain numbers: a point that could separate thousands is ambiguous."""
    has_point = cells.str.contains(".", literal=True).fill_null(False)
    if points or not has_point.any():
        ambiguous = has_point & False
    else:
        ambiguous = has_point & cells.str.contains(_THOUSANDS).fill_null(False)
    counts, examples = {}, {}
    for way, mask in ((".", has_point & ~ambiguous), ("", ambiguous)):
        counts[way] = int(mask.sum())
        if counts[way]:
            row = int(mask.arg_max() or 0)
            examples[way] = (cells[row], row_name(row))
    return Evidence("number", counts, examples)


def _as_integers(column: pl.Series) -> pl.Series:
    """Convert a column to integers if all of its numbers are whole."""
    import polars as pl

    values = column.drop_nulls()
    if len(values) and bool((values == values.round()).all()) and bool((values.abs() < _EXACT_INTEGERS).all()):
        return column.cast(pl.Int64)
    return column


def typed_frame(frame: pl.DataFrame, typing: Typing) -> tuple[pl.DataFrame, dict[str, ColumnType], Remarks]:
    """Convert the columns of text of a frame, and infer the types of the others.

    Columns of lists, structures or bytes are left out, with a note. Ambiguous columns are converted after all others.
    """
    import polars as pl

    remarks, notation = Remarks(), typing.notation
    columns: dict[str, pl.Series] = {}
    types: dict[str, ColumnType] = {}
    ambiguous: list[TextColumn] = []
    for series in frame.iter_columns():
        basic = _basic_type(series, remarks)
        if basic is None:
            continue
        name = series.name
        columns[name], types[name] = basic, ColumnType("text")
        if basic.dtype != pl.String:
            types[name] = typing.types.get(name) or _type_of(basic)
            continue
        column = typing.inspect(basic, declared=series.dtype in (pl.Categorical, pl.Enum))
        way = typing.way(column)
        if way is None:
            ambiguous.append(column)
        else:
            columns[name], types[name] = typing.convert(column, way, remarks)
    if ambiguous and typing.only_known:
        for series in [series for name, series in columns.items() if types[name] == ColumnType("text")]:
            if series.name not in typing.learned and series.dtype == pl.String:
                typing.way(replace(typing, only_known=False).inspect(series))  # for its effect on the notation
    for column in sorted(ambiguous, key=lambda column: column.evidence is not None and not column.evidence.is_weak):
        assert column.evidence is not None
        name = column.series.name
        columns[name], types[name] = typing.convert(column, notation.resolve(name, column.evidence), remarks)
    notation.check()
    default_decimal = notation.default_decimal()
    for name, column_type in types.items():
        if column_type == ColumnType("number") and frame[name].dtype == pl.String:
            types[name] = column_type.written(default_decimal)
    return pl.DataFrame(list(columns.values())), types, remarks


def _basic_type(series: pl.Series, remarks: Remarks) -> pl.Series | None:
    """Convert a column to text, numbers, booleans or dates; None if that is impossible."""
    import polars as pl

    dtype = series.dtype
    if dtype in (pl.Categorical, pl.Enum) or dtype == pl.Null:
        return series.cast(pl.String)
    if dtype.is_float():
        n_infinite = int(series.is_infinite().sum() or 0)
        if n_infinite:
            remarks.by_column.append(
                f"column {short(series.name)}: {n_infinite} infinite cells are taken for missing values"
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
    remarks.by_column.append(f"column {short(series.name)} holds {dtype}, which is not supported: left out")
    return None


def _type_of(series: pl.Series) -> ColumnType:
    """Return the type of a column that is not text."""
    values = series.drop_nulls()
    if not len(values) or (len(values) == len(series) and values.n_unique() == 1):
        return ColumnType("constant")
    if series.dtype.is_temporal():
        return ColumnType("date")
    return ColumnType("number" if series.dtype.is_numeric() else "boolean")
