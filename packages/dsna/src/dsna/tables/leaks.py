"""Columns that give the answer away, or nothing: identifiers, copies of the target, constants."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from .._utils.errors import DSNAError
from .cells import Cells, InputColumns
from .column_types import numbers_the_rows

_LEAST_ROWS = 20  # below which a column may fit the target by chance
_ID_NAME = re.compile(r"(^|[^a-z])(id|ids|uuid|guid|key|index|rownr|row|unnamed|number|no|nr)($|[^a-z])|Id$|ID$", re.I)


class Leak(NamedTuple):
    """A column to leave out, and why."""

    column: str
    reason: str


def find_leaks(frame: Any, target: Any, keep: Collection[str] = ()) -> list[Leak]:
    """Columns that should be left out: an identifier, a copy of the target, a constant.

    Parameters
    ----------
    frame : data frame
        With or without the target.
    target : str or array of shape (n,)
        Name of the target column, or the targets.
    keep : collection of str, default=()
        Columns that the user wants in any case.

    Returns
    -------
    list of (column, reason)

    Examples
    --------
    >>> import pandas as pd
    >>> from dsna.tables import find_leaks
    >>> rows = range(40)
    >>> frame = pd.DataFrame(
    ...     {
    ...         "patient": [f"P{i:03d}" for i in rows],
    ...         "country": "DE",
    ...         "age": [20 + i * i % 31 for i in rows],
    ...         "outcome": ["dead" if i % 8 == 0 else "alive" for i in rows],
    ...         "died": [i % 8 == 0 for i in rows],
    ...     }
    ... )
    >>> for column, reason in find_leaks(frame, "outcome"):
    ...     print(f"{column}: {reason}")
    patient: it identifies rows: each has a value of its own
    country: it holds one value only
    died: it gives the target away: each of its values goes with one of 'outcome', and back
    """
    given = InputColumns.of(frame)
    strangers = [name for name in keep if name not in given.names]
    if strangers:
        raise DSNAError(f"keep names {', '.join(map(repr, strangers))}, and there is no such column.")
    if isinstance(target, str):
        if target not in given.names:
            raise DSNAError(f"There is no column {target!r} to be the target.")
        title, truth = repr(target), given.read(given.names.index(target))
    else:
        title, truth = "the target", Cells.of_array("target", np.asarray(target))
    found = []
    for place, name in enumerate(given.names):
        if name in keep or repr(name) == title:
            continue
        cells = given.read(place)
        reason = _tells_nothing(cells) or _tells_all(cells, truth, title)
        if reason:
            found.append(Leak(name, reason))
    return found


def _tells_nothing(cells: Cells) -> str:
    kind = cells.type().kind
    if kind == "constant":
        return "it holds no value" if cells.missing().all() else "it holds one value only"
    if kind == "identifier":
        return "it identifies rows: each has a value of its own"
    if kind == "number":
        values, _ = cells.numbers()
        if numbers_the_rows(values):
            return "it numbers the rows: whole numbers, all different and close together"
        known = values[~np.isnan(values)]
        whole = len(known) >= _LEAST_ROWS and bool(np.all(known == np.round(known)))
        if whole and _ID_NAME.search(cells.name) and len(np.unique(known)) == len(known):
            return "it identifies rows, by its name: each has a value of its own"
    return ""


def _tells_all(cells: Cells, truth: Cells, title: str) -> str:
    """Whether the target follows from a column, and the column from the target."""
    both = ~cells.missing() & ~truth.missing()
    if both.sum() < _LEAST_ROWS:
        return ""
    if cells.type().kind == truth.type().kind == "number":
        one, other = cells.numbers()[0][both], truth.numbers()[0][both]
        distinct = len(np.unique(other))
        if distinct > 2 and _monotone(one, other):
            return f"it gives the target away: it rises or falls with {title} in every row"
        if distinct > both.sum() / 2:
            return ""
    codes, targets = cells.words().codes[both], truth.words().codes[both]
    pairs = len(np.unique(np.column_stack([codes, targets]), axis=0))
    if pairs == len(np.unique(codes)) == len(np.unique(targets)) <= both.sum() / 2:
        return f"it gives the target away: each of its values goes with one of {title}, and back"
    return ""


def _monotone(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two columns of numbers rise together in all rows, or one falls as the other rises; equal where equal."""
    order = np.argsort(one, kind="stable")
    steps, others = np.diff(one[order]), np.diff(other[order])
    together = np.array_equal(steps > 0, others != 0)
    return bool(together and (np.all(others >= 0) or np.all(others <= 0)))
