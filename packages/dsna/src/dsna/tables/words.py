"""Cells of text: distinct values, and what they say as numbers, booleans or dates.

A column is looked at by its distinct values, each once; ``codes`` lead back to the rows. None of this needs more than
numpy, so that it serves files and data frames of every kind.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

#: Spellings of "no value", compared as they are: "none" may be the lowest of a scale, "None" is Python's.
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
_SIGNS = re.compile(r"^[$€£¥]\s*|\s*([$€£¥%]|EUR|USD|GBP)$")
_BEGINNINGS = frozenset("0123456789+-.,$€£¥\u2212")
_CODE = re.compile(r"[+-]?0\d+")
_LONG = re.compile(r"[+-]?\d{16,}")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATE = re.compile(
    r"(?P<a>\d{1,4}|[A-Za-z]{3,9})(?:\s*[-/.]\s*|\s+)(?P<b>\d{1,2}|[A-Za-z]{3,9})(?:\s*[-/.,]\s*|\s+)(?P<c>\d{1,4})"
    r"(?:(?:[T,]|,?\s)\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?"
    r"\s*(?P<half>[AaPp][Mm])?\s*(?P<zone>Z|UTC|[+-]\d{2}:?\d{2})?)?"
)
_PIVOT = 69  # two-digit years from here on are of the last century


class Words(NamedTuple):
    """Cells by their distinct values.

    Parameters
    ----------
    codes : (n,) int64
        Place of each cell in ``values``; -1 where there is none.
    values : list of str
        Distinct, without blanks around them, in the order of their first cells.
    missing : list of str
        Spellings of missing values that were met, but for the empty one.

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
        """How many cells hold each value."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    def spread(self, by_value: np.ndarray, none: Any) -> np.ndarray:
        """What is known of each value, for each cell; ``none`` where there is no value."""
        known: np.ndarray = np.append(by_value, np.array([none], dtype=by_value.dtype))
        return np.asarray(known[self.codes])


def words_of(cells: Sequence[Any], missing: Collection[str] = MISSING) -> Words:
    """Cells by their distinct values; see :class:`Words`."""
    texts = [cell if type(cell) is str else as_text(cell) for cell in cells]
    first: dict[str, int] = {}
    codes = np.fromiter((first.setdefault(text, len(first)) for text in texts), dtype=np.int64, count=len(texts))
    values: dict[str, int] = {}
    spelled: dict[str, None] = {}
    places = np.empty(len(first), dtype=np.int64)
    for place, text in enumerate(first):
        bare = text.strip()
        if bare in missing:
            places[place] = -1
            if bare:
                spelled[bare] = None
        else:
            places[place] = values.setdefault(bare, len(values))
    return Words(places[codes] if len(places) else codes, list(values), list(spelled))


def as_text(cell: Any) -> str:
    """A cell of a data frame as text; empty where it holds no value (None, NaN, NaT or pandas.NA)."""
    if cell is None or repr(cell) == "<NA>":
        return ""
    try:
        if cell != cell:
            return ""
    except (TypeError, ValueError):  # cells that are arrays
        pass
    return str(cell)


def numbers(values: Iterable[str], decimal: str = ".") -> np.ndarray:
    """Values as float64; NaN where they are no finite number.

    Blanks, commas (or points, beside a decimal comma) between thousands, signs of currencies and ``%`` are left out.
    Whole numbers that begin with 0, or have too many digits to be kept exactly, are codes and no numbers.

    Examples
    --------
    >>> numbers(["1", "-2.5e3", "$1,234.50", "7 %", "1,5", "0012", "inf", "x"]).tolist()
    [1.0, -2500.0, 1234.5, 7.0, nan, nan, nan, nan]
    >>> numbers(["1,5", "1.234,5", "3"], decimal=",").tolist()
    [1.5, 1234.5, 3.0]
    """
    plain = _PLAIN if decimal == "." else _WITH_COMMA
    found = np.array([_number(value, plain, decimal) for value in values], dtype=np.float64)
    found[~np.isfinite(found)] = np.nan
    return found


def _number(value: str, plain: re.Pattern[str], decimal: str) -> float:
    bare = value
    if bare[:1] not in _BEGINNINGS:
        return np.nan
    if not plain.fullmatch(bare):
        bare = _SIGNS.sub("", bare.replace("\u2212", "-"))
        if _GROUPED[decimal].fullmatch(bare):
            bare = re.sub(r"[,'\s]" if decimal == "." else r"[.'\s]", "", bare)
        if not plain.fullmatch(bare):
            return np.nan
    if _CODE.fullmatch(bare) or (_LONG.fullmatch(bare) and f"{float(bare):.0f}" != bare.lstrip("+")):
        return np.nan
    return float(bare.replace(",", ".") if decimal == "," else bare)


def is_plain_number(value: str) -> bool:
    """Whether a value is a number as programs write it."""
    return bool(_PLAIN.fullmatch(value))


def is_code(value: str) -> bool:
    """Whether a value is a whole number only by its digits: it begins with 0, or has too many of them."""
    return bool(_CODE.fullmatch(value) or _LONG.fullmatch(value))


def booleans(values: Sequence[str]) -> np.ndarray | None:
    """1.0 for true and 0.0 for false where all values are such words; else None.

    Examples
    --------
    >>> booleans(["Yes", "no"]), booleans(["yes", "maybe"])
    (array([1., 0.]), None)
    """
    lower = [value.lower() for value in values]
    for words in BOOLEANS:
        if all(one in words for one in lower):
            return np.array([float(words.index(one)) for one in lower])
    return None


def dates(values: Sequence[str], order: str = "ymd") -> np.ndarray:
    """Values as datetime64[us], in UTC where they name a time zone; NaT where they are no dates of this order.

    Examples
    --------
    >>> dates(["2024-02-29", "2024-02-30", "2024-03-01T12:30:00+01:00"]).astype(str).tolist()
    ['2024-02-29T00:00:00.000000', 'NaT', '2024-03-01T11:30:00.000000']
    >>> dates(["3.1.2020", "3 Jan 2020"], "dmy").astype("datetime64[D]").astype(str).tolist()
    ['2020-01-03', '2020-01-03']
    """
    return np.array([_date(value, order) for value in values], dtype="datetime64[us]")


def _date(value: str, order: str) -> datetime | None:
    found = _DATE.fullmatch(value)
    if found is None:
        return None
    parts = dict(zip(order, (found["a"], found["b"], found["c"]), strict=True))
    year, month, day = parts["y"], parts["m"], parts["d"]
    if month.isalpha():
        if month[:3].lower() not in _MONTHS:
            return None
        month = str(_MONTHS.index(month[:3].lower()) + 1)
    if len(year) not in (2, 4) or (order == "ymd" and len(year) != 4) or not (year + month + day).isdigit():
        return None
    full = int(year) if len(year) == 4 else int(year) + (1900 if int(year) >= _PIVOT else 2000)
    hour = int(found["hour"] or 0)
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (found["half"].lower() == "pm")
    micros = int((found["part"] or "0").ljust(6, "0")[:6])
    try:
        when = datetime(full, int(month), int(day), hour, int(found["minute"] or 0), int(found["second"] or 0), micros)
        zone = found["zone"]
        if zone and zone[0] in "+-":
            away = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
            when = when - away if zone[0] == "+" else when + away
    except (ValueError, OverflowError):
        return None
    return when
