"""Columns that an option names or a model needs, and rows that a model holds already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._utils.errors import DSNAError, setting, worded
from ..tables import FileTable, ReadOptions, TableError
from ..tables.cells import Unreadable
from ..tables.files.delimited import listed, short
from ..tables.target import suggested

_SHOWN = 5  # columns that a message lists
_MANY = 0.5  # of the rows, which a model should not know
_UNREADABLE, _LEAST_CELLS = 0.2, 5  # share of a column that may be newly unreadable, from so many cells on


def check_option(option: str, name: str, names: list[str]) -> None:
    """Refuse the name of a column that is not there.

    Examples
    --------
    >>> check_option("--drop", "naem", ["name", "age"])
    Traceback (most recent call last):
    dsna._utils.errors.DSNAError: --drop naem: there is no such column (did you mean 'name'?). Remedy: name one of ...
    """
    if name not in names:
        meant, shown = suggested(name, names)
        raise DSNAError(f"{option} {name}: there is no such column{meant}. Remedy: name one of {shown}.")


def check_new_rows(encoder: Any, table: FileTable) -> None:
    """Refuse rows that lack a column of training, by the name of their file.

    Examples
    --------
    >>> import polars
    >>> from dsna.tables import TableEncoder
    >>> frame = polars.DataFrame({"size": [1.0, 2.0], "age": [3.0, 7.0]})
    >>> check_new_rows(
    ...     TableEncoder().fit(frame), FileTable(name="new.csv", frame=frame.drop("age"), types={}, notes=[])
    ... )
    Traceback (most recent call last):
    dsna.tables.files.source.TableError: new.csv: lacks 'age', which the model was trained with; there are ...
    """
    there = table.frame.columns
    lacking = [name for name in encoder.feature_names_in_ if name not in there]
    if lacking:
        needed = listed([short(name) for name in lacking[:_SHOWN]], len(lacking))
        spare = [name for name in there if name not in encoder.feature_names_in_]
        meant = suggested(lacking[0], spare)[0] if len(lacking) == 1 else ""
        shown = suggested(lacking[0], there)[1]
        raise TableError(
            f"{table.name}: lacks {needed}{meant}, which the model was trained with; there are {shown}. Remedy: add "
            "what is lacking, with empty cells where there is no value, or correct its name."
        )


def known_rows(encoder: Any, frame: Any) -> str:
    """What to say of rows most of which a model holds already; empty where they are new, or where it holds none.

    Examples
    --------
    >>> import polars
    >>> from dsna.tables import TableEncoder
    >>> frame = polars.DataFrame({"size": [1.0, 2.0, 5.0], "age": [3.0, 7.0, 7.0]})
    >>> known_rows(TableEncoder(keep_rows=True).fit(frame), frame[1:])
    '2 of 2 rows equal rows that the model holds'
    """
    if encoder.rows_ is None or not len(frame):
        return ""
    known = int(encoder.rows_.knows(frame).sum())
    return f"{known} of {len(frame)} rows equal rows that the model holds" if known > _MANY * len(frame) else ""


def as_trained(options: ReadOptions, encoder: Any) -> ReadOptions:
    """How to read rows for a model: columns as in training.

    Parameters
    ----------
    options : what the user says of the file.
    encoder : fitted TableEncoder.

    Examples
    --------
    >>> import polars
    >>> from dsna.tables import TableEncoder
    >>> encoder = TableEncoder().fit(polars.DataFrame({"size": ["1,5", "2,25"]}))
    >>> as_trained(ReadOptions(), encoder).model_types
    {'size': 'number:comma'}
    """
    types = {name: spec for name, spec in encoder.types_.items() if spec != "constant"}
    return replace(options, model_types=types)


def left_out_note(table: FileTable, name: str, reason: str) -> str:
    """What to say of a column that is left out, with the option that helps.

    Examples
    --------
    >>> import polars
    >>> table = FileTable(name="t.csv", frame=polars.DataFrame(), types={}, notes=[])
    >>> left_out_note(table, "id", "it identifies rows")
    "column 'id' is left out: it identifies rows (--keep id uses it)"
    """
    found = table.unreadable.get(name, Unreadable())
    if found.cells and found.cells == found.filled:
        return f"column {name!r} is left out: {found.text()} ({setting('types', 'category', name)} reads it as text)"
    return f"column {name!r} is left out: {reason} (--keep {name} uses it)"


def remember_unreadable(encoder: Any, table: FileTable) -> None:
    """Let a fitted encoder know which shares of its columns could not be read from the file."""
    shares = [table.unreadable.get(name, Unreadable()).share for name in encoder.types_]
    encoder.unreadable_ = np.maximum(encoder.unreadable_, shares)


def encoded_rows(
    encoder: Any, table: FileTable, rows: np.ndarray, allow_unreadable: bool
) -> tuple[np.ndarray, list[str]]:
    """Some rows of a table as numbers, with notes; refused where a column cannot be read that training could read.

    Examples
    --------
    >>> import polars
    >>> from dsna.tables import TableEncoder
    >>> frame = polars.DataFrame({"size": [1.0, 2.0], "age": [3.0, 7.0]})
    >>> table = FileTable(name="t.csv", frame=frame, types={}, notes=[])
    >>> encoded_rows(TableEncoder().fit(frame), table, np.array([1]), False)
    (array([[2., 7.]]), [])
    """
    X, notes, strange = encoder.transform_with_counts(table.frame[rows])
    readable = ReadableColumns(encoder, allow_unreadable)
    readable.count({**strange, **table.unreadable})
    readable.check(table.name)
    return X, [*notes, *readable.notes()]


class ReadableColumns:
    """How much of the columns of new rows can be read, beside those of training.

    Parameters
    ----------
    encoder : fitted TableEncoder.
    allowed : bool, default=False
        Whether columns that cannot be read are only noted.

    Examples
    --------
    >>> import polars
    >>> from dsna.tables import TableEncoder
    >>> columns = ReadableColumns(TableEncoder().fit(polars.DataFrame({"size": [1.0, 2.0]})))
    >>> columns.count({"size": Unreadable(1, 9, "numbers", ("line 3 ('x')",))})
    >>> columns.check("new.csv")
    >>> columns.notes()
    ["column 'size': 1 of 9 cells cannot be read as numbers, line 3 ('x'): taken for missing values (11%)"]
    """

    def __init__(self, encoder: Any, allowed: bool = False) -> None:
        self._types = encoder.types_
        self._known = dict(zip(encoder.types_, encoder.unreadable_.tolist(), strict=True))
        self._allowed = allowed
        self._found: dict[str, Unreadable] = {}

    def count(self, found: Mapping[str, Unreadable]) -> None:
        """Take note of some rows."""
        for name, one in found.items():
            self._found[name] = self._found.get(name, Unreadable()) + one

    def check(self, name: str, *, can_allow: bool = True) -> None:
        """Refuse rows of which a column cannot be read that could be read in training.

        Parameters
        ----------
        name : what messages call the file.
        can_allow : whether the user has an option that allows it.
        """
        for column, found in self._found.items():
            known = self._known.get(column, 0.0)
            if self._allowed or found.filled < _LEAST_CELLS or found.share - known <= _UNREADABLE:
                continue
            remedies = ["write them as training had them"]
            if can_allow and found.what == "dates":
                other = "date:dmy" if self._types.get(column) == "date" else "date"
                remedies.append(f"say how they are written, such as {setting('types', other, column)}")
            if can_allow:
                allow = worded("--allow-unreadable", "allow_unreadable=True")
                remedies.append(f"take them for missing values with {allow}")
            raise TableError(
                f"{name}: column {short(column)}: {found.text()}; in training {known:.0%} could not. Remedy: "
                f"{', or '.join(remedies)}."
            )

    def notes(self) -> list[str]:
        """A line for each column with cells that cannot be read."""
        return [
            f"column {short(column)}: {found.text()}: taken for missing values ({found.share:.0%})"
            for column, found in self._found.items()
            if found.cells
        ]
