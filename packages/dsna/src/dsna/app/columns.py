"""Check columns that options name and models need; encode rows; recognize rows that a model already holds."""

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

_MAX_LISTED = 5  # columns in a message
_MAX_KNOWN_SHARE = 0.5  # of rows that the model already holds
_MAX_UNREADABLE_INCREASE = 0.2  # in the share of a column's cells, compared with training
_MIN_CELLS = 5  # in a column, for that share to be checked


def check_option(option: str, name: str, names: list[str]) -> None:
    """Raise an error if an option names a column that does not exist.

    Examples
    --------
    >>> check_option("--drop", "naem", ["name", "age"])
    Traceback (most recent call last):
    dsna._utils.errors.DSNAError: --drop naem: there is no such column (did you mean 'name'?). Remedy: name one of ...
    """
    if name not in names:
        suggestion, column_list = suggested(name, names)
        raise DSNAError(f"{option} {name}: there is no such column{suggestion}. Remedy: name one of {column_list}.")


def check_new_rows(encoder: Any, table: FileTable) -> None:
    """Raise an error if a table lacks a column used in training.

    Examples
    --------
    >>> import polars
    >>> from dsna.tables import TableEncoder
    >>> frame = polars.DataFrame({"size": [1.0, 2.0], "age": [3.0, 7.0]})
    >>> check_new_rows(
    ...     TableEncoder().fit(frame), FileTable(name="new.csv", frame=frame.drop("age"), types={}, notes=[])
    ... )
    Traceback (most recent call last):
    dsna.tables.files.source.TableError: new.csv: column 'age', used in training, is missing; the table has 'size'. ...
    """
    columns = table.frame.columns
    missing = [name for name in encoder.feature_names_in_ if name not in columns]
    if not missing:
        return
    missing_list = listed([short(name) for name in missing[:_MAX_LISTED]], len(missing))
    column_list = suggested(missing[0], columns)[1]
    if len(missing) == 1:
        unused = [name for name in columns if name not in encoder.feature_names_in_]
        suggestion = suggested(missing[0], unused)[0]
        problem = f"column {missing_list}, used in training, is missing{suggestion}"
    else:
        problem = f"columns {missing_list}, used in training, are missing"
    raise TableError(
        f"{table.name}: {problem}; the table has {column_list}. Remedy: add the missing columns, with empty cells "
        "where there is no value, or correct the column names."
    )


def known_rows_note(encoder: Any, frame: Any) -> str:
    """Describe how many rows the model already holds; empty unless these are most of the rows.

    Examples
    --------
    >>> import polars
    >>> from dsna.tables import TableEncoder
    >>> frame = polars.DataFrame({"size": [1.0, 2.0, 5.0], "age": [3.0, 7.0, 7.0]})
    >>> known_rows_note(TableEncoder(keep_rows=True).fit(frame), frame[1:])
    '2 of 2 rows equal rows that the model holds'
    """
    if encoder.rows_ is None or not len(frame):
        return ""
    n_known = int(encoder.rows_.knows(frame).sum())
    if n_known <= _MAX_KNOWN_SHARE * len(frame):
        return ""
    return f"{n_known} of {len(frame)} rows equal rows that the model holds"


def with_training_types(options: ReadOptions, encoder: Any) -> ReadOptions:
    """Options for reading new rows, with the column types of training.

    Parameters
    ----------
    options : reading options that the user set.
    encoder : fitted TableEncoder.

    Examples
    --------
    >>> import polars
    >>> from dsna.tables import TableEncoder
    >>> encoder = TableEncoder().fit(polars.DataFrame({"size": ["1,5", "2,25"]}))
    >>> with_training_types(ReadOptions(), encoder).model_types
    {'size': 'number:comma'}
    """
    types = {name: spec for name, spec in encoder.types_.items() if spec != "constant"}
    return replace(options, model_types=types)


