"""The base class of all errors that a user can cause and correct, warnings, and what both call options."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_ON_COMMAND_LINE: ContextVar[bool] = ContextVar("on_command_line", default=False)
_BETWEEN = {"dsna", "sklearn", "joblib"}  # packages between a warning and the code that is warned


class DSNAError(ValueError):
    """Input, a parameter or a file that cannot be used; the message says what, where and what to do.

    What this package checks itself raises these. Values of parameters and shapes of arrays are checked by scikit-learn,
    which raises ``ValueError``; as a ``DSNAError`` is one too, ``except ValueError`` catches both.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna import DSNAClassifier, DSNAError
    >>> try:
    ...     DSNAClassifier().fit(np.zeros((4, 1)), ["a"] * 4)
    ... except DSNAError as error:
    ...     print(str(error)[:22])
    y holds one class only
    """


class DSNAWarning(UserWarning):
    """What ``fit`` says of training rows on which scores mislead: copies of rows, and classes of very few rows.

    Examples
    --------
    >>> import warnings
    >>> from dsna import DSNAWarning
    >>> warnings.simplefilter("ignore", DSNAWarning)
    """


@contextmanager
def on_command_line() -> Iterator[None]:
    """Messages name options as they are typed, not as they are written in Python.

    Examples
    --------
    >>> with on_command_line():
    ...     setting("separator", ";")
    "--separator ';'"
    """
    before = _ON_COMMAND_LINE.set(True)
    try:
        yield
    finally:
        _ON_COMMAND_LINE.reset(before)


def worded(typed: str, python: str) -> str:
    """What to say to people at the command line, and in Python."""
    return typed if _ON_COMMAND_LINE.get() else python


def setting(option: str, value: Any, column: str | None = None) -> str:
    """An option with its value, of a column where it has one for each, as its user writes it.

    Examples
    --------
    >>> setting("separator", ";"), setting("types", "category", "age")
    ("separator=';'", "types={'age': 'category'}")
    >>> with on_command_line():
    ...     setting("types", "category", "age")
    '--types age=category'
    """
    text = "tab" if value == "\t" else str(value)
    typed = f"--{option} {shlex.quote(text if column is None else f'{column}={text}')}"
    name = option.replace("-", "_")
    return worded(typed, f"{name}={value!r}" if column is None else f"{name}={{{column!r}: {value!r}}}")


def warn_caller(message: str, category: type[UserWarning] = UserWarning) -> None:
    """Warn at the line that called this package, also where scikit-learn stands between.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warn_caller("few rows")
    >>> caught[0].filename == __file__
    False
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
