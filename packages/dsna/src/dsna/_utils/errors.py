"""Base classes of errors and warnings that users can act on, and the wording of options in them."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_ON_COMMAND_LINE: ContextVar[bool] = ContextVar("on_command_line", default=False)
_BETWEEN = {"dsna", "sklearn", "joblib"}  # packages between a warning and the code of the user


class DSNAError(ValueError):
    """Input, a parameter or a file that cannot be used; the message names the problem, its location and the remedy.

    Checks of this package raise it. Values of parameters and shapes of arrays are checked by scikit-learn, which raises
    ``ValueError``; a ``DSNAError`` is a ``ValueError`` too, so ``except ValueError`` catches both.

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
    """Warning of ``fit`` about training rows that make scores misleading: duplicate rows and very small classes.

    Examples
    --------
    >>> import warnings
    >>> from dsna import DSNAWarning
    >>> warnings.simplefilter("ignore", DSNAWarning)
    """


@contextmanager
def on_command_line() -> Iterator[None]:
    """Word options in messages as on the command line, not as in Python.

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
    """Return the wording for the command line or for Python, whichever is in use."""
    return typed if _ON_COMMAND_LINE.get() else python


def setting(option: str, value: Any, column: str | None = None) -> str:
    """Word an option with its value, for one column where ``column`` is given, as the user would write it.

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
    """Warn at the line that called this package, also through scikit-learn.

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
