"""Splitting a table into features and target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches

import numpy as np

from .files.delimited import listed, short
from .files.source import all_problems
from .files.table import FileTable

_SHOWN_ROWS, _SHOWN_NAMES = 3, 10


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelledTable:
    """A table without its target column, and the targets.

    Parameters
    ----------
    table : FileTable
        The table without the target column and without rows that have no target.
    y : array of shape (n,)
        Targets: numbers, booleans or text.
    target : str
        Name of the target column.
    rows : array of int
        Indices of the rows in the file, starting at 0.
    """

    table: FileTable
    y: np.ndarray
    target: str
    rows: np.ndarray


def split_target(table: FileTable, target: str, *, several: bool = True) -> LabelledTable:
    r"""Split off the target column, and leave out rows without a target, with a note.

    Parameters
    ----------
    table : FileTable
    target : str
        Name of the target column.
    several : bool, default=True
        Whether to refuse a column with only one value, from which nothing can be learned.

    Returns
    -------
    LabelledTable

    Raises
    ------
    TableError
        If there is no such column, or it holds dates, no value, or one value only.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from dsna.tables import read_file, split_target
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv"
    ...     _ = path.write_text("a,b,kind\n1,2,x\n3,5,\n2,2,y\n")
    ...     labelled = split_target(read_file(path), "kind")
    >>> labelled.y.tolist(), labelled.table.notes
    (['x', 'y'], ["rows without a target ('kind') are left out: 1, line 3"])
    """
    frame = table.frame
    if target not in frame.columns:
        raise all_problems(table.name, [_no_column(target, frame.columns)])
    column = frame[target]
    if column.dtype.is_temporal():
        raise all_problems(
            table.name,
            [f"the target {short(target)} holds dates: name another, or turn it into numbers, such as days since then"],
        )
    missing = column.is_null().to_numpy()
    rows = np.flatnonzero(~missing)
    if column.drop_nulls().n_unique() < 1 + several:
        content = "no value" if missing.all() else f"one value only ({short(column.drop_nulls()[0])})"
        raise all_problems(table.name, [f"the target {short(target)} holds {content}: is it the right column?"])
    notes = list(table.notes)
    if missing.any():
        notes.append(without_target(table, target, np.flatnonzero(missing)))
    y = column.drop_nulls().to_numpy()
    features = replace(
        table,
        frame=frame.drop(target)[rows] if missing.any() else frame.drop(target),
        types={name: kind for name, kind in table.types.items() if name != target},
        notes=notes,
        lines=None if table.lines is None else table.lines[rows],
    )
    return LabelledTable(table=features, y=y, target=target, rows=rows)


def without_target(table: FileTable, target: str, rows: np.ndarray) -> str:
    """Return the note on rows that are left out because they have no target.

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> from dsna.tables import FileTable
    >>> table = FileTable(name="t", frame=pl.DataFrame(), types={}, notes=[])
    >>> without_target(table, "kind", np.array([3, 8]))
    "rows without a target ('kind') are left out: 2, row 4, row 9"
    """
    row_names = listed([table.place(int(row)) for row in rows[:_SHOWN_ROWS]], len(rows))
    return f"rows without a target ({short(target)}) are left out: {len(rows)}, {row_names}"


def _no_column(target: str, names: list[str]) -> str:
    """Return the message for a target that is not a column."""
    suggestion, columns = suggested(target, names)
    return f"there is no column {short(target)} to use as the target{suggestion}; there are {columns}"


def suggested(name: str, names: list[str]) -> tuple[str, str]:
    """Return a suggestion, in brackets, for a name that no column has, and the list of columns.

    Examples
    --------
    >>> suggested("naem", ["name", "age"])
    (" (did you mean 'name'?)", "'name', 'age'")
    """
    close_names = get_close_matches(name, names, n=1)
    suggestion = f" (did you mean {short(close_names[0])}?)" if close_names else ""
    return suggestion, listed([short(column) for column in names[:_SHOWN_NAMES]], len(names))
