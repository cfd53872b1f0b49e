"""Names, cells and numbers for display: shortened, without control characters, rounded."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..inspection.comparison import said
from ..inspection.figures import Figure
from .data import Estimate, Number

#: Digits of figures in the data; pages and commands round these once, when they write them.
EXACT = 12
_MAX_LENGTH = 300
_HIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_DIRECTION_MARKS = re.compile(r"[\u202a-\u202e\u2066-\u2069]")  # change the direction of the text after them


def clean(value: Any, max_length: int = _MAX_LENGTH) -> str:
    r"""Convert a name or cell to text that is safe to display.

    Examples
    --------
    >>> clean("a\x00b"), clean("x" * 20, 5)
    ('a\ufffdb', 'xxxxx… (20 characters)')
    """
    text = said(value)
    short = text if len(text) <= max_length else f"{text[:max_length]}… ({len(text):,} characters)"
    return _DIRECTION_MARKS.sub("", _HIDDEN.sub("\ufffd", short))


def rounded(value: Any, digits: int = 4) -> float:
    """Round a number to significant digits; whole numbers become int, which JSON writes in fewer characters.

    Examples
    --------
    >>> rounded(0.000123456), rounded(2.0)
    (0.0001235, 2)
    """
    short = float(f"{float(value):.{digits}g}")
    return int(short) if short == int(short) and abs(short) < 1e15 else short


def all_rounded(values: Any, digits: int = 4) -> tuple[float, ...]:
    """Round numbers to significant digits.

    Examples
    --------
    >>> all_rounded([0.123456, 1.0], 2)
    (0.12, 1)
    """
    return tuple(rounded(value, digits) for value in np.asarray(values, dtype=np.float64).tolist())


def finite_or_none(value: Any) -> Number:
    """Round a number; None if it is not finite.

    Examples
    --------
    >>> finite_or_none(float("nan")) is None
    True
    """
    return rounded(value) if np.isfinite(value) else None


def percent(share: float) -> str:
    """Format a share in whole per cent, for a sentence.

    Examples
    --------
    >>> percent(0.914)
    '91 %'
    """
    return f"{100.0 * share:.0f} %"


def estimate(figure: Figure) -> Estimate:
    """Convert a figure for the page; without a value if there are too few cases.

    Examples
    --------
    >>> estimate(Figure(0.5, 0.1, 0.9, 4)).value is None
    True
    """
    if figure.few:
        return Estimate(value=None, low=None, high=None, cases=figure.cases)
    value, low, high = (rounded(bound, EXACT) if np.isfinite(bound) else None for bound in figure[:3])
    return Estimate(value=value, low=low, high=high, cases=figure.cases)
