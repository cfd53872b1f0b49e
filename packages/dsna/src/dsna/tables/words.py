"""Cells of text, parsed as numbers, booleans or dates.

Each distinct value of a column is parsed once; ``codes`` map rows to values. This module needs only numpy, so it works
for files and for all kinds of data frames.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

#: Spellings of missing values. Case matters: "none" may be the lowest level of a scale, "None" is Python's.
MISSING = frozenset(
    {"", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "None", "NaN", "nan", "NAN", "<NA>", "NaT", "nil", "?"}
)
#: Words for false and true.
BOOLEANS = (("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y"), ("off", "on"))
#: Orders in which dates are written: day, month and year.
DATE_ORDERS = ("ymd", "dmy", "mdy")

_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WITH_COMMA = re.compile(r"[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?")
_GROUPED = {
    ".": re.compile(r"[+-]?\d{1,3}([,'\s]\d{3})+(\.\d*)?"),
    ",": re.compile(r"[+-]?\d{1,3}([.'\s]\d{3})+(,\d*)?"),
}
_UNIT = re.compile(r"^[$€£¥]\s*|\s*([$€£¥%]|EUR|USD|GBP)$")
_FIRST_CHARACTERS = frozenset("0123456789+-.,$€£¥\u2212")
_LEADING_ZERO = re.compile(r"[+-]?0\d+")
_MANY_DIGITS = re.compile(r"[+-]?\d{16,}")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATE = re.compile(
    r"(?P<a>\d{1,4}|[A-Za-z]{3,9})(?:\s*[-/.]\s*|\s+)(?P<b>\d{1,2}|[A-Za-z]{3,9})(?:\s*[-/.,]\s*|\s+)(?P<c>\d{1,4})"
    r"(?:(?:[T,]|,?\s)\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"\s*(?P<half>[AaPp][Mm])?\s*(?P<zone>Z|UTC|[+-]\d{2}:?\d{2})?)?"
)
_PIVOT_YEAR = 69  # two-digit years from here on are in the twentieth century


class Words(NamedTuple):
    """Cells of text, stored as distinct values.

    Parameters
    ----------
    codes : (n,) int64
        Index of the value of each cell in ``values``; -1 if missing.
    values : list of str
        Distinct values without surrounding blanks, in the order of their first occurrence.
    missing : list of str
        Spellings of missing values that occur, without the empty string.

    Examples
    --------
    >>> words_of([" a", "b", "NA", "a", ""])
    Words(codes=array([ 0,  1, -1,  0, -1]), values=['a', 'b'], missing=['NA'])
    """

    codes: np.ndarray
    values: list[str]
    missing: list[str]

    @property
    def counts(self) -> np.ndarray:
        """Number of cells that hold each value."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    def expand(self, word_values: np.ndarray, missing_value: Any) -> np.ndarray:
        """Map an array over distinct values to cells; missing cells become ``missing_value``."""
        table: np.ndarray = np.append(word_values, np.array([missing_value], dtype=word_values.dtype))
        return np.asarray(table[self.codes])


def words_of(cells: Sequence[Any], missing: Collection[str] = MISSING) -> Words:
    """Find the distinct values of cells; see :class:`Words`."""
    texts = [cell if type(cell) is str else as_text(cell) for cell in cells]
    text_codes: dict[str, int] = {}
    codes = np.fromiter(
        (text_codes.setdefault(text, len(text_codes)) for text in texts), dtype=np.int64, count=len(texts)
    )
    value_codes: dict[str, int] = {}
    spellings: dict[str, None] = {}
    value_of_text = np.empty(len(text_codes), dtype=np.int64)
    for text, code in text_codes.items():
        value = text.strip()
        if value in missing:
            value_of_text[code] = -1
            if value:
                spellings[value] = None
        else:
            value_of_text[code] = value_codes.setdefault(value, len(value_codes))
    return Words(value_of_text[codes] if len(text_codes) else codes, list(value_codes), list(spellings))


def as_text(cell: Any) -> str:
    """Convert a cell of a data frame to text; None, NaN, NaT and pandas.NA become empty."""
    if cell is None or repr(cell) == "<NA>":
        return ""
    try:
        if cell != cell:
            return ""
    except (TypeError, ValueError):  # the cell is an array
        pass
    return str(cell)


