"""Names, cells and numbers as a page can show them: bounded, without control characters, rounded."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..inspection.comparison import said
from ..inspection.figures import Figure
from .data import Estimate, Number

#: Digits of figures, which the page and the commands round when they write them: once, and alike.
EXACT = 12
_LONGEST = 300
_HIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_TURNS = re.compile(r"[\u202a-\u202e\u2066-\u2069]")  # letters that turn the direction of the text after them


def clean(value: Any, longest: int = _LONGEST) -> str:
    r"""A name or cell as text that no page stumbles over.

    Examples
    --------
    >>> clean("a\x00b"), clean("x" * 20, 5)
    ('a\ufffdb', 'xxxxx… (20 characters)')
    """
    text = said(value)
    short = text if len(text) <= longest else f"{text[:longest]}… ({len(text):,} characters)"
    return _TURNS.sub("", _HIDDEN.sub("\ufffd", short))


def rounded(value: Any, digits: int = 4) -> float:
    """A number with so many significant digits, which JSON writes in few letters.

    Examples
    --------
    >>> rounded(0.000123456), rounded(2.0)
    (0.0001235, 2)
    """
    short = float(f"{float(value):.{digits}g}")
    return int(short) if short == int(short) and abs(short) < 1e15 else short


def all_rounded(values: Any, digits: int = 4) -> tuple[float, ...]:
    """Numbers with so many significant digits each.

    Examples
    --------
    >>> all_rounded([0.123456, 1.0], 2)
    (0.12, 1)
    """
    return tuple(rounded(value, digits) for value in np.asarray(values, dtype=np.float64).tolist())


def known(value: Any) -> Number:
    """A rounded number, or None where it is not finite.

    Examples
    --------
    >>> known(float("nan")) is None
    True
    """
    return rounded(value) if np.isfinite(value) else None


def percent(share: float) -> str:
    """A share in whole per cent, for a sentence.

    Examples
    --------
    >>> percent(0.914)
    '91 %'
    """
    return f"{100.0 * share:.0f} %"


def estimate(figure: Figure) -> Estimate:
    """A figure for the page: too few cases leave no value.

    Examples
    --------
    >>> estimate(Figure(0.5, 0.1, 0.9, 4)).value is None
    True
    """
    if figure.few:
        return Estimate(value=None, low=None, high=None, cases=figure.cases)
    value, low, high = (rounded(one, EXACT) if np.isfinite(one) else None for one in figure[:3])
    return Estimate(value=value, low=low, high=high, cases=figure.cases)
