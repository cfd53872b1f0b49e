"""Columns of text -> columns of numbers, dates and text, with what is worth a note."""

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

_SHOWN = 3  # cells that a note names
_CODES = r"^[+-]?(0\d+|\d{16,})$"
_THOUSANDS = r"^[+-]?[1-9]\d{0,2}\.\d{3}$"  # which may be a number with a decimal point, too
_WHOLE = float(2**53)


@dataclass
class Remarks:
    """What is worth a note, of all columns together, and the cells of each that cannot be read."""

    missing: dict[str, list[str]] = field(default_factory=dict)
    comma: list[str] = field(default_factory=list)
    by_column: list[str] = field(default_factory=list)
    unreadable: dict[str, Unreadable] = field(default_factory=dict)

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


@dataclass
class LookedAt:
    """A column of text before it is converted.

    Parameters
    ----------
    series : the column.
    kind : ColumnType
        What it holds, as it was said, learned or inferred.
    plain : polars.Series or None
        Its numbers, if all are written as programs write them.
    words : Words or None
        Its distinct values, if they were needed.
    evidence : Evidence or None
        What its cells show of the way in which they are written; None where there is no choice.
    """

    series: pl.Series
    kind: ColumnType
    plain: pl.Series | None = None
    words: Words | None = None
    evidence: Evidence | None = None


@dataclass(frozen=True)
class Typing:
    """How text becomes typed columns.

    Parameters
    ----------
    types : dict of ColumnType by column
        Given by the user.
    learned : dict of ColumnType by column
        Those of a model; their decimal signs and orders of dates give way to what the table shows.
    notation : Notation
        How the columns are written, as far as was seen.
    missing : set of str
        Spellings of missing values.
    place : function from row numbers to what messages call them.
    only_known : bool
        Whether columns whose type is neither given nor learned stay text.
    """

    types: Mapping[str, ColumnType]
    learned: Mapping[str, ColumnType] = field(default_factory=dict)
    notation: Notation = field(default_factory=Notation)
    missing: Collection[str] = MISSING
    place: Callable[[int], str] = "row {}".format
    only_known: bool = False

    def look(self, series: pl.Series, declared: bool = False) -> LookedAt:
        """What a column of text holds; ``declared`` says that its owner calls it categories."""
        given = self.types.get(series.name) or self.learned.get(series.name)
        if given is None and self.only_known:
            given = ColumnType("text")
        points = self.notation.points
        if not declared and (given is None or given.kind == "number"):
            bare = self._bare(series)
            plain = _plain_numbers(bare)
            if plain is not None:
                constant = plain.null_count() == len(plain) or (plain.null_count() == 0 and plain.n_unique() == 1)
                if given is None and constant and not self.learned:
                    return LookedAt(series, ColumnType("constant"), plain)
                kind = given or ColumnType("number")
                return LookedAt(series, kind, plain, evidence=_plain_evidence(bare, points, self.place))
        words = words_of(series.to_list(), self.missing)
        kind = given or type_of_words(words, several=not self.learned)
        if declared and given is None and kind.kind != "constant":
            kind = ColumnType("category")
        learned = series.name not in self.types and self.notation.has_order(series.name, kind)
        chosen = kind.kind == "number" or learned
        evidence = evidence_of(words, kind.kind, points, self.place) if chosen else None
        return LookedAt(series, kind, words=words, evidence=evidence)

    def way(self, looked: LookedAt) -> str | None:
        """How a column is written: as the user says or as its cells show; None where other columns have to tell."""
        given = self.types.get(looked.series.name)
        if looked.evidence is None or (given is not None and given.way):
            return looked.kind.way
        return self.notation.way(looked.series.name, looked.evidence)

    def _bare(self, series: pl.Series) -> pl.Series:
        """Cells without blanks around them; null where there is no value."""
        bare = series.str.strip_chars()
        return bare.set(bare.is_in(list(self.missing)), None)

    def converted(self, looked: LookedAt, way: str, remarks: Remarks) -> tuple[pl.Series, ColumnType]:
        """A column in its type."""
        name, kind = looked.series.name, looked.kind.written(way)
        self._note_sign(looked, way or ".", remarks)
        if looked.plain is not None and way != ",":
            n_missing = looked.plain.null_count()
            if n_missing:
                self._note_missing(looked.series, remarks)
            if n_missing == len(looked.plain):
                remarks.by_column.append(f"column {short(name)} holds no value")
                return looked.plain, kind
            remarks.unreadable[name] = Unreadable(0, len(looked.plain) - n_missing)
            return _whole(looked.plain), kind
        words = words_of(looked.series.to_list(), self.missing) if looked.words is None else looked.words
        if words.missing:
            remarks.missing[name] = words.missing
        return self._of_words(name, words, kind, remarks), kind

    def _note_missing(self, series: pl.Series, remarks: Remarks) -> None:
        met = set(series.str.strip_chars().unique().to_list()) & (set(self.missing) - {""})
        if met:
            remarks.missing[series.name] = sorted(met)

    def _of_words(self, name: str, words: Words, kind: ColumnType, remarks: Remarks) -> pl.Series:
        """Cells as their type says."""
        import polars as pl

        known: np.ndarray | None = None
        if kind.kind == "number":
            known = numbers(words.values, kind.decimal or ".")
            self._note_unreadable(name, words, np.isnan(known), "numbers", remarks)
            return _whole(pl.Series(name, words.spread(known, np.nan)).fill_nan(None))
        if kind.kind == "date":
            known = dates(words.values, kind.order)
            self._note_unreadable(name, words, np.isnat(known), "dates", remarks)
            if name not in self.learned and ambiguous_dates(words.values, kind.order):
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

    def _note_sign(self, looked: LookedAt, sign: str, remarks: Remarks) -> None:
        """Say which decimal sign a column has, where that is not a matter of course."""
        if looked.evidence is None or looked.evidence.kind != "number":
            return
        name, decimal, called = looked.series.name, self.notation.decimal, "comma" if sign == "," else "point"
        separator, open_cell = "." if sign == "," else ",", looked.evidence.examples.get("", ("", ""))[0]
        stands = bool(looked.evidence.counts.get(sign)) or sign in open_cell
        if name in self.notation.examples and separator in open_cell:
            remarks.by_column.append(
                f"column {short(name)}: {'points' if separator == '.' else 'commas'} as in "
                f"{self.notation.examples[name]} stand between thousands, as numbers have a decimal {called} "
                f"(otherwise: {setting('types', 'number:' + _OTHER[called], name)})"
            )
        elif decimal and sign != decimal and stands:
            remarks.by_column.append(
                f"column {short(name)}: numbers have a decimal {called}, although {setting('decimal', decimal)}"
            )
        elif sign == "," and stands:
            remarks.comma.append(name)

    def _note_unreadable(self, name: str, words: Words, strange: np.ndarray, what: str, remarks: Remarks) -> None:
        """Count the cells that are not of the type of the others, and say which, where no model asks for them."""
        cells = np.flatnonzero(words.spread(strange, False))
        said = tuple(f"{self.place(int(row))} ({short(words.values[words.codes[row]])})" for row in cells[:_SHOWN])
        found = Unreadable(len(cells), int((words.codes >= 0).sum()), what, said)
        remarks.unreadable[name] = found
        if not len(cells):
            return
        if self.learned:  # those who ask a model sum up what their file holds
            return
        if name in self.types:
            remarks.by_column.append(f"column {short(name)}: {found.text()}: taken for missing values")
        else:
            remarks.by_column.append(
                f"column {short(name)} holds {what}, but for {listed(said, len(cells))}: taken for missing values "
                f"(or read it as text: {setting('types', 'category', name)})"
            )


