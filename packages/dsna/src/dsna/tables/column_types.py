"""Types of columns: numbers, booleans, categories, ordered text, dates, text, identifiers and constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._utils.errors import DSNAError
from .words import DATE_ORDERS, Words, booleans, dates, is_code, numbers

#: Kinds of columns.
KINDS = ("number", "boolean", "category", "ordered", "date", "text", "identifier", "constant")
#: Scales of words, the lowest first; synonyms are adjacent.
SCALES = (
    ("none", "very low", "low", "medium", "moderate", "high", "very high"),
    ("none", "minimal", "mild", "moderate", "severe", "critical"),
    ("tiny", "small", "medium", "large", "huge"),
    ("xxs", "xs", "s", "m", "l", "xl", "xxl", "xxxl"),
    ("very bad", "bad", "poor", "fair", "average", "good", "very good", "excellent"),
    ("never", "rarely", "seldom", "sometimes", "often", "usually", "always"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("very unlikely", "unlikely", "possible", "likely", "very likely"),
    ("first", "second", "third", "fourth", "fifth"),
    ("beginner", "intermediate", "advanced", "expert"),
)
_MIN_SHARE = 0.9  # of cells that are numbers or dates, for the others to count as missing values
_MIN_LEVELS = 3  # the order of two levels does not matter
_MIN_ROWS = 20  # that distinguish an identifier from a category
_MIN_WORDS = 4  # in a cell of free text, on average
TypeSpec = str | Sequence[str]
#: Names of decimal signs in type specifications.
SIGNS = {"point": ".", "comma": ","}


@dataclass(frozen=True)
class ColumnType:
    """Type of a column.

    Parameters
    ----------
    kind : one of ``KINDS``.
    levels : tuple of str
        Levels of ordered text, the lowest first.
    order : str
        Order of day, month and year in dates written as text: "ymd", "dmy" or "mdy".
    decimal : str
        Decimal sign of numbers written as text: "." or ","; empty if unknown.

    Examples
    --------
    >>> from dsna.tables import ColumnType
    >>> ColumnType.of("date:dmy", "born")
    ColumnType(kind='date', levels=(), order='dmy', decimal='')
    >>> ColumnType.of("number:comma", "rent").decimal
    ','
    >>> ColumnType.of(["S", "M", "L"], "size").spec
    ['S', 'M', 'L']
    """

    kind: str
    levels: tuple[str, ...] = ()
    order: str = "ymd"
    decimal: str = ""

    @classmethod
    def of(cls, spec: TypeSpec, column: str) -> ColumnType:
        """Parse a type specification: a kind, a list of levels, or a kind with a notation, such as "date:dmy"."""
        if isinstance(spec, ColumnType):
            return spec
        if isinstance(spec, str):
            kind, _, notation = spec.partition(":")
            if kind == "date" and (not notation or notation in DATE_ORDERS):
                return cls("date", order=notation or "ymd")
            if kind == "number" and notation in SIGNS:
                return cls("number", decimal=SIGNS[notation])
            if kind in KINDS and kind != "ordered" and not notation:
                return cls(kind)
        elif len(spec) > 1 and all(isinstance(level, str) for level in spec):
            if len(set(spec)) == len(spec):
                return cls("ordered", levels=tuple(spec))
            raise DSNAError(f"The levels of column {column!r} name one twice: list each once, the lowest first.")
        kinds = ", ".join(kind for kind in KINDS if kind != "ordered")
        raise DSNAError(
            f"The type {spec!r} of column {column!r} is unknown: use one of {kinds}, number:point, number:comma, "
            "date:dmy or date:mdy, or list the levels of ordered text, the lowest first."
        )

    @property
    def spec(self) -> str | list[str]:
        """The type specification, which ``of`` parses."""
        if self.kind == "ordered":
            return list(self.levels)
        if self.kind == "number" and self.decimal:
            return "number:" + next(name for name, sign in SIGNS.items() if sign == self.decimal)
        return f"date:{self.order}" if self.kind == "date" and self.order != "ymd" else self.kind

    @property
    def way(self) -> str:
        """Notation of the cells: the decimal sign of numbers, the order of dates, empty for other columns."""
        return self.decimal if self.kind == "number" else self.order if self.kind == "date" else ""

    def written(self, way: str) -> ColumnType:
        """Return the type with this notation; unchanged if the notation is empty or the kind has none."""
        if not way or self.kind not in ("number", "date"):
            return self
        return replace(self, decimal=way) if self.kind == "number" else replace(self, order=way)


def check_types(types: Mapping[str, TypeSpec] | None, names: Sequence[str]) -> dict[str, ColumnType]:
    """Parse the types that a user specifies by column, and refuse unknown columns."""
    specs = dict(types or {})
    unknown = [str(name) for name in specs if name not in names]
    if unknown:
        columns = ", ".join(map(str, names[:10])) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
        raise DSNAError(f"types names {', '.join(map(repr, unknown))}, which is not among the columns {columns}.")
    return {name: ColumnType.of(spec, name) for name, spec in specs.items()}


def type_of_words(words: Words, *, several: bool = True) -> ColumnType:
    """Infer the type of a column of text, without the decimal sign of numbers.

    Parameters
    ----------
    words : Words
        All cells of the column.
    several : bool, default=True
        Whether a column with only one value is a constant.

    Examples
    --------
    >>> from dsna.tables.words import words_of
    >>> type_of_words(words_of(["1", "2", "x"] + ["3"] * 30)).kind
    'number'
    >>> type_of_words(words_of(["low", "high", "medium", "low"])).levels
    ('low', 'medium', 'high')
    """
    counts = words.counts
    total = int(counts.sum())
    if not words.values or (several and len(words.values) == 1 and total == len(words.codes)):
        return ColumnType("constant")
    if _are_numbers(words.values, counts):
        return ColumnType("number")
    if booleans(words.values) is not None:
        return ColumnType("boolean")
    order = date_order(words.values, counts)
    if order:
        return ColumnType("date", order=order)
    levels = _levels(words.values)
    if levels:
        return ColumnType("ordered", levels=levels)
    return ColumnType(_kind_of_text(words.values, counts))


def _are_numbers(values: list[str], counts: np.ndarray) -> bool:
    """Return whether nearly all cells are numbers, with either decimal sign."""
    if any(is_code(value) for value in values):
        return False
    threshold = _MIN_SHARE * counts.sum()
    return any(counts[~np.isnan(numbers(values, sign))].sum() >= threshold for sign in SIGNS.values())


def date_order(values: Sequence[str], counts: np.ndarray) -> str:
    """Find the order of day, month and year in which nearly all cells are dates; empty if there is none.

    If two orders fit equally well, the month comes first in dates with slashes, and the day in others.
    """
    sample_indices = np.linspace(0, len(values) - 1, min(len(values), 50)).astype(int)
    sample = [values[i] for i in sample_indices]
    shares = {}
    for order in DATE_ORDERS:
        if np.isnat(dates(sample, order)).mean() <= 0.5:
            shares[order] = float(counts[~np.isnat(dates(values, order))].sum() / counts.sum())
    if not shares or max(shares.values()) < _MIN_SHARE:
        return ""
    best_share = max(shares.values())
    best_orders = [order for order, share in shares.items() if share == best_share]
    return "mdy" if len(best_orders) > 1 and "/" in values[0] and "mdy" in best_orders else best_orders[0]


def ambiguous_dates(values: Sequence[str], order: str) -> bool:
    """Return whether every value is also a date with day and month swapped."""
    other = {"dmy": "mdy", "mdy": "dmy"}.get(order)
    return other is not None and not np.isnat(dates(values, other)).any()


def _levels(values: list[str]) -> tuple[str, ...]:
    """Return values in the order of a scale that has them all, otherwise nothing."""
    by_lower = {value.lower(): value for value in values}
    if len(values) < _MIN_LEVELS or len(by_lower) < len(values):
        return ()
    for scale in SCALES:
        if by_lower.keys() <= set(scale):
            return tuple(by_lower[word] for word in scale if word in by_lower)
    return ()


def _kind_of_text(values: list[str], counts: np.ndarray) -> str:
    """Return "category", "text" or "identifier"."""
    total = counts.sum()
    word_counts = np.array([len(value.split()) for value in values])
    if 2 * len(values) > total and float((word_counts * counts).sum() / total) >= _MIN_WORDS:
        return "text"
    return "identifier" if len(values) == total >= _MIN_ROWS else "category"


def numbers_the_rows(column: np.ndarray) -> bool:
    """Return whether numbers are identifiers: whole, distinct, and so dense that random numbers would repeat.

    Among n random whole numbers from a range of size s, about n²/(2s) pairs are equal. No equal pair where ten are
    expected cannot be chance.

    Examples
    --------
    >>> import numpy as np
    >>> numbers_the_rows(np.random.RandomState(0).permutation(100) + 1000.0)
    True
    >>> numbers_the_rows(np.random.RandomState(0).randint(0, 10**9, 100).astype(float))
    False
    """
    values = column[np.isfinite(column)]
    n = len(values)
    if n < _MIN_ROWS or np.any(values != np.round(values)) or len(np.unique(values)) < n:
        return False
    return bool(n * n / 2.0 > 10.0 * (np.ptp(values) + 1.0))