def numbers(values: Iterable[str], decimal: str = ".") -> np.ndarray:
    """Parse values as float64; NaN if they are not finite numbers.

    Blanks and commas (points, with a decimal comma) between thousands, currency signs and ``%`` are ignored. Whole
    numbers that begin with 0 or have too many digits for an exact float are codes, not numbers.

    Examples
    --------
    >>> numbers(["1", "-2.5e3", "$1,234.50", "7 %", "1,5", "0012", "inf", "x"]).tolist()
    [1.0, -2500.0, 1234.5, 7.0, nan, nan, nan, nan]
    >>> numbers(["1,5", "1.234,5", "3"], decimal=",").tolist()
    [1.5, 1234.5, 3.0]
    """
    pattern = _PLAIN if decimal == "." else _WITH_COMMA
    parsed = np.array([_number(value, pattern, decimal) for value in values], dtype=np.float64)
    parsed[~np.isfinite(parsed)] = np.nan
    return parsed


def _number(value: str, pattern: re.Pattern[str], decimal: str) -> float:
    if value[:1] not in _FIRST_CHARACTERS:
        return np.nan
    if not pattern.fullmatch(value):
        value = _UNIT.sub("", value.replace("\u2212", "-"))
        if _GROUPED[decimal].fullmatch(value):
            value = re.sub(r"[,'\s]" if decimal == "." else r"[.'\s]", "", value)
        if not pattern.fullmatch(value):
            return np.nan
    if _LEADING_ZERO.fullmatch(value) or (_MANY_DIGITS.fullmatch(value) and f"{float(value):.0f}" != value.lstrip("+")):
        return np.nan
    return float(value.replace(",", ".") if decimal == "," else value)


def is_plain_number(value: str) -> bool:
    """Return whether a value is a number without thousands separators or units, with a decimal point."""
    return bool(_PLAIN.fullmatch(value))


def is_code(value: str) -> bool:
    """Return whether a value is a code of digits: a whole number that begins with 0 or has many digits."""
    return bool(_LEADING_ZERO.fullmatch(value) or _MANY_DIGITS.fullmatch(value))


def booleans(values: Sequence[str]) -> np.ndarray | None:
    """Return 1.0 for true and 0.0 for false if all values are words of one such pair, otherwise None.

    Examples
    --------
    >>> booleans(["Yes", "no"]), booleans(["yes", "maybe"])
    (array([1., 0.]), None)
    """
    lowercase = [value.lower() for value in values]
    for pair in BOOLEANS:
        if all(word in pair for word in lowercase):
            return np.array([float(pair.index(word)) for word in lowercase])
    return None


def dates(values: Sequence[str], order: str = "ymd") -> np.ndarray:
    """Parse dates as datetime64[us], in UTC if they have a time zone; NaT if they are not dates in this order.

    Examples
    --------
    >>> dates(["2024-02-29", "2024-02-30", "2024-03-01T12:30:00+01:00"]).astype(str).tolist()
    ['2024-02-29T00:00:00.000000', 'NaT', '2024-03-01T11:30:00.000000']
    >>> dates(["3.1.2020", "3 Jan 2020"], "dmy").astype("datetime64[D]").astype(str).tolist()
    ['2020-01-03', '2020-01-03']
    """
    return np.array([_date(value, order) for value in values], dtype="datetime64[us]")


def _date(value: str, order: str) -> datetime | None:
    match = _DATE.fullmatch(value)
    if match is None:
        return None
    fields = dict(zip(order, (match["a"], match["b"], match["c"]), strict=True))
    year, month, day = fields["y"], fields["m"], fields["d"]
    if month.isalpha():
        if month[:3].lower() not in _MONTHS:
            return None
        month = str(_MONTHS.index(month[:3].lower()) + 1)
    if len(year) not in (2, 4) or (order == "ymd" and len(year) != 4) or not (year + month + day).isdigit():
        return None
    full_year = int(year) if len(year) == 4 else int(year) + (1900 if int(year) >= _PIVOT_YEAR else 2000)
    hour = int(match["hour"] or 0)
    if match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (match["half"].lower() == "pm")
    minute, second = int(match["minute"] or 0), int(match["second"] or 0)
    microsecond = int((match["fraction"] or "0").ljust(6, "0")[:6])
    try:
        date = datetime(full_year, int(month), int(day), hour, minute, second, microsecond)
        zone = match["zone"]
        if zone and zone[0] in "+-":
            offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
            date = date - offset if zone[0] == "+" else date + offset
    except (ValueError, OverflowError):
        return None
    return date