def left_out_note(table: FileTable, name: str, reason: str) -> str:
    """Note that a column is left out and why, with the option that keeps it.

    Examples
    --------
    >>> import polars
    >>> table = FileTable(name="t.csv", frame=polars.DataFrame(), types={}, notes=[])
    >>> left_out_note(table, "id", "it identifies rows")
    "column 'id' is left out: it identifies rows (--keep id uses it)"
    """
    unreadable = table.unreadable.get(name, Unreadable())
    if unreadable.cells and unreadable.cells == unreadable.filled:
        remedy = f"{setting('types', 'category', name)} reads it as text"
        return f"column {name!r} is left out: {unreadable.text()} ({remedy})"
    return f"column {name!r} is left out: {reason} (--keep {name} uses it)"


def remember_unreadable(encoder: Any, table: FileTable) -> None:
    """Store in a fitted encoder the share of unreadable cells of each column of the file."""
    shares = [table.unreadable.get(name, Unreadable()).share for name in encoder.types_]
    encoder.unreadable_ = np.maximum(encoder.unreadable_, shares)


def encode_rows(
    encoder: Any, table: FileTable, rows: np.ndarray, allow_unreadable: bool
) -> tuple[np.ndarray, list[str]]:
    """Encode rows of a table; raise an error if far more of a column is unreadable than in training.

    Examples
    --------
    >>> import polars
    >>> from dsna.tables import TableEncoder
    >>> frame = polars.DataFrame({"size": [1.0, 2.0], "age": [3.0, 7.0]})
    >>> table = FileTable(name="t.csv", frame=frame, types={}, notes=[])
    >>> encode_rows(TableEncoder().fit(frame), table, np.array([1]), False)
    (array([[2., 7.]]), [])
    """
    X, notes, unreadable = encoder.transform_with_counts(table.frame[rows])
    readable = ReadableColumns(encoder, allow_unreadable)
    readable.count({**unreadable, **table.unreadable})
    readable.check(table.name)
    return X, [*notes, *readable.notes()]


class ReadableColumns:
    """Count of unreadable cells in new rows, by column, compared with training.

    Parameters
    ----------
    encoder : fitted TableEncoder.
    allowed : bool, default=False
        Whether unreadable columns are noted instead of raising an error.

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
        self._training_shares = dict(zip(encoder.types_, encoder.unreadable_.tolist(), strict=True))
        self._allowed = allowed
        self._unreadable: dict[str, Unreadable] = {}

    def count(self, unreadable: Mapping[str, Unreadable]) -> None:
        """Add the unreadable cells of further rows."""
        for column, cells in unreadable.items():
            self._unreadable[column] = self._unreadable.get(column, Unreadable()) + cells

    def check(self, name: str, *, can_allow: bool = True) -> None:
        """Raise an error if far more of a column is unreadable than in training.

        Parameters
        ----------
        name : what messages call the file.
        can_allow : whether the user has an option that allows it.
        """
        for column, cells in self._unreadable.items():
            training_share = self._training_shares.get(column, 0.0)
            increase = cells.share - training_share
            if self._allowed or cells.filled < _MIN_CELLS or increase <= _MAX_UNREADABLE_INCREASE:
                continue
            remedies = ["write them as training had them"]
            if can_allow and cells.what == "dates":
                other_type = "date:dmy" if self._types.get(column) == "date" else "date"
                remedies.append(f"say how they are written, such as {setting('types', other_type, column)}")
            if can_allow:
                allow = worded("--allow-unreadable", "allow_unreadable=True")
                remedies.append(f"take them for missing values with {allow}")
            raise TableError(
                f"{name}: column {short(column)}: {cells.text()}; in training {training_share:.0%} could not. Remedy: "
                f"{', or '.join(remedies)}."
            )

    def notes(self) -> list[str]:
        """One note per column with unreadable cells."""
        return [
            f"column {short(column)}: {cells.text()}: taken for missing values ({cells.share:.0%})"
            for column, cells in self._unreadable.items()
            if cells.cells
        ]
