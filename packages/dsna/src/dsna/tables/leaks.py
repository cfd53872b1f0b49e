"""Columns that leak the target or carry no information: identifiers, copies of the target, constants."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from .._utils.errors import DSNAError
from .cells import Cells, InputColumns
from .column_types import numbers_the_rows

_MIN_ROWS = 20  # with fewer rows, a column may fit the target by chance
_ID_NAME = re.compile(r"(^|[^a-z])(id|ids|uuid|guid|key|index|rownr|row|unnamed|number|no|nr)($|[^a-z])|Id$|ID$", re.I)


class Leak(NamedTuple):
    """A column to leave out, and the reason."""

    column: str
    reason: str


def find_leaks(frame: Any, target: Any, keep: Collection[str] = ()) -> list[Leak]:
    """Find columns to leave out: identifiers, copies of the target and constants.

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
    died: it gives the target away: its values correspond one to one to those of 'outcome'
    """
    columns = InputColumns.of(frame)
    unknown = [name for name in keep if name not in columns.names]
    if unknown:
        raise DSNAError(f"keep names {', '.join(map(repr, unknown))}, which is not a column of the frame.")
    if isinstance(target, str):
        if target not in columns.names:
            raise DSNAError(f"There is no column {target!r} to use as the target.")
        title, target_cells = repr(target), columns.read(columns.names.index(target))
    else:
        title, target_cells = "the target", Cells.of_array("target", np.asarray(target))
    leaks = []
    for j, name in enumerate(columns.names):
        if name in keep or repr(name) == title:
            continue
        cells = columns.read(j)
        reason = _uninformative(cells) or _copy_of_target(cells, target_cells, title)
        if reason:
            leaks.append(Leak(name, reason))
    return leaks


def _uninformative(cells: Cells) -> str:
    """Return why a column carries no information, or an empty string."""
    kind = cells.type().kind
    if kind == "constant":
        return "it holds no value" if cells.missing().all() else "it holds one value only"
    if kind == "identifier":
        return "it identifies rows: each has a value of its own"
    if kind == "number":
        values, _ = cells.numbers()
        if numbers_the_rows(values):
            return "it numbers the rows: whole numbers, all different and close together"
        known_values = values[~np.isnan(values)]
        is_whole = len(known_values) >= _MIN_ROWS and bool(np.all(known_values == np.round(known_values)))
        if is_whole and _ID_NAME.search(cells.name) and len(np.unique(known_values)) == len(known_values):
            return "it identifies rows, by its name: each has a value of its own"
    return ""


def _copy_of_target(cells: Cells, target: Cells, title: str) -> str:
    """Return how a column and the target determine each other, or an empty string."""
    is_known = ~cells.missing() & ~target.missing()
    if is_known.sum() < _MIN_ROWS:
        return ""
    if cells.type().kind == target.type().kind == "number":
        values, targets = cells.numbers()[0][is_known], target.numbers()[0][is_known]
        n_targets = len(np.unique(targets))
        if n_targets > 2 and _are_monotone(values, targets):
            return f"it gives the target away: it rises or falls with {title} in every row"
        if n_targets > is_known.sum() / 2:
            return ""
    codes, target_codes = cells.words().codes[is_known], target.words().codes[is_known]
    n_pairs = len(np.unique(np.column_stack([codes, target_codes]), axis=0))
    if n_pairs == len(np.unique(codes)) == len(np.unique(target_codes)) <= is_known.sum() / 2:
        return f"it gives the target away: its values correspond one to one to those of {title}"
    return ""


def _are_monotone(values: np.ndarray, targets: np.ndarray) -> bool:
    """Return whether one column of numbers is a strictly monotone function of the other."""
    order = np.argsort(values, kind="stable")
    steps, target_steps = np.diff(values[order]), np.diff(targets[order])
    change_together = np.array_equal(steps > 0, target_steps != 0)
    return bool(change_together and (np.all(target_steps >= 0) or np.all(target_steps <= 0)))