_OTHER = {"comma": "point", "point": "comma"}


def _plain_numbers(bare: pl.Series) -> pl.Series | None:
    """Numbers written as programs write them, where all cells are such or missing."""
    import polars as pl

    found = bare.cast(pl.Float64, strict=False)
    good = found.null_count() == bare.null_count() and bool(found.is_finite().all())
    return found if good and not bare.str.contains(_CODES).any() else None


def _plain_evidence(bare: pl.Series, points: bool, place: Callable[[int], str]) -> Evidence:
    """What such numbers show of their decimal sign: all but those with three digits after the point need it."""
    pointed = bare.str.contains(".", literal=True).fill_null(False)
    if points or not pointed.any():
        either = pointed & False
    else:
        either = pointed & bare.str.contains(_THOUSANDS).fill_null(False)
    counts, examples = {}, {}
    for way, cells in ((".", pointed & ~either), ("", either)):
        counts[way] = int(cells.sum())
        if counts[way]:
            first = int(cells.arg_max() or 0)
            examples[way] = (bare[first], place(first))
    return Evidence("number", counts, examples)


def _whole(column: pl.Series) -> pl.Series:
    """Whole numbers as such, where all are."""
    import polars as pl

    known = column.drop_nulls()
    if len(known) and bool((known == known.round()).all()) and bool((known.abs() < _WHOLE).all()):
        return column.cast(pl.Int64)
    return column


def typed_frame(frame: pl.DataFrame, typing: Typing) -> tuple[pl.DataFrame, dict[str, ColumnType], Remarks]:
    """A frame whose columns of text are typed; others keep what they have.

    Columns that no model takes (lists, structures, bytes) are left out, with a note. Columns that can be read in two
    ways wait until all others were seen.
    """
    import polars as pl

    remarks, notation = Remarks(), typing.notation
    columns: dict[str, pl.Series] = {}
    types: dict[str, ColumnType] = {}
    waiting: list[LookedAt] = []
    for series in frame.iter_columns():
        plain = _readable(series, remarks)
        if plain is None:
            continue
        name = series.name
        columns[name], types[name] = plain, ColumnType("text")
        if plain.dtype != pl.String:
            types[name] = typing.types.get(name) or _type_of(plain)
            continue
        looked = typing.look(plain, declared=series.dtype in (pl.Categorical, pl.Enum))
        way = typing.way(looked)
        if way is None:
            waiting.append(looked)
        else:
            columns[name], types[name] = typing.converted(looked, way, remarks)
    if waiting and typing.only_known:
        for series in [one for name, one in columns.items() if types[name] == ColumnType("text")]:
            if series.name not in typing.learned and series.dtype == pl.String:
                typing.way(replace(typing, only_known=False).look(series))  # of which the notation takes note
    for looked in sorted(waiting, key=lambda one: one.evidence is not None and not one.evidence.is_weak):
        assert looked.evidence is not None
        name = looked.series.name
        columns[name], types[name] = typing.converted(looked, notation.helped(name, looked.evidence), remarks)
    notation.check()
    usual = notation.usual()
    for name, kind in types.items():
        if kind == ColumnType("number") and frame[name].dtype == pl.String:
            types[name] = kind.written(usual)
    return pl.DataFrame(list(columns.values())), types, remarks


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
