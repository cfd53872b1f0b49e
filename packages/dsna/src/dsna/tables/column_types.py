"""What the columns of a table hold: numbers, booleans, categories, ordered text, dates, text, identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._utils.errors import DSNAError
from .words import DATE_ORDERS, Words, booleans, dates, is_code, numbers

#: What a column can hold.
KINDS = ("number", "boolean", "category", "ordered", "date", "text", "identifier", "constant")
#: Words that have an order, from the lowest on; synonyms at one height stand for themselves.
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
_MOSTLY = 0.9  # of the cells; where so many are numbers or dates, the others count as missing
_LEAST_LEVELS = 3  # of two the order does not matter
_LEAST_ROWS = 20  # that tell an identifier from a category
_WORDS = 4  # of free text, on average
TypeSpec = str | Sequence[str]
#: Decimal signs by their names in types.
SIGNS = {"point": ".", "comma": ","}


@dataclass(frozen=True)
class ColumnType:
    """What a column holds.

    Parameters
    ----------
    kind : one of ``KINDS``.
    levels : tuple of str
        Of ordered text, from the lowest on.
    order : str
        Of day, month and year in dates that are text: "ymd", "dmy" or "mdy".
    decimal : str
        Decimal sign of numbers that are text: "." or ","; empty where it is not known.

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
        """A type from how users write it: the kind, the levels of an order, "date:dmy" or "number:comma"."""
        if isinstance(spec, ColumnType):
            return spec
        if isinstance(spec, str):
            kind, _, more = spec.partition(":")
            if kind == "date" and (not more or more in DATE_ORDERS):
                return cls("date", order=more or "ymd")
            if kind == "number" and more in SIGNS:
                return cls("number", decimal=SIGNS[more])
            if kind in KINDS and kind != "ordered" and not more:
                return cls(kind)
        elif len(spec) > 1 and all(isinstance(one, str) for one in spec):
            if len(set(spec)) == len(spec):
                return cls("ordered", levels=tuple(spec))
            raise DSNAError(f"The levels of column {column!r} name one twice: list each once, the lowest first.")
        known = ", ".join(kind for kind in KINDS if kind != "ordered")
        raise DSNAError(
            f"The type {spec!r} of column {column!r} is unknown: use one of {known}, number:point, number:comma, "
            "date:dmy or date:mdy, or list the levels of ordered text, the lowest first."
        )

    @property
    def spec(self) -> str | list[str]:
        """The type as users write it: plain values, which ``of`` reads back."""
        if self.kind == "ordered":
            return list(self.levels)
        if self.kind == "number" and self.decimal:
            return "number:" + next(name for name, sign in SIGNS.items() if sign == self.decimal)
        return f"date:{self.order}" if self.kind == "date" and self.order != "ymd" else self.kind

    @property
    def way(self) -> str:
        """How cells are written that can be written in two ways: a decimal sign or an order, empty of other columns."""
        return self.decimal if self.kind == "number" else self.order if self.kind == "date" else ""

    def written(self, way: str) -> ColumnType:
        """The type of a column that is written so; the same where it is not known, or there is no choice."""
        if not way or self.kind not in ("number", "date"):
            return self
        return replace(self, decimal=way) if self.kind == "number" else replace(self, order=way)


def check_types(types: Mapping[str, TypeSpec] | None, names: Sequence[str]) -> dict[str, ColumnType]:
    """The types that a user names, by column; columns that are not there are refused."""
    given = dict(types or {})
    strangers = [str(name) for name in given if name not in names]
    if strangers:
        there = ", ".join(map(str, names[:10])) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
        raise DSNAError(f"types names {', '.join(map(repr, strangers))}, and there are the columns {there}.")
    return {name: ColumnType.of(spec, name) for name, spec in given.items()}


def type_of_words(words: Words, *, several: bool = True) -> ColumnType:
    """What text says, seen as a whole; of numbers, the decimal sign is not looked for.

    Parameters
    ----------
    words : Words
        All cells of the column.
    several : bool, default=True
        Whether a column of one value is a constant, whatever the value is.

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
    """Whether nearly all cells are numbers, with one of the decimal signs."""
    if any(is_code(value) for value in values):
        return False
    least = _MOSTLY * counts.sum()
    return any(counts[~np.isnan(numbers(values, sign))].sum() >= least for sign in SIGNS.values())


def date_order(values: Sequence[str], counts: np.ndarray) -> str:
    """Order of day, month and year under which nearly all values are dates; empty where there is none.

    Where both fit, days come first after points and months after slashes, as is usual.
    """
    some = np.linspace(0, len(values) - 1, min(len(values), 50)).astype(int)
    sample = [values[place] for place in some]
    shares = {}
    for order in DATE_ORDERS:
        if np.isnat(dates(sample, order)).mean() <= 0.5:
            shares[order] = float(counts[~np.isnat(dates(values, order))].sum() / counts.sum())
    if not shares or max(shares.values()) < _MOSTLY:
        return ""
    best = max(shares.values())
    fitting = [order for order, share in shares.items() if share == best]
    if len(fitting) > 1:
        return "mdy" if "/" in values[0] and "mdy" in fitting else fitting[0]
    return fitting[0]


def ambiguous_dates(values: Sequence[str], order: str) -> bool:
    """Whether day and month could be the other way round in every value."""
    other = {"dmy": "mdy", "mdy": "dmy"}.get(order)
    return other is not None and not np.isnat(dates(values, other)).any()


def _levels(values: list[str]) -> tuple[str, ...]:
    """Values in their usual order, where they have one."""
    by_lower = {value.lower(): value for value in values}
    if len(values) < _LEAST_LEVELS or len(by_lower) < len(values):
        return ()
    for scale in SCALES:
        if by_lower.keys() <= set(scale):
            return tuple(by_lower[word] for word in scale if word in by_lower)
    return ()


def _kind_of_text(values: list[str], counts: np.ndarray) -> str:
    """Category, free text or identifier."""
    total = counts.sum()
    lengths = np.array([len(value.split()) for value in values])
    if 2 * len(values) > total and float((lengths * counts).sum() / total) >= _WORDS:
        return "text"
    return "identifier" if len(values) == total >= _LEAST_ROWS else "category"


def numbers_the_rows(column: np.ndarray) -> bool:
    """Whether numbers are identifiers: whole, all distinct, and so dense that chance would have repeated some.

    Of n numbers drawn from a span s, n²/(2s) pairs are equal on average; none among ten expected ones is no chance.

    Examples
    --------
    >>> import numpy as np
    >>> numbers_the_rows(np.random.RandomState(0).permutation(100) + 1000.0)
    True
    >>> numbers_the_rows(np.random.RandomState(0).randint(0, 10**9, 100).astype(float))
    False
    """
    known = column[np.isfinite(column)]
    n = len(known)
    if n < _LEAST_ROWS or np.any(known != np.round(known)) or len(np.unique(known)) < n:
        return False
    return bool(n * n / 2.0 > 10.0 * (np.ptp(known) + 1.0))


def missing_note(name: Any, words: Words) -> str:
    """What to say of spellings of missing values."""
    shown = ", ".join(map(repr, words.missing))
    return f"column {name!r}: {shown} counts as a missing value" if words.missing else ""
